//! Compressed files: **the list** of compressions; [`Decompressed`], which reads each of them in bounded memory; and
//! their decoders zlib-rs, liblzma and libzstd. Errors have a byte offset in the compressed file.

use std::fmt;
use std::io::{self, ErrorKind, Read};

use flate2::{Decompress, FlushDecompress};
use liblzma::stream::{Action, Error as XzError, Stream};
use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd::zstd_safe::{DCtx, DParameter, ErrorCode, InBuffer, OutBuffer, get_error_name};

use warpload_binary::file_kind::FileKind;

/// The supported compressions. Each is described before its decoder.
static COMPRESSIONS: [Compression; 3] = [GZIP, XZ, ZSTD];

impl Compression {
    /// The compression of a file that begins with `start`; `None` if it is not compressed.
    pub(super) fn detect(start: &[u8]) -> Option<&'static Self> {
        COMPRESSIONS.iter().find(|one| FileKind::detect(start) == Some(one.kind))
    }

    /// The compression that a file name suggests.
    pub(super) fn by_name(name: &[u8]) -> Option<&'static Self> {
        COMPRESSIONS.iter().find(|one| name.ends_with(one.ending.as_bytes()))
    }

    fn error(&self, offset: u64, failure: Failure) -> CompressedError {
        CompressedError { name: self.name, part: self.part, offset, failure }
    }
}

/// The reason why a compressed file cannot be read, with a byte offset.
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
    /// The error after the last decoded bytes. Every further read returns it.
    failed: Option<CompressedError>,
}

impl<R: Read> Decompressed<R> {
    /// Reads `input`, which must begin like a file of `compression`.
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

    /// Stores an error for later reads, and returns it.
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
                // Not expected of these decoders, but would loop forever.
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

/// The bytes of one read.
const BUFFER: usize = 1 << 16;

pub(super) struct Input<R> {
    inner: R,
    buffer: Vec<u8>,
    /// The unread bytes in `buffer`, and their offset in the input.
    from: usize,
    to: usize,
    offset: u64,
}

impl<R: Read> Input<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, buffer: vec![0; BUFFER], from: 0, to: 0, offset: 0 }
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next bytes, at least `count` unless the input ends.
    fn at_least(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.to - self.from < count {
            self.buffer.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
            while self.to < count {
                match self.inner.read(&mut self.buffer[self.to..]) {
                    Ok(0) => break,
                    Ok(read) => self.to += read,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(&self.buffer[self.from..self.to])
    }

    /// Skips `count` of the bytes that [`Self::at_least`] returned.
    fn consume(&mut self, count: usize) {
        self.from += count;
        self.offset += count as u64;
    }

    /// Skips zeros.
    fn skip_zeros(&mut self) -> io::Result<()> {
        loop {
            let next = self.at_least(1)?;
            let zeros = next.iter().take_while(|byte| **byte == 0).count();
            let is_all = zeros == next.len();
            self.consume(zeros);
            if zeros == 0 || !is_all {
                return Ok(());
            }
        }
    }
}

/// A supported compression.
pub(super) struct Compression {
    /// The kind of its files, recognized by their first bytes.
    pub(super) kind: FileKind,
    /// The extension of its files.
    ending: &'static str,
    /// Its name, for messages.
    pub(super) name: &'static str,
    /// The format's word for its independently decoded units. A file has one or more.
    pub(super) part: &'static str,
    /// Zeros may follow a part if their number is a multiple of this.
    padding: Option<u64>,
    decoder: fn() -> Result<Box<dyn Decoder>, Failure>,
}

/// Decodes part after part of a compressed file.
trait Decoder: Send {
    /// Begins the next part.
    fn restart(&mut self) -> Result<(), Failure>;

    /// Decodes the beginning of `input`, as much as fits in `output`.
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> DecoderStep;
}

/// The result of one call of a decoder.
struct DecoderStep {
    /// The number of input bytes decoded. If decoding failed, the cause lies within or before these bytes.
    consumed: usize,
    written: usize,
    /// Whether the part ends here.
    ended: Result<bool, Failure>,
}

/// Why a part cannot be decoded.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    Damaged,
    CutOff,
    /// The data after a part are not another part.
    Trailing,
    Unsupported,
    /// Decoding needs more MiB than this; the advice says how to compress instead.
    Memory(u64, &'static str),
    Decoder(String),
}

const GZIP: Compression = Compression {
    kind: FileKind::Gzip,
    ending: ".gz",
    name: "gzip",
    part: "member",
    padding: None,
    decoder: || Ok(Box::new(Gzip(member()))),
};

/// The binary logarithm of the window size, which is the same for all members.
const GZIP_WINDOW_BITS: u8 = 15;

struct Gzip(Decompress);

fn member() -> Decompress {
    Decompress::new_gzip(GZIP_WINDOW_BITS)
}

impl Decoder for Gzip {
    fn restart(&mut self) -> Result<(), Failure> {
        self.0 = member();
        Ok(())
    }

    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> DecoderStep {
        let before = (self.0.total_in(), self.0.total_out());
        let status = self.0.decompress(input, output, FlushDecompress::None);
        DecoderStep {
            consumed: (self.0.total_in() - before.0) as usize,
            written: (self.0.total_out() - before.1) as usize,
            ended: match status {
                Ok(status) => Ok(status == flate2::Status::StreamEnd),
                Err(_) => Err(Failure::Damaged),
            },
        }
    }
}

const XZ: Compression = Compression {
    kind: FileKind::Xz,
    ending: ".xz",
    name: "xz",
    part: "stream",
    padding: Some(4),
    decoder: || Ok(Box::new(Xz(stream()?))),
};

/// The memory limit for decoding. `xz -9` needs 65 MiB; a hostile file could demand 4 GiB.
const XZ_MEMORY: u64 = 256 << 20;

struct Xz(Stream);

fn stream() -> Result<Stream, Failure> {
    Stream::new_stream_decoder(XZ_MEMORY, 0).map_err(|error| Failure::Decoder(error.to_string()))
}

impl Decoder for Xz {
    fn restart(&mut self) -> Result<(), Failure> {
        self.0 = stream()?;
        Ok(())
    }

    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> DecoderStep {
        let before = (self.0.total_in(), self.0.total_out());
        let status = self.0.process(input, output, Action::Run);
        DecoderStep {
            consumed: (self.0.total_in() - before.0) as usize,
            written: (self.0.total_out() - before.1) as usize,
            ended: match status {
                Ok(status) => Ok(status == liblzma::stream::Status::StreamEnd),
                Err(XzError::Data | XzError::Format) => Err(Failure::Damaged),
                Err(XzError::Options | XzError::UnsupportedCheck) => Err(Failure::Unsupported),
                Err(XzError::MemLimit) => {
                    Err(Failure::Memory(XZ_MEMORY >> 20, "compress it with `xz -9` or less"))
                }
                Err(error) => Err(Failure::Decoder(error.to_string())),
            },
        }
    }
}

const ZSTD: Compression = Compression {
    kind: FileKind::Zstd,
    ending: ".zst",
    name: "zstd",
    part: "frame",
    padding: None,
    decoder: || Ok(Box::new(Zstd::new()?)),
};

/// The binary logarithm of the largest window, the limit of the command `zstd -d`: 128 MiB.
const ZSTD_WINDOW_LOG: u32 = 27;

/// The length of the shortest header of a frame.
const ZSTD_HEADER: usize = 5;

struct Zstd {
    context: DCtx<'static>,
    /// The number of bytes that the decoder asks for: the rest of a header, or a block. It gets no more than these, so
    /// that errors have a place.
    wanted: usize,
}

impl Zstd {
    fn new() -> Result<Self, Failure> {
        let no_memory = || Failure::Decoder("no memory".to_owned());
        let mut context = DCtx::try_create().ok_or_else(no_memory)?;
        context.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG)).map_err(zstd_failure)?;
        Ok(Self { context, wanted: ZSTD_HEADER })
    }
}

