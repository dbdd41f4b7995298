//! The headers of a container's entries: [`Entry`], and [`Table`] for an entry with several images in one stream
//! (`fatbinary --concat`). Nothing in them is trusted.

use std::ops::Range;

use super::compression::Compression;
use super::error::{ContainerError, ContainerErrorKind as Kind};
use super::gpu_codes::MAX_TABLE_RECORDS;
use super::sm::GpuSm;

/// How long the header of an entry is at least; extra records follow.
pub(super) const HEADER: usize = 64;

const VERSION: u16 = 0x0101;

/// An entry's header without extra records is far below this; what is looked for after damage has no
/// longer one, unless it lists several images.
const MAX_USUAL_HEADER: u32 = 1 << 16;

pub(super) const PTX: u16 = 1;
pub(super) const ELF: u16 = 2;
/// Several ELF files in one stream.
pub(super) const CONCATENATED: u16 = 0x100;

/// Flags, of an entry and of an image in a table.
const ARCHITECTURE_SPECIFIC: u64 = 0x10_0000;
const FAMILY_SPECIFIC: u64 = 0x20_0000;
/// What the options refer to are records of compatibility instead.
const COMPATIBILITY: u64 = 0x100_0000;
/// The payload is obfuscated, if there is a key too.
const OBFUSCATED: u64 = 0x1_0000;
const ZLIB: u64 = 0x1000;
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;

/// Bytes in which numbers are read at an offset; what is outside reads as 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'f>(pub(super) &'f [u8]);

impl<'f> Fields<'f> {
    fn at<const N: usize>(self, offset: usize) -> [u8; N] {
        let bytes = self.0.get(offset..).and_then(|rest| rest.first_chunk());
        bytes.copied().unwrap_or([0; N])
    }

    pub(super) fn u16(self, offset: usize) -> u16 {
        u16::from_le_bytes(self.at(offset))
    }

    pub(super) fn u32(self, offset: usize) -> u32 {
        u32::from_le_bytes(self.at(offset))
    }

    pub(super) fn u64(self, offset: usize) -> u64 {
        u64::from_le_bytes(self.at(offset))
    }

    /// Returns `length` bytes at `offset`, or `None` if they are outside.
    fn range(self, offset: u32, length: u32) -> Option<&'f [u8]> {
        let start = offset as usize;
        self.0.get(start..start.checked_add(length as usize)?)
    }

    pub(super) fn flags(self) -> u64 {
        self.u64(40)
    }

    /// Returns the SM. The flags tell the suffix of PTX; a cubin's is in its own headers.
    pub(super) fn sm_of(self, is_ptx: bool) -> Option<GpuSm> {
        let suffix = match self.flags() {
            flags if is_ptx && flags & ARCHITECTURE_SPECIFIC != 0 => Some('a'),
            flags if is_ptx && flags & FAMILY_SPECIFIC != 0 => Some('f'),
            _ => None,
        };
        GpuSm::new(self.u32(28), suffix)
    }

    /// Returns whether the payload is obfuscated, as that of LTO-IR can be: the key is at byte 48.
    pub(super) fn is_obfuscated(self) -> bool {
        self.flags() & OBFUSCATED != 0 && self.u64(48) != 0
    }

    /// Returns the name of the source, as far as it is within the header.
    pub(super) fn name(self) -> Option<&'f [u8]> {
        let (offset, length) = (self.u32(32), self.u32(36));
        if offset == 0 { None } else { text(self.range(offset, length)?) }
    }

    /// Returns the command line of the compiler, as far as it is within the header.
    pub(super) fn options(self) -> Option<&'f [u8]> {
        if self.flags() & COMPATIBILITY != 0 {
            return None;
        }
        let (offset, length) = self.options_range()?;
        text(self.range(offset, length)?)
    }

    /// Returns where the text of the options is, or the records in its place.
    fn options_range(self) -> Option<(u32, u32)> {
        match self.u32(20) {
            0 => None,
            at => Some((self.u32(at as usize), self.u32((at as usize).saturating_add(4)))),
        }
    }

    /// Returns how long a header is with all that it refers to. Each text ends with a NUL and is
    /// padded to 8.
    fn extent(self) -> usize {
        let end = |offset: u32, length: u32| {
            (offset as usize).saturating_add(length as usize).saturating_add(1).next_multiple_of(8)
        };
        let named = if self.u32(32) == 0 { 0 } else { end(self.u32(32), self.u32(36)) };
        let options = self.options_range().map_or(0, |(offset, length)| end(offset, length));
        HEADER.max(named).max(options)
    }
}

/// Returns a text without trailing NULs; `None` if it is empty.
fn text(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().rposition(|byte| *byte != 0)?;
    bytes.get(..=end)
}

/// An entry whose place in its container is sound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'f> {
    /// The byte offset in the file.
    pub(super) offset: usize,
    pub(super) kind: u16,
    pub(super) header: Fields<'f>,
    /// The payload, padding included.
    pub(super) payload: &'f [u8],
}

