//! Reads Accel-Sim's traces (`.trace`, `.traceg`), as its NVBit tracer writes them: versions 3 to
//! 5, grouped by thread block or not (docs/traces.md).

mod fields;
mod groups;
mod in_parallel;
mod instruction;
mod line;
mod merge;
mod part;
mod pieces;
mod tokens;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::groups::{Groups, Mark};
use self::line::{Body, Version};
use self::part::read_mark;
use self::pieces::{Piece, Pieces};
use super::error::ImportError;
use super::format::{self, Format, Sign, first_line};
use super::sink::Sink;
use super::text::Text;
use crate::lines::Lines;
use crate::trace::binary::{Kernel, NO_END_MARK};

/// The most lines of a header; tracers write about 13.
const MAX_HEADER_LINES: usize = 1024;

const VERSIONS: &str = "a version from 3 to 5";

pub(super) const FORMAT: Format =
    Format { name: "an Accel-Sim trace", recognize, reader: format::Reader::Trace(read) };

fn recognize(start: &[u8]) -> Option<Sign> {
    let is_key = start.starts_with(b"-") && first_line(start).contains(&b'=');
    if start.starts_with(b"-kernel name") {
        Some(Sign::Certain)
    } else if is_key || start.starts_with(b"#traces format") {
        Some(Sign::Likely)
    } else {
        start.starts_with(b"-").then_some(Sign::Possible)
    }
}

fn read(
    input: &mut Text<'_>,
    file: &Path,
    threads: usize,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let mut lines = Lines::new(input);
    let mut reader = Reader::new(file);
    while let Some(line) = lines.next_line() {
        let line = line.map_err(|error| ImportError::in_lines(file, error))?;
        reader.line = line.number;
        if line.text.starts_with(|first: char| first.is_ascii_hexdigit()) {
            let first = Piece::of_line(line.text.as_bytes(), line.number, line.offset);
            return reader.body(first, lines, threads, sink);
        }
        reader.read(line.text, sink)?;
    }
    reader.end(!lines.line_ended(), sink)
}

/// Reads a header, and thread blocks before the first instruction.
struct Reader<'f> {
    file: &'f Path,
    /// The line being read, from 1.
    line: u64,
    kernel: Kernel,
    has_kernel: bool,
    /// The tracer's version. If the header has none, lines are read as version 4, whose immediates
    /// are optional.
    version: Version,
    has_line_numbers: bool,
    /// Whether there is a `#traces format` line, which ends the header.
    has_format: bool,
    is_grouped: bool,
    groups: Groups,
}

impl<'f> Reader<'f> {
    fn new(file: &'f Path) -> Self {
        Self {
            file,
            line: 0,
            kernel: Kernel::default(),
            has_kernel: false,
            version: Version::V4,
            has_line_numbers: false,
            has_format: false,
            is_grouped: false,
            groups: Groups::default(),
        }
    }

    fn error(&self, column: usize, message: impl Into<String>) -> ImportError {
        let (file, line) = (PathBuf::from(self.file), self.line);
        ImportError::Line { file, line, column: column + 1, message: message.into() }
    }

    /// Reads a line that is not an instruction.
    fn read(&mut self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        if text.starts_with('-') {
            return self.header(text, sink);
        }
        self.has_format |= text.starts_with("#traces format");
        let mark = read_mark(text).map_err(|(column, message)| self.error(column, message))?;
        let Some(mark) = mark else { return Ok(()) };
        if let Mark::Begin = mark
            && !self.is_grouped
        {
            self.is_grouped = true;
            self.groups = Groups::of(&self.kernel);
        }
        self.groups.take(mark).map_err(|message| self.error(0, message))
    }

    /// Reads the rest of a file, whose first instruction is `first`.
    fn body(
        mut self,
        first: Piece,
        lines: Lines<&mut Text<'_>>,
        threads: usize,
        sink: &mut Sink<'_>,
    ) -> Result<(), ImportError> {
        self.begin_kernel(sink)?;
        let body = Body {
            file: self.file,
            version: self.version,
            has_line_numbers: self.has_line_numbers,
            is_grouped: self.is_grouped,
            bounds: self.groups.bounds,
            is_spa5: sink.is_spa5(),
        };
        let is_cut = !lines.line_ended();
        let (line, offset) = (first.line + 1, lines.offset());
        let mut pieces = Pieces::new(lines.into_inner(), line, offset);
        in_parallel::read(&body, first, &mut pieces, threads, |piece, part| {
            merge::merge(&body, piece, part, &mut self.groups, sink)
        })?;
        self.line = pieces.last_line();
        self.end(is_cut || pieces.is_cut(), sink)
    }

