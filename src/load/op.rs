//! [`LoadOp`]: what is loaded.

use warpload_encoding::{ConstantMode, Instruction, InvalidSize, LoadParts, MemorySpace};

use crate::memory::{Access, AddressSpace, GenericAddress, Width};

/// What one lane of a load reads, and how it fills registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoadOp {
    /// How its addresses are read.
    pub space: AddressSpace,
    /// The number of bytes that a lane reads; its address is rounded down to a multiple of that.
    pub width: Width,
    /// Whether a value narrower than 32 bits is sign-extended.
    pub signed: bool,
    /// Whether the load may take the broadcast path (`.U.128`).
    pub uniform: bool,
}

/// Why an instruction cannot be executed on any machine or warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// Its size field is invalid.
    #[error("{0} encodes no size, so that the instruction cannot be executed")]
    InvalidSize(InvalidSize),
    /// It forms bank and offset in an undocumented way.
    #[error(
        "how LDC.{} forms bank and offset is not public, so that it cannot be executed",
        .0.name()
    )]
    ConstantMode(ConstantMode),
}

impl TryFrom<&Instruction> for LoadOp {
    type Error = ExecuteError;

    /// Returns the operation of an instruction.
    ///
    /// # Errors
    /// Returns [`ExecuteError`] if the instruction has an invalid size, or a mode of `LDC` whose
    /// meaning is unknown (docs/load-family.md section 3).
    fn try_from(instruction: &Instruction) -> Result<Self, ExecuteError> {
        Self::try_from(&instruction.parts())
    }
}

impl TryFrom<&LoadParts> for LoadOp {
    type Error = ExecuteError;

    /// As for an [`Instruction`].
    ///
    /// # Errors
    /// As for an [`Instruction`].
    #[inline]
    fn try_from(LoadParts { size, space, .. }: &LoadParts) -> Result<Self, ExecuteError> {
        let (size, space) = (size.map_err(ExecuteError::InvalidSize)?, *space);
        if let MemorySpace::Constant { mode, .. } = space
            && mode != ConstantMode::Direct
        {
            return Err(ExecuteError::ConstantMode(mode));
        }
        let (signed, uniform) = (size.is_signed(), size.is_uniform());
        Ok(Self { space: space.into(), width: size.into(), signed, uniform })
    }
}

impl LoadOp {
    /// Returns what each lane reads.
    #[inline]
    #[must_use]
    pub const fn access(self) -> Access {
        Access { width: self.width, signed: self.signed }
    }

    /// Returns an address rounded down to a multiple of the access size (clause 4.4 of docs/ld.md).
    #[inline]
    pub(super) const fn rounded(self, address: u64) -> GenericAddress {
        GenericAddress(address).align_down(self.width)
    }

    /// Returns the number of 32-bit registers that a lane's value fills: 1, 2, 4 or 8.
    #[must_use]
    pub const fn registers(self) -> u32 {
        self.width.registers()
    }
}
