//! Header, sections, contents and index of a binary trace: all that is checked before blocks are
//! read.

use bytemuck::pod_read_unaligned;

use crate::binary::contents::TraceContents;
use crate::binary::error::TraceError;
use crate::binary::format::{
    BYTE_ORDER, Header, MAGIC, MAX_BLOCK_MEMORY_RECORDS, MAX_BLOCK_RECORDS, OLDEST_VERSION,
    RawBlock, RawInput, RawLoadBlock, RawSection, SectionKind, VERSION,
};
use crate::binary::writer::header_crc;

pub(super) fn read_header(bytes: &[u8]) -> Result<Header, TraceError> {
    let magic = &bytes[..bytes.len().min(MAGIC.len())];
    if magic.is_empty() || !MAGIC.starts_with(magic) {
        return Err(TraceError::NotATrace);
    }
    let (length, size) = (size_of::<Header>() as u64, bytes.len() as u64);
    let cut_off = TraceError::CutOff { part: "header", offset: 0, length, size };
    let header: Header = pod_read_unaligned(slice(bytes, 0, length).ok_or(cut_off)?);
    if header.byte_order == BYTE_ORDER.swap_bytes() {
        return Err(TraceError::ByteOrder);
    }
    if header.crc != header_crc(&header) {
        return Err(TraceError::Damaged { part: "header", offset: 0 });
    }
    if !(OLDEST_VERSION..=VERSION).contains(&header.version) {
        return Err(TraceError::Version { version: header.version });
    }
    if header.byte_order != BYTE_ORDER {
        return Err(TraceError::Malformed {
            part: "header",
            offset: 0,
            message: format!("byte order {:#x}; expected {BYTE_ORDER:#x}", header.byte_order),
        });
    }
    Ok(header)
}

/// Returns `length` bytes from `offset` on, or `None` if the file ends before them.
fn slice(bytes: &[u8], offset: u64, length: u64) -> Option<&[u8]> {
    let end = usize::try_from(offset.checked_add(length)?).ok()?;
    bytes.get(usize::try_from(offset).ok()?..end)
}

fn outside(part: &'static str, offset: u64, length: u64, bytes: &[u8]) -> TraceError {
    let size = bytes.len();
    let message = format!("{length} bytes from there on lie outside the file of {size}");
    TraceError::Malformed { part, offset, message }
}

/// The most sections of any version. A table that claims more is invalid, not cut off.
const MAX_SECTIONS: u32 = 1 << 10;

pub(super) fn read_sections(bytes: &[u8], header: &Header) -> Result<Vec<RawSection>, TraceError> {
    let part = "section table";
    let offset = header.sections_offset;
    let length = u64::from(header.section_count) * size_of::<RawSection>() as u64;
    let table = slice(bytes, offset, length).ok_or_else(|| {
        // It is the last part of a file.
        if header.section_count > MAX_SECTIONS || offset.checked_add(length).is_none() {
            return outside(part, offset, length, bytes);
        }
        TraceError::CutOff { part, offset, length, size: bytes.len() as u64 }
    })?;
    if crc32fast::hash(table) != header.sections_crc {
        return Err(TraceError::Damaged { part, offset });
    }
    Ok(table.chunks_exact(size_of::<RawSection>()).map(pod_read_unaligned).collect())
}

pub(super) fn find(
    sections: &[RawSection],
    header: &Header,
    kind: SectionKind,
) -> Result<RawSection, TraceError> {
    sections.iter().copied().find(|section| section.kind == kind as u32).ok_or_else(|| {
        TraceError::Malformed {
            part: "section table",
            offset: header.sections_offset,
            message: format!("no section of kind {} ({kind:?})", kind as u32),
        }
    })
}

fn checked<'b>(bytes: &'b [u8], section: &RawSection) -> Result<&'b [u8], TraceError> {
    let held = slice(bytes, section.offset, section.length)
        .ok_or_else(|| outside("section", section.offset, section.length, bytes))?;
    if crc32fast::hash(held) != section.crc {
        return Err(TraceError::Damaged { part: "section", offset: section.offset });
    }
    Ok(held)
}

