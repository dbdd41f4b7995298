//! [`Text`]: the decompressed text of a file.

use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ImportEvent;
use super::compressed::{self, Decompressed, FileCompression};
use warpload_binary::file_kind::FileKind;

/// The input of all readers of text traces.
pub(super) type Text<'o> = BufReader<Box<dyn Read + Send + 'o>>;

/// The bytes of one read.
const BUFFER: usize = 1 << 16;

/// The bytes in which the format is recognized. A program can print much before its first record.
const START: usize = 1 << 20;

/// An opened text.
pub(super) struct Opened<'o> {
    /// Its first bytes.
    pub(super) start: Vec<u8>,
    /// The error that cut `start` short. Reading `text` returns it again, so that readers know the line.
    pub(super) failed: Option<io::Error>,
    /// The whole text.
    pub(super) text: Text<'o>,
    /// Its compression.
    pub(super) compression: Option<FileCompression>,
    /// The instructions found in the text.
    pub(super) found: FoundCount,
}

/// The number of instructions found in a text so far, shared between threads.
#[derive(Clone, Default)]
pub(super) struct FoundCount(Arc<AtomicU64>);

impl FoundCount {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn add(&self, count: u64) {
        // No `fetch_add`, because only one thread adds.
        self.0.store(self.get().wrapping_add(count), Ordering::Relaxed);
    }
}

/// Limits for the bytes of a compressed text: in any case, for each byte read of the file, and for each instruction
/// found. Real traces have a few hundred or thousand bytes for an instruction, but can be compressed to any degree. The
/// base exceeds the limit for all names of a trace, so that too many names are reported as such.
const ANY_TEXT: u64 = 128 << 20;
const TEXT_FOR_BYTE: u64 = 1 << 10;
const TEXT_FOR_INSTRUCTION: u64 = 16 << 10;

/// Limits the length of a text by its contents, because some kilobytes of a file could otherwise mean hours of empty
/// lines.
fn check_proportion(text: u64, compressed: u64, found: u64) -> io::Result<()> {
    let most = ANY_TEXT
        .saturating_add(compressed.saturating_mul(TEXT_FOR_BYTE))
        .saturating_add(found.saturating_mul(TEXT_FOR_INSTRUCTION));
    if text <= most {
        return Ok(());
    }
    let message = format!(
        "the first {compressed} bytes of the compressed file are {text} bytes of text with only {found} \
         instructions"
    );
    Err(io::Error::new(io::ErrorKind::InvalidData, message))
}

/// A decompressed text that fails when it is out of proportion to its contents.
struct Proportionate<R> {
    text: R,
    bytes: u64,
    seen: Seen,
    found: FoundCount,
}

impl<R: Read> Read for Proportionate<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(buffer)?;
        self.bytes += read as u64;
        if self.bytes > ANY_TEXT {
            check_proportion(self.bytes, self.seen.0.load(Ordering::Relaxed), self.found.get())?;
        }
        Ok(read)
    }
}

/// Opens the text of `input`, decompressing it if necessary.
pub(super) fn open<'o>(
    input: impl Read + Send + 'o,
    observe: &'o (dyn Fn(ImportEvent<'_>) + Sync),
) -> io::Result<Opened<'o>> {
    let (seen, found) = (Seen::default(), FoundCount::default());
    let input = Observed { input, observe, seen: seen.clone() };
    let (start, raw) = peek(input, FileKind::DETECT_BYTES);
    let compression = compressed::detect(&start);
    let plain: Box<dyn Read + Send + 'o> = match compression {
        Some(compression) => {
            let input = BufReader::with_capacity(BUFFER, raw);
            let text = Decompressed::new(input, compression)?;
            let (seen, found) = (seen.clone(), found.clone());
            Box::new(Proportionate { text, bytes: 0, seen, found })
        }
        None => Box::new(raw),
    };
    let (start, plain) = peek(plain, START);
    let failed = plain.failed.as_ref().map(|error| io::Error::new(error.kind(), error.to_string()));
    Ok(Opened {
        start,
        failed,
        text: BufReader::with_capacity(BUFFER, Box::new(plain)),
        compression,
        found,
    })
}

/// An input that reports its reads.
struct Observed<'o, R> {
    input: R,
    observe: &'o (dyn Fn(ImportEvent<'_>) + Sync),
    seen: Seen,
}

/// The number of bytes read of an input so far, shared between threads.
#[derive(Clone, Default)]
struct Seen(Arc<AtomicU64>);

impl<R: Read> Read for Observed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        (self.observe)(ImportEvent::Read(read as u64));
        self.seen.0.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// An input after its first bytes were read.
struct Peeked<R> {
    start: Cursor<Vec<u8>>,
    /// The error after these bytes, returned only after them so that readers know the place.
    failed: Option<io::Error>,
    input: R,
}

/// Returns up to `count` bytes, and the input with these bytes put back. Reads repeatedly, because one read of a pipe
/// may return less than a line.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Text full of instructions may be compressed to any degree, other text only as far as real text.
    #[test]
    fn a_text_is_in_proportion_to_what_is_in_it() {
        assert!(check_proportion(ANY_TEXT, 0, 0).is_ok());
        assert!(check_proportion(ANY_TEXT + 1, 0, 0).is_err());
        let compressed = 100 << 10;
        assert!(check_proportion(ANY_TEXT + (100 << 20), compressed, 0).is_ok());
        assert!(check_proportion(ANY_TEXT + (101 << 20), compressed, 0).is_err());
        // A gigabyte of the same line of 700 bytes, by `xz -9`.
        let (text, compressed) = (1 << 30, 160 << 10);
        assert!(check_proportion(text, compressed, 0).is_err());
        assert!(check_proportion(text, compressed, text / 700).is_ok());
        assert!(check_proportion(u64::MAX, u64::MAX, u64::MAX).is_ok());
    }
}
