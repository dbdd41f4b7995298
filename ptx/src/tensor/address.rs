//! Where a cell of Tensor Memory is.

use std::fmt;

/// The address operand of a tensor-memory instruction: a lane in bits 31:16, a column in bits
/// 15:0 (PTX ISA, "Tensor Memory Addressing"). Any 32 bits are an address; whether a load may use
/// it is for [`Rules`](super::Rules) to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TensorAddress(pub u32);

impl TensorAddress {
    /// Makes the address of a lane and a column.
    #[must_use]
    pub const fn new(lane: u16, column: u16) -> Self {
        Self((lane as u32) << 16 | column as u32)
    }

    /// Returns the lane field, 0..=65535; lanes that exist are 0..=127.
    #[must_use]
    pub const fn lane(self) -> usize {
        (self.0 >> 16) as usize
    }

    /// Returns the column field, 0..=65535; columns that exist are 0..=511.
    #[must_use]
    pub const fn column(self) -> usize {
        (self.0 & 0xffff) as usize
    }

    /// Returns the address plus an offset, modulo 2^32: one addition, which may carry from the column
    /// into the lane.
    #[must_use]
    pub const fn plus(self, offset: u32) -> Self {
        Self(self.0.wrapping_add(offset))
    }
}

impl fmt::Display for TensorAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x} (lane {}, column {})", self.0, self.lane(), self.column())
    }
}