    /// `-key = value`
    fn header(&mut self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        if let Some(at) = text.find('\r') {
            let message =
                "a carriage return inside a line; expected lines that end in `\\n` or `\\r\\n`";
            return Err(self.error(at, message));
        }
        let Some((key, value)) = text[1..].split_once('=') else {
            return Err(self.error(0, "expected `-key = value`"));
        };
        let (key, value) = (key.trim(), value.trim());
        let at = text.trim_end().len() - value.len();
        match key {
            "kernel name" => self.kernel.name = self.hold(value, at, sink)?,
            "grid dim" => self.kernel.grid = self.dimensions(value, at)?,
            "block dim" => self.kernel.block = self.dimensions(value, at)?,
            "shmem base_addr" => self.kernel.shared_base = Some(self.hexadecimal(value, at)?),
            "local mem base_addr" => self.kernel.local_base = Some(self.hexadecimal(value, at)?),
            "accelsim tracer version" => self.read_version(value, at)?,
            "enable lineinfo" => {
                self.has_line_numbers = match value {
                    "0" => false,
                    "1" => true,
                    _ => return Err(self.error(at, "expected 0 or 1")),
                };
            }
            _ => {}
        }
        if self.kernel.header.len() == MAX_HEADER_LINES {
            return Err(self.error(0, format!("more than {MAX_HEADER_LINES} header lines")));
        }
        let line = (self.hold(key, 1, sink)?, self.hold(value, at, sink)?);
        self.kernel.header.push(line);
        Ok(())
    }

    /// Returns the name that the whole file shares.
    fn hold(&self, name: &str, at: usize, sink: &mut Sink<'_>) -> Result<Arc<str>, ImportError> {
        sink.name(name).map_err(|error| self.error(at, error.to_string()))
    }

    /// Reads the decimal number at the start of `value`, as Accel-Sim does.
    fn read_version(&mut self, value: &str, at: usize) -> Result<(), ImportError> {
        let digits = value.bytes().take_while(u8::is_ascii_digit).count();
        self.version = match &value[..digits] {
            "3" => Version::V3,
            "4" => Version::V4,
            "5" => Version::V5,
            _ => {
                let shown: String = value.chars().take(20).collect();
                let message = format!("tracer version {shown:?}; expected {VERSIONS}");
                return Err(self.error(at, message));
            }
        };
        Ok(())
    }

    /// `(x,y,z)`
    fn dimensions(&self, value: &str, at: usize) -> Result<[u32; 3], ImportError> {
        let inner = value.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let numbers: Option<Vec<u32>> =
            inner.and_then(|inner| inner.split(',').map(|n| n.trim().parse().ok()).collect());
        numbers
            .and_then(|numbers| <[u32; 3]>::try_from(numbers).ok())
            .ok_or_else(|| self.error(at, "expected `(x,y,z)`"))
    }

    fn hexadecimal(&self, value: &str, at: usize) -> Result<u64, ImportError> {
        let digits = value.strip_prefix("0x").unwrap_or(value);
        u64::from_str_radix(digits, 16)
            .map_err(|_| self.error(at, "expected a hexadecimal number of at most 64 bits"))
    }

    /// Begins the kernel, whose header was read.
    fn begin_kernel(&mut self, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        let header = &mut self.kernel.header.iter();
        if let Some((_, version)) = header.find(|(key, _)| &**key == "accelsim tracer version") {
            sink.tool(format!("Accel-Sim tracer {version}"))?;
        } else {
            sink.note("no tracer version in the header: read as version 4".to_owned())?;
        }
        self.has_kernel = true;
        if !self.is_grouped {
            self.groups = Groups::of(&self.kernel);
        }
        sink.kernel(std::mem::take(&mut self.kernel))?;
        if self.is_grouped {
            sink.place(Some(self.groups.place()));
        }
        Ok(())
    }

    /// Ends the file, whose last line may have no end.
    fn end(mut self, is_cut: bool, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        if is_cut {
            return Err(self.error(0, "the last line has no line end: the file is cut off"));
        }
        if self.groups.is_open() {
            return Err(self.error(0, "the file ends inside a thread block; expected `#END_TB`"));
        }
        if !self.has_kernel {
            if !self.has_format {
                let message = "no instruction and no `#traces format` line: the file ends in its \
                               header";
                return Err(self.error(0, message));
            }
            self.begin_kernel(sink)?;
        }
        let unknown = if self.is_grouped { self.groups.unknown_end() } else { Some(NO_END_MARK) };
        unknown.map_or(Ok(()), |note| sink.end_is_unknown(note))
    }
}
