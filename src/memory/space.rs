//! Which memory: how the addresses of a load are read ([`AddressSpace`]), and the memory that one
//! of them lies in ([`Space`]). What an instruction says is the encoding's [`MemorySpace`].

use std::fmt;

use warpload_encoding::MemorySpace;

/// A memory that a load can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Memory of the whole device.
    Global,
    /// Memory of one lane.
    Local,
    /// Memory of the thread block (CTA).
    Shared,
    /// A constant bank. No generic address lies in one.
    Constant,
}

impl Space {
    /// All memories, in the order of their declaration.
    pub const ALL: [Space; 4] = [Self::Global, Self::Local, Self::Shared, Self::Constant];

    /// Returns `global`, `local`, `shared` or `constant`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Local => "local",
            Self::Shared => "shared",
            Self::Constant => "constant",
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How the addresses of a load are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// As generic addresses: the windows and Plg decide which memory they lie in.
    Generic,
    /// As addresses of global memory.
    Global,
    /// As byte offsets into the lane's local memory.
    Local,
    /// As byte offsets into the CTA's shared memory.
    Shared,
    /// As byte offsets into a constant bank.
    Constant {
        /// The bank's number.
        bank: u8,
    },
}

impl From<MemorySpace> for AddressSpace {
    /// Returns how an instruction's addresses are read. Neither the predicate of `LD` nor the mode
    /// of `LDC` is part of that.
    ///
    /// Tensor Memory and memory of which nothing is public are addressed by instructions that are not
    /// executed; for them any answer is as good.
    fn from(space: MemorySpace) -> Self {
        match space {
            MemorySpace::Generic { .. }
            | MemorySpace::Windows
            | MemorySpace::Tensor
            | MemorySpace::Undocumented => Self::Generic,
            MemorySpace::Global => Self::Global,
            MemorySpace::Local => Self::Local,
            MemorySpace::Shared => Self::Shared,
            MemorySpace::Constant { bank, .. } => Self::Constant { bank: bank.get() },
        }
    }
}
