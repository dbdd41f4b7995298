//! The lanes of a warp: their number, and [`LaneMask`], a set of them.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::{BitAnd, BitOr, BitOrAssign, Not, Range};

/// The number of lanes in a warp.
pub const LANES: usize = 32;

/// A 32-bit value for each lane, lane 0 first.
pub type LaneValues = [u32; LANES];

/// A set of lanes; bit n is lane n.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LaneMask(u32);

impl LaneMask {
    /// No lane.
    pub const NONE: LaneMask = LaneMask(0);
    /// All 32 lanes.
    pub const ALL: LaneMask = LaneMask(u32::MAX);

    /// Creates the set from its bits.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns one bit per lane, lane 0's the lowest.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns the lanes for which `test` is true; calls it in lane order.
    #[must_use]
    pub fn from_fn(mut test: impl FnMut(usize) -> bool) -> Self {
        Self((0..LANES).fold(0, |bits, lane| bits | u32::from(test(lane)) << lane))
    }

    /// Returns whether the lane is in the set; false for 32 and above.
    #[must_use]
    pub const fn contains(self, lane: usize) -> bool {
        lane < LANES && self.0 >> lane & 1 != 0
    }

    /// Adds a lane; ignores 32 and above.
    pub fn insert(&mut self, lane: usize) {
        if lane < LANES {
            self.0 |= 1 << lane;
        }
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of lanes in the set, 0..=32.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the lowest lane, or `None` if the set is empty.
    #[must_use]
    pub const fn first(self) -> Option<usize> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros() as usize) }
    }

    /// Returns the highest lane; `None` if there is none.
    #[inline]
    #[must_use]
    pub const fn last(self) -> Option<usize> {
        if self.0 == 0 { None } else { Some(self.0.ilog2() as usize) }
    }

    /// Returns the lanes as a range; `None` if they are not consecutive, or if there are none.
    #[inline]
    #[must_use]
    pub const fn range(self) -> Option<Range<usize>> {
        let (start, count) = (self.0.trailing_zeros(), self.0.count_ones());
        // Consecutive if all ones follow the lowest one directly.
        if count == 0 || (self.0 >> start).trailing_ones() != count {
            return None;
        }
        Some(start as usize..(start + count) as usize)
    }

    /// Returns an iterator over the lanes, in ascending order.
    #[inline]
    pub const fn lanes(self) -> Lanes {
        Lanes(self)
    }

    /// Returns whether every lane of `other` is in the set.
    #[must_use]
    pub const fn is_superset(self, other: LaneMask) -> bool {
        other.0 & !self.0 == 0
    }
}

/// The lanes of a [`LaneMask`], in ascending order.
#[derive(Clone, Debug)]
#[must_use = "iterators are lazy"]
pub struct Lanes(LaneMask);

impl Iterator for Lanes {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let lane = self.0.first()?;
        self.0.0 &= self.0.0 - 1;
        Some(lane)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.0.count() as usize;
        (count, Some(count))
    }
}

impl DoubleEndedIterator for Lanes {
    fn next_back(&mut self) -> Option<usize> {
        let lane = self.0.0.checked_ilog2()?;
        self.0.0 &= !(1 << lane);
        Some(lane as usize)
    }
}

impl ExactSizeIterator for Lanes {}

impl FusedIterator for Lanes {}

impl IntoIterator for LaneMask {
    type Item = usize;
    type IntoIter = Lanes;

    #[inline]
    fn into_iter(self) -> Lanes {
        self.lanes()
    }
}

impl FromIterator<usize> for LaneMask {
    /// Collects lanes; ignores 32 and above.
    fn from_iter<I: IntoIterator<Item = usize>>(lanes: I) -> Self {
        let mut mask = Self::NONE;
        mask.extend(lanes);
        mask
    }
}

impl Extend<usize> for LaneMask {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, lanes: I) {
        lanes.into_iter().for_each(|lane| self.insert(lane));
    }
}

impl BitAnd for LaneMask {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for LaneMask {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for LaneMask {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl Not for LaneMask {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl fmt::Debug for LaneMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LaneMask({:#010x})", self.0)
    }
}

impl fmt::LowerHex for LaneMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_ascend() {
        let mask = LaneMask::from_bits(0x8000_0005);
        assert_eq!(mask.lanes().collect::<Vec<_>>(), [0, 2, 31]);
        assert_eq!(mask.count(), 3);
        assert_eq!(LaneMask::NONE.first(), None);
        assert_eq!(LaneMask::from_fn(|lane| mask.contains(lane)), mask);
        assert!(!LaneMask::ALL.contains(32));
    }

    #[test]
    fn lanes_are_taken_from_both_ends() {
        let mask: LaneMask = [31, 2, 0, 7, 2, 32].into_iter().collect();
        assert_eq!(mask.bits(), 0x8000_0085);
        let mut lanes = mask.into_iter();
        assert_eq!((lanes.len(), lanes.next_back(), lanes.next()), (4, Some(31), Some(0)));
        assert_eq!((lanes.len(), lanes.next_back(), lanes.next()), (2, Some(7), Some(2)));
        assert_eq!((lanes.len(), lanes.next_back(), lanes.next()), (0, None, None));
        assert_eq!(LaneMask::ALL.lanes().rev().collect::<LaneMask>(), LaneMask::ALL);
    }
}
