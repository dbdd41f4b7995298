//! [`LoadOp`]: the operation of a load, without lanes and addresses.

use warpload_encoding::{
    ConstantMode, Instruction, LoadParts, LoadSize, MemorySpace, NotExecutable,
};

use crate::memory::{AddressSpace, GenericAddress, LaneAccess, Width};

/// The access of one lane of a load, and how it fills registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoadOp {
    /// The interpretation of addresses.
    pub space: AddressSpace,
    /// The access size of a lane. Addresses are rounded down to a multiple of it.
    pub width: Width,
    /// Whether a value narrower than 32 bits is sign-extended.
    pub signed: bool,
    /// Whether the load may take the broadcast path (`.U.128`).
    pub uniform: bool,
}

/// The reason why an instruction cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// It forms bank and offset in an undocumented way.
    #[error(
        "LDC.{} cannot be executed, because its bank and offset are not documented",
        .0.name()
    )]
    ConstantMode(ConstantMode),
    /// A part of it is invalid, undocumented, or left to another executor.
    #[error("the instruction cannot be executed, because {0}")]
    NotExecutable(NotExecutable),
    /// It needs all lanes of the warp, but some do not execute.
    #[error("{0} is defined only if all 32 lanes execute it")]
    PartialWarp(&'static str),
}

impl From<NotExecutable> for ExecuteError {
    fn from(reason: NotExecutable) -> Self {
        Self::NotExecutable(reason)
    }
}

impl LoadOp {
    /// Returns the operation of an instruction of any family.
    ///
    /// # Errors
    /// Returns [`ExecuteError`] if the instruction has an invalid size, an undocumented mode of `LDC`
    /// (docs/load-family.md section 3), or another part that cannot be executed.
    pub fn of(instruction: &Instruction) -> Result<Self, ExecuteError> {
        Self::try_from(&instruction.parts())
    }
}

impl TryFrom<&Instruction> for LoadOp {
    type Error = ExecuteError;

    /// As [`LoadOp::of`].
    fn try_from(instruction: &Instruction) -> Result<Self, ExecuteError> {
        Self::of(instruction)
    }
}

impl TryFrom<&LoadParts> for LoadOp {
    type Error = ExecuteError;

    /// As [`LoadOp::of`]. For matrices, a lane reads one row.
    #[inline]
    fn try_from(LoadParts { size, space, .. }: &LoadParts) -> Result<Self, ExecuteError> {
        let (size, space) = (size.map_err(ExecuteError::from)?, *space);
        if let MemorySpace::Constant { mode, .. } = space
            && mode != ConstantMode::Direct
        {
            return Err(ExecuteError::ConstantMode(mode));
        }
        let (width, signed, uniform) = match size {
            LoadSize::Lane(size) => (size.into(), size.is_signed(), size.is_uniform()),
            LoadSize::Bits256 => (Width::Bytes32, false, false),
            _ => (Width::Bytes16, false, false),
        };
        Ok(Self { space: space.into(), width, signed, uniform })
    }
}

impl LoadOp {
    /// Returns the access of each lane.
    #[inline]
    #[must_use]
    pub const fn access(self) -> LaneAccess {
        LaneAccess { width: self.width, signed: self.signed }
    }

    /// Rounds an address down to a multiple of the access size (clause 4.4 of docs/ld.md).
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
