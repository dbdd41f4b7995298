//! [`execute`], from the cells of a [`TensorMemory`] to [`TensorRegisters`].
//!
//! # From cells to registers
//! Under `.32x32b` and `.16x32bx2` neighbouring threads read neighbouring lanes: a register of all
//! threads is one run of 32 lanes, or two of 16, of a column. In the other shapes the table has the
//! steps of one, two and four lanes at bits 2, 3 and 4 of the thread's number. So threads j, j+4, j+8
//! and so on read a run of eight lanes, and a register is four such runs, shuffled together. Where
//! each run begins is the cell of thread j; [`STARTS`] keeps these for one repeat.
//!
//! # Vectors
//! The executor handles sixteen cells at a time. What it calls is `#[inline(always)]` and without
//! closures, or the compiler leaves it out of the code for the processor's instruction set.

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, u32x16};
use warpload::lane::{LANES, LaneValues};

use super::fault::{Half, TensorFault};
use super::instruction::TensorLoad;
use super::memory::{COLUMNS, SLAB_LANES, TensorAddress, TensorMemory};
use super::rules::{Issue, LaneMode, Rules};
use super::shape::{MAX_REGISTERS, Shape};

/// What loads write to: the registers of the 32 threads of a warp. 16 KiB; made once and used for
/// many loads.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct TensorRegisters {
    rows: [LaneValues; MAX_REGISTERS],
    count: usize,
    reduced: Option<LaneValues>,
}

impl TensorRegisters {
    /// Makes registers that hold nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { rows: [[0; LANES]; MAX_REGISTERS], count: 0, reduced: None }
    }

    /// Returns the data registers that the last load wrote, each as the values of 32 threads, thread 0
    /// first.
    #[must_use]
    pub fn data(&self) -> &[LaneValues] {
        &self.rows[..self.count]
    }

    /// Returns the result of the last load's reduction, thread 0 first; `None` after a plain load.
    #[must_use]
    pub const fn reduced(&self) -> Option<&LaneValues> {
        self.reduced.as_ref()
    }

    /// Returns the values in the order of threads, each with its data registers one after the other.
    pub fn by_thread(&self) -> impl Iterator<Item = u32> {
        (0..LANES).flat_map(|thread| self.data().iter().map(move |row| row[thread]))
    }
}

impl Default for TensorRegisters {
    fn default() -> Self {
        Self::new()
    }
}

/// The part of the warp's slab that a load, or half of one, begins at.
#[derive(Clone, Copy)]
struct Base {
    /// Lanes from the slab's first, 0 or 16.
    lane: usize,
    column: usize,
}

/// Executes a load at once: PTX's order of asynchronous loads allows that for every program that
/// waits as required. Nothing is allocated.
///
/// # Errors
/// Returns the first [`TensorFault`] in the order of docs/tensor-memory.md, section 1. The
/// registers are then unchanged.
pub fn execute(
    load: &TensorLoad,
    issue: Issue,
    memory: &TensorMemory,
    rules: &Rules,
    registers: &mut TensorRegisters,
) -> Result<(), TensorFault> {
    let second_address = match load.split() {
        Some(split) => {
            let offset = u32::try_from(split).map_err(|_| TensorFault::SplitRange { split })?;
            Some(issue.address.plus(offset))
        }
        None => None,
    };
    // Only the address operand itself was measured.
    let is_checked = rules.hardware_alignment && load.needs_even_column();
    if is_checked && !issue.address.column().is_multiple_of(2) {
        return Err(TensorFault::ColumnAlignment { address: issue.address });
    }
    let slab = (issue.warp as usize % 4) * SLAB_LANES;
    let first = base(load, slab, Half::First, issue.address, rules)?;
    let second = match second_address {
        Some(address) => base(load, slab, Half::Second, address, rules)?,
        None => first,
    };
    let rows = &mut registers.rows[..load.registers()];
    let columns = memory.slab(issue.warp as usize);
    if load.is_packed() {
        gather::<2>(load.shape(), columns, first, second, rows);
    } else {
        gather::<1>(load.shape(), columns, first, second, rows);
    }
    registers.count = rows.len();
    registers.reduced = load.reduction().map(|reduction| reduction.fold(rows));
    Ok(())
}

