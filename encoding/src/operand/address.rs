//! What an instruction says of its addresses.

use core::fmt;

use super::named::named_values;
use super::register::{Pred, Reg};
use crate::field::{Bits, FieldValue};
use crate::impossible::OrImpossible;

/// An immediate of `WIDTH` bits (at most 32), whose sign the rest of the instruction decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Immediate<const WIDTH: u32>(u32);

impl<const WIDTH: u32> Immediate<WIDTH> {
    /// The smallest signed value.
    pub const MIN_SIGNED: i64 = -(1 << (WIDTH - 1));
    /// The largest signed value.
    pub const MAX_SIGNED: i64 = (1 << (WIDTH - 1)) - 1;
    /// The largest unsigned value.
    pub const MAX_UNSIGNED: u64 = (1 << WIDTH) - 1;

    /// A signed number in two's complement, where it fits.
    #[must_use]
    pub const fn from_signed(value: i64) -> Option<Self> {
        if value < Self::MIN_SIGNED || value > Self::MAX_SIGNED {
            return None;
        }
        Some(Self(value as u32 & Self::MAX_UNSIGNED as u32))
    }

    /// An unsigned number, where it fits.
    #[must_use]
    pub const fn from_unsigned(value: u64) -> Option<Self> {
        if value > Self::MAX_UNSIGNED {
            return None;
        }
        Some(Self(value as u32))
    }

    /// The bits read as two's complement.
    #[inline]
    #[must_use]
    pub const fn signed(self) -> i32 {
        (self.0 << (32 - WIDTH)) as i32 >> (32 - WIDTH)
    }

    /// The bits read as an unsigned number.
    #[inline]
    #[must_use]
    pub const fn unsigned(self) -> u32 {
        self.0
    }
}

impl<const WIDTH: u32> FieldValue for Immediate<WIDTH> {
    const WIDTH: u32 = WIDTH;

    #[inline]
    fn from_bits(bits: u64) -> Self {
        Self((bits & Self::MAX_UNSIGNED) as u32)
    }

    #[inline]
    fn to_bits(self) -> u64 {
        u64::from(self.0)
    }

    fn fmt_meaning(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with a base, {:#x} without", self.signed(), self.0)
    }
}

/// An immediate that is signed with a base and without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct SignedImmediate<const WIDTH: u32>(pub Immediate<WIDTH>);

impl<const WIDTH: u32> FieldValue for SignedImmediate<WIDTH> {
    const WIDTH: u32 = WIDTH;

    #[inline]
    fn from_bits(bits: u64) -> Self {
        Self(Immediate::from_bits(bits))
    }

    #[inline]
    fn to_bits(self) -> u64 {
        self.0.to_bits()
    }

    fn fmt_meaning(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.signed())
    }
}

/// An instruction's immediate as a number of bytes: the instruction and the presence of a base
/// tell how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Offset {
    /// With a base signed, without one the address itself: of all but `LDC`.
    ByBase {
        /// What is added to a base.
        signed: i32,
        /// The address without a base.
        unsigned: u32,
    },
    /// Signed, with a base and without: of `LDC`.
    Signed(i32),
}

impl Offset {
    /// Both readings of an immediate.
    #[inline]
    #[must_use]
    pub const fn by_base<const WIDTH: u32>(immediate: Immediate<WIDTH>) -> Self {
        Self::ByBase { signed: immediate.signed(), unsigned: immediate.unsigned() }
    }

    /// What is added to a base register.
    #[inline]
    #[must_use]
    pub const fn signed(self) -> i32 {
        match self {
            Self::ByBase { signed, .. } | Self::Signed(signed) => signed,
        }
    }

    /// The address where there is no base; a negative offset wraps at 2^32.
    #[inline]
    #[must_use]
    pub const fn without_base(self) -> u32 {
        match self {
            Self::ByBase { unsigned, .. } => unsigned,
            Self::Signed(signed) => signed as u32,
        }
    }
}

/// An address as an instruction gives it: `[Ra+offset]`. In its text only `RZ` is "no base"; what
/// a shader's register limit makes of a high base register is decided when the load executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The base register, `RZ` for none.
    pub base: Reg,
    /// Whether the base is 64 bits wide, in Ra and the register behind it.
    pub extended: bool,
    /// The immediate.
    pub offset: Offset,
}

/// The memory that an instruction addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemorySpace {
    /// `LD`: generic addresses, whose memory the windows decide.
    Generic {
        /// Where it is true, the address is local or global; where it is false, shared.
        plg: Pred,
    },
    /// `LDG`: addresses of global memory.
    Global,
    /// `LDL`: byte offsets into the lane's local memory.
    Local,
    /// `LDS`: byte offsets into the CTA's shared memory.
    Shared,
    /// `LDC`: byte offsets into a constant bank.
    Constant {
        /// The bank's number.
        bank: Bits<5>,
        /// How bank and offset are formed.
        mode: ConstantMode,
    },
}

named_values! {
    /// How `LDC` forms bank and offset. What the indexed modes do exactly, no public source says
    /// (docs/load-family.md section 3).
    ConstantMode, 2 bits, default Direct;
    Direct, "", "the bank as it stands, the offset added to Ra";
    Il, "IL", "indexed linear";
    Is, "IS", "indexed segmented";
    Isl, "ISL", "indexed segmented linear";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn immediates_know_their_range() {
        assert_eq!(Immediate::<24>::from_signed(-0x80_0000).map(|i| i.unsigned()), Some(0x80_0000));
        assert_eq!(Immediate::<24>::from_signed(-0x80_0001), None);
        assert_eq!(Immediate::<24>::from_signed(0x80_0000), None);
        assert_eq!(Immediate::<24>::from_unsigned(0xff_ffff).map(|i| i.signed()), Some(-1));
        assert_eq!(Immediate::<32>::from_unsigned(0x1_0000_0000), None);
        assert_eq!(Immediate::<32>::from_signed(-0x8000_0000).map(|i| i.signed()), Some(i32::MIN));
    }
}
