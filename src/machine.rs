//! A machine: its memory and what holds for every warp on it.

use crate::memory::{AddressMap, ConfigError, Memory};

/// What a misaligned address does. The load goes on with the rounded address either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Misaligned {
    /// Rounded down, silently.
    #[default]
    Force,
    /// Rounded down, and reported as a lane fault.
    Report,
}

/// How many general registers a shader has, 1..=255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterLimit(u8);

impl RegisterLimit {
    /// R0..=R254.
    pub const ALL: RegisterLimit = RegisterLimit(255);

    /// A limit of 1..=255 registers.
    ///
    /// # Errors
    /// [`ConfigError::RegisterLimit`] for 0 and for more than 255.
    pub fn new(register_limit: u64) -> Result<Self, ConfigError> {
        match u8::try_from(register_limit) {
            Ok(limit @ 1..) => Ok(Self(limit)),
            _ => Err(ConfigError::RegisterLimit { register_limit }),
        }
    }

    /// The number of registers.
    #[inline]
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl Default for RegisterLimit {
    fn default() -> Self {
        Self::ALL
    }
}

/// What a warp executes on.
#[derive(Debug)]
pub struct Machine {
    /// How many registers the shader has.
    pub register_limit: RegisterLimit,
    /// What a misaligned address does.
    pub misaligned: Misaligned,
    /// What loads read.
    pub memory: Memory,
}

impl Machine {
    /// A machine with that memory, 255 registers and silent alignment.
    pub fn new(memory: Memory) -> Self {
        Self { register_limit: RegisterLimit::ALL, misaligned: Misaligned::Force, memory }
    }
}

impl Default for Machine {
    /// The defaults of docs/ld.md section 4, nothing allocated.
    fn default() -> Self {
        Self::new(Memory::empty(AddressMap::default()))
    }
}
