//! Compressed files: **the list** of compressions, and [`Decompressed`], which reads each of them in
//! bounded memory. Errors have a byte offset in the compressed file.

mod decoder;
mod gzip;
mod input;
mod xz;
mod zstd;

use std::fmt;
use std::io::{self, Read};

pub(super) use self::decoder::Compression;
use self::decoder::{Decoder, DecoderStep, Failure};
use self::input::Input;
use warpload_binary::file_kind::FileKind;

/// The compressions, each described in its decoder's file.
static COMPRESSIONS: [Compression; 3] = [gzip::COMPRESSION, xz::COMPRESSION, zstd::COMPRESSION];

impl Compression {
    /// Returns the compression of a file that begins with `start`; `None` if it is not compressed.
    pub(super) fn detect(start: &[u8]) -> Option<&'static Self> {
        COMPRESSIONS.iter().find(|one| FileKind::detect(start) == Some(one.kind))
    }

    /// Returns the compression that the name of a file suggests.
    pub(super) fn by_name(name: &[u8]) -> Option<&'static Self> {
        COMPRESSIONS.iter().find(|one| name.ends_with(one.ending.as_bytes()))
    }

    fn error(&self, offset: u64, failure: Failure) -> CompressedError {
        CompressedError { name: self.name, part: self.part, offset, failure }
    }
}

/// Why a compressed file cannot be read, and at which byte.
#[derive(Clone, Debug, thiserror::Error)]
struct CompressedError {
    name: &'static str,
    part: &'static str,
    offset: u64,
    failure: Failure,
}

impl fmt::Display for CompressedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, part, offset, failure } = self;
        write!(f, "{name}: ")?;
        match failure {
            Failure::Damaged => {
                write!(f, "the compressed file is damaged at or before byte offset {offset}")
            }
            Failure::CutOff => write!(
                f,
                "the compressed file is cut off: it ends at byte offset {offset}, inside a {part}"
            ),
            Failure::Trailing => write!(
                f,
                "the data after the compressed {part}, from byte offset {offset} on, are not \
                 another {part}"
            ),
            Failure::Unsupported => {
                write!(f, "the {part} at byte offset {offset} uses an unsupported filter or option")
            }
            Failure::Memory(mib, advice) => write!(
                f,
                "decompressing the {part} at byte offset {offset} takes more than {mib} MiB of \
                 memory; {advice}"
            ),
            Failure::Decoder(error) => {
                write!(f, "the decoder failed at byte offset {offset}: {error}")
            }
        }
    }
}

impl From<CompressedError> for io::Error {
    fn from(error: CompressedError) -> Self {
        let kind = match error.failure {
            Failure::CutOff => io::ErrorKind::UnexpectedEof,
            Failure::Decoder(_) => io::ErrorKind::Other,
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

/// Reads the contents of a compressed file.
pub(super) struct Decompressed<R> {
    input: Input<R>,
    compression: &'static Compression,
    decoder: Box<dyn Decoder>,
    /// The offset of the current part.
    start: u64,
    /// Whether the end of the current part was read.
    ended: bool,
    /// The error that every read returns after the bytes that were decoded before it.
    failed: Option<CompressedError>,
}

impl<R: Read> Decompressed<R> {
    /// Reads `input`, which begins as files of `compression` do.
    pub(super) fn new(input: R, compression: &'static Compression) -> io::Result<Self> {
        let decoder = (compression.decoder)().map_err(|failure| compression.error(0, failure))?;
        let input = Input::new(input);
        Ok(Self { input, compression, decoder, start: 0, ended: false, failed: None })
    }

    /// Begins the next part; returns `false` if there is none.
    fn next_part(&mut self) -> io::Result<bool> {
        self.start = self.input.offset();
        if let Some(multiple) = self.compression.padding {
            self.input.skip_zeros()?;
            if !(self.input.offset() - self.start).is_multiple_of(multiple) {
                return Err(self.fail(self.start, Failure::Trailing));
            }
        }
        self.start = self.input.offset();
        let next = self.input.at_least(FileKind::DETECT_BYTES)?;
        if next.is_empty() {
            return Ok(false);
        }
        if !self.compression.kind.may_begin(next) {
            return Err(self.fail(self.start, Failure::Trailing));
        }
        self.decoder.restart().map_err(|failure| self.fail(self.start, failure))?;
        self.ended = false;
        Ok(true)
    }

    /// Remembers an error, and returns it.
    fn fail(&mut self, offset: u64, failure: Failure) -> io::Error {
        let error = self.compression.error(offset, failure);
        self.failed = Some(error.clone());
        error.into()
    }
}

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if let Some(error) = &self.failed {
            return Err(error.clone().into());
        }
        loop {
            if self.ended && !self.next_part()? {
                return Ok(0);
            }
            let input = self.input.at_least(1)?;
            let is_end = input.is_empty();
            let DecoderStep { consumed, written, ended } = self.decoder.decode(input, buffer);
            self.input.consume(consumed);
            let offset = self.input.offset();
            let failure = match ended {
                Ok(false) if is_end && written == 0 => Some((offset, Failure::CutOff)),
                // No decoder does that.
                Ok(false) if consumed == 0 && written == 0 => Some((offset, Failure::Damaged)),
                Ok(ended) => {
                    self.ended = ended;
                    None
                }
                Err(failure @ (Failure::Unsupported | Failure::Memory(..))) => {
                    Some((self.start, failure))
                }
                Err(failure) => Some((offset, failure)),
            };
            let error = failure.map(|(offset, failure)| self.fail(offset, failure));
            match error {
                Some(error) if written == 0 => return Err(error),
                _ if written > 0 => return Ok(written),
                _ => {}
            }
        }
    }
}
