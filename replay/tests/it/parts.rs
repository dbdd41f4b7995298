//! A binary trace taken apart and put together again, with checksums that match: a second reader of
//! docs/trace-format.md.

use warpload_trace::TraceContents;
use warpload_trace::binary::HEADER_BYTES;

/// Columns of blocks and of the footer, by the names of the document.
pub(crate) mod id {
    pub(crate) const RUN_GAP: u8 = 1;
    pub(crate) const RUN_KNOWN: u8 = 2;
    pub(crate) const RUN_CTA_X: u8 = 3;
    pub(crate) const SITE_OPERATION: u8 = 17;
    pub(crate) const SITE: u8 = 18;
    pub(crate) const GAP: u8 = 19;
    pub(crate) const INACTIVE: u8 = 20;
    pub(crate) const FORM: u8 = 21;
    pub(crate) const FLAGS: u8 = 22;
    pub(crate) const BASE: u8 = 23;
    pub(crate) const LENGTH: u8 = 2;
    pub(crate) const CRC: u8 = 3;
    pub(crate) const INSTRUCTIONS: u8 = 4;
    pub(crate) const RECORDS: u8 = 5;
    pub(crate) const KERNEL: u8 = 6;
    pub(crate) const LOADS: u8 = 7;
    pub(crate) const STORES: u8 = 8;
    pub(crate) const ATOMICS: u8 = 9;
}

/// A column that is not compressed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) id: u8,
    pub(crate) encoding: u8,
    pub(crate) bytes: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chunk(pub(crate) Vec<Column>);

impl Chunk {
    fn read(bytes: &[u8]) -> Self {
        let (mut at, mut columns) = (1, Vec::new());
        for _ in 0..bytes[0] {
            let (id, encoding) = (bytes[at], bytes[at + 1]);
            at += 2;
            let (mut length, mut shift) = (0usize, 0);
            loop {
                length |= usize::from(bytes[at] & 0x7f) << shift;
                (at, shift) = (at + 1, shift + 7);
                if bytes[at - 1] & 0x80 == 0 {
                    break;
                }
            }
            assert_eq!(encoding & 0x40, 0, "column {id} is compressed");
            columns.push((id, encoding, length));
        }
        let column = |(id, encoding, length)| {
            at += length;
            Column { id, encoding, bytes: bytes[at - length..at].to_vec() }
        };
        let columns = columns.into_iter().map(column).collect();
        assert_eq!(at, bytes.len());
        Self(columns)
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut bytes = vec![self.0.len() as u8];
        for column in &self.0 {
            bytes.extend([column.id, column.encoding]);
            let mut length = column.bytes.len();
            while length > 0x7f {
                bytes.push(length as u8 | 0x80);
                length >>= 7;
            }
            bytes.push(length as u8);
        }
        self.0.iter().for_each(|column| bytes.extend(&column.bytes));
        bytes
    }

    /// The numbers of a column as they are stored: those with signs in zigzag.
    pub(crate) fn numbers(&self, id: u8) -> Option<Vec<u64>> {
        let column = self.0.iter().find(|column| column.id == id)?;
        let count = column.bytes.len() / usize::from(column.encoding & 15);
        let number = |i| {
            let planes = column.bytes.chunks(count).enumerate();
            planes.fold(0, |number, (plane, bytes)| number | u64::from(bytes[i]) << (8 * plane))
        };
        Some((0..count).map(number).collect())
    }

    /// Replaces a column, or adds it.
    pub(crate) fn set(&mut self, id: u8, numbers: &[u64]) {
        let all = numbers.iter().fold(0, |all, number| all | number);
        let width = (64 - all.leading_zeros()).div_ceil(8).max(1) as u8;
        let plane = |plane| numbers.iter().map(move |number| (number >> (8 * plane)) as u8);
        let bytes = (0..width).flat_map(plane).collect();
        let known = self.0.iter().position(|column| column.id >= id).unwrap_or(self.0.len());
        let shift = match self.0.get(known).filter(|column| column.id == id) {
            Some(_) => self.0.remove(known).encoding & 0x30,
            None => 0,
        };
        self.0.insert(known, Column { id, encoding: 0x80 | shift | width, bytes });
    }

    /// Changes one of `count` numbers of a column, which has zeros if it is not there.
    pub(crate) fn change(&mut self, id: u8, count: usize, i: usize, change: impl Fn(u64) -> u64) {
        let mut numbers = self.numbers(id).unwrap_or_else(|| vec![0; count]);
        numbers[i] = change(numbers[i]);
        self.set(id, &numbers);
    }
}

/// A trace taken apart.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) header: Vec<u8>,
    pub(crate) blocks: Vec<Chunk>,
    pub(crate) footer: Chunk,
    /// Whether the lengths and checksums of blocks stay as they are in the footer.
    pub(crate) keeps_lengths: bool,
}

impl Parts {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let number = |at: usize| u64::from_le_bytes(bytes[at..][..8].try_into().unwrap());
        let (end, length) = (number(16) as usize, (number(24) & 0xffff_ffff) as usize);
        assert_eq!(end + length, bytes.len());
        let footer = Chunk::read(&bytes[end..]);
        let mut at = HEADER_BYTES;
        let block = |length| {
            at += length as usize;
            Chunk::read(&bytes[at - length as usize..at])
        };
        let lengths = footer.numbers(id::LENGTH).unwrap_or_default();
        let blocks = lengths.into_iter().map(block).collect();
        assert_eq!(at, end);
        let header = bytes[..HEADER_BYTES].to_vec();
        Self { header, blocks, footer, keeps_lengths: false }
    }

    /// Changes a row of the block index.
    pub(crate) fn index(&mut self, id: u8, row: usize, change: impl Fn(u64) -> u64) {
        let rows = self.blocks.len();
        self.footer.change(id, rows, row, change);
    }

    /// Changes the JSON beside the blocks.
    pub(crate) fn contents(&mut self, change: impl FnOnce(&mut TraceContents)) {
        let mut contents: TraceContents = serde_json::from_slice(self.json()).unwrap();
        change(&mut contents);
        *self.json() = serde_json::to_vec(&contents).unwrap();
    }

    pub(crate) fn json(&mut self) -> &mut Vec<u8> {
        &mut self.footer.0[0].bytes
    }

    pub(crate) fn together(&self) -> Vec<u8> {
        let mut bytes = self.header.clone();
        let blocks: Vec<_> = self.blocks.iter().map(Chunk::write).collect();
        let mut footer = self.footer.clone();
        if !self.keeps_lengths && !blocks.is_empty() {
            let lengths: Vec<_> = blocks.iter().map(|block| block.len() as u64).collect();
            footer.set(id::LENGTH, &lengths);
            let crcs: Vec<_> = blocks.iter().map(|block| crc32fast::hash(block).into()).collect();
            footer.set(id::CRC, &crcs);
        }
        bytes.extend(blocks.concat());
        let (at, footer) = (bytes.len() as u64, footer.write());
        bytes[16..24].copy_from_slice(&at.to_le_bytes());
        bytes[24..28].copy_from_slice(&(footer.len() as u32).to_le_bytes());
        bytes[28..32].copy_from_slice(&crc32fast::hash(&footer).to_le_bytes());
        bytes.extend(footer);
        seal(&mut bytes);
        bytes
    }
}

/// Makes the checksum of the header match.
pub(crate) fn seal(bytes: &mut [u8]) {
    let crc = crc32fast::hash(&bytes[..HEADER_BYTES - 4]);
    bytes[HEADER_BYTES - 4..HEADER_BYTES].copy_from_slice(&crc.to_le_bytes());
}
