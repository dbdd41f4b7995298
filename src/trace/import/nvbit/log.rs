//! Reads the log of mem_trace: messages in the traced program's output.

use std::path::Path;

use memchr::memmem;

use super::{Access, Reader};
use crate::lane::LANES;
use crate::lines::Lines;
use crate::trace::binary::{Kernel, NO_END_MARK, NameError};
use crate::trace::import::error::ImportError;
use crate::trace::import::format::{self, Format, Sign};
use crate::trace::import::sink::{Refused, Sink};
use crate::trace::import::text::Text;

pub(in crate::trace::import) const FORMAT: Format =
    Format { name: "a mem_trace log of NVBit", recognize, reader: format::Reader::Trace(read) };

/// The program's own output, of any form, may come before the first message.
fn recognize(start: &[u8]) -> Option<Sign> {
    let is_log = memmem::find(start, b"MEMTRACE: CTX 0x").is_some()
        || start.starts_with(b"MEMTRACE: ")
        || memmem::find(start, b"\nMEMTRACE: ").is_some();
    is_log.then_some(Sign::Certain)
}

/// Reads the records and launches that the tool printed, each to the end of its line. The program
/// writes to the same output, so that a record can follow the program's text on one line.
fn read(
    input: &mut Text<'_>,
    file: &Path,
    _threads: usize,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let mut reader = Reader::new(sink)?;
    let mut lines = Lines::new(input);
    // The place of the last line's last message, if it has one.
    let (mut unread, mut last) = (0u64, None);
    while let Some(line) = lines.next_line() {
        let line = line.map_err(|error| ImportError::in_lines(file, error))?;
        last = None;
        let mut rest = line.text;
        while let Some(at) = rest.find(TOOL) {
            let column = line.text.len() - rest.len() + at + 1;
            last = Some((line.number, column));
            let place = |message| ImportError::Line {
                file: file.to_owned(),
                line: line.number,
                column,
                message,
            };
            let (message, after) = first_message(&rest[at..]);
            rest = after;
            let message = message.map_err(|expected| place(format!("expected {expected}")))?;
            unread += u64::from(matches!(message, Message::Unknown));
            reader.message(message).map_err(|refused| refused.at(place))?;
        }
    }
    if let Some((line, column)) = last
        && !lines.line_ended()
    {
        let message = "the last line has no line end: the file is cut off".to_owned();
        return Err(ImportError::Line { file: file.to_owned(), line, column, message });
    }
    reader.sink.end_is_unknown(NO_END_MARK)?;
    if unread > 0 {
        reader.sink.note(format!(
            "{unread} of the log's messages (`{}`) could not be read and were passed over",
            TOOL.trim_end()
        ))?;
    }
    Ok(())
}

/// Reads the message at the start of `text`, and returns the text after it. Another message can
/// interrupt one or follow it; since a kernel's name can hold anything, the whole text is tried
/// first.
fn first_message(text: &str) -> (Result<Message<'_>, &'static str>, &str) {
    let whole = Message::read(text);
    let next = text.get(TOOL.len()..).and_then(|rest| rest.find(TOOL)).map(|at| TOOL.len() + at);
    match next {
        Some(next) if whole.is_err() => {
            let (first, after) = text.split_at(next);
            (Message::read(first.trim_end()).or(Ok(Message::Unknown)), after)
        }
        _ => (whole, ""),
    }
}

impl Reader<'_, '_> {
    fn message(&mut self, message: Message<'_>) -> Result<(), Refused> {
        match message {
            Message::Launch(text) => {
                let kernel = text.hold(self.sink)?;
                self.launch(text.launch, kernel)
            }
            Message::Access(access) => self.access(&access),
            Message::WithoutData | Message::Unknown => Ok(()),
        }
    }
}

/// The start of every message of the tool.
const TOOL: &str = "MEMTRACE: ";

/// A message of the tool.
enum Message<'t> {
    /// A kernel was launched.
    Launch(LaunchText<'t>),
    /// A warp accessed memory.
    Access(Box<Access<'t>>),
    /// A context began or ended, or a function was instrumented.
    WithoutData,
    /// Another message: of a derived tool, or incomplete.
    Unknown,
}

impl<'t> Message<'t> {
    /// Reads a message, which begins with [`TOOL`]. The error says what was expected of a launch or
    /// an access.
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
            // Unlike a launch, it has no name that could contain the start of a message.
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

/// Returns the text after `marker`, up to the next ` - `.
fn field<'t>(text: &'t str, marker: &str) -> Option<&'t str> {
    let rest = text.split_once(marker)?.1;
    Some(rest.split_once(" - ").map_or(rest, |(value, _)| value).trim())
}

fn dimensions(text: &str) -> Option<[u32; 3]> {
    let numbers: Option<Vec<u32>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    numbers?.try_into().ok()
}

/// The fields of a LAUNCH line.
struct LaunchText<'t> {
    launch: u64,
    name: &'t str,
    grid: [u32; 3],
    block: [u32; 3],
    /// Keys and values, as ` - key value`.
    rest: &'t str,
}

fn read_launch(text: &str) -> Option<LaunchText<'_>> {
    // A name can contain the separator: it ends before the last launch id.
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
    /// Returns the kernel, with texts that `sink` holds.
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

/// The most parts of a LAUNCH line that are kept after its id; the tool writes five.
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
    // If the opcode is missing, the warp is in its place.
    field(head, " - warp ")?.parse::<u64>().ok()?;
    let cta = dimensions(field(head, " - CTA ")?)?;
    Some(Access { launch, cta: Some(cta), opcode: opcode.trim(), pc: 0, addresses })
}
