//! [`TensorFault`]: the reasons why a load does not execute. The PTX ISA leaves the behaviour undefined; here the load
//! changes no register, and the fault names the broken rule.

use std::fmt;

use super::memory::{COLUMNS, SLAB_LANES, TensorAddress};

/// A half of a load. Only `.16x32bx2` has a second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// The half at the address operand.
    First,
    /// The half at the address plus the half offset.
    Second,
}

/// A load with undefined behaviour. No register changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum TensorFault {
    /// The half offset is negative or exceeds 32 bits.
    #[error("half offset {split}: expected an unsigned 32-bit value, 0..={}", u32::MAX)]
    SplitRange {
        /// The offset.
        split: i64,
    },
    /// The lane of the address is outside the warp's slab.
    #[error(
        "{half} {address}: this warp may read lanes {slab}..={}; lane mode `wrap` takes the lane \
         modulo 32 within them",
        slab + SLAB_LANES - 1
    )]
    LaneSlab {
        /// The half with this address.
        half: Half,
        /// The address.
        address: TensorAddress,
        /// The first of the 32 lanes that the warp can read.
        slab: usize,
    },
    /// The load cannot begin at this lane of the slab.
    #[error("{half} {address}: the lane must be a multiple of {multiple}")]
    LaneAlignment {
        /// The half with this address.
        half: Half,
        /// The address.
        address: TensorAddress,
        /// The required divisor of the lane: 32 or 16.
        multiple: usize,
    },
    /// The load reads beyond the last column.
    #[error(
        "{half}: columns {first}..={last} are out of range; Tensor Memory has 0..={}",
        COLUMNS - 1
    )]
    ColumnRange {
        /// The half that reads these columns.
        half: Half,
        /// The first column read.
        first: usize,
        /// The last column read.
        last: usize,
    },
    /// The load reads an unallocated column.
    #[error("{half}: column {column} is not allocated")]
    ColumnUnallocated {
        /// The half that reads this column.
        half: Half,
        /// The first unallocated column.
        column: usize,
    },
    /// The column of the address is odd, and [`Rules`](super::Rules) check hardware alignment.
    #[error("address {address}: the column must be even, because hardware alignment is checked")]
    ColumnAlignment {
        /// The address.
        address: TensorAddress,
    },
}

impl TensorFault {
    /// Returns the code of the rule: `split-range`, `lane-slab`, `lane-align`, `column-range`,
    /// `column-unallocated` or `column-align`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::SplitRange { .. } => "split-range",
            Self::LaneSlab { .. } => "lane-slab",
            Self::LaneAlignment { .. } => "lane-align",
            Self::ColumnRange { .. } => "column-range",
            Self::ColumnUnallocated { .. } => "column-unallocated",
            Self::ColumnAlignment { .. } => "column-align",
        }
    }
}

impl fmt::Display for Half {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "address",
            Self::Second => "address plus half offset",
        })
    }
}
