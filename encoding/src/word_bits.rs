//! [`WordBits`]: the integers that hold the words of a layout.

use core::fmt;
use core::hash::Hash;
use core::ops::{BitAnd, BitOr, Not, Shl, Shr};

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
