//! The lanes of a warp. Its width is said here and nowhere else.

use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

/// How many lanes a warp has.
pub const LANES: usize = 32;

/// A 32-bit value of every lane, lane 0 first.
pub type LaneValues = [u32; LANES];

/// A set of lanes; bit n is lane n.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct LaneMask(u32);

impl LaneMask {
    /// No lane.
    pub const NONE: LaneMask = LaneMask(0);
    /// All 32 lanes.
    pub const ALL: LaneMask = LaneMask(u32::MAX);

    /// The lanes whose bit is set.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// One bit a lane.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The lanes for which `test` holds; it is asked about every lane, 0 first.
    pub fn where_lane(test: impl Fn(usize) -> bool) -> Self {
        Self((0..LANES).fold(0, |bits, lane| bits | u32::from(test(lane)) << lane))
    }

    /// Whether the lane is in the set. No lane from 32 on is.
    pub const fn contains(self, lane: usize) -> bool {
        lane < LANES && self.0 >> lane & 1 != 0
    }

    /// Adds a lane below 32; another one changes nothing.
    pub fn insert(&mut self, lane: usize) {
        if lane < LANES {
            self.0 |= 1 << lane;
        }
    }

    /// Whether no lane is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many lanes are in the set, 0..=32.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The lane of the lowest number.
    pub const fn first(self) -> Option<usize> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros() as usize) }
    }

    /// The lanes' numbers, ascending.
    pub fn lanes(self) -> impl Iterator<Item = usize> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let lane = rest.first()?;
            rest.0 &= rest.0 - 1;
            Some(lane)
        })
    }

    /// Whether every lane of `other` is in the set too.
    pub const fn is_superset(self, other: LaneMask) -> bool {
        other.0 & !self.0 == 0
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
        assert_eq!(LaneMask::where_lane(|lane| mask.contains(lane)), mask);
        assert!(!LaneMask::ALL.contains(32));
    }
}
