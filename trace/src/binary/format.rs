//! The constants of the binary trace: its columns and the size limits of a block. docs/trace-format.md explains them.

/// The first eight bytes of a binary trace.
pub const MAGIC: [u8; 8] = *b"WARPLOAD";
/// The version of the format that this crate reads and writes.
pub const VERSION: u32 = 3;
/// The bytes of the header, before the first block.
pub const HEADER_BYTES: usize = 52;

/// The maximum number of memory instructions in a block.
pub const MAX_BLOCK_RECORDS: usize = 4096;
/// The maximum number of instructions in a block, with and without memory operands.
pub const MAX_BLOCK_INSTRUCTIONS: u32 = 0xffff;

/// The maximum number of memory instructions for each byte of a block. Without columns a block has one byte, and it could
/// claim as many as any other: work would not be proportional to the file.
pub(super) const MAX_RECORDS_FOR_BYTE: usize = 128;

/// The column that fills up a block with fewer bytes than its instructions need. It is not required, so readers skip it.
pub(super) const FILLER: u8 = 0xff;

/// Defines the numbers of columns, and a list of them all.
macro_rules! columns {
    ($(#[$about:meta])* mod $module:ident, $known:ident { $($name:ident = $number:literal,)* }) => {
        $(#[$about])*
        pub(super) mod $module {
            $(pub(in crate::binary) const $name: u8 = $number;)*
        }

        /// All of these columns.
        pub(super) const $known: &[u8] = &[$($number),*];
    };
}

columns! {
    /// The columns of a block.
    mod column, KNOWN_BLOCK_COLUMNS {
        RUN_GAP = 1,
        RUN_KNOWN = 2,
        RUN_CTA_X = 3,
        RUN_CTA_Y = 4,
        RUN_CTA_Z = 5,
        RUN_WARP = 6,
        RUN_CLUSTER_X = 7,
        RUN_CLUSTER_Y = 8,
        RUN_CLUSTER_Z = 9,
        RUN_INDEX = 10,
        SITE_PC = 16,
        SITE_OPERATION = 17,
        SITE = 18,
        GAP = 19,
        INACTIVE = 20,
        FORM = 21,
        FLAGS = 22,
        BASE = 23,
        STRIDE = 24,
        LANES_8 = 25,
        LANES_16 = 26,
        LANES_32 = 27,
        LANES_64 = 28,
        TRANSFERS = 29,
        TRANSFER_BYTES = 30,
        PLG = 31,
        GUARD = 32,
        VALUES = 33,
    }
}

columns! {
    /// The columns of the footer: the contents, then a row for each block.
    mod footer, KNOWN_FOOTER_COLUMNS {
        CONTENTS = 1,
        LENGTH = 2,
        CRC = 3,
        INSTRUCTIONS = 4,
        RECORDS = 5,
        KERNEL = 6,
        LOADS = 7,
        STORES = 8,
        ATOMICS = 9,
    }
}
