//! [`XzReader`]: decompression of `.xz` in bounded memory. Errors have a byte offset in the
//! compressed file.

use std::io::{self, BufRead, Read};

use liblzma::stream::{Action, Error, Status, Stream};

/// The most memory for decoding. `xz -9` needs 65 MiB; a hostile file could demand 4 GiB.
const MEMORY: u64 = 256 << 20;

/// The start of every stream.
const MAGIC: &[u8; 6] = b"\xfd7zXZ\0";

/// Why a compressed file cannot be read. Offsets are bytes from its start.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum XzError {
    #[error("xz: the compressed file is damaged at or before byte offset {offset}")]
    Damaged { offset: u64 },
    #[error("xz: the compressed file is cut off: it ends at byte offset {offset}, inside a stream")]
    CutOff { offset: u64 },
    #[error(
        "xz: the data after the compressed stream, from byte offset {offset} on, are not another stream"
    )]
    Trailing { offset: u64 },
    #[error("xz: the stream at byte offset {offset} uses an unsupported filter or option")]
    Unsupported { offset: u64 },
    #[error(
        "xz: decompressing the stream at byte offset {offset} takes more than {} MiB of memory; \
         compress it with `xz -9` or less",
        MEMORY >> 20
    )]
    Memory { offset: u64 },
    #[error("xz: the decoder failed at byte offset {offset}: {error}")]
    Decoder { offset: u64, error: Error },
}

impl From<XzError> for io::Error {
    fn from(error: XzError) -> Self {
        let kind = match error {
            XzError::CutOff { .. } => io::ErrorKind::UnexpectedEof,
            XzError::Decoder { .. } => io::ErrorKind::Other,
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

/// Reads the contents of one or more consecutive compressed streams.
pub(super) struct XzReader<R> {
    input: R,
    stream: Stream,
    /// The offset of the current stream, and of the next byte of input.
    start: u64,
    offset: u64,
    /// Whether the end of the current stream was read.
    ended: bool,
    /// The error that every read returns after the bytes that were decoded before it.
    failed: Option<XzError>,
}

impl<R: BufRead> XzReader<R> {
    pub(super) fn new(input: R) -> io::Result<Self> {
        let stream = decoder(0)?;
        Ok(Self { input, stream, start: 0, offset: 0, ended: false, failed: None })
    }

    /// Starts the next stream; returns `false` if there is none.
    fn next_stream(&mut self) -> io::Result<bool> {
        let end = self.offset;
        loop {
            let available = self.input.fill_buf()?;
            let zeros = available.iter().take_while(|byte| **byte == 0).count();
            let is_padding = zeros > 0 && zeros == available.len();
            self.input.consume(zeros);
            self.offset += zeros as u64;
            if !is_padding {
                break;
            }
        }
        // Streams are padded with zeros to a multiple of four bytes.
        if !(self.offset - end).is_multiple_of(4) {
            self.failed = Some(XzError::Trailing { offset: end });
            return Err(XzError::Trailing { offset: end }.into());
        }
        if self.input.fill_buf()?.is_empty() {
            return Ok(false);
        }
        self.start = self.offset;
        self.stream = decoder(self.start)?;
        self.ended = false;
        Ok(true)
    }

    fn error(&self, error: Error) -> XzError {
        let (start, offset) = (self.start, self.offset);
        match error {
            // The start of the first stream was recognized, so that it is a later one.
            Error::Format => XzError::Trailing { offset: start },
            Error::Data => XzError::Damaged { offset },
            Error::Options | Error::UnsupportedCheck => XzError::Unsupported { offset: start },
            Error::MemLimit => XzError::Memory { offset: start },
            error => XzError::Decoder { offset, error },
        }
    }
}

fn decoder(offset: u64) -> io::Result<Stream> {
    let stream = Stream::new_stream_decoder(MEMORY, 0);
    stream.map_err(|error| XzError::Decoder { offset, error }.into())
}

impl<R: BufRead> Read for XzReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if let Some(error) = self.failed {
                return Err(error.into());
            }
            if self.ended && !self.next_stream()? {
                return Ok(0);
            }
            let input = self.input.fill_buf()?;
            let is_end = input.is_empty();
            // The decoder would notice only after 12 bytes, which may be missing.
            let magic = MAGIC.get(self.stream.total_in() as usize..).unwrap_or_default();
            if input.iter().zip(magic).any(|(byte, expected)| byte != expected) {
                self.failed = Some(XzError::Trailing { offset: self.start });
                continue;
            }
            let action = if is_end { Action::Finish } else { Action::Run };
            let before = (self.stream.total_in(), self.stream.total_out());
            let status = self.stream.process(input, buffer, action);
            let consumed = self.stream.total_in() - before.0;
            let read = (self.stream.total_out() - before.1) as usize;
            self.input.consume(consumed as usize);
            self.offset += consumed;
            match status {
                Ok(Status::StreamEnd) => self.ended = true,
                Ok(_) if is_end && read == 0 => {
                    self.failed = Some(XzError::CutOff { offset: self.offset });
                }
                Ok(_) => {}
                Err(error) => self.failed = Some(self.error(error)),
            }
            if read > 0 {
                return Ok(read);
            }
        }
    }
}
