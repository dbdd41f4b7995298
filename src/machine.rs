//! [`Machine`]: a memory, and the settings for every warp on it.

use crate::memory::{AddressMap, ConfigError, Memory};

/// The treatment of a misaligned address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "json", derive(serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Misaligned {
    /// Rounds the address down silently.
    #[default]
    Force,
    /// Rounds the address down and reports a lane fault.
    Report,
    /// Reports a lane fault, and the lane gets zeroes, as on GPUs.
    Fault,
}

impl Misaligned {
    /// All treatments.
    pub const ALL: [Misaligned; 3] = [Self::Force, Self::Report, Self::Fault];

    /// Returns `force`, `report` or `fault`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Force => "force",
            Self::Report => "report",
            Self::Fault => "fault",
        }
    }
}

/// The number of general registers per thread, 1..=255.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegisterLimit(u8);

impl RegisterLimit {
    /// All registers, R0..=R254.
    pub const ALL: RegisterLimit = RegisterLimit(255);

    /// Creates a limit of 1..=255 registers.
    ///
    /// # Errors
    /// Returns [`ConfigError::RegisterLimit`] for 0 and for more than 255.
    pub fn new(register_limit: u64) -> Result<Self, ConfigError> {
        match u8::try_from(register_limit) {
            Ok(limit @ 1..) => Ok(Self(limit)),
            _ => Err(ConfigError::RegisterLimit { register_limit }),
        }
    }

    /// Returns the number of registers.
    #[inline]
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl Default for RegisterLimit {
    fn default() -> Self {
        Self::ALL
    }
}

/// A memory and two settings, on which warps execute. The memory is a [`Memory`] or any other
/// [`LoadMemory`](crate::memory::LoadMemory).
#[derive(Clone, Copy, Debug)]
pub struct Machine<M = Memory> {
    /// The number of registers per thread.
    pub register_limit: RegisterLimit,
    /// The treatment of misaligned addresses.
    pub misaligned: Misaligned,
    /// The memory that loads read.
    pub memory: M,
}

impl<M> Machine<M> {
    /// Creates a machine with 255 registers that rounds misaligned addresses down silently.
    pub fn new(memory: M) -> Self {
        Self { register_limit: RegisterLimit::ALL, misaligned: Misaligned::Force, memory }
    }
}

impl Default for Machine {
    /// Returns a machine with the defaults of docs/ld.md section 4 and no memory allocated.
    fn default() -> Self {
        Self::new(Memory::empty(AddressMap::default()))
    }
}
