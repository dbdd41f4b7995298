//! [`MemoryWishes`]: what the memory of a draft should be like.

use warpload::memory::Space;

/// What the memory should be like.
#[derive(Clone, Debug)]
pub(crate) struct MemoryWishes {
    /// Where the lanes' addresses lie unless a recipe says otherwise.
    pub(crate) main: Space,
    /// The lowest and the highest address that global memory may have.
    pub(crate) reach: (u64, u64),
    /// Whether the low and the high part of local memory are wanted.
    pub(crate) has_local: [bool; 2],
    /// Whether a second allocation begins where the first one ends.
    pub(crate) has_adjacent: bool,
    /// Whether the first allocation ends at 2^address_bits.
    pub(crate) is_at_top: bool,
    /// Whether the two parts of local memory fill its window, which is then small.
    pub(crate) has_touching_parts: bool,
    /// Whether allocations end within an access.
    pub(crate) has_partial_ends: bool,
    /// Whether the constant bank is missing.
    pub(crate) lacks_bank: bool,
    /// Whether the constant bank has no bytes.
    pub(crate) has_empty_bank: bool,
}

impl Default for MemoryWishes {
    fn default() -> Self {
        Self {
            main: Space::Global,
            reach: (0, u64::MAX),
            has_local: [false; 2],
            has_adjacent: false,
            is_at_top: false,
            has_touching_parts: false,
            has_partial_ends: false,
            lacks_bank: false,
            has_empty_bank: false,
        }
    }
}