/// Checks an address and the columns that are read from there.
fn base(
    load: &TensorLoad,
    slab: usize,
    half: Half,
    address: TensorAddress,
    rules: &Rules,
) -> Result<Base, TensorFault> {
    let is_inside = (slab..slab + SLAB_LANES).contains(&address.lane());
    if rules.lane_mode == LaneMode::Strict && !is_inside {
        return Err(TensorFault::LaneSlab { half, address, slab });
    }
    let lane = address.lane() % SLAB_LANES;
    let multiple = load.shape().lanes();
    if !lane.is_multiple_of(multiple) {
        return Err(TensorFault::LaneAlignment { half, address, multiple });
    }
    let first = address.column();
    let last = first + load.columns() - 1;
    match rules.allocated.first_missing(first, last) {
        None => Ok(Base { lane, column: first }),
        Some(column) if column >= COLUMNS => Err(TensorFault::ColumnRange { half, first, last }),
        Some(column) => Err(TensorFault::ColumnUnallocated { half, column }),
    }
}

/// Fills the registers. `WIDTH` is the columns of a register's 32 bits: 2 if packed.
/// The bases and what follows them lie inside the slab.
fn gather<const WIDTH: usize>(
    shape: Shape,
    slab: &[LaneValues],
    first: Base,
    second: Base,
    rows: &mut [LaneValues],
) {
    if shape == Shape::S32x32b && WIDTH == 1 {
        rows.copy_from_slice(&slab[first.column..first.column + rows.len()]);
    } else {
        dispatch!(level(), simd => shuffle::<WIDTH, _>(simd, shape, slab, [first, second], rows));
    }
}

/// [`gather`] of what is not copied as it is.
#[inline(always)]
fn shuffle<const WIDTH: usize, S: Simd>(
    simd: S,
    shape: Shape,
    slab: &[LaneValues],
    [first, second]: [Base; 2],
    rows: &mut [LaneValues],
) {
    let (lane, columns) = (first.lane, &slab[first.column..]);
    match shape {
        Shape::S32x32b => {
            let repeats = columns.chunks_exact(WIDTH);
            for (row, columns) in rows.iter_mut().zip(repeats) {
                let low = cells::<WIDTH, S>(simd, columns, 0, 0);
                store([low, cells::<WIDTH, S>(simd, columns, 0, 16)], row);
            }
        }
        Shape::S16x32bx2 => {
            let repeats = columns.chunks_exact(WIDTH);
            let others = slab[second.column..].chunks_exact(WIDTH);
            for ((row, columns), other) in rows.iter_mut().zip(repeats).zip(others) {
                let low = cells::<WIDTH, S>(simd, columns, 0, lane);
                store([low, cells::<WIDTH, S>(simd, other, 0, second.lane)], row);
            }
        }
        Shape::S16x64b => {
            let repeats = columns.chunks_exact(const { repeat_columns(WIDTH, Shape::S16x64b) });
            for (row, columns) in rows.iter_mut().zip(repeats) {
                let even = cells::<WIDTH, S>(simd, columns, 0, lane);
                let odd = cells::<WIDTH, S>(simd, columns, 1, lane);
                let [upper, lower] = zip(even, odd);
                store(zip(upper, lower), row);
            }
        }
        Shape::S16x128b => {
            let repeats = columns.chunks_exact(const { repeat_columns(WIDTH, Shape::S16x128b) });
            for (rows, columns) in rows.as_chunks_mut::<2>().0.iter_mut().zip(repeats) {
                let [upper, lower] = fours::<WIDTH, S>(simd, columns, [0, 1, 2, 3], lane);
                store(upper, &mut rows[0]);
                store(lower, &mut rows[1]);
            }
        }
        Shape::S16x256b => {
            let repeats = columns.chunks_exact(const { repeat_columns(WIDTH, Shape::S16x256b) });
            for (rows, columns) in rows.as_chunks_mut::<4>().0.iter_mut().zip(repeats) {
                let [upper, lower] = fours::<WIDTH, S>(simd, columns, [0, 2, 4, 6], lane);
                store(upper, &mut rows[0]);
                store(lower, &mut rows[2]);
                let [upper, lower] = fours::<WIDTH, S>(simd, columns, [1, 3, 5, 7], lane);
                store(upper, &mut rows[1]);
                store(lower, &mut rows[3]);
            }
        }
    }
}

