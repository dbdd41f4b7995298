//! [`Size`]: the access size of a load.

use core::fmt;

/// The access size and how it fills the destination, in the encoding order of `LD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Size {
    /// 1 byte, zero-extended.
    U8,
    /// 1 byte, sign-extended.
    S8,
    /// 2 bytes, zero-extended.
    U16,
    /// 2 bytes, sign-extended.
    S16,
    /// 4 bytes.
    B32,
    /// 8 bytes, two registers.
    B64,
    /// 16 bytes, four registers.
    B128,
    /// 16 bytes, four registers, uniform: all lanes should have the same address.
    U128,
}

impl Size {
    /// All sizes, in encoding order.
    pub const ALL: [Size; 8] =
        [Self::U8, Self::S8, Self::U16, Self::S16, Self::B32, Self::B64, Self::B128, Self::U128];

    /// Returns the modifier without its leading dot: `S16`, `64`, `U.128`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "U8",
            Self::S8 => "S8",
            Self::U16 => "U16",
            Self::S16 => "S16",
            Self::B32 => "32",
            Self::B64 => "64",
            Self::B128 => "128",
            Self::U128 => "U.128",
        }
    }

    /// Returns the access size in bytes: 1, 2, 4, 8 or 16. Addresses are aligned to it.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> u32 {
        // A table of logarithms, four bits each, because the jumps of a `match` would be mispredicted.
        1 << (0x4432_1100_u32 >> (4 * self as u32) & 0xf)
    }

    /// Returns the number of 32-bit destination registers: 1, 2 or 4. The first register's number must be a multiple of
    /// it.
    #[inline]
    #[must_use]
    pub const fn registers(self) -> u32 {
        self.bytes().div_ceil(4)
    }

    /// Returns whether the value is sign-extended to 32 bits.
    #[inline]
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16)
    }

    /// Returns whether this is `.U.128`.
    #[inline]
    #[must_use]
    pub const fn is_uniform(self) -> bool {
        matches!(self, Self::U128)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
