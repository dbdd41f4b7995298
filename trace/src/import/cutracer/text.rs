//! Reads CUTracer's text log. A record is a line that begins with `CTX`, some indented lines, and an empty line.

use std::path::Path;

use memchr::memmem;

use super::line::opcode;
use super::{TOOL, add_notes};
use crate::binary::{NewRecord, WarpPosition};
use crate::import::error::ImportError;
use crate::import::formats::{Format, FormatReader, Sign, first_line};
use crate::import::interner::Refused;
use crate::import::logs::{LaunchId, Launches, Unmasked, decimal, dimensions, hexadecimal};
use crate::import::sink::Sink;
use crate::import::text::Text;
use warpload::lane::LANES;
use warpload_binary::lines::Lines;

pub(in crate::import) const FORMAT: Format =
    Format { name: "CUTracer's text log", recognize, reader: FormatReader::Trace(read) };

/// Records of registers have a `CTA` but no launch id.
fn recognize(start: &[u8]) -> Option<Sign> {
    let line = first_line(start);
    let has = |key: &[u8]| memmem::find(line, key).is_some();
    let is_one = line.starts_with(b"CTX 0x") && (has(b" - kernel_launch_id ") || has(b" - CTA "));
    is_one.then_some(Sign::Certain)
}

fn read(
    input: &mut Text<'_>,
    file: &Path,
    _threads: usize,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    sink.tool(TOOL.to_owned())?;
    let mut reader = Reader { sink, launches: Launches::default(), lanes: Unmasked::default() };
    let (mut within, mut header, mut records) = (Within::Nothing, Header::default(), 0);
    let mut addresses = [0; LANES];
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next_line() {
        let line = line.map_err(|error| ImportError::in_lines(file, error))?;
        let (number, text) = (line.number, line.text);
        let at = |line, column, message: String| {
            Err(ImportError::Line { file: file.to_owned(), line, column, message })
        };
        let is_end = text.is_empty();
        let is_header = text.starts_with("CTX ") && !matches!(within, Within::Addresses(_));
        match &mut within {
            _ if is_header => {
                header.set(number, text);
                within = Within::Header;
            }
            Within::Header if text == "  Memory Addresses:" => {
                addresses = [0; LANES];
                within = Within::Addresses(List::default());
            }
            Within::Addresses(list) if is_end && list.may_end() => {
                let Some(access) = Access::of(&header.text) else {
                    return at(header.line, 1, format!("expected {EXPECTED}"));
                };
                let read = reader.access(&access, &addresses);
                read.map_err(|refused| {
                    let (file, line) = (file.to_owned(), header.line);
                    refused.at(|message| ImportError::Line { file, line, column: 1, message })
                })?;
                records += 1;
                within = Within::Nothing;
            }
            Within::Addresses(list) => {
                if let Err((before, message)) = list.add(text, &mut addresses) {
                    return at(number, before + 1, message.to_owned());
                }
            }
            Within::Header | Within::Other if is_register(text) => within = Within::Other,
            Within::Header | Within::Other | Within::Nothing if is_end => within = Within::Nothing,
            Within::Nothing => {
                return at(number, 1, "expected a line that begins with `CTX 0x`".to_owned());
            }
            _ => return at(number, 1, "expected `  Memory Addresses:` or registers".to_owned()),
        }
        if !lines.line_ended() {
            return Err(ImportError::cut_off(file, number, 1));
        }
    }
    // A record of just an opcode is a single line without a final colon.
    let is_whole = match within {
        Within::Nothing => true,
        Within::Header => !header.text.trim_end().ends_with(':'),
        Within::Addresses(_) | Within::Other => false,
    };
    if !is_whole {
        let message = "the file ends inside this record: it is cut off".to_owned();
        return Err(ImportError::Line {
            file: file.to_owned(),
            line: header.line,
            column: 1,
            message,
        });
    }
    add_notes(reader.sink, records)
}

const EXPECTED: &str = "`CTX 0x… - kernel_launch_id N - CTA x,y,z - warp W - PC N - SASS:`";

/// The context of the next line.
enum Within {
    Nothing,
    /// A record after its first line.
    Header,
    Addresses(List),
    /// A record to be skipped.
    Other,
}

/// The first line of a record.
#[derive(Default)]
struct Header {
    line: u64,
    text: String,
}

