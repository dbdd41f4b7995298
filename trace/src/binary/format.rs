//! The binary trace, field by field; docs/trace-format.md is the same in words.
//!
//! ```text
//! Header | blocks | contents (JSON) | block index | section table
//! ```
//! A block belongs to one kernel. It holds its memory instructions as [`RawRecord`]s of 32 bytes,
//! then [`RawRun`]s of 40 bytes, which say whose they are, then payloads: addresses, and values if
//! there are any. All numbers are little-endian; every part has a CRC-32.

use std::io::{self, BufRead};

use bytemuck::{Pod, Zeroable};

/// The first eight bytes of a binary trace.
pub const MAGIC: [u8; 8] = *b"WARPLOAD";
/// The version of the format that is written.
pub const VERSION: u32 = 2;
/// The oldest version that is read. It has records of loads only.
pub const OLDEST_VERSION: u32 = 1;
/// A number whose bytes show the byte order of the machine that wrote them.
pub const BYTE_ORDER: u32 = 0x0102_0304;

/// The most memory instructions of a block.
pub const MAX_BLOCK_MEMORY_RECORDS: usize = 4096;
/// The most instructions of a block, those without a memory operand included.
pub const MAX_BLOCK_RECORDS: u32 = 0xffff;

/// The start of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`VERSION`].
    pub version: u32,
    /// [`BYTE_ORDER`].
    pub byte_order: u32,
    /// The offset of the section table, in bytes from the start of the file.
    pub sections_offset: u64,
    /// The number of sections.
    pub section_count: u32,
    /// The section table's CRC-32.
    pub sections_crc: u32,
    /// The number of instructions in the trace, those without a memory operand included.
    pub records: u64,
    /// The number of loads in the trace.
    pub loads: u64,
    /// The number of memory instructions in the trace; zero in version 1.
    pub memory_records: u64,
    /// Zero.
    pub reserved: u32,
    /// The CRC-32 of the bytes before this field.
    pub crc: u32,
}

/// What a section holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u32)]
pub enum SectionKind {
    /// [`TraceContents`](super::TraceContents) as JSON.
    Contents = 1,
    /// The block index of version 1.
    LoadIndex = 2,
    /// [`RawBlock`]s, in the order of the trace.
    BlockIndex = 3,
    /// [`RawInput`]s.
    Inputs = 4,
}

/// A file that a trace was imported from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct RawInput {
    /// Its length in bytes.
    pub length: u64,
    /// The CRC-32 of its bytes.
    pub crc: u32,
    /// Zero.
    pub reserved: u32,
}

impl RawInput {
    /// Reads a file to its end.
    ///
    /// # Errors
    /// Returns the errors of `file`.
    pub fn of(file: impl io::Read) -> io::Result<Self> {
        let mut file = io::BufReader::with_capacity(1 << 18, file);
        let (mut length, mut crc) = (0, crc32fast::Hasher::new());
        loop {
            let bytes = match file.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            let count = bytes.len();
            if count == 0 {
                return Ok(Self { length, crc: crc.finalize(), reserved: 0 });
            }
            crc.update(bytes);
            length += count as u64;
            file.consume(count);
        }
    }
}

/// One row of the section table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct RawSection {
    /// A [`SectionKind`]; readers ignore others.
    pub kind: u32,
    /// The section's CRC-32.
    pub crc: u32,
    /// Its offset, in bytes from the start of the file.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
}

/// One row of the block index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct RawBlock {
    /// The offset of the block, in bytes from the start of the file; a multiple of 8.
    pub offset: u64,
    /// The index of its first instruction in the whole trace.
    pub first_record: u64,
    /// The number of memory instructions before it; in version 1, of loads.
    pub first_memory_record: u64,
    /// Its length in bytes; a multiple of 8.
    pub length: u32,
    /// Its CRC-32.
    pub crc: u32,
    /// The number of its instructions, those without a memory operand included.
    pub records: u32,
    /// The number of its [`RawRecord`]s; in version 1, of its loads.
    pub memory_records: u32,
    /// Its kernel's index in [`TraceContents::kernels`](super::TraceContents::kernels).
    pub kernel: u32,
    /// The number of its loads.
    pub loads: u32,
    /// The number of its stores.
    pub stores: u32,
    /// The number of its atomics.
    pub atomics: u32,
    /// The number of its [`RawRun`]s; zero in version 1.
    pub runs: u32,
    /// Zero.
    pub reserved: u32,
}

/// A row of the block index of version 1, whose blocks have records of loads only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct RawLoadBlock {
    pub(super) offset: u64,
    pub(super) first_record: u64,
    pub(super) first_load: u64,
    pub(super) length: u32,
    pub(super) crc: u32,
    pub(super) records: u32,
    pub(super) loads: u32,
    pub(super) kernel: u32,
    pub(super) stores: u32,
    pub(super) atomics: u32,
    pub(super) reserved: u32,
}

