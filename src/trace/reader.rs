//! Reading a binary trace: checked parts, and the loads of a block one after the other.

use std::fs::File;
use std::path::Path;

use bytemuck::pod_read_unaligned;

use super::error::TraceError;
use super::format::{
    ALL_FLAGS, BYTE_ORDER, Contents, FLAG_EXPECTED, FLAG_GUARD, FLAG_PLG, FLAG_WIDTH, Header,
    MAGIC, MAX_BLOCK_LOADS, MAX_BLOCK_RECORDS, RawBlock, RawRecord, RawSection, SectionKind,
    VERSION, form,
};
use super::operation::Operation;
use super::writer::header_crc;
use crate::lane::{LANES, LaneMask};
use crate::memory::Arena;

/// A binary trace whose header, sections and index have been checked. Blocks are checked when
/// they are read.
#[derive(Debug)]
pub struct BinaryTrace {
    bytes: Arena,
    header: Header,
    contents: Contents,
    blocks: Vec<RawBlock>,
}

impl BinaryTrace {
    /// Opens a trace; its blocks are mapped, not read. The file must not be changed meanwhile,
    /// see [`Arena::map_read_only`].
    ///
    /// # Errors
    /// [`TraceError`] where it is none, or damaged.
    #[cfg(feature = "mmap")]
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let failed = |source| TraceError::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() < size_of::<Header>() as u64 {
            return Err(TraceError::NotATrace);
        }
        Self::new(Arena::map_read_only(&file).map_err(failed)?)
    }

    /// Reads a trace out of its bytes.
    ///
    /// # Errors
    /// [`TraceError`] where they are none, or damaged.
    pub fn new(bytes: Arena) -> Result<Self, TraceError> {
        let header = read_header(bytes.bytes())?;
        let sections = read_sections(bytes.bytes(), &header)?;
        let contents = find(&sections, &header, SectionKind::Contents)?;
        let contents = read_contents(bytes.bytes(), &contents)?;
        let index = find(&sections, &header, SectionKind::BlockIndex)?;
        let blocks = read_index(bytes.bytes(), &index, &header, &contents)?;
        Ok(Self { bytes, header, contents, blocks })
    }

    /// How many instructions the trace has, skipped ones included.
    pub fn records(&self) -> u64 {
        self.header.records
    }

    /// How many loads it has.
    pub fn loads(&self) -> u64 {
        self.header.loads
    }

    /// A number that tells the trace from others: that of the checksums of all its parts.
    pub fn checksum(&self) -> u32 {
        self.header.sections_crc
    }

    /// Kernels, operations, allocations.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The block index.
    pub fn blocks(&self) -> &[RawBlock] {
        &self.blocks
    }

    /// Reads a block of this trace's index, and checks its bytes.
    ///
    /// # Errors
    /// [`TraceError`] with the block's offset, where its bytes do not match their checksum or
    /// its records do not ascend.
    pub fn block(&self, block: &RawBlock) -> Result<Block<'_>, TraceError> {
        let (start, length) = (block.offset as usize, block.length as usize);
        // The index was checked against the file's size.
        let bytes = self.bytes.bytes().get(start..).and_then(|rest| rest.get(..length));
        let bytes = bytes.unwrap_or_default();
        if crc32fast::hash(bytes) != block.crc {
            return Err(TraceError::Damaged { part: "block", offset: block.offset });
        }
        let records = block.loads as usize * size_of::<RawRecord>();
        let (records, payload) = bytes.split_at_checked(records).ok_or_else(|| {
            malformed(block, format!("{length} bytes do not hold {} loads", block.loads))
        })?;
        check_order(block, records)?;
        Ok(Block { raw: *block, records, payload, contents: &self.contents })
    }
}

/// Checks that the instructions in front of each load are more than those in front of the load
/// before, and leave room for those that were skipped: the counts of parts of a block then add
/// up to those of the block.
fn check_order(block: &RawBlock, records: &[u8]) -> Result<(), TraceError> {
    let counts = |record: &[u8]| {
        let record: RawRecord = pod_read_unaligned(record);
        (record.index, u32::from(record.stores), u32::from(record.atomics))
    };
    let end = (block.records, block.stores, block.atomics);
    let in_front = records.chunks_exact(size_of::<RawRecord>()).map(counts);
    // What the next load has in front of it at least: the load before.
    let (mut index, mut stores, mut atomics) = (0, 0, 0);
    for (i, at) in in_front.chain([end]).enumerate() {
        let skipped = (at.1.checked_sub(stores)).zip(at.2.checked_sub(atomics));
        let others =
            at.0.checked_sub(index).zip(skipped).and_then(|(passed, (stores, atomics))| {
                passed.checked_sub(stores)?.checked_sub(atomics)
            });
        if others.is_none() {
            return Err(malformed(block, format!("the counts in front of load {i} are too low")));
        }
        (index, stores, atomics) = (at.0.saturating_add(1), at.1, at.2);
    }
    Ok(())
}

fn malformed(block: &RawBlock, message: String) -> TraceError {
    TraceError::Malformed { part: "block", offset: block.offset, message }
}