pub(super) fn read_contents(
    bytes: &[u8],
    section: &RawSection,
) -> Result<TraceContents, TraceError> {
    let wrong =
        |message| TraceError::Malformed { part: "contents", offset: section.offset, message };
    let mut contents: TraceContents = serde_json::from_slice(checked(bytes, section)?)
        .map_err(|error| wrong(error.to_string()))?;
    for operation in &mut contents.operations {
        // Earlier writers set it for `LDS.U` too, which has no broadcast path.
        operation.uniform &= operation.reaches_global();
    }
    Ok(contents)
}

/// Reads the files that the trace was imported from; none if it does not say.
pub(super) fn read_inputs(
    bytes: &[u8],
    sections: &[RawSection],
) -> Result<Vec<RawInput>, TraceError> {
    let section = sections.iter().find(|section| section.kind == SectionKind::Inputs as u32);
    let Some(section) = section else { return Ok(Vec::new()) };
    let rows = checked(bytes, section)?;
    if rows.len() % size_of::<RawInput>() != 0 {
        let message = format!("{} bytes are not a whole number of rows", rows.len());
        return Err(TraceError::Malformed { part: "inputs", offset: section.offset, message });
    }
    Ok(rows.chunks_exact(size_of::<RawInput>()).map(pod_read_unaligned).collect())
}

/// Reads the block index and checks each row against the file, the header and the rows before.
pub(super) fn read_index(
    bytes: &[u8],
    section: &RawSection,
    header: &Header,
    contents: &TraceContents,
) -> Result<Vec<RawBlock>, TraceError> {
    let wrong = |message: String| TraceError::Malformed {
        part: "block index",
        offset: section.offset,
        message,
    };
    let rows = checked(bytes, section)?;
    let has_loads_only = header.version == OLDEST_VERSION;
    let size = if has_loads_only { size_of::<RawLoadBlock>() } else { size_of::<RawBlock>() };
    if rows.len() % size != 0 {
        return Err(wrong(format!("{} bytes are not a whole number of rows", rows.len())));
    }
    let rows = rows.chunks_exact(size);
    let blocks: Vec<RawBlock> = if has_loads_only {
        rows.map(|row| pod_read_unaligned::<RawLoadBlock>(row).into()).collect()
    } else {
        rows.map(pod_read_unaligned).collect()
    };
    let (mut records, mut memory_records, mut loads) = (0u64, 0u64, 0u64);
    let mut end = size_of::<Header>() as u64;
    for (i, block) in blocks.iter().enumerate() {
        let length = u64::from(block.length);
        slice(bytes, block.offset, length)
            .ok_or_else(|| outside("block", block.offset, length, bytes))?;
        // Blocks that overlap would make a small file a large amount of work.
        let is_placed = block.offset >= end && block.offset % 8 == 0 && block.length % 8 == 0;
        let skipped = u64::from(block.stores) + u64::from(block.atomics);
        let with_record = if has_loads_only { block.records } else { block.memory_records };
        let is_consistent = block.first_record == records
            && block.first_memory_record == memory_records
            && block.records <= MAX_BLOCK_RECORDS
            && block.memory_records as usize <= MAX_BLOCK_MEMORY_RECORDS
            && block.memory_records <= block.records
            && block.runs <= block.records
            && u64::from(block.loads) + skipped <= u64::from(with_record)
            && (block.kernel as usize) < contents.kernels.len();
        if !is_placed || !is_consistent {
            let RawBlock { offset, .. } = block;
            return Err(wrong(format!("row {i}, of the block at {offset}, is inconsistent")));
        }
        records += u64::from(block.records);
        memory_records += u64::from(block.memory_records);
        loads += u64::from(block.loads);
        end = block.offset + u64::from(block.length);
    }
    let expected = if has_loads_only { header.loads } else { header.memory_records };
    if (records, memory_records, loads) != (header.records, expected, header.loads) {
        return Err(wrong(format!(
            "{records} instructions, {memory_records} with a record, {loads} loads; the header says \
             {}, {expected} and {}",
            header.records, header.loads
        )));
    }
    Ok(blocks)
}