impl Header {
    fn set(&mut self, line: u64, text: &str) {
        self.line = line;
        self.text.clear();
        self.text.push_str(text);
    }
}

/// The contents of a record's first line.
struct Access<'t> {
    launch: LaunchId,
    cta: [u32; 3],
    pc: u32,
    opcode: &'t str,
}

impl<'t> Access<'t> {
    fn of(header: &'t str) -> Option<Self> {
        let rest = header.strip_prefix("CTX 0x")?;
        let (context, rest) = rest.split_once(" - kernel_launch_id ")?;
        let (launch, rest) = rest.split_once(" - CTA ")?;
        let (cta, rest) = rest.split_once(" - warp ")?;
        let (warp, rest) = rest.split_once(" - PC ")?;
        let (pc, sass) = rest.split_once(" - ")?;
        let context = Some(hexadecimal(context)?);
        decimal::<u32>(warp)?;
        Some(Self {
            launch: LaunchId { context, number: decimal(launch)? },
            cta: dimensions(cta)?,
            pc: decimal(pc)?,
            opcode: opcode(sass.strip_suffix(':')?)?,
        })
    }
}

/// Whether a line has a register's values.
fn is_register(line: &str) -> bool {
    line.starts_with("  * R") || line.starts_with("  * U")
}

/// The number of addresses on each line but the last.
const ON_LINE: u32 = 4;

/// A record's list of addresses. Lanes ascend; lanes without an address are omitted.
#[derive(Default)]
struct List {
    /// The lane of the last address.
    last: Option<usize>,
    lines: u32,
    /// The number of addresses on the last line.
    on_line: u32,
}

impl List {
    /// Whether the list may end here. After a full line another one follows, unless lane 31 was listed.
    fn may_end(&self) -> bool {
        self.lines > 0 && (self.on_line < ON_LINE || self.last == Some(LANES - 1))
    }

    /// Adds the addresses of a line.
    ///
    /// # Errors
    /// Returns the column, from 0, and the message.
    fn add(
        &mut self,
        line: &str,
        addresses: &mut [u64; LANES],
    ) -> Result<(), (usize, &'static str)> {
        let (is_first, start) = (self.lines == 0, if self.lines == 0 { "  * " } else { "    " });
        let Some(mut rest) = line.strip_prefix(start) else {
            return Err((0, "expected `  * ` or, after four addresses, four spaces"));
        };
        if !is_first && self.on_line != ON_LINE {
            return Err((0, "expected four addresses on the line before"));
        }
        (self.lines, self.on_line) = (self.lines + 1, 0);
        while !rest.is_empty() {
            let at = line.len() - rest.len();
            let one = rest.split_once(' ').and_then(|(lane, rest)| {
                let lane: usize = decimal(lane.strip_prefix('T')?.strip_suffix(':')?)?;
                // A space after the last address is optional.
                let (address, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                Some((lane, hexadecimal(address.strip_prefix("0x")?)?, rest))
            });
            let Some((lane, address, after)) = one.filter(|_| self.on_line < ON_LINE) else {
                return Err((at, "expected `T00: 0x…`, an address of 64 bits, four on a line"));
            };
            let is_next = self.last.is_none_or(|last| last < lane);
            match addresses.get_mut(lane) {
                Some(place) if is_next => *place = address,
                _ => return Err((at, "expected lanes from 0 to 31, ascending")),
            }
            (self.last, self.on_line, rest) = (Some(lane), self.on_line + 1, after);
        }
        Ok(())
    }
}

struct Reader<'r, 's> {
    sink: &'r mut Sink<'s>,
    launches: Launches,
    lanes: Unmasked,
}

impl Reader<'_, '_> {
    /// Adds an access without its warp: the log has the warp's number in the grid, but not the grid's shape.
    fn access(&mut self, access: &Access<'_>, addresses: &[u64; LANES]) -> Result<(), Refused> {
        let sink = &mut *self.sink;
        self.launches.select(sink, access.launch, None)?;
        sink.place(WarpPosition { cta: Some(access.cta), ..WarpPosition::default() });
        let operation = sink.operation(access.opcode)?.number;
        let (mask, addresses) = self.lanes.active(addresses);
        Ok(sink.record(&NewRecord::new(access.pc, mask, operation, addresses))?)
    }
}
