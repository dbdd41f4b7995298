//! [`Header`]: the lines before the instructions of an Accel-Sim trace.

use std::sync::Arc;

use super::version::Version;
use crate::binary::Kernel;
use crate::import::sink::Sink;

/// The most lines of a header; tracers write about 13.
const MAX_LINES: usize = 1024;

/// The keys without which instructions cannot be read.
const NEEDED: [&str; 4] = ["kernel name", "grid dim", "block dim", VERSION];
const VERSION: &str = "accelsim tracer version";

/// The lines so far.
#[derive(Default)]
pub(super) struct Header {
    kernel: Kernel,
    version: Option<Version>,
    has_line_numbers: bool,
}

/// What the lines say.
pub(super) struct HeaderContents {
    pub(super) kernel: Kernel,
    pub(super) version: Version,
    /// Whether the number of a source line comes before each program counter.
    pub(super) has_line_numbers: bool,
    /// The tool that wrote the file.
    pub(super) tool: String,
}

/// A column, from 0, and what is wrong there.
type Wrong = (usize, String);

impl Header {
    /// Reads a line, `-key = value`.
    pub(super) fn read(&mut self, text: &str, sink: &mut Sink<'_>) -> Result<(), Wrong> {
        if let Some(at) = text.find('\r') {
            let message =
                "a carriage return inside a line; expected lines that end in `\\n` or `\\r\\n`";
            return Err((at, message.to_owned()));
        }
        let Some((key, value)) = text[1..].split_once('=') else {
            return Err((0, "expected `-key = value`".to_owned()));
        };
        let (key, value) = (key.trim(), value.trim());
        let at = text.trim_end().len() - value.len();
        let wrong = |message: String| (at, message);
        if NEEDED.contains(&key) && self.has(key) {
            return Err((0, format!("`-{key}` for the second time: a file holds one kernel")));
        }
        let held = sink.name(value).map_err(|error| wrong(error.to_string()))?;
        match key {
            "kernel name" => self.kernel.name = Arc::clone(&held),
            "grid dim" => self.kernel.grid = dimensions(value).map_err(wrong)?,
            "block dim" => self.kernel.block = dimensions(value).map_err(wrong)?,
            "shmem base_addr" => {
                self.kernel.shared_base = Some(hexadecimal(value).map_err(wrong)?);
            }
            "local mem base_addr" => {
                self.kernel.local_base = Some(hexadecimal(value).map_err(wrong)?);
            }
            VERSION => self.version = Some(version(value).map_err(wrong)?),
            "enable lineinfo" => {
                self.has_line_numbers = match value {
                    "0" => false,
                    "1" => true,
                    _ => return Err(wrong("expected 0 or 1".to_owned())),
                };
            }
            _ => {}
        }
        if self.kernel.header.len() == MAX_LINES {
            return Err((0, format!("more than {MAX_LINES} header lines")));
        }
        let key = sink.name(key).map_err(|error| (1, error.to_string()))?;
        self.kernel.header.push((key, held));
        Ok(())
    }

    fn value(&self, key: &str) -> Option<&str> {
        let lines = &mut self.kernel.header.iter();
        lines.find(|(other, _)| &**other == key).map(|(_, value)| &**value)
    }

    fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// Ends the header.
    pub(super) fn end(&mut self) -> Result<HeaderContents, String> {
        if let Some(missing) = NEEDED.iter().find(|key| !self.has(key)) {
            let needed = NEEDED.map(|key| format!("`-{key} = …`")).join(", ");
            return Err(format!("the header has no `-{missing} = …`; expected {needed}"));
        }
        let tool = format!("Accel-Sim tracer {}", self.value(VERSION).unwrap_or_default());
        let Self { kernel, version, has_line_numbers } = std::mem::take(self);
        let version = version.ok_or("the header has no version")?;
        let has_line_numbers = has_line_numbers && version.has_line_numbers;
        Ok(HeaderContents { kernel, version, has_line_numbers, tool })
    }
}

/// Reads the decimal number at the start of a version, as Accel-Sim does.
fn version(value: &str) -> Result<Version, String> {
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let known = value[..digits].parse().ok().and_then(Version::of_number);
    known.ok_or_else(|| {
        let shown: String = value.chars().take(20).collect();
        format!("tracer version {shown:?}; expected {}", Version::EXPECTED)
    })
}

/// `(x,y,z)`
fn dimensions(value: &str) -> Result<[u32; 3], String> {
    let inner = value.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let numbers: Option<Vec<u32>> =
        inner.and_then(|inner| inner.split(',').map(|n| n.trim().parse().ok()).collect());
    numbers
        .and_then(|numbers| <[u32; 3]>::try_from(numbers).ok())
        .ok_or_else(|| "expected `(x,y,z)`".to_owned())
}

fn hexadecimal(value: &str) -> Result<u64, String> {
    u64::from_str_radix(value.strip_prefix("0x").unwrap_or(value), 16)
        .map_err(|_| "expected a hexadecimal number of at most 64 bits".to_owned())
}
