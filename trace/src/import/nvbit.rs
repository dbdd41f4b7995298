//! Reads the log of NVBit's `mem_trace` tool (docs/trace-inputs.md): messages about accesses and launches within the
//! traced program's output. Each access has 32 addresses but no mask. Derived tools write launches over several lines.

use std::path::Path;

use memchr::memmem;

use super::error::ImportError;
use super::formats::{Format, FormatReader, Sign};
use super::interner::{NameError, Refused};
use super::lines::for_each_line;
use super::logs::{LaunchId, Launches, UNMASKED_NOTE, Unmasked, context, decimal, dimensions};
use super::sink::Sink;
use super::text::Text;
use crate::binary::{Kernel, NO_END_MARK, NewRecord, WarpPosition};
use warpload::lane::LANES;
use warpload::text::parse_hexadecimal;

pub(super) const FORMAT: Format =
    Format { name: "a mem_trace log of NVBit", recognize, reader: FormatReader::Trace(read) };

/// The beginning of every message of the tool.
const TOOL: &str = "MEMTRACE: ";

/// Searches for the message, because the program's own output may precede it in any form.
fn recognize(start: &[u8]) -> Option<Sign> {
    let is_log = memmem::find(start, b"MEMTRACE: CTX 0x").is_some()
        || start.starts_with(b"MEMTRACE: ")
        || memmem::find(start, b"\nMEMTRACE: ").is_some();
    is_log.then_some(Sign::Certain)
}

/// Reads the accesses and launches that the tool printed. The program writes to the same output, so a message can
/// follow other text on its line.
fn read(
    input: &mut Text<'_>,
    file: &Path,
    threads: usize,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let mut reader = AccessWriter::new(sink)?;
    let mut begun: Option<Begun> = None;
    // The place of the last message, if it is on the last line.
    let (mut unread, mut last) = (0u64, None);
    let is_cut = for_each_line(input, file, threads, |number, text| {
        if let Some(launch) = &mut begun
            && launch.takes(text)
        {
            last = Some((number, 1));
            return Ok(());
        }
        if let Some(launch) = begun.take() {
            reader.begun(&launch, file)?;
        }
        last = None;
        let mut rest = text;
        while let Some(at) = rest.find(TOOL) {
            let column = text.len() - rest.len() + at + 1;
            let (message, after) = Message::next(&rest[at..]);
            rest = after;
            if !matches!(message, Message::WithoutData) {
                last = Some((number, column));
            }
            let place = |message| ImportError::Line {
                file: file.to_owned(),
                line: number,
                column,
                message,
            };
            let is_last = after.is_empty();
            match message {
                Message::Launch(text) if is_last => {
                    begun = Some(Begun::new(number, column, text));
                }
                Message::Launch(text) => match Launch::read(text) {
                    Some(launch) => reader.launch(&launch).map_err(|error| error.at(place))?,
                    None => unread += 1,
                },
                Message::Access(text) => {
                    let mut addresses = [0; LANES];
                    match read_access(text, &mut addresses) {
                        Some(access) => {
                            let read = reader.access(&access, &addresses);
                            read.map_err(|refused| refused.at(place))?;
                        }
                        None if is_last => {
                            return Err(place(format!("expected {EXPECTED_ACCESS}")));
                        }
                        // Interrupted by another message.
                        None => unread += 1,
                    }
                }
                Message::WithoutData => {}
                Message::Unknown => unread += 1,
            }
        }
        Ok(())
    })?;
    if let Some((line, column)) = last
        && is_cut
    {
        return Err(ImportError::cut_off(file, line, column));
    }
    if let Some(launch) = begun {
        reader.begun(&launch, file)?;
    }
    reader.sink.end_is_unknown(NO_END_MARK)?;
    if unread > 0 {
        reader.sink.note(format!(
            "{unread} of the log's messages (`{}`) could not be read and were skipped",
            TOOL.trim_end()
        ))?;
    }
    Ok(())
}

const EXPECTED_LAUNCH: &str = "`… - Kernel name S - grid launch id N - …`, with `grid size x,y,z` and \
    `block size x,y,z` if they are there";

const EXPECTED_ACCESS: &str =
    "`CTX … - grid_launch_id N - CTA x,y,z - warp W - OPCODE - ` and 32 addresses";

