//! The address operand: base, offset, uniform register, memory.

use core::fmt;

use super::register::{Pred, Reg, UniformReg};
use crate::field::Bits;

/// The immediate offset of an instruction, in bytes. The instruction and the presence of a base decide whether it is
/// signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Offset {
    /// Signed with a base, the address itself without one: loads of the other memories, without a uniform register.
    ByBase {
        /// The offset from a base.
        signed: i32,
        /// The address if there is no base.
        unsigned: u32,
    },
    /// Signed with and without a base: `LDC`, loads that add a uniform register, and matrix loads.
    Signed(i32),
}

impl Offset {
    /// Returns the offset from a base register.
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

/// The address operand of an instruction, `[Ra+offset]`. In text only `RZ` means "no base"; execution decides about a
/// base register above the number of registers per thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The base register, `RZ` for none.
    pub base: Reg,
    /// Whether the base is 64 bits wide, in Ra and the next register.
    pub extended: bool,
    /// The immediate.
    pub offset: Offset,
    pub(crate) scale: u8,
    /// The uniform register to add. Always `None` on SM 5.x and 6.x.
    pub uniform: Option<UniformBase>,
}

impl Address {
    /// Creates the address `[base+offset]`.
    #[inline]
    #[must_use]
    pub const fn new(base: Reg, extended: bool, offset: Offset) -> Self {
        Self { base, extended, offset, scale: 0, uniform: None }
    }

    /// Returns the left shift of the base in bits, 0..=4. Always 0 on SM 5.x and 6.x.
    #[inline]
    #[must_use]
    pub const fn scale(self) -> u8 {
        self.scale
    }
}

/// The uniform register of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UniformBase {
    /// The register, `URZ` for none.
    pub register: UniformReg,
    /// Whether it is 64 bits wide, in UR and the next register. The sum then has 64 bits.
    pub extended: bool,
}

/// The memory that an instruction addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemorySpace {
    /// `LD`: generic addresses; the address windows select the memory.
    Generic {
        /// Plg of SM 5.x and 6.x: true selects local or global memory, false shared memory. `None` from SM 7.0 on,
        /// where the windows alone decide.
        plg: Option<Pred>,
    },
    /// `LDG`: addresses of global memory.
    Global,
    /// `LDL`: byte offsets into the lane's local memory.
    Local,
    /// `LDS`: byte offsets into the CTA's shared memory.
    Shared,
    /// `LDTM`: Tensor Memory.
    Tensor,
    /// A memory that no public source identifies.
    Undocumented,
    /// `LDC`: byte offsets into a constant bank.
    Constant {
        /// The number of the bank.
        bank: Bits<5>,
        /// How bank and offset are formed.
        mode: ConstantMode,
    },
}

/// How `LDC` forms bank and offset, in encoding order. No public source describes the indexed modes exactly
/// (docs/load-family.md section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ConstantMode {
    /// The bank as encoded, the offset added to Ra.
    Direct,
    /// Indexed linear.
    Il,
    /// Indexed segmented.
    Is,
    /// Indexed segmented linear.
    Isl,
}

impl ConstantMode {
    /// All modes, in encoding order.
    pub const ALL: [ConstantMode; 4] = [Self::Direct, Self::Il, Self::Is, Self::Isl];

    /// Returns the modifier without its leading dot; empty for [`Direct`](Self::Direct).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direct => "",
            Self::Il => "IL",
            Self::Is => "IS",
            Self::Isl => "ISL",
        }
    }
}

impl fmt::Display for ConstantMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
