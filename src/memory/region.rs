//! Runs of addresses that are allocated.

use std::ops::RangeInclusive;

use super::windows::{GenericAddress, Space};
use crate::lane::LANES;

/// A run of addresses that is allocated, and where its bytes lie. It is never empty, and no
/// offset into it, whatever the lane, exceeds 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The memory that it belongs to.
    pub(super) space: Space,
    /// The first address, as the load's own addresses count.
    pub(super) base: u64,
    /// The last byte's distance from the first.
    pub(super) last: u64,
    /// The place of lane 0's first byte.
    pub(super) start: u64,
    /// The distance between the lanes' bytes.
    pub(super) lane_stride: u64,
}

impl Region {
    /// The region of those addresses, as the load's own addresses count. Its first byte lies at
    /// `start`: in the arena, or in the address space that a fill is a function of. The bytes of
    /// each lane lie `lane_stride` further than those of the lane before; 0 if lanes share them.
    ///
    /// Returns `None` if there are no addresses, or if the last lane's last byte is further from
    /// `start` than 64 bits can say.
    ///
    /// ```
    /// use warpload::memory::{GenericAddress, Region, Space};
    ///
    /// let region = Region::new(Space::Global, 0x1000..=0x1fff, 0, 0).ok_or("not empty")?;
    /// assert!(region.holds(GenericAddress(0x1ffc), 4));
    /// assert!(!region.holds(GenericAddress(0x1ffd), 4));
    /// # Ok::<(), &str>(())
    /// ```
    pub fn new(
        space: Space,
        addresses: RangeInclusive<u64>,
        start: u64,
        lane_stride: u64,
    ) -> Option<Self> {
        let base = *addresses.start();
        let last = addresses.end().checked_sub(base)?;
        lane_stride.checked_mul(LANES as u64 - 1)?.checked_add(last)?;
        Some(Self { space, base, last, start, lane_stride })
    }

    /// The memory that it belongs to.
    #[inline]
    pub const fn space(&self) -> Space {
        self.space
    }

    /// The first address, as the load's own addresses count.
    #[inline]
    pub const fn base(&self) -> u64 {
        self.base
    }

    /// The last byte's distance from the first.
    #[inline]
    pub const fn last(&self) -> u64 {
        self.last
    }

    /// The place of lane 0's first byte: in the arena, or in the address space that a fill is a
    /// function of.
    #[inline]
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// How far apart the lanes' bytes lie in the arena; 0 if the lanes share them.
    #[inline]
    pub const fn lane_stride(&self) -> u64 {
        self.lane_stride
    }

    /// The distance of an address from the first one, modulo 2^64.
    #[inline]
    pub const fn offset_of(&self, address: GenericAddress) -> u64 {
        address.0.wrapping_sub(self.base)
    }

    /// Whether `bytes` bytes from `address` on lie in the region.
    #[inline]
    pub const fn holds(&self, address: GenericAddress, bytes: u64) -> bool {
        let offset = self.offset_of(address);
        offset <= self.last && self.last - offset >= bytes.saturating_sub(1)
    }

    /// Whether each lane has bytes of its own.
    #[inline]
    pub fn is_per_lane(&self) -> bool {
        self.space == Space::Local
    }

    /// The place in an arena of the byte `offset` bytes behind a lane's first; `None` if it does
    /// not fit a `usize`.
    #[inline]
    pub(super) fn place(&self, offset: u64, lane: usize) -> Option<usize> {
        let of_lane = self.lane_stride.checked_mul(lane as u64)?;
        let place = self.start.checked_add(offset)?.checked_add(of_lane)?;
        usize::try_from(place).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regions_without_overflow_can_be_made() {
        let new = |addresses, stride| Region::new(Space::Local, addresses, 0, stride);
        assert!(new(0..=u64::MAX, 0).is_some());
        assert_eq!(new(0..=u64::MAX, 1), None);
        assert!(new(0..=u64::MAX - 31, 1).is_some());
        assert_eq!(new(0..=0, u64::MAX / 8), None);
        #[allow(clippy::reversed_empty_ranges)]
        let empty = 1..=0;
        assert_eq!(new(empty, 0), None);
    }
}
