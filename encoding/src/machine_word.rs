//! [`MachineWord`]: an instruction word of either width.

use core::fmt;

/// An instruction word as it is in memory. Displays as `0x` and 16 or 32 digits.
///
/// ```
/// use warpload_encoding::MachineWord;
///
/// assert_eq!(MachineWord::from(0x8580_u64).to_string(), "0x0000000000008580");
/// let wide = MachineWord::from(0x000ea8000c1e1900_0000100404007981_u128);
/// assert_eq!(wide.to_string(), "0x000ea8000c1e19000000100404007981");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum MachineWord {
    /// SM 5.x and 6.x.
    Bits64(u64),
    /// SM 7.0 and later. The low half is first in memory.
    Bits128(u128),
}

impl MachineWord {
    /// Returns the width of the word in bits, 64 or 128.
    #[must_use]
    pub const fn width(self) -> u32 {
        match self {
            Self::Bits64(_) => 64,
            Self::Bits128(_) => 128,
        }
    }

    /// Returns the word as a number of 128 bits.
    #[must_use]
    pub const fn bits(self) -> u128 {
        match self {
            Self::Bits64(word) => word as u128,
            Self::Bits128(word) => word,
        }
    }

    /// Returns the word if it has 64 bits.
    #[inline]
    #[must_use]
    pub const fn narrow(self) -> Option<u64> {
        match self {
            Self::Bits64(word) => Some(word),
            Self::Bits128(_) => None,
        }
    }

    /// Returns the word if it has 128 bits.
    #[inline]
    #[must_use]
    pub const fn wide(self) -> Option<u128> {
        match self {
            Self::Bits64(_) => None,
            Self::Bits128(word) => Some(word),
        }
    }
}

impl From<u64> for MachineWord {
    fn from(word: u64) -> Self {
        Self::Bits64(word)
    }
}

impl From<u128> for MachineWord {
    fn from(word: u128) -> Self {
        Self::Bits128(word)
    }
}

impl fmt::Display for MachineWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits64(word) => write!(f, "{word:#018x}"),
            Self::Bits128(word) => write!(f, "{word:#034x}"),
        }
    }
}

impl fmt::Debug for MachineWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
