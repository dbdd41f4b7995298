//! The context of a load, [`Issue`], and the checks on its addresses, [`Rules`].

use super::memory::{COLUMNS, TensorAddress};
use crate::named;

/// The warp that issues a load, and the address, which is the same in all 32 threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Issue {
    /// The warp's number in its thread block. Only its value modulo 4 matters.
    pub warp: u32,
    /// The address operand, `taddr`.
    pub address: TensorAddress,
}

impl Issue {
    /// Issues a load in a warp at an address.
    #[must_use]
    pub const fn new(warp: u32, address: TensorAddress) -> Self {
        Self { warp, address }
    }
}

named! {
    /// The interpretation of the lane field of an address. The sources differ: docs/tensor-memory.md.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    #[non_exhaustive]
    pub enum LaneMode: "`strict` or `wrap`" {
        /// As in the text of the PTX ISA: the field is a physical lane and must be in the warp's slab, 32 lanes from 32
        /// * (warp mod 4) on.
        #[default]
        Strict = "strict",
        /// The field modulo 32 is a lane of the warp's slab, whichever slab the field names. Kernels that use plain
        /// column addresses in every warp rely on this.
        Wrap = "wrap",
    }
}

/// The checks on the addresses of loads.
///
/// ```
/// use warpload_machine::tensor::{LaneMode, Rules};
///
/// let rules = Rules::default().lane_mode(LaneMode::Wrap).hardware_alignment(true);
/// assert_eq!(rules.lane_mode, LaneMode::Wrap);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Rules {
    /// The interpretation of the lane field.
    pub lane_mode: LaneMode,
    /// The allocated columns; by default all.
    pub allocated: Allocations,
    /// Whether the column of the address must be even if hardware requires it, as measured or assumed for the load
    /// ([`TensorLoad::needs_even_column`](super::TensorLoad::needs_even_column)). The PTX ISA does not require it.
    pub hardware_alignment: bool,
}

impl Rules {
    /// Sets the interpretation of the lane field.
    #[must_use]
    pub const fn lane_mode(self, lane_mode: LaneMode) -> Self {
        Self { lane_mode, ..self }
    }

    /// Sets the allocated columns.
    #[must_use]
    pub const fn allocated(self, allocated: Allocations) -> Self {
        Self { allocated, ..self }
    }

    /// Sets whether the column must be even if hardware requires it.
    #[must_use]
    pub const fn hardware_alignment(self, hardware_alignment: bool) -> Self {
        Self { hardware_alignment, ..self }
    }
}

/// The granularity of allocations, in columns.
const UNIT: usize = 32;

/// The allocated columns, each with all 128 lanes. An allocation has 32, 64, 128, 256 or 512 columns (PTX ISA, "Tensor
/// Memory Allocation") and begins at a multiple of 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Allocations {
    /// Bit n stands for columns 32n to 32n+31.
    units: u16,
}

/// An invalid allocation of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnsError {
    /// The number of columns is invalid.
    #[error("{columns} columns; an allocation has 32, 64, 128, 256 or 512")]
    Columns {
        /// The number of columns requested.
        columns: usize,
    },
    /// The first column is not a multiple of 32.
    #[error("first column {first}; allocations begin at multiples of 32")]
    First {
        /// The first column.
        first: usize,
    },
    /// The allocation extends beyond column 511.
    #[error("columns {first}..={}; Tensor Memory has 0..=511", first.saturating_add(*columns - 1))]
    Outside {
        /// The first column.
        first: usize,
        /// The number of columns, at least 32.
        columns: usize,
    },
    /// Some of the columns are already allocated.
    #[error("columns {first}..={} overlap an earlier allocation", first + columns - 1)]
    Overlap {
        /// The first column.
        first: usize,
        /// The number of columns, at least 32.
        columns: usize,
    },
}

impl Allocations {
    /// Every column.
    pub const ALL: Self = Self { units: u16::MAX };
    /// No column.
    pub const NONE: Self = Self { units: 0 };

    /// Adds an allocation of `columns` columns, beginning at column `first`.
    ///
    /// # Errors
    /// Returns [`ColumnsError`] if the columns are invalid or overlap. Then nothing is allocated.
    pub fn add(&mut self, first: usize, columns: usize) -> Result<(), ColumnsError> {
        if !columns.is_power_of_two() || !(UNIT..=COLUMNS).contains(&columns) {
            return Err(ColumnsError::Columns { columns });
        }
        if !first.is_multiple_of(UNIT) {
            return Err(ColumnsError::First { first });
        }
        if first > COLUMNS - columns {
            return Err(ColumnsError::Outside { first, columns });
        }
        let units = (u32::MAX >> (32 - columns / UNIT) << (first / UNIT)) as u16;
        if self.units & units != 0 {
            return Err(ColumnsError::Overlap { first, columns });
        }
        self.units |= units;
        Ok(())
    }

    /// Whether a column is allocated; false from 512 on.
    #[must_use]
    pub const fn contains(self, column: usize) -> bool {
        column < COLUMNS && self.units >> (column / UNIT) & 1 != 0
    }

    /// The first unallocated column in `first..=last`. Columns from 512 on are never allocated.
    pub(super) fn first_missing(self, first: usize, last: usize) -> Option<usize> {
        let from = (first / UNIT).min(u16::BITS as usize);
        // Beyond the 16 units all columns are unallocated.
        let missing = from + (!u32::from(self.units) >> from).trailing_zeros() as usize;
        (missing <= last / UNIT).then_some(first.max(missing * UNIT))
    }
}

impl Default for Allocations {
    fn default() -> Self {
        Self::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_allocated() {
        let mut allocated = Allocations::NONE;
        assert_eq!(allocated.add(64, 32), Ok(()));
        assert_eq!(allocated.add(256, 256), Ok(()));
        let columns: Vec<usize> = (0..1024).filter(|c| allocated.contains(*c)).collect();
        assert_eq!(columns, (64..96).chain(256..512).collect::<Vec<_>>());
        for (first, columns, message) in [
            (0, 0, "0 columns; an allocation has 32, 64, 128, 256 or 512"),
            (0, 96, "96 columns; an allocation has 32, 64, 128, 256 or 512"),
            (0, 1024, "1024 columns; an allocation has 32, 64, 128, 256 or 512"),
            (16, 32, "first column 16; allocations begin at multiples of 32"),
            (480, 64, "columns 480..=543; Tensor Memory has 0..=511"),
            (64, 64, "columns 64..=127 overlap an earlier allocation"),
        ] {
            let error = allocated.add(first, columns).map_err(|error| error.to_string());
            assert_eq!(error, Err(message.to_owned()));
        }
        let mut all = Allocations::NONE;
        assert_eq!(all.add(0, 512), Ok(()));
        assert_eq!(all, Allocations::ALL);
    }
}
