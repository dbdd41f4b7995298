//! The parts of a file around its blocks: the header, and the footer with contents and block index. Writing and reading
//! are together here, so that they stay in step.

use std::io;

use super::column::{Chunk, ChunkError, ChunkWriter, Decoder};
use super::contents::{
    CONTENTS_DICTIONARY, ContentHash, TraceContents, check_memory, most_compressed,
};
use super::error::{Producer, TraceError};
use super::format::{
    HEADER_BYTES, KNOWN_FOOTER_COLUMNS, MAGIC, MAX_BLOCK_INSTRUCTIONS, MAX_BLOCK_RECORDS,
    MAX_RECORDS_FOR_BYTE, VERSION, footer,
};

/// The header of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) producer: Producer,
    pub(super) footer_offset: u64,
    pub(super) footer_length: u32,
    pub(super) footer_crc: u32,
    pub(super) content_hash: ContentHash,
}

impl Header {
    pub(super) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let crc_at = HEADER_BYTES - 4;
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.producer.to_bytes());
        bytes[16..24].copy_from_slice(&self.footer_offset.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.footer_length.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.footer_crc.to_le_bytes());
        bytes[32..48].copy_from_slice(&self.content_hash.0);
        let crc = crc32fast::hash(&bytes[..crc_at]);
        bytes[crc_at..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, TraceError> {
        let magic = &bytes[..bytes.len().min(MAGIC.len())];
        if magic.is_empty() || !MAGIC.starts_with(magic) {
            return Err(TraceError::NotATrace);
        }
        let producer = array(bytes, 12).map(Producer::from_bytes);
        // The rest is read only after this check, because other versions may have a different header.
        if let (Some(version), Some(producer)) = (array(bytes, 8).map(u32::from_le_bytes), producer)
            && version != VERSION
        {
            return Err(TraceError::Version { version, producer });
        }
        let (length, size) = (HEADER_BYTES as u64, bytes.len() as u64);
        let cut_off = || TraceError::CutOff { part: "header", offset: 0, length, size };
        let (header, _) = bytes.split_first_chunk::<HEADER_BYTES>().ok_or_else(cut_off)?;
        let (covered, crc) = header.split_at(HEADER_BYTES - 4);
        if crc != crc32fast::hash(covered).to_le_bytes() {
            return Err(TraceError::Damaged { part: "header", offset: 0 });
        }
        let u32_at = |at| array(header, at).map(u32::from_le_bytes);
        let read = || {
            Some(Self {
                producer: producer?,
                footer_offset: array(header, 16).map(u64::from_le_bytes)?,
                footer_length: u32_at(24)?,
                footer_crc: u32_at(28)?,
                content_hash: ContentHash(array(header, 32)?),
            })
        };
        read().ok_or_else(cut_off)
    }
}

fn array<const COUNT: usize>(bytes: &[u8], at: usize) -> Option<[u8; COUNT]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// One row of the block index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawBlock {
    /// The offset of the block, in bytes from the start of the file.
    pub offset: u64,
    /// The index of the block's first instruction in the whole trace.
    pub first_instruction: u64,
    /// The number of memory instructions before the block.
    pub first_record: u64,
    /// Its length in bytes.
    pub length: u32,
    /// Its CRC-32.
    pub crc: u32,
    /// The number of its instructions, with and without memory operands.
    pub instructions: u32,
    /// The number of its memory instructions.
    pub records: u32,
    /// Its kernel's index in [`TraceContents::kernels`].
    pub kernel: u32,
    /// The number of its loads.
    pub loads: u32,
    /// The number of its stores.
    pub stores: u32,
    /// The number of its atomics.
    pub atomics: u32,
}

/// Counts of a whole trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) instructions: u64,
    pub(super) records: u64,
    pub(super) loads: u64,
}

/// The footer of a file.
#[derive(Debug, Default)]
pub(super) struct Footer {
    pub(super) contents: TraceContents,
    pub(super) blocks: Vec<RawBlock>,
}

impl Footer {
    pub(super) fn write(&self, writer: &mut ChunkWriter, output: &mut Vec<u8>) -> io::Result<()> {
        let Self { contents, blocks } = self;
        let contents = serde_json::to_vec(contents).map_err(io::Error::from)?;
        // The file will be longer than its blocks, so the reader's limits are higher.
        let file = blocks.last().map_or(0, |row| row.offset + u64::from(row.length)) as usize;
        let fits = check_memory(&contents, file).is_ok();
        let most = if fits { most_compressed(file) } else { 0 };
        writer.bytes(footer::CONTENTS, &contents, CONTENTS_DICTIONARY, most)?;
        let column = |field: fn(&RawBlock) -> u32| blocks.iter().map(field).collect::<Vec<_>>();
        writer.counted(footer::LENGTH, &column(|row| row.length))?;
        writer.unsigned(footer::CRC, &column(|row| row.crc))?;
        writer.unsigned(footer::INSTRUCTIONS, &column(|row| row.instructions))?;
        writer.unsigned(footer::RECORDS, &column(|row| row.records))?;
        writer.unsigned(footer::KERNEL, &column(|row| row.kernel))?;
        writer.unsigned(footer::LOADS, &column(|row| row.loads))?;
        writer.unsigned(footer::STORES, &column(|row| row.stores))?;
        writer.unsigned(footer::ATOMICS, &column(|row| row.atomics))?;
        writer.finish(output);
        Ok(())
    }

