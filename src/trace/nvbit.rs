//! Reading the traces of NVBit's `mem_trace` tool: its log, and a JSON form of it
//! (docs/traces.md). Both give 32 addresses and no mask; a lane with address 0 is taken as
//! inactive.

use std::fmt;
use std::io::{BufRead, Read};
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use super::accelsim::line_error;
use super::addresses::Addresses;
use super::block::NewLoad;
use super::error::ImportError;
use super::format::Kernel;
use super::import::{Known, MAX_KERNELS, Refused, Sink};
use super::names::NameError;
use crate::lane::{LANES, LaneMask};
use crate::lines::Lines;

const NOTE: &str = "the active masks are inferred: lanes with address 0 were taken as inactive";

/// One memory access.
struct Access<'a> {
    launch: u64,
    opcode: &'a str,
    pc: u32,
    addresses: [u64; LANES],
}

/// Hands accesses on, under the kernel of their launch. Launches can run at the same time and their
/// accesses alternate: each is one kernel.
struct Reader<'r, 's> {
    sink: &'r mut Sink<'s>,
    launches: FxHashMap<u64, Launch>,
    current: Option<u64>,
}

/// A launch of a kernel, by its id.
enum Launch {
    /// The log names it; no access was found yet.
    Named(Box<Kernel>),
    /// It has accesses, under the kernel of that number.
    Begun(u32),
}

impl<'r, 's> Reader<'r, 's> {
    fn new(sink: &'r mut Sink<'s>) -> Result<Self, ImportError> {
        sink.note(NOTE.to_owned())?;
        Ok(Self { sink, launches: FxHashMap::default(), current: None })
    }

    /// Takes a launch. One whose id is known already is another one, of another process say.
    fn launch(&mut self, launch: u64, kernel: Kernel) -> Result<(), Refused> {
        self.check_room(launch)?;
        self.launches.insert(launch, Launch::Named(Box::new(kernel)));
        self.current = None;
        Ok(())
    }

    fn check_room(&self, launch: u64) -> Result<(), Refused> {
        if self.launches.len() >= MAX_KERNELS && !self.launches.contains_key(&launch) {
            return Err(Refused::Name(NameError::TooMany));
        }
        Ok(())
    }

    /// Makes the kernel of a launch the current one.
    fn select(&mut self, launch: u64) -> Result<(), Refused> {
        let number = match self.launches.remove(&launch) {
            Some(Launch::Begun(number)) => {
                self.sink.select(number)?;
                number
            }
            Some(Launch::Named(kernel)) => self.sink.kernel(*kernel)?,
            None => {
                self.check_room(launch)?;
                let name = self.sink.name(&format!("grid launch {launch}"))?;
                self.sink.kernel(Kernel { name, ..Kernel::default() })?
            }
        };
        self.launches.insert(launch, Launch::Begun(number));
        self.current = Some(launch);
        Ok(())
    }

    fn access(&mut self, access: &Access<'_>) -> Result<(), Refused> {
        if self.current != Some(access.launch) {
            self.select(access.launch)?;
        }
        let mask = LaneMask::where_lane(|lane| access.addresses[lane] != 0);
        let operation = match self.sink.known(access.opcode)? {
            Known::Skipped(kind) => return Ok(self.sink.skip(kind)?),
            Known::NotReplayed(name) => return Ok(self.sink.not_replayed(name, mask)?),
            Known::Load { operation, .. } => operation,
        };
        let list: Vec<u64> = mask.lanes().map(|lane| access.addresses[lane]).collect();
        let mut deltas = Vec::new();
        self.sink.load(&NewLoad {
            pc: access.pc,
            mask,
            operation,
            addresses: Addresses::shortest(&list, &mut deltas),
            plg: None,
            guard: None,
            expected: &[],
            width_disagrees: false,
        })?;
        Ok(())
    }
}