/// Returns the columns of a repeat, constants of the compiler: no column is out of them.
const fn repeat_columns(width: usize, shape: Shape) -> usize {
    width * shape.layout().repeat_columns
}

/// Four columns, four threads a lane: the registers of lanes 0 to 7 and of lanes 8 to 15.
#[inline(always)]
fn fours<const WIDTH: usize, S: Simd>(
    simd: S,
    columns: &[LaneValues],
    [a, b, c, d]: [usize; 4],
    lane: usize,
) -> [RegisterVectors<S>; 2] {
    let a = cells::<WIDTH, S>(simd, columns, a, lane);
    let b = cells::<WIDTH, S>(simd, columns, b, lane);
    let c = cells::<WIDTH, S>(simd, columns, c, lane);
    let d = cells::<WIDTH, S>(simd, columns, d, lane);
    let [upper_ac, lower_ac] = zip(a, c);
    let [upper_bd, lower_bd] = zip(b, d);
    [zip(upper_ac, upper_bd), zip(lower_ac, lower_bd)]
}

/// Sixteen lanes of a column from `lane` on, 0 or 16; or of a pair of columns, the low half of the
/// first one below that of the second.
#[inline(always)]
fn cells<const WIDTH: usize, S: Simd>(
    simd: S,
    columns: &[LaneValues],
    column: usize,
    lane: usize,
) -> u32x16<S> {
    let low = half(simd, &columns[WIDTH * column], lane);
    if WIDTH == 1 {
        return low;
    }
    low & 0xffff | half(simd, &columns[WIDTH * column + 1], lane) << 16
}

/// Two vectors: what all threads have in one register.
type RegisterVectors<S> = [u32x16<S>; 2];

/// Returns the instruction set that vectors are of: the processor's best with the feature `simd`, and
/// what the build is for without.
pub(super) fn level() -> Level {
    if cfg!(feature = "simd") { Level::new() } else { Level::baseline() }
}

/// Reads the half of a column that begins at `lane`, 0 or 16.
#[inline(always)]
pub(super) fn half<S: Simd>(simd: S, column: &LaneValues, lane: usize) -> u32x16<S> {
    // Two of 16 are 32.
    u32x16::load_array_ref(simd, &column.as_chunks().0[lane / 16 % 2])
}

/// Reads all lanes.
#[inline(always)]
pub(super) fn load<S: Simd>(simd: S, row: &LaneValues) -> RegisterVectors<S> {
    [half(simd, row, 0), half(simd, row, 16)]
}

/// Writes all lanes.
#[inline(always)]
pub(super) fn store<S: Simd>([low, high]: RegisterVectors<S>, row: &mut LaneValues) {
    let halves = row.as_chunks_mut().0;
    // Two of 16 are 32.
    low.store_array(&mut halves[0]);
    high.store_array(&mut halves[1]);
}

/// Returns `a[0]`, `b[0]`, `a[1]`, `b[1]` and so on.
#[inline(always)]
pub(super) fn zip<S: Simd>(a: u32x16<S>, b: u32x16<S>) -> RegisterVectors<S> {
    [a.zip_low(b), a.zip_high(b)]
}

#[cfg(test)]
mod tests {
    use fearless_simd::Level;

    use super::*;
    use crate::tensor::Pattern;

    /// The processor's vectors and those of the build make the same registers.
    #[test]
    fn all_instruction_sets_shuffle_alike() {
        let memory = TensorMemory::filled(Pattern::LaneColumn);
        let slab = memory.slab(1);
        let bases = [Base { lane: 0, column: 3 }, Base { lane: 16, column: 200 }];
        for shape in Shape::ALL {
            let shuffled = |level| {
                let (mut one, mut two) = ([[0; LANES]; 32], [[0; LANES]; 32]);
                dispatch!(level, simd => shuffle::<1, _>(simd, shape, slab, bases, &mut one));
                dispatch!(level, simd => shuffle::<2, _>(simd, shape, slab, bases, &mut two));
                (one, two)
            };
            assert_eq!(shuffled(Level::new()), shuffled(Level::baseline()), "{shape}");
        }
    }
}