/// One memory access. It has no warp: the source names only a slot of the multiprocessor, which warps share over time.
struct MemoryAccess<'a> {
    launch: LaunchId,
    cta: [u32; 3],
    opcode: &'a str,
}

/// Passes on accesses, each to the kernel of its launch.
struct AccessWriter<'r, 's> {
    sink: &'r mut Sink<'s>,
    launches: Launches,
    lanes: Unmasked,
}

impl<'r, 's> AccessWriter<'r, 's> {
    fn new(sink: &'r mut Sink<'s>) -> Result<Self, ImportError> {
        sink.tool("NVBit mem_trace".to_owned())?;
        sink.note(UNMASKED_NOTE.to_owned())?;
        Ok(Self { sink, launches: Launches::default(), lanes: Unmasked::default() })
    }

    /// Adds an access at program counter 0, because the log has none.
    fn access(
        &mut self,
        access: &MemoryAccess<'_>,
        addresses: &[u64; LANES],
    ) -> Result<(), Refused> {
        let sink = &mut *self.sink;
        self.launches.select(sink, access.launch, None)?;
        sink.place(WarpPosition { cta: Some(access.cta), ..WarpPosition::default() });
        let operation = sink.operation(access.opcode)?.number;
        let (mask, addresses) = self.lanes.active(addresses);
        Ok(sink.record(&NewRecord::new(0, mask, operation, addresses))?)
    }

    fn begun(&mut self, begun: &Begun, file: &Path) -> Result<(), ImportError> {
        let &Begun { line, column, ref text, .. } = begun;
        let place = |message| ImportError::Line { file: file.to_owned(), line, column, message };
        match Launch::read(text) {
            Some(launch) => self.launch(&launch).map_err(|error| error.at(place)),
            None => Err(place(format!("expected {EXPECTED_LAUNCH}"))),
        }
    }

    fn launch(&mut self, launch: &Launch<'_>) -> Result<(), Refused> {
        let kernel = launch.kernel(self.sink)?;
        Ok(self.launches.name(launch.id, kernel)?)
    }
}

/// A message of the tool. It ends with the line or before the next message.
enum Message<'t> {
    /// A kernel was launched.
    Launch(&'t str),
    /// A warp accessed memory.
    Access(&'t str),
    /// A context began or ended, or a function was instrumented.
    WithoutData,
    /// An unknown message, for example of a derived tool, or an incomplete one.
    Unknown,
}

impl<'t> Message<'t> {
    /// Splits `text`, which begins with [`TOOL`], after its first message.
    fn next(text: &'t str) -> (Self, &'t str) {
        let message = text.strip_prefix(TOOL).unwrap_or(text);
        let context = message.strip_prefix("CTX 0x");
        let digit = |digit: char| digit.is_ascii_hexdigit();
        let rest = context.map_or("", |context| context.trim_start_matches(digit));
        let is_launch = rest.starts_with(" - LAUNCH - ");
        // A kernel's name can contain anything, even the beginning of a message.
        let from = if is_launch { message.find(ID).unwrap_or(0) } else { 0 };
        let next = message[from..].find(TOOL).map_or(message.len(), |at| from + at);
        let (message, after) = message.split_at(next);
        let is_without_data = message.starts_with("STARTING CONTEXT ")
            || message.starts_with("TERMINATING CONTEXT ")
            || rest.starts_with(", Inspecting ");
        let message = if is_launch {
            Self::Launch(message.trim_end())
        } else if rest.starts_with(" - grid_launch_id ") {
            Self::Access(message.trim_end())
        } else if is_without_data {
            Self::WithoutData
        } else {
            Self::Unknown
        };
        (message, after)
    }
}

/// Reads an access, and its addresses into `addresses`.
fn read_access<'t>(text: &'t str, addresses: &mut [u64; LANES]) -> Option<MemoryAccess<'t>> {
    let (head, list) = text.rsplit_once(" - ")?;
    let (head, opcode) = head.rsplit_once(" - ")?;
    let mut values = list.split_ascii_whitespace();
    for address in addresses {
        let digits = values.next()?.strip_prefix("0x").filter(|digits| digits.len() <= 16)?;
        *address = parse_hexadecimal(digits)?;
    }
    if values.next().is_some() {
        return None;
    }
    let number = decimal(field(head, "grid_launch_id ")?)?;
    let launch = LaunchId { context: context(head), number };
    // If the opcode is missing, the warp takes its place.
    decimal::<u64>(field(head, " - warp ")?)?;
    let cta = dimensions(field(head, " - CTA ")?)?;
    let opcode = opcode.trim();
    let is_opcode = opcode.starts_with(|first: char| first.is_ascii_uppercase())
        && !opcode.contains(char::is_whitespace);
    is_opcode.then_some(MemoryAccess { launch, cta, opcode })
}

