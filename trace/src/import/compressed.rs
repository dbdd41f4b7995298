//! Compressed files: **the list** of compressions, and [`Decompressed`], which reads each of them in bounded memory.

use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use warpload_binary::file_kind::FileKind;

/// The supported compressions, each with the ending of its files and its name.
const COMPRESSIONS: [(FileKind, &str, &str); 3] = [
    (FileKind::Gzip, ".gz", "gzip"),
    (FileKind::Xz, ".xz", "xz"),
    (FileKind::Zstd, ".zst", "zstd"),
];

/// The compression of a file that begins with `start`; `None` if it is not compressed.
pub(super) fn detect(start: &[u8]) -> Option<FileKind> {
    let detected = FileKind::detect(start);
    COMPRESSIONS.iter().map(|one| one.0).find(|kind| detected == Some(*kind))
}

/// The compression that a file name suggests.
pub(super) fn by_name(name: &[u8]) -> Option<FileKind> {
    let named = COMPRESSIONS.iter().find(|(_, ending, _)| name.ends_with(ending.as_bytes()));
    named.map(|(kind, ..)| *kind)
}

/// The memory limit for decoding xz. `xz -9` needs 65 MiB; a hostile file could demand 4 GiB. The window of zstd is
/// limited to 128 MiB by its decoder, as by the command `zstd -d`.
const XZ_MEMORY: u64 = 256 << 20;

/// Reads the contents of a compressed file: all members of gzip, streams of xz, or frames of zstd.
pub(super) struct Decompressed<'r> {
    decoder: Box<dyn Read + Send + 'r>,
    name: &'static str,
    /// The error after the last decoded bytes. Every further read returns it, because decoders may end instead.
    failed: Option<(io::ErrorKind, String)>,
}

impl<'r> Decompressed<'r> {
    /// Reads `input`, which must begin like a file of `compression`.
    pub(super) fn new(input: impl BufRead + Send + 'r, compression: FileKind) -> io::Result<Self> {
        let decoder: Box<dyn Read + Send + 'r> = match compression {
            FileKind::Gzip => Box::new(MultiGzDecoder::new(input)),
            FileKind::Xz => {
                let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)?;
                Box::new(XzDecoder::new_stream(input, stream))
            }
            _ => Box::new(zstd::Decoder::with_buffer(input)?),
        };
        let known = COMPRESSIONS.iter().find(|(kind, ..)| *kind == compression);
        let name = known.map_or("", |(.., name)| name);
        Ok(Self { decoder, name, failed: None })
    }
}

impl Read for Decompressed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some((kind, message)) = &self.failed {
            return Err(io::Error::new(*kind, message.clone()));
        }
        self.decoder.read(buffer).map_err(|error| {
            // A system error, such as a failing disk, says nothing about the contents.
            if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let what = match error.kind() {
                io::ErrorKind::UnexpectedEof => "the compressed file is cut off",
                _ => "the compressed file cannot be decompressed",
            };
            let (kind, message) = (error.kind(), format!("{}: {what}: {error}", self.name));
            self.failed = Some((kind, message.clone()));
            io::Error::new(kind, message)
        })
    }
}
