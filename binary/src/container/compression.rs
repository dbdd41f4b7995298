//! [`Compression`] of an entry, and decompression with bounded memory: allocations grow with the decompressed bytes,
//! because the size that a header claims cannot be trusted.

use std::fmt;
use std::io::Read;

use super::error::{ContainerError, ContainerErrorKind as Kind};

/// The compression of an entry. Displays as its name: `lz4`, `zlib`, `zstd`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// One raw block of LZ4.
    Lz4,
    /// A stream of zlib.
    Zlib,
    /// One frame of zstd.
    Zstd,
}

impl Compression {
    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lz4 => "lz4",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The binary logarithm of the largest window of zstd, 128 MiB.
const WINDOW_LOG: u32 = 27;

/// The compressed bytes of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Payload<'f> {
    /// The offset of the entry in the file.
    pub(super) entry: usize,
    pub(super) compression: Compression,
    pub(super) stored: &'f [u8],
    /// The size when decompressed, already checked against the limits.
    pub(super) claimed: usize,
}

impl Payload<'_> {
    /// The bytes up to the damage, and an error if the payload is damaged or its size is not the claimed one.
    pub(super) fn decompress(&self) -> (Vec<u8>, Option<ContainerError>) {
        let mut output = Vec::new();
        let ended = match self.compression {
            Compression::Lz4 => decompress_lz4(self.stored, self.claimed, &mut output),
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

    /// Reads to the end of a stream. Stops one byte above the claimed size, which is enough to see that the claim is
    /// wrong.
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

/// The shortest match.
const MIN_MATCH: usize = 4;

/// The reason why a block ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// It is damaged or cut off.
    Damaged,
    /// It has more than `limit` bytes.
    Limit,
}

/// Appends the content of a block to `output`, at most `limit` bytes.
fn decompress_lz4(block: &[u8], limit: usize, output: &mut Vec<u8>) -> Result<(), Ended> {
    let start = output.len();
    let mut rest = block;
    loop {
        let [token] = take(&mut rest).ok_or(Ended::Damaged)?;
        let literals = length(usize::from(token >> 4), &mut rest).ok_or(Ended::Damaged)?;
        let (copied, after) = rest.split_at_checked(literals).ok_or(Ended::Damaged)?;
        if copied.len() > limit - (output.len() - start) {
            return Err(Ended::Limit);
        }
        output.extend_from_slice(copied);
        rest = after;
        // The last sequence has no match.
        if rest.is_empty() {
            return Ok(());
        }
        let distance = usize::from(u16::from_le_bytes(take(&mut rest).ok_or(Ended::Damaged)?));
        let matched = length(usize::from(token & 15), &mut rest).ok_or(Ended::Damaged)?;
        let matched = matched.saturating_add(MIN_MATCH);
        if distance == 0 || distance > output.len() - start {
            return Err(Ended::Damaged);
        }
        if matched > limit - (output.len() - start) {
            return Err(Ended::Limit);
        }
        repeat(distance, matched, output);
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*bytes)
}

/// Reads a length. Its first 4 bits are in the token; 15 means that bytes with the rest follow.
fn length(in_token: usize, rest: &mut &[u8]) -> Option<usize> {
    let mut length = in_token;
    if in_token == 15 {
        loop {
            let [more] = take(rest)?;
            length = length.saturating_add(usize::from(more));
            if more != u8::MAX {
                break;
            }
        }
    }
    Some(length)
}

/// Copies `length` bytes from `distance` bytes before the end. Source and copy can overlap, which repeats a period.
fn repeat(distance: usize, length: usize, output: &mut Vec<u8>) {
    let from = output.len() - distance;
    let mut left = length;
    while left > 0 {
        // The copied part doubles each time, so a short period takes few copies.
        let part = left.min(output.len() - from);
        output.extend_from_within(from..from + part);
        left -= part;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decompressed(block: &[u8], limit: usize) -> (Result<(), Ended>, Vec<u8>) {
        let mut output = Vec::new();
        (decompress_lz4(block, limit, &mut output), output)
    }

    proptest! {
        /// `lz4_flex` compresses, so the two implementations check each other.
        #[test]
        fn what_was_compressed_comes_back(
            parts in prop::collection::vec((any::<u8>(), 0_usize..600), 0..20),
            noise in prop::collection::vec(0_u8..4, 0..300),
        ) {
            let runs = parts.iter().flat_map(|(byte, count)| std::iter::repeat_n(*byte, *count));
            let text: Vec<u8> = runs.chain(noise).collect();
            let block = lz4_flex::block::compress(&text);
            prop_assert_eq!(decompressed(&block, text.len()), (Ok(()), text.clone()));
            if let Some(limit) = text.len().checked_sub(1) {
                let (ended, output) = decompressed(&block, limit);
                prop_assert_eq!(ended, Err(Ended::Limit));
                prop_assert!(output.len() <= limit && text.starts_with(&output));
            }
        }

        #[test]
        fn any_block_ends(block in prop::collection::vec(any::<u8>(), 0..400)) {
            let (ended, output) = decompressed(&block, 1000);
            prop_assert!(output.len() <= 1000);
            if ended.is_ok() {
                let other = lz4_flex::block::decompress(&block, output.len());
                prop_assert_eq!(other.ok(), Some(output));
            }
        }
    }

    #[test]
    fn what_is_damaged_is_refused() {
        for block in [
            &b""[..],
            // Literals, a distance and a length that are cut off.
            b"\x20a",
            b"\x10a\x01",
            b"\x1fa\x01\x00\xff",
            // A distance of 0, and one to before the beginning.
            b"\x10a\x00\x00\x00",
            b"\x10a\x02\x00\x00",
        ] {
            assert_eq!(decompressed(block, 100).0, Err(Ended::Damaged), "{block:?}");
        }
        assert_eq!(decompressed(b"\x10a\x01\x00\x10b", 6), (Ok(()), b"aaaaab".to_vec()));
    }
}
