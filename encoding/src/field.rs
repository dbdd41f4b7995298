//! A run of bits inside a word, and the values that live in one.

use core::fmt;

/// Bits `high` down to `low` of a word, both included; bit 0 is the least significant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    high: u8,
    low: u8,
}

/// A value that does not fit the field it was given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldOverflow {
    /// The field.
    pub field: Field,
    /// The value that was refused.
    pub value: i128,
    /// The smallest value that fits.
    pub min: i64,
    /// The largest value that fits.
    pub max: u64,
}

impl fmt::Display for FieldOverflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} does not fit bits {}, which hold {}..={}",
            self.value, self.field, self.min, self.max
        )
    }
}

impl core::error::Error for FieldOverflow {}

impl Field {
    /// Only evaluated in constants, so that a wrong row of a table does not compile.
    pub(crate) const fn new(high: u8, low: u8) -> Self {
        assert!(high <= 63 && low <= high);
        Self { high, low }
    }

    /// The most significant bit's number, 0..=63.
    #[inline]
    pub const fn high(self) -> u8 {
        self.high
    }

    /// The least significant bit's number, 0..=63.
    #[inline]
    pub const fn low(self) -> u8 {
        self.low
    }

    /// How many bits there are, 1..=64.
    #[inline]
    pub const fn width(self) -> u32 {
        (self.high - self.low) as u32 + 1
    }

    /// The field's bits set, all others clear.
    #[inline]
    pub const fn mask(self) -> u64 {
        self.largest() << self.low
    }

    #[inline]
    const fn largest(self) -> u64 {
        u64::MAX >> (64 - self.width())
    }

    /// The field's bits of `word`, as an unsigned number.
    #[inline]
    pub const fn get(self, word: u64) -> u64 {
        (word >> self.low) & self.largest()
    }

    /// The field's bits of `word`, as a two's complement number.
    #[inline]
    pub const fn get_signed(self, word: u64) -> i64 {
        let unused = 64 - self.width();
        ((self.get(word) << unused) as i64) >> unused
    }

    /// `word` with the field set to `value`.
    ///
    /// # Errors
    /// [`FieldOverflow`] where `value` needs more bits than the field has.
    pub const fn set(self, word: u64, value: u64) -> Result<u64, FieldOverflow> {
        if value > self.largest() {
            return Err(FieldOverflow {
                field: self,
                value: value as i128,
                min: 0,
                max: self.largest(),
            });
        }
        Ok(word & !self.mask() | value << self.low)
    }

    /// `word` with the field set to `value` in two's complement.
    ///
    /// # Errors
    /// [`FieldOverflow`] where `value` needs more bits than the field has, the sign's included.
    pub const fn set_signed(self, word: u64, value: i64) -> Result<u64, FieldOverflow> {
        let max = (self.largest() >> 1) as i64;
        let min = -max - 1;
        if value < min || value > max {
            return Err(FieldOverflow { field: self, value: value as i128, min, max: max as u64 });
        }
        Ok(word & !self.mask() | ((value as u64) & self.largest()) << self.low)
    }

    /// `bits` at the field's place, for values whose type is as wide as the field
    /// (the tables of [`crate::layout`] prove that when they are compiled).
    #[inline]
    pub(crate) const fn place(self, bits: u64) -> u64 {
        debug_assert!(bits <= self.largest());
        bits << self.low
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

/// A type whose every bit pattern of [`WIDTH`](FieldValue::WIDTH) bits is a value, so that
/// decoding cannot fail and encoding gives the same bits back.
pub trait FieldValue: Copy {
    /// How many bits the value takes.
    const WIDTH: u32;

    /// The value of the lowest `WIDTH` bits of `bits`; higher bits are not looked at.
    fn from_bits(bits: u64) -> Self;

    /// The value's bits, below `2^WIDTH`.
    fn to_bits(self) -> u64;

    /// Writes what the value means, in a few words.
    ///
    /// # Errors
    /// Those of the formatter.
    fn fmt_meaning(self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl FieldValue for bool {
    const WIDTH: u32 = 1;

    #[inline]
    fn from_bits(bits: u64) -> Self {
        bits & 1 != 0
    }

    #[inline]
    fn to_bits(self) -> u64 {
        u64::from(self)
    }

    fn fmt_meaning(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self { "yes" } else { "no" })
    }
}

/// An unsigned number of `WIDTH` bits, at most 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Bits<const WIDTH: u32>(u8);

impl<const WIDTH: u32> Bits<WIDTH> {
    /// The largest value.
    pub const MAX: Self = Self(u8::MAX >> (8 - WIDTH));

    /// `value` where it fits, else nothing.
    pub const fn new(value: u8) -> Option<Self> {
        if value <= Self::MAX.0 { Some(Self(value)) } else { None }
    }

    /// The number.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl<const WIDTH: u32> FieldValue for Bits<WIDTH> {
    const WIDTH: u32 = WIDTH;

    #[inline]
    fn from_bits(bits: u64) -> Self {
        Self(bits as u8 & Self::MAX.0)
    }

    #[inline]
    fn to_bits(self) -> u64 {
        u64::from(self.0)
    }

    fn fmt_meaning(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setters_refuse_what_does_not_fit() {
        let field = Field::new(43, 20);
        assert_eq!(field.set(0, 0xff_ffff), Ok(0xff_ffff << 20));
        assert_eq!(field.set(0, 0x100_0000).map_err(|e| e.max), Err(0xff_ffff));
        assert_eq!(field.set_signed(0, -1), Ok(0xff_ffff << 20));
        assert_eq!(field.set_signed(u64::MAX, 0), Ok(!field.mask()));
        assert_eq!(
            field.set_signed(0, 0x80_0000).map_err(|e| (e.min, e.max)),
            Err((-0x80_0000, 0x7f_ffff))
        );
        assert!(field.set_signed(0, -0x80_0001).is_err());
        assert_eq!(field.get_signed(0x80_0000 << 20), -0x80_0000);
    }

    #[test]
    fn whole_word_is_a_field() {
        let field = Field::new(63, 0);
        assert_eq!(field.set(0, u64::MAX), Ok(u64::MAX));
        assert_eq!(field.set_signed(0, i64::MIN), Ok(1 << 63));
        assert_eq!(field.get_signed(u64::MAX), -1);
    }
}
