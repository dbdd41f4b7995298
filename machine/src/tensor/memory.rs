//! Tensor Memory: the [address](TensorAddress) of a cell, the contents, and [`Pattern`]s, contents computed from lane
//! and column.
//!
//! # Layout
//! A warp can read only one quarter of the lanes, its slab of 32. Each slab is stored separately, column after column,
//! the 32 lanes of a column side by side. So under `.32x32b` a register of a whole warp is one run of 128 bytes, and a
//! whole load is one run of at most 16 KiB.

use std::fmt;

use warpload::lane::{LANES, LaneValues};

use crate::named;

/// The number of lanes, or rows, of Tensor Memory.
pub const TENSOR_LANES: usize = 128;

/// The number of columns of 32-bit cells.
pub const COLUMNS: usize = 512;

/// The number of lanes that a warp can read. They begin at 32 * (warp mod 4).
pub const SLAB_LANES: usize = LANES;

/// The size of all cells in bytes: 256 KiB.
pub const MEMORY_BYTES: usize = TENSOR_LANES * COLUMNS * 4;

/// The cells of one thread block's Tensor Memory: 128 lanes of 512 columns of 32 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMemory {
    slabs: Box<[Slab]>,
}

/// The columns of the 32 lanes that a warp can read. Aligned, because half a column is read at once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(align(64))]
struct Slab([LaneValues; COLUMNS]);

/// The error for bytes that are not exactly a whole Tensor Memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes; Tensor Memory is {MEMORY_BYTES}")]
#[non_exhaustive]
pub struct LengthError {
    /// The number of bytes given.
    pub bytes: usize,
}

impl TensorMemory {
    /// Makes a memory filled with zeros.
    #[must_use]
    pub fn new() -> Self {
        let slabs = TENSOR_LANES / SLAB_LANES;
        Self { slabs: vec![Slab([[0; LANES]; COLUMNS]); slabs].into_boxed_slice() }
    }

    /// Fills each cell with `value` of its lane, 0..=127, and column, 0..=511.
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

    /// Makes a memory filled with a pattern.
    #[must_use]
    pub fn filled(pattern: Pattern) -> Self {
        Self::from_fn(|lane, column| pattern.value(lane, column))
    }

    /// Reads cells from little-endian bytes, lane after lane, the columns of a lane side by side.
    ///
    /// # Errors
    /// Returns [`LengthError`] unless there are exactly [`MEMORY_BYTES`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LengthError> {
        if bytes.len() != MEMORY_BYTES {
            return Err(LengthError { bytes: bytes.len() });
        }
        let words = bytes.as_chunks::<4>().0;
        // The length was checked, so there is a word for every cell.
        Ok(Self::from_fn(|lane, column| u32::from_le_bytes(words[lane * COLUMNS + column])))
    }

    /// Returns a cell; `None` if the lane or the column does not exist.
    #[must_use]
    pub fn get(&self, lane: usize, column: usize) -> Option<u32> {
        let slab = self.slabs.get(lane / SLAB_LANES)?;
        slab.0.get(column).map(|cells| cells[lane % SLAB_LANES])
    }

    /// Sets a cell. Returns whether the lane and the column exist.
    pub fn set(&mut self, lane: usize, column: usize, value: u32) -> bool {
        let slab = self.slabs.get_mut(lane / SLAB_LANES);
        let cells = slab.and_then(|slab| slab.0.get_mut(column));
        let is_there = cells.is_some();
        if let Some(cells) = cells {
            cells[lane % SLAB_LANES] = value;
        }
        is_there
    }

    /// The columns of the slab that warps with this number modulo 4 can read.
    pub(super) fn slab(&self, slab: usize) -> &[LaneValues] {
        &self.slabs[slab % (TENSOR_LANES / SLAB_LANES)].0
    }
}

impl Default for TensorMemory {
    fn default() -> Self {
        Self::new()
    }
}

/// The address operand of a Tensor Memory instruction: a lane in bits 31:16, a column in bits 15:0 (PTX ISA, "Tensor
/// Memory Addressing"). All 32-bit values are addresses; [`Rules`](super::Rules) decide whether a load may use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TensorAddress(pub u32);

