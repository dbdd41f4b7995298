//! The headers of containers and of their entries: [`Entry`], and [`Table`] for an entry with several images in one
//! stream (`fatbinary --concat`). Every size and offset in them is checked.

use std::ops::Range;

use object::LittleEndian as LE;
use object::endian::{U16, U32, U64};
use object::pod::from_bytes;

use super::compression::Compression;
use super::error::{ContainerError, ContainerErrorKind as Kind};
use super::gpu_codes::MAX_TABLE_RECORDS;
use super::sm::GpuSm;

/// The header of a container, after its magic.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContainerHeader {
    pub(super) version: u16,
    /// The size of this header.
    pub(super) bytes: u16,
    /// The size of the entries.
    pub(super) size: u64,
}

impl ContainerHeader {
    pub(super) const BYTES: usize = 16;

    /// Reads the header at the start of `file`; `None` if it is cut off.
    pub(super) fn read(file: &[u8]) -> Option<Self> {
        let (_magic, rest) = from_bytes::<U32<LE>>(file).ok()?;
        let ([version, bytes], rest) = from_bytes::<[U16<LE>; 2]>(rest).ok()?;
        let (size, _) = from_bytes::<U64<LE>>(rest).ok()?;
        Some(Self { version: version.get(LE), bytes: bytes.get(LE), size: size.get(LE) })
    }
}

/// The size of an entry's header without extra records.
const HEADER: usize = 64;

const VERSION: u16 = 0x0101;

/// While resynchronizing after damage only headers below this size are accepted. Real ones are far smaller, unless they
/// list several images.
const MAX_USUAL_HEADER: u32 = 1 << 16;

pub(super) const PTX: u16 = 1;
pub(super) const ELF: u16 = 2;
/// Several ELF files in one stream.
pub(super) const CONCATENATED: u16 = 0x100;

/// Flags, of an entry and of an image in a table.
const ARCHITECTURE_SPECIFIC: u64 = 0x10_0000;
const FAMILY_SPECIFIC: u64 = 0x20_0000;
/// The options are replaced by records of compatibility.
const COMPATIBILITY: u64 = 0x100_0000;
/// The payload is obfuscated, if there is a key too.
const OBFUSCATED: u64 = 0x1_0000;
const ZLIB: u64 = 0x1000;
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;

/// The header of an entry, or of an image in a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryHeader<'f> {
    pub(super) kind: u16,
    version: u16,
    /// The size of this header with its texts. In a table: the offset of the image in the stream.
    extent: u32,
    payload: u64,
    compressed: u32,
    /// The offset of the range of the options, 0 without options.
    options: u32,
    sm: u32,
    /// Offset and length of the name; offset 0 means no name.
    name: (u32, u32),
    pub(super) flags: u64,
    key: u64,
    /// The size when decompressed.
    pub(super) claimed: u64,
    /// The header and its texts. Offsets count from its first byte.
    bytes: &'f [u8],
}

impl<'f> EntryHeader<'f> {
    /// Reads the header at the start of `bytes`; `None` if it is cut off.
    fn read(bytes: &'f [u8]) -> Option<Self> {
        let ([kind, version], rest) = from_bytes::<[U16<LE>; 2]>(bytes).ok()?;
        let (extent, rest) = from_bytes::<U32<LE>>(rest).ok()?;
        let (payload, rest) = from_bytes::<U64<LE>>(rest).ok()?;
        let (words, rest) = from_bytes::<[U32<LE>; 6]>(rest).ok()?;
        let [compressed, options, _version, sm, name, length] = words.map(|word| word.get(LE));
        let ([flags, key, claimed], _) = from_bytes::<[U64<LE>; 3]>(rest).ok()?;
        Some(Self {
            kind: kind.get(LE),
            version: version.get(LE),
            extent: extent.get(LE),
            payload: payload.get(LE),
            compressed,
            options,
            sm,
            name: (name, length),
            flags: flags.get(LE),
            key: key.get(LE),
            claimed: claimed.get(LE),
            bytes,
        })
    }

    /// A text without trailing NULs; `None` if it is empty or outside the header.
    fn text(self, (start, length): (u32, u32)) -> Option<&'f [u8]> {
        let bytes = self.bytes.get(start as usize..)?.get(..length as usize)?;
        let end = bytes.iter().rposition(|byte| *byte != 0)?;
        bytes.get(..=end)
    }

    /// The SM. The flags give the suffix for PTX only; a cubin has its suffix in its own headers.
    pub(super) fn sm_of(self, is_ptx: bool) -> Option<GpuSm> {
        let suffix = match self.flags {
            flags if is_ptx && flags & ARCHITECTURE_SPECIFIC != 0 => Some('a'),
            flags if is_ptx && flags & FAMILY_SPECIFIC != 0 => Some('f'),
            _ => None,
        };
        GpuSm::new(self.sm, suffix)
    }

    /// Obfuscated payloads, such as some LTO-IR, have a key beside the flag.
    pub(super) fn is_obfuscated(self) -> bool {
        self.flags & OBFUSCATED != 0 && self.key != 0
    }

    /// The name of the source; `None` if it is outside the header.
    pub(super) fn name(self) -> Option<&'f [u8]> {
        if self.name.0 == 0 { None } else { self.text(self.name) }
    }

    /// The command line of the compiler; `None` if it is outside the header.
    pub(super) fn options(self) -> Option<&'f [u8]> {
        if self.flags & COMPATIBILITY != 0 { None } else { self.text(self.options_range()?) }
    }

    /// Offset and length of the options, or of the records in their place.
    fn options_range(self) -> Option<(u32, u32)> {
        let at = Some(self.options as usize).filter(|at| *at > 0)?;
        let ([start, length], _) = from_bytes::<[U32<LE>; 2]>(self.bytes.get(at..)?).ok()?;
        Some((start.get(LE), length.get(LE)))
    }

    /// The size of a header in a table with its texts. Each text ends with a NUL and is padded to a multiple of 8.
    fn extent(self) -> usize {
        let end = |(start, length): (u32, u32)| {
            (start as usize).saturating_add(length as usize).saturating_add(1).next_multiple_of(8)
        };
        let named = if self.name.0 == 0 { 0 } else { end(self.name) };
        HEADER.max(named).max(self.options_range().map_or(0, end))
    }
}

