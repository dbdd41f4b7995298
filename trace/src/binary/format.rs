//! The numbers of the binary trace: its columns, and how much a block holds. docs/trace-format.md says what they mean.

/// The first eight bytes of a binary trace.
pub const MAGIC: [u8; 8] = *b"WARPLOAD";
/// The version of the format that is written and read.
pub const VERSION: u32 = 3;
/// The bytes of the header, which blocks follow.
pub const HEADER_BYTES: usize = 52;

/// The most memory instructions of a block.
pub const MAX_BLOCK_MEMORY_RECORDS: usize = 4096;
/// The most instructions of a block, those without a memory operand included.
pub const MAX_BLOCK_RECORDS: u32 = 0xffff;

/// The columns of a block.
pub(super) mod column {
    pub(in crate::binary) const RUN_GAP: u8 = 1;
    pub(in crate::binary) const RUN_KNOWN: u8 = 2;
    pub(in crate::binary) const RUN_CTA_X: u8 = 3;
    pub(in crate::binary) const RUN_CTA_Y: u8 = 4;
    pub(in crate::binary) const RUN_CTA_Z: u8 = 5;
    pub(in crate::binary) const RUN_WARP: u8 = 6;
    pub(in crate::binary) const RUN_CLUSTER_X: u8 = 7;
    pub(in crate::binary) const RUN_CLUSTER_Y: u8 = 8;
    pub(in crate::binary) const RUN_CLUSTER_Z: u8 = 9;
    pub(in crate::binary) const RUN_INDEX: u8 = 10;
    pub(in crate::binary) const SITE_PC: u8 = 16;
    pub(in crate::binary) const SITE_OPERATION: u8 = 17;
    pub(in crate::binary) const SITE: u8 = 18;
    pub(in crate::binary) const GAP: u8 = 19;
    pub(in crate::binary) const INACTIVE: u8 = 20;
    pub(in crate::binary) const FORM: u8 = 21;
    pub(in crate::binary) const FLAGS: u8 = 22;
    pub(in crate::binary) const BASE: u8 = 23;
    pub(in crate::binary) const STRIDE: u8 = 24;
    pub(in crate::binary) const LANES_8: u8 = 25;
    pub(in crate::binary) const LANES_16: u8 = 26;
    pub(in crate::binary) const LANES_32: u8 = 27;
    pub(in crate::binary) const LANES_64: u8 = 28;
    pub(in crate::binary) const TRANSFERS: u8 = 29;
    pub(in crate::binary) const TRANSFER_BYTES: u8 = 30;
    pub(in crate::binary) const PLG: u8 = 31;
    pub(in crate::binary) const GUARD: u8 = 32;
    pub(in crate::binary) const VALUES: u8 = 33;
}

/// All of them.
pub(super) const KNOWN_BLOCK_COLUMNS: &[u8] = &[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    32, 33,
];

/// The columns of the footer: the contents, a row for each block, a row for each input.
pub(super) mod footer {
    pub(in crate::binary) const CONTENTS: u8 = 1;
    pub(in crate::binary) const LENGTH: u8 = 2;
    pub(in crate::binary) const CRC: u8 = 3;
    pub(in crate::binary) const INSTRUCTIONS: u8 = 4;
    pub(in crate::binary) const RECORDS: u8 = 5;
    pub(in crate::binary) const KERNEL: u8 = 6;
    pub(in crate::binary) const LOADS: u8 = 7;
    pub(in crate::binary) const STORES: u8 = 8;
    pub(in crate::binary) const ATOMICS: u8 = 9;
    pub(in crate::binary) const INPUT_LENGTH: u8 = 10;
    pub(in crate::binary) const INPUT_CRC: u8 = 11;
}

/// All of them.
pub(super) const KNOWN_FOOTER_COLUMNS: &[u8] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