fn read_header(bytes: &[u8]) -> Result<Header, TraceError> {
    let header = bytes.get(..size_of::<Header>()).ok_or(TraceError::NotATrace)?;
    let header: Header = pod_read_unaligned(header);
    if header.magic != MAGIC {
        return Err(TraceError::NotATrace);
    }
    if header.byte_order == BYTE_ORDER.swap_bytes() {
        return Err(TraceError::ByteOrder);
    }
    if header.crc != header_crc(&header) {
        return Err(TraceError::Damaged { part: "header", offset: 0 });
    }
    if header.version != VERSION {
        return Err(TraceError::Version { version: header.version, expected: VERSION });
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

/// The bytes from `offset` on, where the file has them.
fn slice<'b>(
    bytes: &'b [u8],
    part: &'static str,
    offset: u64,
    length: u64,
) -> Result<&'b [u8], TraceError> {
    let end = offset.checked_add(length).and_then(|end| usize::try_from(end).ok());
    let part_bytes = usize::try_from(offset).ok().zip(end);
    part_bytes.and_then(|(start, end)| bytes.get(start..end)).ok_or_else(|| {
        let message =
            format!("{length} bytes from there on lie outside the file of {}", bytes.len());
        TraceError::Malformed { part, offset, message }
    })
}

fn read_sections(bytes: &[u8], header: &Header) -> Result<Vec<RawSection>, TraceError> {
    let part = "section table";
    let offset = header.sections_offset;
    let length = u64::from(header.section_count) * size_of::<RawSection>() as u64;
    let table = slice(bytes, part, offset, length)?;
    if crc32fast::hash(table) != header.sections_crc {
        return Err(TraceError::Damaged { part, offset });
    }
    Ok(table.chunks_exact(size_of::<RawSection>()).map(pod_read_unaligned).collect())
}

fn find(
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
    let held = slice(bytes, "section", section.offset, section.length)?;
    if crc32fast::hash(held) != section.crc {
        return Err(TraceError::Damaged { part: "section", offset: section.offset });
    }
    Ok(held)
}

fn read_contents(bytes: &[u8], section: &RawSection) -> Result<Contents, TraceError> {
    let wrong =
        |message| TraceError::Malformed { part: "contents", offset: section.offset, message };
    let contents: Contents = serde_json::from_slice(checked(bytes, section)?)
        .map_err(|error| wrong(error.to_string()))?;
    let impossible = contents.operations.iter().find(|operation| !operation.is_possible());
    match impossible {
        Some(Operation { opcode, bytes, .. }) => {
            Err(wrong(format!("{opcode} of {bytes} bytes; expected 1, 2, 4, 8 or 16")))
        }
        None => Ok(contents),
    }
}

/// The block index, every row of it in agreement with the file, the header and its neighbours.
fn read_index(
    bytes: &[u8],
    section: &RawSection,
    header: &Header,
    contents: &Contents,
) -> Result<Vec<RawBlock>, TraceError> {
    let wrong = |message: String| TraceError::Malformed {
        part: "block index",
        offset: section.offset,
        message,
    };
    let rows = checked(bytes, section)?;
    if rows.len() % size_of::<RawBlock>() != 0 {
        return Err(wrong(format!("{} bytes are no whole number of rows", rows.len())));
    }
    let blocks: Vec<RawBlock> =
        rows.chunks_exact(size_of::<RawBlock>()).map(pod_read_unaligned).collect();
    let (mut records, mut loads, mut end) = (0u64, 0u64, size_of::<Header>() as u64);
    for (i, block) in blocks.iter().enumerate() {
        slice(bytes, "block", block.offset, u64::from(block.length))?;
        // Blocks that overlap would make a small file a large amount of work.
        let is_placed = block.offset >= end && block.offset % 8 == 0 && block.length % 8 == 0;
        let skipped = u64::from(block.stores) + u64::from(block.atomics);
        let is_consistent = block.first_record == records
            && block.first_load == loads
            && block.records <= MAX_BLOCK_RECORDS
            && block.loads as usize <= MAX_BLOCK_LOADS
            && u64::from(block.loads) + skipped <= u64::from(block.records)
            && (block.kernel as usize) < contents.kernels.len();
        if !is_placed || !is_consistent {
            let RawBlock { offset, .. } = block;
            return Err(wrong(format!("row {i}, of the block at {offset}, is inconsistent")));
        }
        records += u64::from(block.records);
        loads += u64::from(block.loads);
        end = block.offset + u64::from(block.length);
    }
    if (records, loads) != (header.records, header.loads) {
        return Err(wrong(format!(
            "{records} instructions and {loads} loads; the header says {} and {}",
            header.records, header.loads
        )));
    }
    Ok(blocks)
}

/// A block whose bytes match their checksum.
#[derive(Clone, Copy, Debug)]
pub struct Block<'t> {
    raw: RawBlock,
    records: &'t [u8],
    payload: &'t [u8],
    contents: &'t Contents,
}

