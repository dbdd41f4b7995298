//! A range of bits in a word.

use core::fmt;

/// Bits `high` down to `low` of a word, both included; bit 0 is the least significant. A field has at most 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    high: u8,
    low: u8,
}

impl Field {
    /// Called in constants only, so that an invalid table row does not compile.
    pub(crate) const fn new(high: u8, low: u8) -> Self {
        assert!(high < 128 && low <= high && high - low < 64);
        Self { high, low }
    }

    /// Returns the number of the most significant bit.
    #[must_use]
    pub const fn high(self) -> u8 {
        self.high
    }

    /// Returns the number of the least significant bit.
    #[must_use]
    pub const fn low(self) -> u8 {
        self.low
    }

    /// Returns the number of bits, 1..=64.
    #[must_use]
    pub const fn width(self) -> u32 {
        (self.high - self.low) as u32 + 1
    }

    /// Returns the largest unsigned number that fits.
    #[must_use]
    pub const fn max(self) -> u64 {
        u64::MAX >> (64 - self.width())
    }

    /// Returns a word with the bits of the field set and all others clear.
    #[must_use]
    pub const fn mask(self) -> u128 {
        (self.max() as u128) << self.low
    }

    /// Returns the field of `word` as an unsigned number.
    #[must_use]
    pub const fn get(self, word: u128) -> u64 {
        (word >> self.low) as u64 & self.max()
    }

    /// Returns `word` with the field set to the lowest bits of `value`.
    #[must_use]
    pub const fn with(self, word: u128, value: u64) -> u128 {
        word & !self.mask() | ((value & self.max()) as u128) << self.low
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.high == self.low {
            write!(f, "{}", self.high)
        } else {
            write!(f, "{}:{}", self.high, self.low)
        }
    }
}

/// An unsigned number of `WIDTH` bits, at most 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Bits<const WIDTH: u32>(u8);

impl<const WIDTH: u32> Bits<WIDTH> {
    /// The largest value.
    pub const MAX: Self = Self(u8::MAX >> (8 - WIDTH));

    /// Creates the number, or returns `None` if `value` does not fit.
    #[must_use]
    pub const fn new(value: u8) -> Option<Self> {
        if value <= Self::MAX.0 { Some(Self(value)) } else { None }
    }

    /// Returns the number in the lowest `WIDTH` bits; ignores the others.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits as u8 & Self::MAX.0)
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_can_cross_the_halves_of_a_word() {
        let field = Field::new(95, 32);
        let word = field.with(u128::MAX, 0x0123_4567_89ab_cdef);
        assert_eq!(word, 0xffff_ffff_0123_4567_89ab_cdef_ffff_ffff);
        assert_eq!(field.get(word), 0x0123_4567_89ab_cdef);
        assert_eq!(field.mask(), 0xffff_ffff_ffff_ffff << 32);
        assert_eq!(Field::new(127, 126).with(0, 7), 3 << 126);
    }
}