impl<'f> Entry<'f> {
    /// Reads the entry at `offset` of a container that ends at `end`; returns also where the next one
    /// begins.
    pub(super) fn read(
        file: &'f [u8],
        offset: usize,
        end: usize,
    ) -> Result<(Self, usize), ContainerError> {
        let fail = |kind| Err(ContainerError::new(offset, kind));
        let left = file.get(offset..end).unwrap_or_default();
        let fields = Fields(left);
        if left.len() < HEADER {
            return fail(Kind::EntryCutOff { left: left.len() as u64 });
        }
        let version = fields.u16(2);
        if version != VERSION {
            return fail(Kind::EntryVersion { version });
        }
        let size = fields.u32(4) as usize;
        let Some((header, left)) = left.split_at_checked(size).filter(|_| size >= HEADER) else {
            return fail(Kind::EntryHeader { size: size as u64, left: left.len() as u64 });
        };
        let size = fields.u64(8);
        let payload = usize::try_from(size).ok().and_then(|size| left.get(..size));
        let Some(payload) = payload else {
            return fail(Kind::EntryOutside { size, left: left.len() as u64 });
        };
        let next = offset + header.len() + payload.len();
        Ok((Self { offset, kind: fields.u16(0), header: Fields(header), payload }, next))
    }

    /// Returns whether bytes look like the header of an entry, wherever they are.
    pub(super) fn may_begin(bytes: &[u8]) -> bool {
        let fields = Fields(bytes);
        let (kind, header) = (fields.u16(0), fields.u32(4));
        bytes.len() >= HEADER
            && [PTX, ELF, CONCATENATED].contains(&kind)
            && fields.u16(2) == VERSION
            && header as usize >= HEADER
            && header % 8 == 0
            && (header < MAX_USUAL_HEADER || kind == CONCATENATED)
            && fields.u64(8) % 8 == 0
    }

    /// Returns how the payload is compressed, and what of it is not padding.
    pub(super) fn stored(&self) -> Result<(Option<Compression>, &'f [u8]), ContainerError> {
        let fail = |kind| Err(ContainerError::new(self.offset, kind));
        let flags = self.header.flags();
        let compressed = self.header.u32(16);
        let compression = match flags & (ZLIB | LZ4 | ZSTD) {
            0 if compressed == 0 => return Ok((None, self.payload)),
            ZLIB => Compression::Zlib,
            LZ4 => Compression::Lz4,
            ZSTD => Compression::Zstd,
            _ => return fail(Kind::UnknownCompression { flags }),
        };
        match self.payload.get(..compressed as usize) {
            Some(stored) => Ok((Some(compression), stored)),
            None => fail(Kind::CompressedOutside {
                compressed: u64::from(compressed),
                size: self.payload.len() as u64,
            }),
        }
    }

    /// Returns the size when decompressed that the entry claims.
    pub(super) fn claimed(&self) -> u64 {
        self.header.u64(56)
    }
}

/// The count and the size of the table come before its records.
const START: usize = 8;

/// The records of a table, each the header of an entry: 64 bytes, then its name and its records of
/// compatibility.
#[derive(Debug)]
pub(super) struct Table<'f> {
    entry: usize,
    compression: Option<Compression>,
    /// The size of the stream, decompressed as the entry claims.
    stream: u64,
    left: u32,
    records: &'f [u8],
    /// Where the images so far end in the stream.
    end: u64,
}

impl<'f> Table<'f> {
    pub(super) fn read(
        entry: &Entry<'f>,
        compression: Option<Compression>,
    ) -> Result<Self, ContainerError> {
        let after = entry.header.0.get(HEADER..).unwrap_or_default();
        let fields = Fields(after);
        let (count, size) = (fields.u32(0), fields.u32(4) as usize);
        let records = after.get(START..size);
        let needed = (count as usize).saturating_mul(HEADER);
        let is_sound = count <= MAX_TABLE_RECORDS;
        match records.filter(|records| is_sound && records.len() >= needed) {
            Some(records) => {
                let stream = match compression {
                    Some(_) => entry.claimed(),
                    None => entry.payload.len() as u64,
                };
                let entry = entry.offset;
                Ok(Self { entry, compression, stream, left: count, records, end: 0 })
            }
            None => Err(ContainerError::new(
                entry.offset,
                Kind::Table {
                    count: u64::from(count),
                    size: size as u64,
                    left: after.len() as u64,
                },
            )),
        }
    }

    pub(super) fn compression(&self) -> Option<Compression> {
        self.compression
    }
}

impl<'f> Iterator for Table<'f> {
    type Item = Result<(Fields<'f>, Range<usize>), ContainerError>;

    /// Returns the header of the next image, and where the image is in the stream.
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let header = Fields(self.records);
        // Without the rest of the table there are no more.
        let (record, rest) = self.records.split_at_checked(header.extent()).unwrap_or_default();
        self.records = rest;
        if record.is_empty() {
            self.left = 0;
        }
        let (start, size) = (u64::from(header.u32(4)), header.u64(8));
        let end = start
            .checked_add(size)
            .filter(|end| !record.is_empty() && start >= self.end && *end <= self.stream);
        let Some(end) = end else {
            let (stream, before) = (self.stream, self.end);
            let kind = Kind::ImageOutside { start, size, stream, before };
            return Some(Err(ContainerError::new(self.entry, kind)));
        };
        self.end = end;
        Some(Ok((Fields(record), start as usize..end as usize)))
    }
}
