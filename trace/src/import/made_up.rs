//! A made-up format for tests. The rest of the import knows it only by its row in `formats.rs`.

use std::io::BufRead;
use std::path::Path;

use super::error::ImportError;
use super::formats::{Format, FormatReader, Sign};
use super::sink::Sink;
use super::text::Text;
use crate::binary::{Kernel, NewRecord, RecordAddresses};
use warpload::lane::LaneMask;

pub(super) const FORMAT: Format =
    Format { name: "a made-up trace", recognize, reader: FormatReader::Trace(read) };

fn recognize(start: &[u8]) -> Option<Sign> {
    start.starts_with(b"made up:").then_some(Sign::Certain)
}

/// Each line after the first is the opcode of a load of lane 0 from address 0x100.
fn read(
    input: &mut Text<'_>,
    file: &Path,
    _threads: usize,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    sink.kernel(Kernel::default())?;
    for (number, line) in (1..).zip(input.lines()).skip(1) {
        let wrong = |message: String| ImportError::Line {
            file: file.to_owned(),
            line: number,
            column: 1,
            message,
        };
        let line = line.map_err(|error| wrong(error.to_string()))?;
        let operation = sink.operation(&line).map_err(|refused| refused.at(wrong))?.number;
        let addresses = RecordAddresses::Stride { base: 0x100, stride: 0 };
        sink.record(&NewRecord::new(0, LaneMask::from_bits(1), operation, addresses))?;
    }
    Ok(())
}
