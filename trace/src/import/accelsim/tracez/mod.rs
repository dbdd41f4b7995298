//! Reads Accel-Sim's `.tracez`: the instructions of a grouped trace in zstd frames, with an index at the
//! end. They are read as the text that they were made from ([`text::Grouped`]), so that there is one
//! reader of lines.

mod bytes;
mod frames;
mod text;
mod walk;

use std::io::BufReader;
use std::path::Path;

use self::bytes::{Bytes, Fault};
use self::text::{Failure, Grouped, Origin, origin};
use self::walk::{Parts, Walk};
use super::groups::{Bounds, Mark};
use super::reader::AccelSimReader;
use super::reader::Header;
use crate::import::error::ImportError;
use crate::import::formats::{Format, FormatReader, Sign};
use crate::import::sink::Sink;
use crate::import::text::{Text, read_ahead};

/// The most bytes of a header.
const MAX_HEADER: u64 = 1 << 20;

/// How many bytes of text are read at once.
const BUFFER: usize = 1 << 16;

pub(in crate::import) const FORMAT: Format =
    Format { name: "a .tracez of Accel-Sim", recognize, reader: FormatReader::Trace(read) };

fn recognize(start: &[u8]) -> Option<Sign> {
    let has_zero = || memchr::memchr(0, start).is_some();
    (start.starts_with(b"-kernel name") && has_zero()).then_some(Sign::Certain)
}

fn read(
    input: &mut Text<'_>,
    file: &Path,
    threads: usize,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let unreadable = |source| ImportError::Read { file: file.to_owned(), source };
    let bytes = Bytes::of(input).map_err(unreadable)?;
    let mut header = vec![0; bytes.len().min(MAX_HEADER + 1) as usize];
    bytes.read(0, &mut header).map_err(unreadable)?;
    let end = memchr::memchr(0, &header).ok_or_else(|| {
        fault(file, Fault::At(0, format!("expected a header of at most {MAX_HEADER} bytes")))
    })?;
    header.truncate(end);
    let bounds = read_header(&header, file, sink)?;
    let walk = |has_texts| {
        let parts = Parts::of(&bytes, end as u64)?;
        Walk::new(&bytes, &parts, bounds, has_texts)
    };
    let failure = Failure::default();
    let lines = memchr::memchr_iter(b'\n', &header).count() as u64;
    let grouped =
        Grouped::new(header, walk(true).map_err(|error| fault(file, error))?, failure.clone());
    let read = std::thread::scope(|scope| {
        let mut text: Text<'_> = BufReader::with_capacity(BUFFER, Box::new(grouped));
        if threads > 1 {
            text = read_ahead(text, scope).map_err(unreadable)?;
        }
        AccelSimReader::of_whole(file).read(&mut text, threads, sink)
    });
    read.map_err(|error| match error {
        ImportError::Line { line, column, message, .. } if line > lines => {
            // What was read once is valid.
            let origin = walk(false).and_then(|walk| origin(walk, line - lines));
            match origin {
                Ok(Some(Origin::Frame(offset, line))) => fault(
                    file,
                    Fault::At(
                        offset,
                        format!("line {line} of the frame's text, column {column}: {message}"),
                    ),
                ),
                Ok(Some(Origin::Index(offset))) => fault(file, Fault::At(offset, message)),
                Ok(None) => fault(file, Fault::At(bytes.len(), message)),
                Err(error) => fault(file, error),
            }
        }
        ImportError::Read { .. } => failure.take().map_or(error, |error| fault(file, error)),
        other => other,
    })
}

fn fault(file: &Path, fault: Fault) -> ImportError {
    let file = file.to_owned();
    match fault {
        Fault::At(offset, message) => {
            ImportError::File { file, message: format!("byte offset {offset}: {message}") }
        }
        Fault::Io(source) => ImportError::Read { file, source },
    }
}

/// Returns what the header says that the index has room for.
fn read_header(text: &[u8], file: &Path, sink: &mut Sink<'_>) -> Result<Bounds, ImportError> {
    let mut header = Header::default();
    let mut number = 0;
    let error = |line, (column, message)| ImportError::Line {
        file: file.to_owned(),
        line,
        column: column + 1,
        message,
    };
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        number += 1;
        let Some(line) =
            line.strip_suffix(b"\n").map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        else {
            return Err(error(number, (0, "no line end before the header's end".to_owned())));
        };
        let line = std::str::from_utf8(line)
            .map_err(|wrong| error(number, (wrong.valid_up_to(), "not UTF-8".to_owned())))?;
        if line.starts_with('-') {
            header.read(line, sink).map_err(|wrong| error(number, wrong))?;
        } else if !matches!(Mark::read(line), Ok(None)) {
            let message = "expected a header line, `#traces format` or an empty line";
            return Err(error(number, (0, message.to_owned())));
        }
    }
    let contents = header.end().map_err(|message| error(number, (0, message)))?;
    Ok(Bounds::of(&contents.kernel))
}