impl From<RawLoadBlock> for RawBlock {
    fn from(row: RawLoadBlock) -> Self {
        let RawLoadBlock { offset, first_record, first_load, length, crc, records, .. } = row;
        let RawLoadBlock { loads, kernel, stores, atomics, .. } = row;
        Self {
            offset,
            first_record,
            first_memory_record: first_load,
            length,
            crc,
            records,
            memory_records: loads,
            kernel,
            loads,
            stores,
            atomics,
            runs: 0,
            reserved: 0,
        }
    }
}

/// One memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct RawRecord {
    /// The program counter, in bytes from the start of the function.
    pub pc: u32,
    /// The active lanes.
    pub mask: u32,
    /// The lanes whose Plg is true, if [`FLAG_PLG`] is set.
    pub plg: u32,
    /// The lanes whose guard is true, if [`FLAG_GUARD`] is set.
    pub guard: u32,
    /// The number of instructions before it in its block.
    pub index: u32,
    /// The offset of its payload, in bytes from the end of the block's runs; a multiple of 8.
    pub payload: u32,
    /// Its operation's index in [`TraceContents::operations`](super::TraceContents::operations).
    pub operation: u16,
    /// The number of stores before it in its block that have no record: those of version 1.
    pub stores: u16,
    /// The number of atomics before it in its block that have no record: those of version 1.
    pub atomics: u16,
    /// One of [`form`].
    pub form: u8,
    /// `FLAG_…`, or-ed.
    pub flags: u8,
}

/// Consecutive instructions of one warp, up to those of the next run or the end of the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct RawRun {
    /// The number of instructions before the first one in its block.
    pub first: u32,
    /// `RUN_…`, or-ed: what is known.
    pub known: u32,
    /// The thread block, in x, y and z.
    pub cta: [u32; 3],
    /// The warp's number in its thread block.
    pub warp: u32,
    /// The cluster, in x, y and z.
    pub cluster: [u32; 3],
    /// The number of instructions of the warp before the first one.
    pub index: u32,
}

/// A run's thread block is known.
pub const RUN_CTA: u32 = 1;
/// A run's warp is known.
pub const RUN_WARP: u32 = 2;
/// A run's cluster is known.
pub const RUN_CLUSTER: u32 = 4;
/// The number of the warp's instructions before a run is known.
pub const RUN_INDEX: u32 = 8;
/// All that a run can know; runs with other bits are refused.
pub const ALL_RUN: u32 = RUN_CTA | RUN_WARP | RUN_CLUSTER | RUN_INDEX;

/// How a payload holds addresses. `n` is the number of active lanes.
pub mod form {
    /// Every active lane has one address: u64.
    pub const UNIFORM: u8 = 0;
    /// A base and a stride: u64, i64.
    pub const STRIDE: u8 = 1;
    /// A base and `n - 1` deltas, each from the previous active lane: u64, i32 each, zeros up
    /// to a multiple of 8 bytes.
    pub const DELTAS: u8 = 2;
    /// `n` addresses: u64 each.
    pub const LIST: u8 = 3;
    /// It is unknown which address belongs to which lane: nothing.
    pub const UNKNOWN: u8 = 4;
    /// An instruction that moves blocks: the number of addresses that the source has, which are not
    /// kept, and the bytes moved, u64 each.
    pub const TRANSFER: u8 = 5;
}

/// The record's Plg is known.
pub const FLAG_PLG: u8 = 1;
/// The record's guard is known.
pub const FLAG_GUARD: u8 = 2;
/// Values follow the addresses: for each register that a load fills or a store stores, one u32 for
/// each active lane, meaningless if its guard is false; zeros up to a multiple of 8 bytes.
pub const FLAG_VALUES: u8 = 4;
/// The trace's access width was not the opcode's.
pub const FLAG_WIDTH: u8 = 8;
/// The source has values for the instruction that do not say what it loaded, and are not kept:
/// registers before it was executed.
pub const FLAG_VALUED: u8 = 16;

/// All known flags; records with others are refused.
pub const ALL_FLAGS: u8 = FLAG_PLG | FLAG_GUARD | FLAG_VALUES | FLAG_WIDTH | FLAG_VALUED;

#[cfg(target_endian = "big")]
compile_error!(
    "binary traces are little-endian, and are written and mapped as they are in memory: \
     the feature `trace` needs a little-endian target"
);

const _: () = {
    assert!(size_of::<Header>() == 64);
    assert!(size_of::<RawSection>() == 24);
    assert!(size_of::<RawBlock>() == 64);
    assert!(size_of::<RawLoadBlock>() == 56);
    assert!(size_of::<RawRecord>() == 32);
    assert!(size_of::<RawRun>() == 40);
};