impl TensorAddress {
    /// Makes the address of a lane and a column.
    #[must_use]
    pub const fn new(lane: u16, column: u16) -> Self {
        Self((lane as u32) << 16 | column as u32)
    }

    /// Returns the lane field, 0..=65535. Existing lanes are 0..=127.
    #[must_use]
    pub const fn lane(self) -> usize {
        (self.0 >> 16) as usize
    }

    /// Returns the column field, 0..=65535. Existing columns are 0..=511.
    #[must_use]
    pub const fn column(self) -> usize {
        (self.0 & 0xffff) as usize
    }

    /// Returns the address plus an offset, modulo 2^32. A carry may go from the column into the lane.
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

named! {
    /// Contents for tests. The value of each cell is a function of its lane and column.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Pattern: "a pattern: lane*65536+col, packid, hash, f32rand or f32special" {
        /// `lane*65536+col`: each cell holds its own address.
        LaneColumn = "lane*65536+col",
        /// `packid`: with x = lane * 512 + column, x in the low half and its complement in the high half. All low
        /// halves differ, which tells apart the halves that `.pack::16b` combines.
        PackIdentity = "packid",
        /// `hash`: lane * 512 + column + 1, well mixed.
        Hash = "hash",
        /// `f32rand`: normal numbers as binary32, of both signs, magnitudes 2^-31 to 2^33.
        F32Random = "f32rand",
        /// `f32special`, by lane mod 8: NaNs; one NaN in eight columns; zeros of either sign; zeros of one sign;
        /// special numbers; subnormals; infinities among numbers; and `f32rand`.
        F32Special = "f32special",
    }
}

const NANS: [u32; 5] = [0x7fc0_0000, 0xffc0_0000, 0x7f80_0001, 0xffff_ffff, 0x7fff_ffff];

/// Zeros, the limits of the subnormal and normal ranges, one, infinities and pi, each also negated.
const SPECIAL: [u32; 16] = [
    0x0000_0000,
    0x8000_0000,
    0x0000_0001,
    0x8000_0001,
    0x007f_ffff,
    0x807f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x4049_0fdb,
    0xc049_0fdb,
];

impl Pattern {
    /// Returns the value of the cell at a lane and column.
    #[must_use]
    pub fn value(self, lane: usize, column: usize) -> u32 {
        match self {
            Self::LaneColumn => (lane as u32) << 16 | column as u32,
            Self::PackIdentity => {
                let x = number(lane, column);
                (!x & 0xffff) << 16 | x
            }
            Self::Hash => hash(lane, column),
            Self::F32Random => random_number(hash(lane, column)),
            Self::F32Special => special(lane, column),
        }
    }
}

const fn number(lane: usize, column: usize) -> u32 {
    (lane as u32).wrapping_mul(512).wrapping_add(column as u32)
}

const fn hash(lane: usize, column: usize) -> u32 {
    let v = number(lane, column).wrapping_add(1).wrapping_mul(0x9e37_79b1);
    let v = (v ^ v >> 15).wrapping_mul(0x85eb_ca6b);
    v ^ v >> 13
}

/// Sign and fraction of the hash, with an exponent far from both limits.
const fn random_number(hash: u32) -> u32 {
    hash & 0x807f_ffff | (96 + (hash >> 23 & 63)) << 23
}

fn special(lane: usize, column: usize) -> u32 {
    let hash = hash(lane, column);
    let nan = NANS[lane.wrapping_div(8).wrapping_add(column) % NANS.len()];
    let zero = |negative: bool| if negative { 0x8000_0000 } else { 0 };
    match lane % 8 {
        0 => nan,
        1 if column % 8 == 3 => nan,
        2 => zero(hash & 1 != 0),
        3 => zero(!(lane / 8).is_multiple_of(2)),
        4 => SPECIAL[hash as usize % SPECIAL.len()],
        5 => hash & 0x807f_ffff,
        6 if column % 4 == 1 => 0x7f80_0000 | hash & 0x8000_0000,
        _ => random_number(hash),
    }
}
