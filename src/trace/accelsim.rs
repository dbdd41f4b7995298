//! Reading Accel-Sim's traces (`.trace`, `.traceg`), as NVBit's tracer writes them: versions 3 to
//! 5, grouped by thread block or not (docs/traces.md).

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::addresses::Addresses;
use super::block::NewLoad;
use super::error::ImportError;
use super::format::Kernel;
use super::groups::Groups;
use super::operation::Skipped;
use super::sink::{Known, Sink};
use super::tokens::{Tokens, number};
use crate::lane::{LANES, LaneMask};
use crate::lines::{LineError, Lines};

/// The versions of the tracer whose lines are read here.
#[derive(Clone, Copy)]
enum Version {
    V3,
    V4,
    V5,
}

/// No header has more lines; tracers write about 13.
const MAX_HEADER_LINES: usize = 1024;

const CTA: &str = "a thread block's number";

const VERSIONS: &str = "a version from 3 to 5";

/// Reads one trace into `sink`.
pub(super) fn read(
    input: impl BufRead,
    file: &Path,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let mut lines = Lines::new(input);
    let mut reader = Reader::new(file);
    while let Some(line) = lines.next_line() {
        let line = line.map_err(|error| line_error(file, error))?;
        reader.line = line.number;
        reader.read(line.text, sink)?;
    }
    if !lines.line_ended() {
        return Err(reader.error(0, "the last line has no line end: the file is cut off"));
    }
    reader.finish(sink)
}

pub(super) fn line_error(file: &Path, error: LineError) -> ImportError {
    match error {
        LineError::Io { source, .. } => ImportError::Read { file: file.to_owned(), source },
        other => ImportError::File { file: file.to_owned(), message: other.to_string() },
    }
}