impl Decoder for Zstd {
    /// Treats skippable frames as frames without contents.
    fn restart(&mut self) -> Result<(), Failure> {
        self.wanted = ZSTD_HEADER;
        Ok(())
    }

    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> DecoderStep {
        let input = &input[..input.len().min(self.wanted)];
        let (mut from, mut to) = (InBuffer::around(input), OutBuffer::around(output));
        let status = self.context.decompress_stream(&mut to, &mut from);
        let written = to.pos();
        match status {
            Ok(wanted) => {
                self.wanted = wanted;
                DecoderStep { consumed: from.pos(), written, ended: Ok(wanted == 0) }
            }
            // The decoder does not report the position within `input`.
            Err(code) => {
                DecoderStep { consumed: input.len(), written, ended: Err(zstd_failure(code)) }
            }
        }
    }
}

fn zstd_failure(code: ErrorCode) -> Failure {
    use ZSTD_ErrorCode::{
        ZSTD_error_dictionary_wrong as DictionaryWrong,
        ZSTD_error_frameParameter_unsupported as ParameterUnsupported,
        ZSTD_error_frameParameter_windowTooLarge as WindowTooLarge,
        ZSTD_error_memory_allocation as Allocation,
        ZSTD_error_version_unsupported as VersionUnsupported,
    };
    // Error codes are negated error numbers.
    let is = |error: ZSTD_ErrorCode| code.wrapping_neg() == error as usize;
    if is(WindowTooLarge) {
        Failure::Memory(1 << (ZSTD_WINDOW_LOG - 20), "compress it with `zstd --long=27` or less")
    } else if is(ParameterUnsupported) || is(VersionUnsupported) || is(DictionaryWrong) {
        Failure::Unsupported
    } else if is(Allocation) {
        Failure::Decoder(get_error_name(code).to_owned())
    } else {
        Failure::Damaged
    }
}