/// One load of a trace.
#[derive(Clone, Copy, Debug)]
pub struct TracedLoad<'t> {
    /// The number of instructions in front of it in its block.
    pub index: u32,
    /// The number of stores in front of it in its block.
    pub stores: u32,
    /// The number of atomics in front of it in its block.
    pub atomics: u32,
    /// The program counter, in bytes from the start of the function.
    pub pc: u32,
    /// The active lanes.
    pub mask: LaneMask,
    /// The lanes whose Plg is true, where that is known.
    pub plg: Option<LaneMask>,
    /// The lanes whose guard is true, where that is known.
    pub guard: Option<LaneMask>,
    /// The operation's index in the trace's contents.
    pub operation: u16,
    /// Whether the source's access width was not the opcode's.
    pub width_disagrees: bool,
    form: u8,
    addresses: &'t [u8],
    expected: &'t [u8],
}

impl<'t> Block<'t> {
    /// Its row of the index.
    pub fn raw(&self) -> &RawBlock {
        &self.raw
    }

    /// Load number `i` of the block.
    ///
    /// # Errors
    /// [`TraceError::Malformed`] where its record points outside of the block or the contents,
    /// or has a form or a flag that is not known.
    #[inline]
    pub fn load(&self, i: usize) -> Result<TracedLoad<'t>, TraceError> {
        let start = i * size_of::<RawRecord>();
        let record = self.records.get(start..start + size_of::<RawRecord>());
        record.and_then(|record| self.read(&pod_read_unaligned(record))).ok_or_else(|| {
            let message = format!("the record of load {i} fits neither block nor contents");
            malformed(&self.raw, message)
        })
    }

    #[inline]
    fn read(&self, record: &RawRecord) -> Option<TracedLoad<'t>> {
        let operation = self.contents.operations.get(usize::from(record.operation))?;
        if record.flags & !ALL_FLAGS != 0 {
            return None;
        }
        let mask = LaneMask::from_bits(record.mask);
        let active = mask.count() as usize;
        let bytes = match record.form {
            form::UNIFORM => 8,
            form::STRIDE => 16,
            form::DELTAS => (8 + 4 * active.checked_sub(1)?).next_multiple_of(8),
            form::LIST => 8 * active,
            _ => return None,
        };
        let (addresses, rest) =
            self.payload.get(record.payload as usize..)?.split_at_checked(bytes)?;
        let expected = if record.flags & FLAG_EXPECTED != 0 {
            rest.get(..4 * active * operation.bytes.div_ceil(4) as usize)?
        } else {
            &[]
        };
        let known = |flag, bits| (record.flags & flag != 0).then_some(LaneMask::from_bits(bits));
        Some(TracedLoad {
            index: record.index,
            stores: u32::from(record.stores),
            atomics: u32::from(record.atomics),
            pc: record.pc,
            mask,
            plg: known(FLAG_PLG, record.plg),
            guard: known(FLAG_GUARD, record.guard),
            operation: record.operation,
            width_disagrees: record.flags & FLAG_WIDTH != 0,
            form: record.form,
            addresses,
            expected,
        })
    }

    /// The operation of a load of this block.
    pub fn operation(&self, load: &TracedLoad<'_>) -> &'t Operation {
        &self.contents.operations[usize::from(load.operation)]
    }
}

/// The eight bytes at `at`; 0 behind the end.
#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u64::from_le_bytes(*word))
}

/// The four bytes at `at`; 0 behind the end.
#[inline]
fn half(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |half| u32::from_le_bytes(*half))
}

impl TracedLoad<'_> {
    /// Each lane's address, lane 0 first; 0 where the lane is not active.
    #[inline]
    pub fn addresses(&self) -> [u64; LANES] {
        let base = word(self.addresses, 0);
        let mut lanes = [0; LANES];
        match self.form {
            form::UNIFORM if self.mask == LaneMask::ALL => return [base; LANES],
            form::UNIFORM => {
                for lane in self.mask.lanes() {
                    lanes[lane] = base;
                }
            }
            form::STRIDE => {
                let stride = word(self.addresses, 8);
                if self.mask == LaneMask::ALL {
                    return std::array::from_fn(|lane| {
                        base.wrapping_add(stride.wrapping_mul(lane as u64))
                    });
                }
                for (i, lane) in (0u64..).zip(self.mask.lanes()) {
                    lanes[lane] = base.wrapping_add(stride.wrapping_mul(i));
                }
            }
            form::DELTAS => {
                let mut address = base;
                for (i, lane) in self.mask.lanes().enumerate() {
                    lanes[lane] = address;
                    let delta = half(self.addresses, 8 + 4 * i) as i32;
                    address = address.wrapping_add_signed(i64::from(delta));
                }
            }
            _ => {
                for (i, lane) in self.mask.lanes().enumerate() {
                    lanes[lane] = word(self.addresses, 8 * i);
                }
            }
        }
        lanes
    }

    /// The expected values of destination register `register`, one for each active lane; nothing
    /// where they are not known.
    pub fn expected(&self, register: usize) -> Option<impl Iterator<Item = u32>> {
        if self.expected.is_empty() {
            return None;
        }
        let active = self.mask.count() as usize;
        Some((0..active).map(move |i| half(self.expected, 4 * (register * active + i))))
    }
}
