//! Decompression with bounded memory: what is allocated grows with what is found, whatever is claimed.

use std::io::Read;

use super::compression::Compression;
use super::error::{ContainerError, ContainerErrorKind as Kind};
use super::lz4::{self, Ended};

/// The binary logarithm of the largest window of zstd, 128 MiB.
const WINDOW_LOG: u32 = 27;

/// The compressed bytes of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Payload<'f> {
    /// The offset of the entry in the file.
    pub(super) entry: usize,
    pub(super) compression: Compression,
    pub(super) stored: &'f [u8],
    /// The size when decompressed, which has been compared with the limits.
    pub(super) claimed: usize,
}

impl Payload<'_> {
    /// Returns what it decompresses to, and what is wrong if that is not all that it claims.
    pub(super) fn decompress(&self) -> (Vec<u8>, Option<ContainerError>) {
        let mut output = Vec::new();
        let ended = match self.compression {
            Compression::Lz4 => lz4::decompress(self.stored, self.claimed, &mut output),
            Compression::Zlib => {
                self.read(flate2::bufread::ZlibDecoder::new(self.stored), &mut output)
            }
            Compression::Zstd => zstd::Decoder::with_buffer(self.stored)
                .and_then(|mut decoder| decoder.window_log_max(WINDOW_LOG).map(|()| decoder))
                .map_err(|_| Ended::Damaged)
                .and_then(|decoder| self.read(decoder.single_frame(), &mut output)),
        };
        let (read, claimed) = (output.len() as u64, self.claimed as u64);
        let kind = match ended {
            Ok(()) if read == claimed => return (output, None),
            Ok(()) => Kind::SmallerThanClaimed { read, claimed },
            Err(Ended::Limit) => Kind::LargerThanClaimed { claimed },
            Err(Ended::Damaged) => Kind::Damaged { compression: self.compression, read, claimed },
        };
        (output, Some(ContainerError::new(self.entry, kind)))
    }

    /// Reads to the end of a stream, and at most one byte more than it claims.
    fn read(&self, decoder: impl Read, output: &mut Vec<u8>) -> Result<(), Ended> {
        let more = self.claimed as u64 + 1;
        let ended = decoder.take(more).read_to_end(output);
        if output.len() > self.claimed {
            output.truncate(self.claimed);
            return Err(Ended::Limit);
        }
        ended.map(drop).map_err(|_| Ended::Damaged)
    }
}
