//! Reads Accel-Sim's traces (`.trace`, `.traceg`), as its NVBit tracer writes them: versions 3 to
//! 5, grouped by thread block or not (docs/traces.md).

mod groups;
mod instruction;
mod tokens;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::groups::Groups;
use super::error::ImportError;
use super::format::{self, Format, Sign, first_line};
use super::sink::Sink;
use super::text::Text;
use crate::lane::LANES;
use crate::lines::Lines;
use crate::trace::binary::{Kernel, NO_END_MARK};

/// The versions of the tracer whose lines are known.
#[derive(Clone, Copy)]
enum Version {
    V3,
    V4,
    V5,
}

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

fn read(input: &mut Text<'_>, file: &Path, sink: &mut Sink<'_>) -> Result<(), ImportError> {
    let mut lines = Lines::new(input);
    let mut reader = Reader::new(file);
    while let Some(line) = lines.next_line() {
        let line = line.map_err(|error| ImportError::in_lines(file, error))?;
        reader.line = line.number;
        reader.read(line.text, sink)?;
    }
    if !lines.line_ended() {
        return Err(reader.error(0, "the last line has no line end: the file is cut off"));
    }
    reader.finish(sink)
}

struct Reader<'f> {
    file: &'f Path,
    /// The line being read, from 1.
    line: u64,
    kernel: Kernel,
    has_kernel: bool,
    /// The tracer's version. If the header has none, lines are read as version 4, whose immediates
    /// are optional.
    version: Version,
    /// Whether instructions begin with the number of a source line.
    has_line_numbers: bool,
    /// Whether there is a `#traces format` line, which ends the header.
    has_format: bool,
    /// Whether instructions are in `#BEGIN_TB` groups; otherwise each names its thread block.
    is_grouped: bool,
    groups: Groups,
    /// Room for the addresses of one load.
    list: Vec<u64>,
    deltas: Vec<i32>,
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
            list: Vec::with_capacity(LANES),
            deltas: Vec::with_capacity(LANES),
        }
    }

    fn error(&self, column: usize, message: impl Into<String>) -> ImportError {
        let (file, line) = (PathBuf::from(self.file), self.line);
        ImportError::Line { file, line, column: column + 1, message: message.into() }
    }

    #[inline]
    fn read(&mut self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        match text.as_bytes().first() {
            None => Ok(()),
            Some(byte) if byte.is_ascii_hexdigit() => self.instruction(text, sink),
            Some(b'-') => self.header(text, sink),
            Some(b'#') => self.mark(text),
            Some(b't' | b'w' | b'i') if self.is_group_line(text)? => Ok(()),
            _ if text.trim().is_empty() => Ok(()),
            _ => Err(self.error(0, "expected a header line, a group line or an instruction")),
        }
    }

    /// `-key = value`
    fn header(&mut self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        if self.has_kernel {
            return Err(self.error(0, "a header line after instructions"));
        }
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

    /// `#traces format = …`, `#BEGIN_TB`, `#END_TB`
    fn mark(&mut self, text: &str) -> Result<(), ImportError> {
        match text.trim_end() {
            "#BEGIN_TB" => {
                if !self.is_grouped {
                    if self.has_kernel {
                        let message = "a thread block after instructions outside one";
                        return Err(self.error(0, message));
                    }
                    self.is_grouped = true;
                    self.groups = Groups::of(&self.kernel);
                }
                self.groups.begin()
            }
            "#END_TB" => self.groups.end(),
            other => {
                self.has_format |= other.starts_with("#traces format");
                Ok(())
            }
        }
        .map_err(|message| self.error(0, message))
    }

    /// `thread block = x,y,z`, `warp = n`, `insts = k`
    fn is_group_line(&mut self, text: &str) -> Result<bool, ImportError> {
        let Some((key, value)) = text.split_once(" = ") else { return Ok(false) };
        let at = key.len() + " = ".len();
        let value = value.trim();
        let number = |expected: &str| value.parse().map_err(|_| self.error(at, expected));
        let known = match key {
            "thread block" => {
                let numbers: Option<Vec<u32>> = value.split(',').map(|n| n.parse().ok()).collect();
                let place = numbers.and_then(|numbers| <[u32; 3]>::try_from(numbers).ok());
                let place = place.ok_or_else(|| self.error(at, "expected `x,y,z`"))?;
                self.groups.block(place)
            }
            "warp" => self.groups.warp(number("expected a warp's number")?),
            "insts" => self.groups.instructions(number("expected a number of instructions")?),
            _ => return Ok(false),
        };
        known.map(|()| true).map_err(|message| self.error(0, message))
    }

    fn begin_kernel(&mut self, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        if !self.kernel.header.iter().any(|(key, _)| &**key == "accelsim tracer version") {
            sink.note("no tracer version in the header: read as version 4".to_owned())?;
        }
        self.has_kernel = true;
        if !self.is_grouped {
            self.groups = Groups::of(&self.kernel);
        }
        sink.kernel(std::mem::take(&mut self.kernel)).map(drop)
    }

    fn finish(mut self, sink: &mut Sink<'_>) -> Result<(), ImportError> {
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
