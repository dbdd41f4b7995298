//! The contents of Tensor Memory.
//!
//! # Layout
//! A warp can read one quarter of the lanes only, its slab of 32. Each slab is laid out by itself,
//! column after column, the 32 lanes of a column side by side. So a register of a whole warp under
//! `.32x32b` is one run of 128 bytes, and a whole load of that shape is one run of at most 16 KiB.

use super::pattern::Pattern;
use warpload::lane::{LANES, LaneValues};

/// How many lanes, or rows, Tensor Memory has.
pub const TENSOR_LANES: usize = 128;

/// How many columns of 32-bit cells it has.
pub const COLUMNS: usize = 512;

/// How many lanes a warp may read: those from 32 * (warp mod 4) on.
pub const SLAB_LANES: usize = LANES;

/// How many bytes all cells are: 256 KiB.
pub const MEMORY_BYTES: usize = TENSOR_LANES * COLUMNS * 4;

/// The cells of one thread block's Tensor Memory: 128 lanes of 512 columns of 32 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMemory {
    slabs: Box<[Slab]>,
}

/// The columns of the 32 lanes that a warp may read. Aligned, as half a column is read at once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(align(64))]
struct Slab([LaneValues; COLUMNS]);

/// The bytes are not those of a whole Tensor Memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes; Tensor Memory is {MEMORY_BYTES}")]
#[non_exhaustive]
pub struct LengthError {
    /// How many bytes there are.
    pub bytes: usize,
}

impl TensorMemory {
    /// Makes a memory of zeroes.
    #[must_use]
    pub fn new() -> Self {
        let slabs = TENSOR_LANES / SLAB_LANES;
        Self { slabs: vec![Slab([[0; LANES]; COLUMNS]); slabs].into_boxed_slice() }
    }

    /// Fills the cells with `value` of each lane, 0..=127, and column, 0..=511.
    pub fn from_fn(value: impl Fn(usize, usize) -> u32) -> Self {
        let mut memory = Self::new();
        for (slab, Slab(columns)) in memory.slabs.iter_mut().enumerate() {
            for (column, cells) in columns.iter_mut().enumerate() {
                for (lane, cell) in cells.iter_mut().enumerate() {
                    *cell = value(slab * SLAB_LANES + lane, column);
                }
            }
        }
        memory
    }

    /// Makes a memory that holds a pattern.
    #[must_use]
    pub fn filled(pattern: Pattern) -> Self {
        Self::from_fn(|lane, column| pattern.value(lane, column))
    }

    /// Reads cells from little-endian bytes, lane after lane, the columns of a lane side by side.
    ///
    /// # Errors
    /// Returns [`LengthError`] if there are not exactly [`MEMORY_BYTES`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LengthError> {
        if bytes.len() != MEMORY_BYTES {
            return Err(LengthError { bytes: bytes.len() });
        }
        let words = bytes.as_chunks::<4>().0;
        // There is a word for every cell, as the length says.
        Ok(Self::from_fn(|lane, column| u32::from_le_bytes(words[lane * COLUMNS + column])))
    }

    /// Returns a cell; `None` if the lane or the column does not exist.
    #[must_use]
    pub fn get(&self, lane: usize, column: usize) -> Option<u32> {
        let slab = self.slabs.get(lane / SLAB_LANES)?;
        slab.0.get(column).map(|cells| cells[lane % SLAB_LANES])
    }

    /// Changes a cell; returns whether the lane and the column exist.
    pub fn set(&mut self, lane: usize, column: usize, value: u32) -> bool {
        let slab = self.slabs.get_mut(lane / SLAB_LANES);
        let cells = slab.and_then(|slab| slab.0.get_mut(column));
        let is_there = cells.is_some();
        if let Some(cells) = cells {
            cells[lane % SLAB_LANES] = value;
        }
        is_there
    }

    /// Returns the columns of the slab that the warps of this number modulo 4 may read.
    pub(super) fn slab(&self, slab: usize) -> &[LaneValues] {
        &self.slabs[slab % (TENSOR_LANES / SLAB_LANES)].0
    }
}

impl Default for TensorMemory {
    fn default() -> Self {
        Self::new()
    }
}
