//! Reads Accel-Sim's traces (`.trace`, `.traceg`, `.tracez`) as its NVBit tracer writes them, in versions 1.2 to 6,
//! grouped by thread block or not (docs/trace-inputs.md).

mod eight;
mod groups;
mod line;
mod pieces;
mod reader;
mod scan;
mod tracez;

use std::path::Path;

use self::reader::AccelSimReader;
pub(super) use self::tracez::FORMAT as TRACEZ_FORMAT;
use super::error::ImportError;
use super::formats::{Format, FormatReader, Sign, first_line};
use super::sink::Sink;
use super::text::Text;

pub(super) const FORMAT: Format =
    Format { name: "an Accel-Sim trace", recognize, reader: FormatReader::Trace(read) };

fn recognize(start: &[u8]) -> Option<Sign> {
    let is_key = start.starts_with(b"-") && first_line(start).windows(3).any(|part| part == b" = ");
    if start.starts_with(b"-kernel name") {
        Some(Sign::Certain)
    } else {
        (is_key || start.starts_with(b"#traces format")).then_some(Sign::Likely)
    }
}

fn read(
    input: &mut Text<'_>,
    file: &Path,
    threads: usize,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    AccelSimReader::new(file).read(input, threads, sink)
}
