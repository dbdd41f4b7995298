//! What a load may touch.

use super::memory::{COLUMNS, TensorAddress};
use crate::syntax::named::named;

/// The warp that issues a load, and the address, the same in all 32 threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Issue {
    /// The warp's number in its thread block; only its value modulo 4 matters.
    pub warp: u32,
    /// The address operand, `taddr`.
    pub address: TensorAddress,
}

impl Issue {
    /// Issues a load in this warp at this address.
    #[must_use]
    pub const fn new(warp: u32, address: TensorAddress) -> Self {
        Self { warp, address }
    }
}

named! {
    /// What the lane field of an address means. The sources differ: docs/tensor-memory.md.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    #[non_exhaustive]
    pub enum LaneMode: "`strict` or `wrap`" {
        /// The text of the PTX ISA: the field is a physical lane and must lie in the warp's slab, 32
        /// lanes from 32 * (warp mod 4) on.
        #[default]
        Strict = "strict",
        /// The field counts modulo 32 from the warp's slab on, whichever slab it names. Kernels that
        /// use column addresses only, in every warp, rely on that.
        Wrap = "wrap",
    }
}

/// What loads are checked against.
///
/// ```
/// use warpload_ptx::tensor::{LaneMode, Rules};
///
/// let rules = Rules::default().lane_mode(LaneMode::Wrap).hardware_alignment(true);
/// assert_eq!(rules.lane_mode, LaneMode::Wrap);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Rules {
    /// What the lane field means.
    pub lane_mode: LaneMode,
    /// Which columns are allocated; all of them by default.
    pub allocated: Allocations,
    /// Whether the column of the address must be even for those loads whose hardware was measured,
    /// or is assumed, to require it. The PTX ISA does not require it.
    pub hardware_alignment: bool,
}

impl Rules {
    /// Sets what the lane field means.
    #[must_use]
    pub const fn lane_mode(self, lane_mode: LaneMode) -> Self {
        Self { lane_mode, ..self }
    }

    /// Sets which columns are allocated.
    #[must_use]
    pub const fn allocated(self, allocated: Allocations) -> Self {
        Self { allocated, ..self }
    }

    /// Sets whether the column must be even where hardware requires it.
    #[must_use]
    pub const fn hardware_alignment(self, hardware_alignment: bool) -> Self {
        Self { hardware_alignment, ..self }
    }
}

/// Columns are allocated in units of this many.
const UNIT: usize = 32;

/// The allocated columns, all 128 lanes of each. Allocations are 32, 64, 128, 256 or 512 columns
/// (PTX ISA, "Tensor Memory Allocation") and begin at a multiple of 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Allocations {
    /// Bit n: columns 32n to 32n+31.
    units: u16,
}

/// An invalid allocation of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AllocationError {
    /// The number of columns is invalid.
    #[error("{columns} columns; an allocation has 32, 64, 128, 256 or 512")]
    Columns {
        /// How many columns were asked for.
        columns: usize,
    },
    /// The first column is not a multiple of 32.
    #[error("first column {first}; allocations begin at multiples of 32")]
    First {
        /// The first column.
        first: usize,
    },
    /// The allocation ends after column 511.
    #[error("columns {first}..={}; Tensor Memory has 0..=511", first.saturating_add(*columns - 1))]
    Outside {
        /// The first column.
        first: usize,
        /// How many columns, at least 32.
        columns: usize,
    },
    /// Some of the columns are allocated already.
    #[error("columns {first}..={} overlap an earlier allocation", first + columns - 1)]
    Overlap {
        /// The first column.
        first: usize,
        /// How many columns, at least 32.
        columns: usize,
    },
}

impl Allocations {
    /// Every column.
    pub const ALL: Self = Self { units: u16::MAX };
    /// No column.
    pub const NONE: Self = Self { units: 0 };

    /// Adds an allocation of `columns` columns from column `first` on.
    ///
    /// # Errors
    /// Returns [`AllocationError`] if the columns are invalid or overlap; nothing is added then.
    pub fn add(&mut self, first: usize, columns: usize) -> Result<(), AllocationError> {
        if !columns.is_power_of_two() || !(UNIT..=COLUMNS).contains(&columns) {
            return Err(AllocationError::Columns { columns });
        }
        if !first.is_multiple_of(UNIT) {
            return Err(AllocationError::First { first });
        }
        if first > COLUMNS - columns {
            return Err(AllocationError::Outside { first, columns });
        }
        let units = (u32::MAX >> (32 - columns / UNIT) << (first / UNIT)) as u16;
        if self.units & units != 0 {
            return Err(AllocationError::Overlap { first, columns });
        }
        self.units |= units;
        Ok(())
    }

    /// Whether a column is allocated; none from 512 on is.
    #[must_use]
    pub const fn contains(self, column: usize) -> bool {
        column < COLUMNS && self.units >> (column / UNIT) & 1 != 0
    }

    /// Returns the first column from `first` to `last`, both included, that is not allocated;
    /// columns from 512 on never are.
    pub(super) fn first_missing(self, first: usize, last: usize) -> Option<usize> {
        let from = (first / UNIT).min(u16::BITS as usize);
        // Above the 16 units all are missing.
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