struct Reader<'f> {
    file: &'f Path,
    /// The line being read, from 1.
    line: u64,
    kernel: Kernel,
    has_kernel: bool,
    /// The tracer's version. Without one the lines are read as those of version 4, whose
    /// immediates are optional.
    version: Version,
    /// Whether instructions begin with the number of a source line.
    has_line_numbers: bool,
    /// Whether there is a `#traces format` line, which ends the header.
    has_format: bool,
    /// Whether instructions are in `#BEGIN_TB` groups; else each says its thread block.
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
            return Err(self.error(0, "a header line behind instructions"));
        }
        if let Some(at) = text.find('\r') {
            let message =
                "a carriage return inside of a line; expected lines that end in `\\n` or `\\r\\n`";
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

    /// Returns a name of the trace as it is held once.
    fn hold(&self, name: &str, at: usize, sink: &mut Sink<'_>) -> Result<Arc<str>, ImportError> {
        sink.name(name).map_err(|error| self.error(at, error.to_string()))
    }

    /// Reads the decimal number that `value` begins with, as Accel-Sim does.
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
                        let message = "a thread block after instructions outside of one";
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

    /// `[source_line] PC mask ndst [Rd]* OPCODE nsrc [Rs]* width [mode addresses] [immediate]`,
    /// behind `ctax ctay ctaz warp` where instructions are not grouped.
    fn instruction(&mut self, text: &str, sink: &mut Sink<'_>) -> Result<(), ImportError> {
        if !self.has_kernel {
            self.begin_kernel(sink)?;
        }
        if self.is_grouped {
            self.groups.instruction().map_err(|message| self.error(0, message))?;
        }
        let mut tokens = Tokens { text: text.as_bytes(), at: 0 };
        if !self.is_grouped {
            self.place(&mut tokens)?;
        }
        if self.has_line_numbers {
            self.decimal(&mut tokens, "the number of a source line")?;
        }
        let pc = self.hex32(&mut tokens, "a hexadecimal PC of at most 32 bits")?;
        let mask = self.hex32(&mut tokens, "a hexadecimal lane mask of at most 32 bits")?;
        self.registers(&mut tokens)?;
        let opcode = self.name(&mut tokens, "an opcode")?;
        let opcode_at = tokens.at - opcode.len();
        self.registers(&mut tokens)?;
        let width = self.decimal(&mut tokens, "an access width in bytes")?;
        if width == 0 {
            self.end(&mut tokens, "the access width")?;
            return sink.skip(Skipped::Other);
        }
        let mask = LaneMask::from_bits(mask);
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        let operand = tokens.at + 1;
        let run = self.addresses(&mut tokens, mask, &mut list)?;
        self.end(&mut tokens, "the addresses")?;
        // The line is UTF-8 and tokens end at ASCII spaces.
        let known = sink.known(std::str::from_utf8(opcode).unwrap_or_default());
        match known.map_err(|refused| refused.at(|message| self.error(opcode_at, message)))? {
            Known::Skipped(kind) => sink.skip(kind)?,
            Known::NotReplayed(name) => sink.not_replayed(name, mask)?,
            Known::Load { operation, bytes } => {
                let addresses = match run {
                    Some((base, stride)) => Addresses::Stride { base, stride },
                    None if list.len() != mask.count() as usize => {
                        let message = "a stride over lanes before the guard: which of them begins it is unknown";
                        return Err(self.error(operand, message));
                    }
                    None => Addresses::shortest(&list, &mut self.deltas),
                };
                sink.load(&NewLoad {
                    pc,
                    mask,
                    operation,
                    addresses,
                    plg: None,
                    guard: None,
                    expected: &[],
                    width_disagrees: width != u64::from(bytes),
                })?;
            }
        }
        self.list = list;
        Ok(())
    }

    /// `ctax ctay ctaz warp`, the place of an instruction that is not grouped.
    fn place(&self, tokens: &mut Tokens<'_>) -> Result<(), ImportError> {
        let mut block = [0; 3];
        for at in &mut block {
            let token = self.next(tokens, CTA)?;
            let known = number(token, 10).and_then(|value| u32::try_from(value).ok());
            *at = known.ok_or_else(|| self.wrong(tokens, token, CTA))?;
        }
        let warp = self.decimal(tokens, "a warp's number")?;
        self.groups.check(block, warp).map_err(|message| self.error(0, message))
    }

    /// Reads an opcode or a register, which begin with a capital letter. What does not is another
    /// field: the line has more or fewer of them before this one than its version's lines have.
    #[inline]
    fn name<'t>(&self, tokens: &mut Tokens<'t>, expected: &str) -> Result<&'t [u8], ImportError> {
        let token = self.next(tokens, expected)?;
        if !token.first().is_some_and(u8::is_ascii_uppercase) {
            return Err(self.wrong(tokens, token, expected));
        }
        Ok(token)
    }

    fn registers(&self, tokens: &mut Tokens<'_>) -> Result<(), ImportError> {
        let count = self.decimal(tokens, "a number of registers")?;
        for _ in 0..count {
            self.name(tokens, "a register")?;
        }
        Ok(())
    }

    /// `mode addresses`: returns base and stride, or fills `list` with one address for each active
    /// lane; with none if which addresses are theirs is unknown.
    #[inline]
    fn addresses(
        &self,
        tokens: &mut Tokens<'_>,
        mask: LaneMask,
        list: &mut Vec<u64>,
    ) -> Result<Option<(u64, i64)>, ImportError> {
        let active = mask.count() as usize;
        const MODE: &str = "an address mode: 0, 1 or 2";
        let token = self.next(tokens, MODE)?;
        match number(token, 10) {
            Some(0) => {
                for _ in 0..active {
                    list.push(self.hex(tokens, "an address")?);
                }
            }
            Some(1) => {
                let base = self.hex(tokens, "a base address")?;
                let at = tokens.at;
                let stride = self.signed(tokens, "a stride")?;
                let is_v3 = matches!(self.version, Version::V3);
                if is_run(mask) && !(is_v3 && active == 1) || is_v3 && stride == 0 {
                    return Ok(Some((base, stride)));
                }
                if !is_v3 {
                    return Err(self.error(at + 1, "a stride, but the lanes are not a run"));
                }
                // Early tracers of version 3 wrote the stride of the lanes before the guard, of
                // which the mask is a part.
                if mask.contains(0) {
                    let address =
                        |lane: usize| base.wrapping_add_signed(stride.wrapping_mul(lane as i64));
                    list.extend(mask.lanes().map(address));
                }
            }
            Some(2) => {
                // The base is there even if no lane is active.
                let mut address = self.hex(tokens, "a base address")?;
                for i in 0..active {
                    if i > 0 {
                        address = address.wrapping_add_signed(self.signed(tokens, "a delta")?);
                    }
                    list.push(address);
                }
            }
            _ => return Err(self.wrong(tokens, token, MODE)),
        }
        Ok(None)
    }

    /// `[immediate]` and the end of the line. Version 5 always writes an immediate, some builds
    /// of version 4 do, version 3 does not.
    #[inline]
    fn end(&self, tokens: &mut Tokens<'_>, last: &str) -> Result<(), ImportError> {
        let Some(token) = tokens.next() else {
            return match self.version {
                Version::V3 | Version::V4 => Ok(()),
                Version::V5 => {
                    let message = format!("expected one decimal immediate after {last}");
                    Err(self.error(tokens.at, message))
                }
            };
        };
        let digits = token.strip_prefix(b"-").unwrap_or(token);
        let is_immediate = number(digits, 10).is_some() && tokens.clone().next().is_none();
        let expected = match self.version {
            Version::V3 => "the end of the line",
            _ if is_immediate => return Ok(()),
            Version::V4 => "the end of the line or one decimal immediate",
            Version::V5 => "one decimal immediate",
        };
        Err(self.wrong(tokens, token, &format!("{expected} after {last}")))
    }

    #[inline]
    fn next<'t>(&self, tokens: &mut Tokens<'t>, expected: &str) -> Result<&'t [u8], ImportError> {
        tokens.next().ok_or_else(|| self.error(tokens.at, format!("expected {expected}")))
    }

    #[inline]
    fn decimal(&self, tokens: &mut Tokens<'_>, expected: &str) -> Result<u64, ImportError> {
        let token = self.next(tokens, expected)?;
        number(token, 10).ok_or_else(|| self.wrong(tokens, token, expected))
    }

    #[inline]
    fn hex(&self, tokens: &mut Tokens<'_>, expected: &str) -> Result<u64, ImportError> {
        let token = self.next(tokens, expected)?;
        let digits = token.strip_prefix(b"0x").unwrap_or(token);
        number(digits, 16).ok_or_else(|| self.wrong(tokens, token, expected))
    }

    #[inline]
    fn hex32(&self, tokens: &mut Tokens<'_>, expected: &str) -> Result<u32, ImportError> {
        let token = self.next(tokens, expected)?;
        let digits = token.strip_prefix(b"0x").unwrap_or(token);
        number(digits, 16)
            .and_then(|value| u32::try_from(value).ok())
            .ok_or_else(|| self.wrong(tokens, token, expected))
    }

    #[inline]
    fn signed(&self, tokens: &mut Tokens<'_>, expected: &str) -> Result<i64, ImportError> {
        let token = self.next(tokens, expected)?;
        let value = match token.strip_prefix(b"-") {
            Some(digits) => number(digits, 10).and_then(|n| 0i64.checked_sub_unsigned(n)),
            None => number(token, 10).and_then(|n| i64::try_from(n).ok()),
        };
        value.ok_or_else(|| self.wrong(tokens, token, expected))
    }

    #[cold]
    fn wrong(&self, tokens: &Tokens<'_>, token: &[u8], expected: &str) -> ImportError {
        let shown = String::from_utf8_lossy(&token[..token.len().min(40)]).into_owned();
        self.error(tokens.at - token.len(), format!("{shown:?}; expected {expected}"))
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
        if !self.is_grouped {
            sink.end_is_unknown()?;
        }
        Ok(())
    }
}

/// Returns whether the lanes lie side by side. No lanes do.
fn is_run(mask: LaneMask) -> bool {
    let bits = mask.bits();
    let lowest = bits & bits.wrapping_neg();
    bits & bits.wrapping_add(lowest) == 0
}
