//! [`Bytes`]: a whole input at random, and [`Cursor`], a part of it in order.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::SpooledTempFile;

/// Inputs beyond this size are in a temporary file, not in memory.
const IN_MEMORY: usize = 8 << 20;

/// How many bytes a cursor reads at once.
const WINDOW: u64 = 1 << 16;

/// Why a file is refused.
#[derive(Debug)]
pub(super) enum Fault {
    /// What is at an offset is invalid.
    At(u64, String),
    /// The temporary file failed.
    Io(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// All bytes of an input, which may be a pipe.
#[derive(Clone)]
pub(super) struct Bytes {
    file: Arc<Mutex<SpooledTempFile>>,
    length: u64,
}

impl Bytes {
    /// Reads `input` to its end.
    pub(super) fn of(input: &mut impl Read) -> io::Result<Self> {
        let mut file = tempfile::spooled_tempfile(IN_MEMORY);
        let length = io::copy(input, &mut file)?;
        Ok(Self { file: Arc::new(Mutex::new(file)), length })
    }

    pub(super) fn len(&self) -> u64 {
        self.length
    }

    /// Fills `buffer` with the bytes at `at`.
    pub(super) fn read(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        // Each use seeks first.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(buffer)
    }
}

/// Reads a part of the bytes from its start to its end.
pub(super) struct Cursor {
    bytes: Bytes,
    /// What the part is, for messages.
    name: &'static str,
    pub(super) at: u64,
    pub(super) end: u64,
    /// The bytes from `start` on that were read.
    window: Vec<u8>,
    start: u64,
}

impl Cursor {
    pub(super) fn new(bytes: &Bytes, name: &'static str, range: std::ops::Range<u64>) -> Self {
        let (at, end) = (range.start, range.end);
        Self { bytes: bytes.clone(), name, at, end, window: Vec::new(), start: at }
    }

    pub(super) fn left(&self) -> u64 {
        self.end - self.at
    }

    /// Takes the next `count` bytes.
    pub(super) fn take(&mut self, count: u64) -> Result<&[u8], Fault> {
        let left = self.left();
        if count > left {
            let message = format!("expected {count} more bytes, but {} has {left}", self.name);
            return Err(Fault::At(self.at, message));
        }
        let first = self.at - self.start;
        let mut range = first as usize..(first + count) as usize;
        if range.end > self.window.len() {
            self.start = self.at;
            self.window.resize(count.max(WINDOW).min(left) as usize, 0);
            self.bytes.read(self.at, &mut self.window)?;
            range = 0..count as usize;
        }
        self.at += count;
        Ok(&self.window[range])
    }

    pub(super) fn u32(&mut self) -> Result<u32, Fault> {
        let bytes = self.take(4)?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    }

    pub(super) fn u64(&mut self) -> Result<u64, Fault> {
        let bytes = self.take(8)?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)))
    }
}
