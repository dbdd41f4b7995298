//! [`LoadParts`]: what a load says, whichever family it is of.

use core::fmt;

use crate::operand::{Address, Guard, InvalidSize, MemorySpace, Reg, Size, UniformReg};

/// The parts that all loads have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadParts {
    /// The guard predicate.
    pub guard: Guard,
    /// Whether the guard is a uniform predicate, one for the whole warp.
    pub is_guard_uniform: bool,
    /// Where the values go.
    pub destination: LoadDestination,
    /// The memory that is addressed.
    pub space: MemorySpace,
    /// The address operand.
    pub address: Address,
    /// The number of uniform registers that the SM has: 0, 63 or 255.
    pub uniform_registers: u8,
    /// How much is loaded and how it fills the destination; an error if the instruction cannot be
    /// executed.
    pub size: Result<LoadSize, NotExecutable>,
}

impl LoadParts {
    /// Creates the parts of a load that every lane executes by itself.
    #[inline]
    pub(crate) fn of_lanes(
        guard: Guard,
        destination: Reg,
        space: MemorySpace,
        address: Address,
        size: Result<Size, InvalidSize>,
    ) -> Self {
        Self {
            guard,
            is_guard_uniform: false,
            destination: LoadDestination::Registers(destination),
            space,
            address,
            uniform_registers: 0,
            size: size.map(LoadSize::Lane).map_err(NotExecutable::InvalidSize),
        }
    }
}

/// Where the values of a load go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadDestination {
    /// This register and those after it.
    Registers(Reg),
    /// 256 bits: the first four words to the registers from `low` on, the others to those from
    /// `high` on.
    Halves {
        /// The first register of the first four words, Rd.
        low: Reg,
        /// The first register of the last four words.
        high: Reg,
    },
    /// This uniform register and those after it.
    Uniform(UniformReg),
    /// 256 bits in two groups of four uniform registers.
    UniformHalves {
        /// The first register of the first four words, URd.
        low: UniformReg,
        /// The first register of the last four words.
        high: UniformReg,
    },
    /// Shared memory: `LDGSTS`.
    SharedMemory,
}

impl LoadDestination {
    /// Returns the first general register that is written; `None` if none is.
    #[must_use]
    pub const fn register(self) -> Option<Reg> {
        match self {
            Self::Registers(first) | Self::Halves { low: first, .. } => Some(first),
            _ => None,
        }
    }
}

/// How much is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadSize {
    /// This much by every lane, or by the warp into uniform registers.
    Lane(Size),
    /// 32 bytes, eight registers.
    Bits256,
    /// Matrices of 8 rows of 16 bytes, a register each: `LDSM`.
    Matrices {
        /// How many: 1, 2 or 4.
        count: u8,
        /// Whether they are transposed.
        transposed: bool,
    },
}

impl LoadSize {
    /// Returns the size of an access in bytes: 1, 2, 4, 8, 16 or 32. Addresses are aligned to it.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Lane(size) => size.bytes(),
            Self::Bits256 => 32,
            Self::Matrices { .. } => 16,
        }
    }

    /// Returns the number of registers that are written in all.
    #[must_use]
    pub const fn registers(self) -> u32 {
        match self {
            Self::Lane(size) => size.registers(),
            Self::Bits256 => 8,
            Self::Matrices { count, .. } => count as u32,
        }
    }

    /// Returns the size of an access of one lane; `None` if it is none of an 8-bit to 128-bit one.
    #[must_use]
    pub const fn of_lane(self) -> Option<Size> {
        match self {
            Self::Lane(size) => Some(size),
            _ => None,
        }
    }
}

/// Why an instruction cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotExecutable {
    /// Its size field encodes no size.
    InvalidSize(InvalidSize),
    /// It has a modifier whose number means nothing: `INVALID7`, `???0`.
    InvalidModifier(&'static str),
    /// It has something of which only the text is public, named here.
    TextOnly(&'static str),
    /// It copies to shared memory, or loads Tensor Memory: no load of registers from memory that
    /// lanes address. Named here.
    OtherExecutor(&'static str),
}

impl fmt::Display for NotExecutable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidSize(size) => write!(f, "{size} encodes no size"),
            Self::InvalidModifier(name) => write!(f, ".{name} is invalid"),
            Self::TextOnly(what) => write!(f, "what {what} does is not public"),
            Self::OtherExecutor(what) => f.write_str(what),
        }
    }
}

impl core::error::Error for NotExecutable {}
