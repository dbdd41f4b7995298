//! Fatbins, archives and COFF objects, built field by field.

use std::io::Write;

/// An entry, with the fields of its header and its payload. Each field can be made wrong.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) kind: u16,
    pub(crate) version: u16,
    pub(crate) header: u32,
    pub(crate) size: u64,
    pub(crate) compressed: u32,
    pub(crate) sm: u32,
    pub(crate) flags: u64,
    pub(crate) claimed: u64,
    /// The rest of the header after its 64 bytes.
    pub(crate) extra: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

pub(crate) const PTX: u16 = 1;
pub(crate) const ELF: u16 = 2;
pub(crate) const CONCATENATED: u16 = 0x100;

impl Entry {
    pub(crate) fn plain(kind: u16, sm: u32, bytes: &[u8]) -> Self {
        let mut payload = bytes.to_vec();
        payload.resize(bytes.len().next_multiple_of(8), 0);
        Self {
            kind,
            version: 0x0101,
            header: 64,
            size: payload.len() as u64,
            compressed: 0,
            sm,
            flags: 0x11,
            claimed: 0,
            extra: Vec::new(),
            payload,
        }
    }

    /// An entry with a payload that is compressed already.
    pub(crate) fn stored(kind: u16, flags: u64, stored: &[u8], claimed: usize) -> Self {
        let compressed = stored.len() as u32;
        let plain = Self::plain(kind, 75, stored);
        Self { flags: flags | 0x11, compressed, claimed: claimed as u64, ..plain }
    }

    pub(crate) fn lz4(kind: u16, bytes: &[u8]) -> Self {
        Self::stored(kind, 0x2000, &lz4_flex::block::compress(bytes), bytes.len())
    }

    pub(crate) fn zstd(kind: u16, bytes: &[u8]) -> Self {
        Self::stored(kind, 0x8000, &zstd::encode_all(bytes, 3).unwrap(), bytes.len())
    }

    pub(crate) fn zlib(kind: u16, bytes: &[u8]) -> Self {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        Self::stored(kind, 0x1000, &encoder.finish().unwrap(), bytes.len())
    }

    fn bytes(&self) -> Vec<u8> {
        let mut header =
            header(self.kind, self.version, self.header, self.size, self.sm, self.flags);
        header[16..20].copy_from_slice(&self.compressed.to_le_bytes());
        header[56..64].copy_from_slice(&self.claimed.to_le_bytes());
        [&header[..], &self.extra, &self.payload].concat()
    }
}

fn header(kind: u16, version: u16, size: u32, payload: u64, sm: u32, flags: u64) -> [u8; 64] {
    let mut header = [0; 64];
    header[0..2].copy_from_slice(&kind.to_le_bytes());
    header[2..4].copy_from_slice(&version.to_le_bytes());
    header[4..8].copy_from_slice(&size.to_le_bytes());
    header[8..16].copy_from_slice(&payload.to_le_bytes());
    header[28..32].copy_from_slice(&sm.to_le_bytes());
    header[40..48].copy_from_slice(&flags.to_le_bytes());
    header
}

/// The header of an image in a table: its offset in the stream, its size, its SM.
pub(crate) fn record(start: u32, size: u64, sm: u32) -> [u8; 64] {
    header(ELF, 0x0101, start, size, sm, 0x11)
}

/// An entry of several images in one stream of zstd.
pub(crate) fn concatenated(stream: &[u8], records: &[[u8; 64]]) -> Entry {
    let mut entry = Entry { sm: 0, ..Entry::zstd(CONCATENATED, stream) };
    entry.extra.extend((records.len() as u32).to_le_bytes());
    entry.extra.extend((8 + 64 * records.len() as u32).to_le_bytes());
    entry.extra.extend(records.concat());
    entry.header += entry.extra.len() as u32;
    entry
}

pub(crate) fn fatbin(entries: &[Entry]) -> Vec<u8> {
    let entries: Vec<u8> = entries.iter().flat_map(Entry::bytes).collect();
    fatbin_of(entries.len() as u64, &entries)
}

/// A container that claims `size` bytes.
pub(crate) fn fatbin_of(size: u64, entries: &[u8]) -> Vec<u8> {
    [b"\x50\xed\x55\xba\x01\0\x10\0", &size.to_le_bytes()[..], entries].concat()
}

/// An archive as `ar` writes it.
pub(crate) fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let name = format!("{name}/");
        let size = bytes.len();
        archive.extend(format!("{name:<16}0           0     0     644     {size:<10}`\n").bytes());
        archive.extend(*bytes);
        if bytes.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

/// A COFF object for x86-64 with one section.
pub(crate) fn coff(section: &[u8; 8], data: &[u8]) -> Vec<u8> {
    let mut object = Vec::new();
    object.extend(0x8664_u16.to_le_bytes());
    object.extend(1_u16.to_le_bytes());
    object.extend([0; 16]);
    object.extend(section);
    object.extend([0; 8]);
    object.extend((data.len() as u32).to_le_bytes());
    object.extend(60_u32.to_le_bytes());
    object.extend([0; 12]);
    object.extend(0x4000_0040_u32.to_le_bytes());
    object.extend(data);
    object
}
