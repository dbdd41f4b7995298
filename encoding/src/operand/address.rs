//! What an instruction says about its address.

use core::fmt;

use super::named::named_values;
use super::register::{Pred, Reg, UniformReg};
use crate::field::{Bits, FieldValue};
use crate::impossible::OrImpossible;

/// An immediate of `WIDTH` bits (at most 32); the rest of the instruction decides whether it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Immediate<const WIDTH: u32>(u32);

impl<const WIDTH: u32> Immediate<WIDTH> {
    /// The smallest signed value.
    pub const MIN_SIGNED: i64 = -(1 << (WIDTH - 1));
    /// The largest signed value.
    pub const MAX_SIGNED: i64 = (1 << (WIDTH - 1)) - 1;
    /// The largest unsigned value.
    pub const MAX_UNSIGNED: u64 = (1 << WIDTH) - 1;

    /// Creates an immediate in two's complement, or returns `None` if `value` does not fit.
    #[must_use]
    pub const fn from_signed(value: i64) -> Option<Self> {
        if value < Self::MIN_SIGNED || value > Self::MAX_SIGNED {
            return None;
        }
        Some(Self(value as u32 & Self::MAX_UNSIGNED as u32))
    }

    /// Creates an unsigned immediate, or returns `None` if `value` does not fit.
    #[must_use]
    pub const fn from_unsigned(value: u64) -> Option<Self> {
        if value > Self::MAX_UNSIGNED {
            return None;
        }
        Some(Self(value as u32))
    }

    /// Returns the bits as a two's complement number.
    #[inline]
    #[must_use]
    pub const fn signed(self) -> i32 {
        (self.0 << (32 - WIDTH)) as i32 >> (32 - WIDTH)
    }

    /// Returns the bits as an unsigned number.
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

/// An immediate that is signed with and without a base.
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

/// The immediate of an instruction as a number of bytes. The instruction, and whether there is a base,
/// decide how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Offset {
    /// Signed with a base, the address itself without one: all but `LDC`.
    ByBase {
        /// The offset that is added to a base.
        signed: i32,
        /// The address if there is no base.
        unsigned: u32,
    },
    /// Signed with and without a base: `LDC`.
    Signed(i32),
}

impl Offset {
    /// Creates an offset from both readings of an immediate.
    #[inline]
    #[must_use]
    pub const fn by_base<const WIDTH: u32>(immediate: Immediate<WIDTH>) -> Self {
        Self::ByBase { signed: immediate.signed(), unsigned: immediate.unsigned() }
    }

    /// Returns the offset that is added to a base register.
    #[inline]
    #[must_use]
    pub const fn signed(self) -> i32 {
        match self {
            Self::ByBase { signed, .. } | Self::Signed(signed) => signed,
        }
    }

    /// Returns the address if there is no base; a negative offset wraps at 2^32.
    #[inline]
    #[must_use]
    pub const fn without_base(self) -> u32 {
        match self {
            Self::ByBase { unsigned, .. } => unsigned,
            Self::Signed(signed) => signed as u32,
        }
    }
}

/// The address operand of an instruction, `[Ra+offset]`. In text only `RZ` means "no base"; how a high
/// base register interacts with the number of registers per thread is decided at execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The base register, `RZ` for none.
    pub base: Reg,
    /// Whether the base is 64 bits wide, in Ra and the next register.
    pub extended: bool,
    /// The immediate.
    pub offset: Offset,
    /// By how many bits the base is shifted left, 0..=4. Always 0 on SM 5.x and 6.x.
    pub scale: u8,
    /// The uniform register that is added. Always `None` on SM 5.x and 6.x.
    pub uniform: Option<UniformBase>,
}

impl Address {
    /// Creates the address `[base+offset]`.
    #[inline]
    #[must_use]
    pub const fn new(base: Reg, extended: bool, offset: Offset) -> Self {
        Self { base, extended, offset, scale: 0, uniform: None }
    }
}

/// The uniform register of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UniformBase {
    /// The register, `URZ` for none.
    pub register: UniformReg,
    /// Whether it is 64 bits wide, in UR and the next register. The sum has 64 bits then.
    pub extended: bool,
}

/// The memory that an instruction addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemorySpace {
    /// `LD`: generic addresses; the address windows decide which memory they are in.
    Generic {
        /// The address is local or global if this is true, shared if it is false.
        plg: Pred,
    },
    /// `LDG`: addresses of global memory.
    Global,
    /// `LDL`: byte offsets into the lane's local memory.
    Local,
    /// `LDS`: byte offsets into the CTA's shared memory.
    Shared,
    /// `LD` from SM 7.0 on: generic addresses; the address windows alone decide which memory they are
    /// in.
    Windows,
    /// `LDTM`: Tensor Memory.
    Tensor,
    /// Memory of which nothing public says what it is.
    Undocumented,
    /// `LDC`: byte offsets into a constant bank.
    Constant {
        /// The number of the bank.
        bank: Bits<5>,
        /// How bank and offset are formed.
        mode: ConstantMode,
    },
}

named_values! {
    /// How `LDC` forms bank and offset. No public source says exactly what the indexed modes do
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