/// The text after `marker`, up to the next ` - `.
fn field<'t>(text: &'t str, marker: &str) -> Option<&'t str> {
    let rest = text.split_once(marker)?.1;
    Some(rest.split_once(" - ").map_or(rest, |(value, _)| value).trim())
}

/// The maximum number of lines in a launch.
const MAX_LINES: u32 = 4;

/// The maximum number of parts kept after the launch's id; the tool writes five.
const MAX_PARTS: usize = 32;

/// The beginnings of parts after the launch's id that may be on a line of their own.
const KEYS: [&str; 5] = ["grid size ", "block size ", "nregs ", "shmem ", "cuda stream id "];

/// The separator between the kernel's name and the launch's id.
const ID: &str = " - grid launch id ";

/// A launch of a kernel.
struct Launch<'t> {
    id: LaunchId,
    name: &'t str,
    /// Keys and values, separated by ` - `.
    rest: &'t str,
}

impl<'t> Launch<'t> {
    fn read(text: &'t str) -> Option<Self> {
        // Splits at the last id, because a name can contain the separator.
        let (head, tail) = text.rsplit_once(ID)?;
        let name = head.split_once(" - Kernel name ")?.1;
        let (id, rest) = tail.split_once(" - ").unwrap_or((tail, ""));
        let number = decimal(id.trim_end_matches([' ', '-']).trim())?;
        let launch = Self { id: LaunchId { context: context(text), number }, name, rest };
        let is_shaped = |key| launch.part(key).is_none_or(|value| dimensions(value).is_some());
        (is_shaped("grid size ") && is_shaped("block size ")).then_some(launch)
    }

    /// The value of a key; `None` if the tool did not write it.
    fn part(&self, key: &str) -> Option<&'t str> {
        self.rest.split(" - ").find_map(|part| part.trim().strip_prefix(key))
    }

    /// The kernel, with texts stored in `sink`. Unknown dimensions are zeros.
    fn kernel(&self, sink: &mut Sink<'_>) -> Result<Kernel, NameError> {
        let shape = |key| self.part(key).and_then(dimensions).unwrap_or_default();
        let mut kernel = Kernel {
            name: sink.name(self.name)?,
            grid: shape("grid size "),
            block: shape("block size "),
            ..Kernel::default()
        };
        let parts = self.rest.split(" - ").map(|part| part.trim_matches([' ', '-']));
        for part in parts.filter(|part| !part.is_empty()).take(MAX_PARTS) {
            let (key, value) = part.rsplit_once(' ').unwrap_or((part, ""));
            kernel.header.push((sink.name(key)?, sink.name(value)?));
        }
        Ok(kernel)
    }
}

/// A launch that may continue on the next line.
struct Begun {
    /// The line and column of its first byte, from 1.
    line: u64,
    column: usize,
    text: String,
    lines: u32,
}

impl Begun {
    fn new(line: u64, column: usize, text: &str) -> Self {
        Self { line, column, text: text.trim_end().to_owned(), lines: 1 }
    }

    /// Adds the line if it belongs to the launch. Returns whether it does.
    fn takes(&mut self, line: &str) -> bool {
        let (part, has_id) = (line.trim(), self.text.contains(ID));
        let has_key = KEYS.iter().any(|key| part.trim_start_matches("- ").starts_with(key));
        let is_one = (has_key || !has_id) && self.lines < MAX_LINES && !line.contains(TOOL);
        if is_one {
            let has_joint = !has_id || self.text.ends_with(" -") || part.starts_with("- ");
            self.text.push_str(if has_joint { " " } else { " - " });
            self.text.push_str(part);
            self.lines += 1;
        }
        is_one
    }
}