/// Reads a log: the records and launches that the tool printed, each to the end of its line. The
/// program writes to the same output, so that a record can follow the program's text on one line.
pub(super) fn read_log(
    input: impl BufRead,
    file: &Path,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let mut reader = Reader::new(sink)?;
    let mut lines = Lines::new(input);
    // The number of the last line, if it is a message of the tool.
    let (mut unread, mut last) = (0u64, None);
    while let Some(line) = lines.next_line() {
        let line = line.map_err(|error| line_error(file, error))?;
        last = None;
        let mut rest = 0;
        // Another message can have broken one off, or follow it.
        while let Some(start) = line.text[rest..].find(TOOL).map(|at| rest + at) {
            last = Some((line.number, start + 1));
            let whole = &line.text[start..];
            let next = whole[TOOL.len()..].find(TOOL).map(|at| TOOL.len() + at);
            let place = |message: String| ImportError::Line {
                file: file.to_owned(),
                line: line.number,
                column: start + 1,
                message,
            };
            // A kernel's name can hold anything, so that the whole line is tried first.
            let mut read = Message::read(whole);
            rest = line.text.len();
            if let (Err(_), Some(next)) = (&read, next) {
                rest = start + next;
                read = Message::read(whole[..next].trim_end()).or(Ok(Message::Unknown));
            }
            let taken = match read.map_err(|expected| place(format!("expected {expected}")))? {
                Message::Launch(text) => text
                    .hold(reader.sink)
                    .map_err(Refused::from)
                    .and_then(|kernel| reader.launch(text.launch, kernel)),
                Message::Access(access) => reader.access(&access),
                Message::WithoutData => Ok(()),
                Message::Unknown => {
                    unread += 1;
                    Ok(())
                }
            };
            taken.map_err(|refused| refused.at(place))?;
        }
    }
    if let Some((line, column)) = last
        && !lines.line_ended()
    {
        let message = "the last line has no line end: the file is cut off".to_owned();
        return Err(ImportError::Line { file: file.to_owned(), line, column, message });
    }
    reader.sink.end_is_unknown()?;
    if unread > 0 {
        reader.sink.note(format!(
            "{unread} of the log's messages (`{}`) could not be read and were passed over",
            TOOL.trim_end()
        ))?;
    }
    Ok(())
}

/// What every message of the tool begins with.
const TOOL: &str = "MEMTRACE: ";

/// A message of the tool.
enum Message<'t> {
    /// A kernel was launched.
    Launch(LaunchText<'t>),
    /// A warp accessed memory.
    Access(Box<Access<'t>>),
    /// A context began or ended, or a function was instrumented.
    WithoutData,
    /// None of them: of a derived tool, or not whole.
    Unknown,
}

impl<'t> Message<'t> {
    /// Reads a message, which begins with [`TOOL`]. An error is what was expected of a launch or an
    /// access.
    fn read(text: &'t str) -> Result<Self, &'static str> {
        let message = text.strip_prefix(TOOL).unwrap_or(text);
        if message.starts_with("STARTING CONTEXT ") || message.starts_with("TERMINATING CONTEXT ") {
            return Ok(Self::WithoutData);
        }
        let Some(context) = message.strip_prefix("CTX 0x") else { return Ok(Self::Unknown) };
        let rest = context.trim_start_matches(|digit: char| digit.is_ascii_hexdigit());
        if rest.starts_with(" - LAUNCH - ") {
            let launch = read_launch(text).map(Self::Launch);
            launch.ok_or("`… - Kernel name S - grid launch id N - grid size x,y,z - …`")
        } else if rest.starts_with(" - grid_launch_id ") {
            // Unlike a launch it has no name that could hold the beginning of a message.
            let is_one = !message.contains(TOOL);
            let access = read_access(text).filter(|_| is_one);
            access.map(|access| Self::Access(Box::new(access))).ok_or(
                "`CTX … - grid_launch_id N - CTA x,y,z - warp W - OPCODE - ` and 32 addresses",
            )
        } else if rest.starts_with(", Inspecting ") {
            Ok(Self::WithoutData)
        } else {
            Ok(Self::Unknown)
        }
    }
}

/// What stands behind `marker`, up to the next ` - `.
fn field<'t>(text: &'t str, marker: &str) -> Option<&'t str> {
    let rest = text.split_once(marker)?.1;
    Some(rest.split_once(" - ").map_or(rest, |(value, _)| value).trim())
}

fn dimensions(text: &str) -> Option<[u32; 3]> {
    let numbers: Option<Vec<u32>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    numbers?.try_into().ok()
}

/// What a LAUNCH line says.
struct LaunchText<'t> {
    launch: u64,
    name: &'t str,
    grid: [u32; 3],
    block: [u32; 3],
    /// Keys and values, as ` - key value`.
    rest: &'t str,
}

fn read_launch(text: &str) -> Option<LaunchText<'_>> {
    // A name can hold the separator: it ends where the last launch id begins.
    let (head, tail) = text.rsplit_once(" - grid launch id ")?;
    let name = head.split_once(" - Kernel name ")?.1;
    let (launch, rest) = tail.split_once(" - ")?;
    Some(LaunchText {
        launch: launch.trim().parse().ok()?,
        name,
        grid: dimensions(field(rest, "grid size ")?)?,
        block: dimensions(field(rest, "block size ")?)?,
        rest,
    })
}

