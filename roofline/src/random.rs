//! Numbers that are the same in every run.

use warpload::memory::mix;

/// Returns the first `count` outputs of SplitMix64 seeded with 0.
pub(crate) fn numbers(count: usize) -> impl Iterator<Item = u64> {
    (0..count as u64).map(|i| mix(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}
