//! A range of bits in a word, and the values that a range of bits holds.
//!
//! [`WordBits`]: the integers that hold the words of a layout.

use core::fmt;
use core::hash::Hash;
use core::marker::PhantomData;
use core::ops::{BitAnd, BitOr, Not, Shl, Shr};

/// Bits `high` down to `low` of a word, both included; bit 0 is the least significant. A field has
/// at most 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<W = u64> {
    high: u8,
    low: u8,
    word: PhantomData<W>,
}

/// A value that does not fit its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldOverflow<W = u64> {
    /// The field.
    pub field: Field<W>,
    /// The value.
    pub value: i128,
    /// The smallest value that fits.
    pub min: i64,
    /// The largest value that fits.
    pub max: u64,
}

impl<W: WordBits> fmt::Display for FieldOverflow<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} does not fit bits {}, which hold {}..={}",
            self.value, self.field, self.min, self.max
        )
    }
}

impl<W: WordBits> core::error::Error for FieldOverflow<W> {}

impl<W: WordBits> Field<W> {
    /// Only evaluated in constants, so that an invalid row of a table does not compile.
    pub(crate) const fn new(high: u8, low: u8) -> Self {
        assert!((high as u32) < W::WIDTH && low <= high && high - low < 64);
        Self { high, low, word: PhantomData }
    }

    /// Returns the number of the most significant bit.
    #[inline]
    #[must_use]
    pub const fn high(self) -> u8 {
        self.high
    }

    /// Returns the number of the least significant bit.
    #[inline]
    #[must_use]
    pub const fn low(self) -> u8 {
        self.low
    }

    /// Returns the number of bits, 1..=64.
    #[inline]
    #[must_use]
    pub const fn width(self) -> u32 {
        (self.high - self.low) as u32 + 1
    }

    /// Returns the largest unsigned value.
    #[inline]
    const fn largest(self) -> u64 {
        u64::MAX >> (64 - self.width())
    }

    /// Returns a word with the bits of the field set and all others clear.
    #[inline]
    #[must_use]
    pub fn mask(self) -> W {
        W::from(self.largest()) << self.low
    }

    /// Returns the field of `word` as an unsigned number.
    #[inline]
    pub fn get(self, word: W) -> u64 {
        (word >> self.low).low() & self.largest()
    }

    /// Returns the field of `word` as a two's complement number.
    #[inline]
    pub fn get_signed(self, word: W) -> i64 {
        let unused = 64 - self.width();
        ((self.get(word) << unused) as i64) >> unused
    }

    /// Returns `word` with the field set to `value`.
    ///
    /// # Errors
    /// Returns [`FieldOverflow`] if `value` needs more bits than the field has.
    pub fn set(self, word: W, value: u64) -> Result<W, FieldOverflow<W>> {
        if value > self.largest() {
            let (min, max) = (0, self.largest());
            return Err(FieldOverflow { field: self, value: value.into(), min, max });
        }
        Ok(word & !self.mask() | self.place(value))
    }

    /// Returns `word` with the field set to `value` in two's complement.
    ///
    /// # Errors
    /// Returns [`FieldOverflow`] if `value` needs more bits than the field has, including the sign.
    pub fn set_signed(self, word: W, value: i64) -> Result<W, FieldOverflow<W>> {
        let max = (self.largest() >> 1) as i64;
        let min = -max - 1;
        if value < min || value > max {
            let max = max as u64;
            return Err(FieldOverflow { field: self, value: value.into(), min, max });
        }
        Ok(word & !self.mask() | self.place(value as u64 & self.largest()))
    }

    /// Returns `bits` moved to the field's place. The type of the value must be as wide as the
    /// field, which the tables of [`crate::layout`] prove at compile time.
    #[inline]
    pub(crate) fn place(self, bits: u64) -> W {
        debug_assert!(bits <= self.largest());
        W::from(bits) << self.low
    }
}

impl<W> fmt::Display for Field<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.high == self.low {
            write!(f, "{}", self.high)
        } else {
            write!(f, "{}:{}", self.high, self.low)
        }
    }
}

/// A type in which every pattern of [`WIDTH`](FieldValue::WIDTH) bits is a value, so that decoding
/// cannot fail and encoding restores the same bits.
pub trait FieldValue: Copy {
    /// The width of a value in bits.
    const WIDTH: u32;

    /// Returns the value of the lowest `WIDTH` bits of `bits`; ignores the others.
    fn from_bits(bits: u64) -> Self;

    /// Returns the bits of the value, below `2^WIDTH`.
    fn to_bits(self) -> u64;

    /// Writes what the value means, in a few words.
    ///
    /// # Errors
    /// Returns the formatter's error.
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

    /// Creates the number, or returns `None` if `value` does not fit.
    #[must_use]
    pub const fn new(value: u8) -> Option<Self> {
        if value <= Self::MAX.0 { Some(Self(value)) } else { None }
    }

    /// Returns the number.
    #[must_use]
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

/// The bits of a word: `u64` for SM 5.x and 6.x, `u128` for words of 128 bits.
///
/// A field has at most 64 bits, however wide the word is. The trait is sealed: it is implemented
/// for these two types only.
pub trait WordBits:
    Copy
    + Eq
    + Hash
    + fmt::Debug
    + From<u64>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Not<Output = Self>
    + Shl<u8, Output = Self>
    + Shr<u8, Output = Self>
    + sealed::Sealed
    + 'static
{
    /// The width of a word in bits.
    const WIDTH: u32;

    /// Returns the lowest 64 bits.
    fn low(self) -> u64;
}

impl WordBits for u64 {
    const WIDTH: u32 = Self::BITS;

    #[inline]
    fn low(self) -> u64 {
        self
    }
}

impl WordBits for u128 {
    const WIDTH: u32 = Self::BITS;

    #[inline]
    fn low(self) -> u64 {
        self as u64
    }
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for u64 {}
    impl Sealed for u128 {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setters_refuse_what_does_not_fit() {
        let field = Field::<u64>::new(43, 20);
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
        let field = Field::<u64>::new(63, 0);
        assert_eq!(field.set(0, u64::MAX), Ok(u64::MAX));
        assert_eq!(field.set_signed(0, i64::MIN), Ok(1 << 63));
        assert_eq!(field.get_signed(u64::MAX), -1);
    }

    #[test]
    fn a_field_can_cross_the_halves_of_a_wide_word() {
        let field = Field::<u128>::new(95, 32);
        let word = field.set(u128::MAX, 0x0123_4567_89ab_cdef);
        assert_eq!(word, Ok(0xffff_ffff_0123_4567_89ab_cdef_ffff_ffff));
        assert_eq!(word.map(|word| field.get(word)), Ok(0x0123_4567_89ab_cdef));
        assert_eq!(field.mask(), 0xffff_ffff_ffff_ffff << 32);
        let sign = Field::<u128>::new(127, 126);
        assert_eq!(sign.set_signed(0, -2), Ok(1 << 127));
        assert_eq!(sign.get_signed(1 << 127), -2);
        let error = sign.set(0, 4).map_err(|error| std::string::ToString::to_string(&error));
        assert_eq!(error, Err("4 does not fit bits 127:126, which hold 0..=3".into()));
    }
}
