//! Compressed files: **the list** of compressions, and [`Decompressed`], which reads each of them in bounded memory.

use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use warpload_binary::file_kind::FileKind;

/// The bytes of a file before it was compressed.
type Contents<'r> = Box<dyn Read + Send + 'r>;

/// A supported compression.
#[derive(Clone, Copy)]
pub(super) struct FileCompression {
    pub(super) kind: FileKind,
    /// The ending of its files.
    ending: &'static str,
    name: &'static str,
    /// Creates a reader of the contents: of all members of gzip, streams of xz, or frames of zstd.
    decoder: fn(Box<dyn BufRead + Send + '_>) -> io::Result<Contents<'_>>,
}

const COMPRESSIONS: [FileCompression; 3] = [
    FileCompression {
        kind: FileKind::Gzip,
        ending: ".gz",
        name: "gzip",
        decoder: |input| Ok(Box::new(MultiGzDecoder::new(input))),
    },
    FileCompression {
        kind: FileKind::Xz,
        ending: ".xz",
        name: "xz",
        decoder: |input| {
            let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)?;
            Ok(Box::new(XzDecoder::new_stream(input, stream)))
        },
    },
    FileCompression {
        kind: FileKind::Zstd,
        ending: ".zst",
        name: "zstd",
        decoder: |input| Ok(Box::new(zstd::Decoder::with_buffer(input)?)),
    },
];

/// The memory limit for decoding xz. `xz -9` needs 65 MiB; a hostile file could demand 4 GiB. The window of zstd is
/// limited to 128 MiB by its decoder, as by the command `zstd -d`.
const XZ_MEMORY: u64 = 256 << 20;

/// The compression of a file that begins with `start`; `None` if it is not compressed.
pub(super) fn detect(start: &[u8]) -> Option<FileCompression> {
    let detected = FileKind::detect(start)?;
    COMPRESSIONS.into_iter().find(|compression| compression.kind == detected)
}

/// The compression that a file name suggests.
pub(super) fn by_name(name: &[u8]) -> Option<FileCompression> {
    COMPRESSIONS.into_iter().find(|compression| name.ends_with(compression.ending.as_bytes()))
}

/// The contents of a compressed file.
pub(super) struct Decompressed<'r> {
    contents: Contents<'r>,
    compression: FileCompression,
    /// The error after the last decoded bytes. Every further read returns it, because decoders may end instead.
    failed: Option<(io::ErrorKind, String)>,
}

impl<'r> Decompressed<'r> {
    /// Reads `input`, which must begin like a file of `compression`.
    pub(super) fn new(
        input: impl BufRead + Send + 'r,
        compression: FileCompression,
    ) -> io::Result<Self> {
        let contents = (compression.decoder)(Box::new(input))?;
        Ok(Self { contents, compression, failed: None })
    }
}

impl Read for Decompressed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some((kind, message)) = &self.failed {
            return Err(io::Error::new(*kind, message.clone()));
        }
        self.contents.read(buffer).map_err(|error| {
            // A system error, such as a failing disk, says nothing about the contents.
            if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let what = match error.kind() {
                io::ErrorKind::UnexpectedEof => "the compressed file is cut off",
                _ => "the compressed file cannot be decompressed",
            };
            let (kind, message) =
                (error.kind(), format!("{}: {what}: {error}", self.compression.name));
            self.failed = Some((kind, message.clone()));
            io::Error::new(kind, message)
        })
    }
}
