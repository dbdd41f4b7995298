//! [`Text`]: the text of a file, decompressed.

use std::io::{self, BufReader, Cursor, Read};

use super::event::ImportEvent;
use super::xz::XzReader;
use crate::file_kind::FileKind;

/// What readers of text traces read.
pub(super) type Text<'o> = BufReader<Box<dyn Read + Send + 'o>>;

/// How many bytes are read at once.
const BUFFER: usize = 1 << 16;

/// How many bytes tell the format of a trace. A program can print much before its first record.
const START: usize = 1 << 20;

/// A text that was opened.
pub(super) struct Opened<'o> {
    /// How it begins.
    pub(super) start: Vec<u8>,
    /// Why `start` ends early. Reading `text` returns it again, so that readers know the line.
    pub(super) failed: Option<io::Error>,
    /// All of it.
    pub(super) text: Text<'o>,
    pub(super) is_compressed: bool,
}

/// Opens the text of `input`, which may be compressed.
pub(super) fn open<'o>(
    input: impl Read + Send + 'o,
    observe: &'o (dyn Fn(ImportEvent<'_>) + Sync),
) -> io::Result<Opened<'o>> {
    let (start, raw) = peek(Observed { input, observe }, FileKind::DETECT_BYTES);
    let is_compressed = FileKind::detect(&start) == Some(FileKind::Xz);
    let plain: Box<dyn Read + Send + 'o> = if is_compressed {
        Box::new(XzReader::new(BufReader::with_capacity(BUFFER, raw))?)
    } else {
        Box::new(raw)
    };
    let (start, plain) = peek(plain, START);
    let failed = plain.failed.as_ref().map(|error| io::Error::new(error.kind(), error.to_string()));
    Ok(Opened {
        start,
        failed,
        text: BufReader::with_capacity(BUFFER, Box::new(plain)),
        is_compressed,
    })
}

/// An input whose reading is observed.
struct Observed<'o, R> {
    input: R,
    observe: &'o (dyn Fn(ImportEvent<'_>) + Sync),
}

impl<R: Read> Read for Observed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        (self.observe)(ImportEvent::Read(read as u64));
        Ok(read)
    }
}

/// An input whose first bytes were read.
struct Peeked<R> {
    start: Cursor<Vec<u8>>,
    /// The error after them. It is returned once they are read, so that readers know the place.
    failed: Option<io::Error>,
    input: R,
}

/// Returns up to `count` bytes, and the input including them. Reads repeatedly, since one read of a
/// pipe may return less than a line.
fn peek<R: Read>(mut input: R, count: usize) -> (Vec<u8>, Peeked<R>) {
    let mut start = Vec::new();
    let failed = input.by_ref().take(count as u64).read_to_end(&mut start).err();
    (start.clone(), Peeked { start: Cursor::new(start), failed, input })
}

impl<R: Read> Read for Peeked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.start.read(buffer)?;
        if read > 0 || buffer.is_empty() {
            return Ok(read);
        }
        self.failed.take().map_or_else(|| self.input.read(buffer), Err)
    }
}