/// An entry that lies within its container.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'f> {
    /// The byte offset in the file.
    pub(super) offset: usize,
    pub(super) header: EntryHeader<'f>,
    /// The payload, padding included.
    pub(super) payload: &'f [u8],
}

impl<'f> Entry<'f> {
    /// Reads the entry at `offset` of a container that ends at `end`. Returns the offset of the next entry too.
    pub(super) fn read(
        file: &'f [u8],
        offset: usize,
        end: usize,
    ) -> Result<(Self, usize), ContainerError> {
        let fail = |kind| Err(ContainerError::new(offset, kind));
        let left = file.get(offset..end).unwrap_or_default();
        let Some(mut header) = EntryHeader::read(left) else {
            return fail(Kind::EntryCutOff { left: left.len() as u64 });
        };
        let EntryHeader { version, extent, payload: size, .. } = header;
        if version != VERSION {
            return fail(Kind::EntryVersion { version });
        }
        let bytes = left.split_at_checked(extent as usize);
        let Some((bytes, left)) = bytes.filter(|(bytes, _)| bytes.len() >= HEADER) else {
            return fail(Kind::EntryHeader { size: extent.into(), left: left.len() as u64 });
        };
        let payload = usize::try_from(size).ok().and_then(|size| left.get(..size));
        let Some(payload) = payload else {
            return fail(Kind::EntryOutside { size, left: left.len() as u64 });
        };
        header.bytes = bytes;
        Ok((Self { offset, header, payload }, offset + bytes.len() + payload.len()))
    }

    /// Whether bytes look like the header of an entry. Used to find the next entry after damage. A kind is any power of
    /// two, because an entry that is not decoded, such as LTO-IR, is listed, too.
    pub(super) fn may_begin(bytes: &[u8]) -> bool {
        EntryHeader::read(bytes).is_some_and(|header| {
            let EntryHeader { kind, version, extent, payload, .. } = header;
            kind.is_power_of_two()
                && kind <= CONCATENATED
                && version == VERSION
                && extent as usize >= HEADER
                && extent % 8 == 0
                && (extent < MAX_USUAL_HEADER || kind == CONCATENATED)
                && payload % 8 == 0
        })
    }

    /// The compression, and the payload without its padding.
    pub(super) fn stored(&self) -> Result<(Option<Compression>, &'f [u8]), ContainerError> {
        let fail = |kind| Err(ContainerError::new(self.offset, kind));
        let EntryHeader { flags, compressed, .. } = self.header;
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
}

/// The records of a table, each the header of an entry: 64 bytes, then its name and its records of
/// compatibility.
#[derive(Debug)]
pub(super) struct Table<'f> {
    entry: usize,
    pub(super) compression: Option<Compression>,
    /// The claimed size of the decompressed stream.
    stream: u64,
    left: u32,
    records: &'f [u8],
    /// The end of the images so far in the stream.
    end: u64,
}

impl<'f> Table<'f> {
    pub(super) fn read(
        entry: &Entry<'f>,
        compression: Option<Compression>,
    ) -> Result<Self, ContainerError> {
        let after = entry.header.bytes.get(HEADER..).unwrap_or_default();
        // The table begins with its count and its size. The size includes both.
        let start = from_bytes::<[U32<LE>; 2]>(after).ok();
        let [count, size] = start.map_or([0; 2], |(start, _)| start.map(|word| word.get(LE)));
        let records = after.get(size_of_val(&[count, size])..size as usize);
        let needed = (count as usize).saturating_mul(HEADER);
        let is_sound = count <= MAX_TABLE_RECORDS;
        let Some(records) = records.filter(|records| is_sound && records.len() >= needed) else {
            let (count, size, left) = (count.into(), size.into(), after.len() as u64);
            return Err(ContainerError::new(entry.offset, Kind::Table { count, size, left }));
        };
        let stream = match compression {
            Some(_) => entry.header.claimed,
            None => entry.payload.len() as u64,
        };
        Ok(Self { entry: entry.offset, compression, stream, left: count, records, end: 0 })
    }
}

impl<'f> Iterator for Table<'f> {
    type Item = Result<(EntryHeader<'f>, Range<usize>), ContainerError>;

    /// The header of the next image, and its range in the stream.
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let header = EntryHeader::read(self.records);
        let (start, size) =
            header.map_or((0, 0), |header| (u64::from(header.extent), header.payload));
        let record = header.and_then(|header| self.records.split_at_checked(header.extent()));
        let end = start.checked_add(size);
        let end = end.filter(|end| start >= self.end && *end <= self.stream);
        // A record that is cut off ends the table, because later ones cannot be located.
        (self.records, self.left) = record.map_or((&[][..], 0), |(_, rest)| (rest, self.left));
        let (Some(header), Some((bytes, _)), Some(end)) = (header, record, end) else {
            let (stream, before) = (self.stream, self.end);
            let kind = Kind::ImageOutside { start, size, stream, before };
            return Some(Err(ContainerError::new(self.entry, kind)));
        };
        self.end = end;
        Some(Ok((EntryHeader { bytes, ..header }, start as usize..end as usize)))
    }
}