impl LaunchText<'_> {
    /// Returns the kernel, with its texts as `sink` holds them.
    fn hold(&self, sink: &mut Sink<'_>) -> Result<Kernel, NameError> {
        let line = |part: &str, sink: &mut Sink<'_>| {
            let (key, value) = part.rsplit_once(' ').unwrap_or((part, ""));
            Ok((sink.name(key)?, sink.name(value)?))
        };
        let header: Result<Vec<_>, NameError> =
            self.rest.split(" - ").take(MAX_PARTS).map(|part| line(part, sink)).collect();
        Ok(Kernel {
            name: sink.name(self.name)?,
            grid: self.grid,
            block: self.block,
            header: header?,
            ..Kernel::default()
        })
    }
}

/// How many parts of a LAUNCH line are kept after its id; the tool writes five.
const MAX_PARTS: usize = 32;

fn read_access(text: &str) -> Option<Access<'_>> {
    let (head, list) = text.rsplit_once(" - ")?;
    let (head, opcode) = head.rsplit_once(" - ")?;
    let mut addresses = [0; LANES];
    let mut values = list.split_whitespace();
    for address in &mut addresses {
        *address = u64::from_str_radix(values.next()?.strip_prefix("0x")?, 16).ok()?;
    }
    if values.next().is_some() {
        return None;
    }
    let launch = field(head, "grid_launch_id ")?.parse().ok()?;
    // Where the opcode is missing, what stands in its place is the warp.
    field(head, " - warp ")?.parse::<u64>().ok()?;
    Some(Access { launch, opcode: opcode.trim(), pc: 0, addresses })
}

/// An access in JSON; further keys are passed over.
#[derive(Deserialize)]
struct AccessJson {
    grid_launch_id: u64,
    instr_opcode: String,
    #[serde(default)]
    instr_offset: u32,
    addrs: [u64; LANES],
}

/// Reads a JSON array of accesses, or accesses one after the other.
pub(super) fn read_json(
    mut input: impl BufRead,
    file: &Path,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let failed = |source| ImportError::Read { file: file.to_owned(), source };
    let is_array = input.fill_buf().map_err(failed)?.trim_ascii_start().starts_with(b"[");
    let mut reader = Reader::new(sink)?;
    let mut json = serde_json::Deserializer::from_reader(input);
    // An error of the sink passes through serde's own type; it is kept beside.
    let mut stopped = None;
    let read = if is_array {
        let array = Accesses { reader: &mut reader, stopped: &mut stopped, file };
        json.deserialize_seq(array).and_then(|()| json.end())
    } else {
        // Objects one after the other: there may have been more.
        reader.sink.end_is_unknown()?;
        read_sequence(json, &mut reader, &mut stopped, file)
    };
    match (stopped, read) {
        (Some(error), _) => Err(error),
        (None, Ok(())) => Ok(()),
        (None, Err(error)) => Err(json_error(file, &error)),
    }
}

fn of_file(file: &Path, message: String) -> ImportError {
    ImportError::File { file: file.to_owned(), message }
}

fn json_error(file: &Path, error: &serde_json::Error) -> ImportError {
    let message = error.to_string();
    // The place stands in front already.
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = message.strip_suffix(&place).unwrap_or(&message);
    ImportError::Line {
        file: file.to_owned(),
        line: error.line() as u64,
        // Behind a line's end serde counts from 0.
        column: error.column().max(1),
        message: format!("no access as mem_trace writes them: {reason}"),
    }
}

fn read_sequence<R: Read>(
    json: serde_json::Deserializer<serde_json::de::IoRead<R>>,
    reader: &mut Reader<'_, '_>,
    stopped: &mut Option<ImportError>,
    file: &Path,
) -> Result<(), serde_json::Error> {
    for access in json.into_iter::<AccessJson>() {
        if let Err(refused) = reader.access(&access?.borrow()) {
            *stopped = Some(refused.at(|message| of_file(file, message)));
            break;
        }
    }
    Ok(())
}

impl AccessJson {
    fn borrow(&self) -> Access<'_> {
        Access {
            launch: self.grid_launch_id,
            opcode: &self.instr_opcode,
            pc: self.instr_offset,
            addresses: self.addrs,
        }
    }
}

/// An array whose elements are handed on as they come, so that memory stays bounded.
struct Accesses<'a, 'r, 's> {
    reader: &'a mut Reader<'r, 's>,
    stopped: &'a mut Option<ImportError>,
    file: &'a Path,
}

impl<'de> Visitor<'de> for Accesses<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of memory accesses")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        while let Some(access) = array.next_element::<AccessJson>()? {
            if let Err(refused) = self.reader.access(&access.borrow()) {
                *self.stopped = Some(refused.at(|message| of_file(self.file, message)));
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