    pub(super) fn read(bytes: &[u8], header: &Header) -> Result<Self, TraceError> {
        let (part, offset) = ("footer", header.footer_offset);
        let length = u64::from(header.footer_length);
        let end = usize::try_from(offset).ok().zip(usize::try_from(length).ok());
        let held = end.and_then(|(at, length)| bytes.get(at..)?.get(..length));
        let held =
            held.ok_or(TraceError::CutOff { part, offset, length, size: bytes.len() as u64 })?;
        if crc32fast::hash(held) != header.footer_crc {
            return Err(TraceError::Damaged { part, offset });
        }
        Self::of_chunk(held, offset, bytes.len()).map_err(|error| match error {
            ChunkError::Unknown(column) => {
                TraceError::UnknownColumn { part, offset, column, producer: header.producer }
            }
            ChunkError::Malformed(message) => TraceError::Malformed { part, offset, message },
        })
    }

    /// Reads the footer of a file of `file` bytes. It starts at offset `end`, right after the last block.
    fn of_chunk(bytes: &[u8], end: u64, file: usize) -> Result<Self, ChunkError> {
        let chunk = Chunk::new(bytes, KNOWN_FOOTER_COLUMNS)?;
        let mut decoder = Decoder::default();
        let most = most_compressed(file);
        let contents = decoder.bytes(&chunk, footer::CONTENTS, CONTENTS_DICTIONARY, most)?;
        check_memory(contents, file)?;
        let contents: TraceContents =
            serde_json::from_slice(contents).map_err(|error| format!("contents: {error}"))?;
        let blocks = read_index(&chunk, &mut decoder, end, contents.kernels.len())?;
        Ok(Self { contents, blocks })
    }

    /// The counts of all blocks.
    pub(super) fn totals(&self) -> Totals {
        let last = self.blocks.last();
        let end = |of: fn(&RawBlock) -> u64| last.map_or(0, of);
        Totals {
            instructions: end(|row| row.first_instruction + u64::from(row.instructions)),
            records: end(|row| row.first_record + u64::from(row.records)),
            loads: self.blocks.iter().map(|row| u64::from(row.loads)).sum(),
        }
    }
}

/// Reads the index of the blocks, which fill the file from the header to `end`.
fn read_index(
    chunk: &Chunk<'_>,
    decoder: &mut Decoder,
    end: u64,
    kernels: usize,
) -> Result<Vec<RawBlock>, String> {
    let count = chunk.count(footer::LENGTH)?;
    let start = HEADER_BYTES as u64;
    let room = end.saturating_sub(start);
    // Every block has at least one byte.
    if count as u64 > room {
        return Err(format!("the index has {count} blocks in {room} bytes"));
    }
    // Read before the rows are allocated, because the lengths must add up to the file's own.
    let mut numbers = Vec::<u32>::new();
    decoder.unsigned(chunk, footer::LENGTH, count, &mut numbers)?;
    let length: u64 = numbers.iter().map(|length| u64::from(*length)).sum();
    if length != room {
        return Err(format!("the blocks end at byte offset {}; expected {end}", start + length));
    }
    let blank = RawBlock { offset: start, ..RawBlock::default() };
    let mut blocks = vec![blank; count];
    type Field = fn(&mut RawBlock) -> &mut u32;
    let columns: [(u8, Field); 8] = [
        (footer::LENGTH, |row| &mut row.length),
        (footer::CRC, |row| &mut row.crc),
        (footer::INSTRUCTIONS, |row| &mut row.instructions),
        (footer::RECORDS, |row| &mut row.records),
        (footer::KERNEL, |row| &mut row.kernel),
        (footer::LOADS, |row| &mut row.loads),
        (footer::STORES, |row| &mut row.stores),
        (footer::ATOMICS, |row| &mut row.atomics),
    ];
    for (id, field) in columns {
        decoder.unsigned(chunk, id, count, &mut numbers)?;
        for (row, number) in blocks.iter_mut().zip(&numbers) {
            *field(row) = *number;
        }
    }
    let mut next = blank;
    for (i, row) in blocks.iter_mut().enumerate() {
        (row.offset, row.first_instruction) = (next.offset, next.first_instruction);
        row.first_record = next.first_record;
        let RawBlock { instructions, records, loads, stores, atomics, .. } = *row;
        let of_kinds = u64::from(loads) + u64::from(stores) + u64::from(atomics);
        let is_consistent = row.length > 0
            && instructions <= MAX_BLOCK_INSTRUCTIONS
            && records as usize <= MAX_BLOCK_RECORDS
            && records <= instructions
            && of_kinds <= u64::from(records)
            && (row.kernel as usize) < kernels;
        if records as usize > (row.length as usize).saturating_mul(MAX_RECORDS_FOR_BYTE) {
            let length = row.length;
            return Err(format!(
                "row {i} of the block index has {records} memory instructions in {length} bytes; expected at \
                 most {MAX_RECORDS_FOR_BYTE} for each"
            ));
        }
        if !is_consistent {
            return Err(format!("row {i} of the block index is inconsistent"));
        }
        next.offset += u64::from(row.length);
        next.first_instruction += u64::from(instructions);
        next.first_record += u64::from(records);
    }
    Ok(blocks)
}
