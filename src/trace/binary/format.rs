//! The binary trace, field by field; docs/trace-format.md is the same in words.
//!
//! ```text
//! Header | blocks | contents (JSON) | block index | section table
//! ```
//! A block belongs to one kernel. It holds its loads as [`RawRecord`]s of 32 bytes, then the
//! instructions that are counted by name as [`RawNotReplayed`]s of 8 bytes, then the loads'
//! payloads: addresses, and expected values if there are any. All numbers are little-endian;
//! every part has a CRC-32.

use bytemuck::{Pod, Zeroable};

/// The first eight bytes of a binary trace.
pub const MAGIC: [u8; 8] = *b"WARPLOAD";
/// The version of the format that is written.
pub const VERSION: u32 = 2;
/// The oldest version that is read. It names no instructions that are not replayed.
pub const OLDEST_VERSION: u32 = 1;
/// A number whose bytes show the byte order of the machine that wrote them.
pub const BYTE_ORDER: u32 = 0x0102_0304;

/// The most loads of a block.
pub const MAX_BLOCK_LOADS: usize = 4096;
/// The most instructions of a block, skipped ones included: their counts have 16 bits.
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
    /// The number of instructions in the trace, skipped ones included.
    pub records: u64,
    /// The number of loads in the trace.
    pub loads: u64,
    /// Zero.
    pub reserved: [u8; 12],
    /// The CRC-32 of the bytes before this field.
    pub crc: u32,
}

/// What a section holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u32)]
pub enum SectionKind {
    /// [`Contents`](super::Contents) as JSON.
    Contents = 1,
    /// [`RawBlock`]s, in the order of the trace.
    BlockIndex = 2,
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
    /// The number of loads before it.
    pub first_load: u64,
    /// Its length in bytes; a multiple of 8.
    pub length: u32,
    /// Its CRC-32.
    pub crc: u32,
    /// The number of its instructions, skipped ones included.
    pub records: u32,
    /// The number of its loads.
    pub loads: u32,
    /// Its kernel's index in [`Contents::kernels`](super::Contents::kernels).
    pub kernel: u32,
    /// The number of its stores, which are skipped.
    pub stores: u32,
    /// The number of its atomics, which are skipped.
    pub atomics: u32,
    /// The number of its [`RawNotReplayed`]s; zero in version 1.
    pub not_replayed: u32,
}

/// An instruction that reads memory but is not replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct RawNotReplayed {
    /// The number of instructions before it in its block.
    pub index: u32,
    /// Its name's index in [`Contents::not_replayed`](super::Contents::not_replayed).
    pub name: u16,
    /// The number of its active lanes.
    pub lanes: u8,
    /// Zero.
    pub reserved: u8,
}

/// One load.
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
    /// The offset of its payload, in bytes from the end of the block's records; a multiple of 8.
    pub payload: u32,
    /// Its operation's index in [`Contents::operations`](super::Contents::operations).
    pub operation: u16,
    /// The number of stores before it in its block.
    pub stores: u16,
    /// The number of atomics before it in its block.
    pub atomics: u16,
    /// One of [`form`].
    pub form: u8,
    /// `FLAG_…`, or-ed.
    pub flags: u8,
}

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
}

/// The record's Plg is known.
pub const FLAG_PLG: u8 = 1;
/// The record's guard is known.
pub const FLAG_GUARD: u8 = 2;
/// Expected values follow the addresses: for each destination register, one u32 for each active
/// lane, meaningless if its guard is false; zeros up to a multiple of 8 bytes.
pub const FLAG_EXPECTED: u8 = 4;
/// The trace's access width was not the opcode's.
pub const FLAG_WIDTH: u8 = 8;

/// All known flags; records with others are refused.
pub const ALL_FLAGS: u8 = FLAG_PLG | FLAG_GUARD | FLAG_EXPECTED | FLAG_WIDTH;

const _: () = {
    assert!(size_of::<Header>() == 64);
    assert!(size_of::<RawSection>() == 24);
    assert!(size_of::<RawBlock>() == 56);
    assert!(size_of::<RawRecord>() == 32);
    assert!(size_of::<RawNotReplayed>() == 8);
};
