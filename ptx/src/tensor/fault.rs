//! [`TensorFault`]: why a load does not execute. The PTX ISA leaves the behaviour undefined; here
//! nothing is loaded, and the fault names the rule that was broken.

use std::fmt;

use super::memory::{COLUMNS, SLAB_LANES, TensorAddress};

/// Which part of a load: only `.16x32bx2` has a second half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// What the address operand names.
    First,
    /// What the address plus the half offset names.
    Second,
}

/// A load whose behaviour is undefined. No register changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum TensorFault {
    /// The half offset is negative, or has more than 32 bits.
    #[error("half offset {split}: expected one of 32 bits without sign, 0..={}", u32::MAX)]
    SplitRange {
        /// The offset.
        split: i64,
    },
    /// The lane field names a lane that the warp may not read.
    #[error(
        "{half} {address}: this warp may read lanes {slab}..={}; lane mode `wrap` takes the lane \
         modulo 32 within them",
        slab + SLAB_LANES - 1
    )]
    LaneSlab {
        /// Whose address it is.
        half: Half,
        /// The address.
        address: TensorAddress,
        /// The first of the 32 lanes that the warp may read.
        slab: usize,
    },
    /// The load cannot begin at this lane of the slab.
    #[error("{half} {address}: the load begins at a multiple of {multiple} lanes")]
    LaneAlignment {
        /// Whose address it is.
        half: Half,
        /// The address.
        address: TensorAddress,
        /// The lane must be a multiple of this: 32 or 16.
        multiple: usize,
    },
    /// The load reads columns after the last one.
    #[error("{half}: columns {first}..={last} are read; Tensor Memory has 0..={}", COLUMNS - 1)]
    ColumnRange {
        /// Whose columns they are.
        half: Half,
        /// The first column read.
        first: usize,
        /// The last column read.
        last: usize,
    },
    /// The load reads a column that is not allocated.
    #[error("{half}: column {column} is read and not allocated")]
    ColumnUnallocated {
        /// Whose column it is.
        half: Half,
        /// The first such column.
        column: usize,
    },
    /// The column of the address is odd, and hardware alignment is asked for.
    #[error("address {address}: hardware wants an even column here, and its alignment is checked")]
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
