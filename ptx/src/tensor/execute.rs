//! [`execute`]: from the cells of a [`TensorMemory`] to [`TensorRegisters`].
//!
//! # From cells to registers
//! Under `.32x32b` and `.16x32bx2`, neighbouring threads read neighbouring lanes: a register of all threads is one run
//! of 32 lanes of a column, or two of 16. In the other shapes, bits 2, 3 and 4 of the thread's number step one, two and
//! four lanes ([`Shape::layout`]). So threads j, j+4, j+8 and so on read a run of eight lanes, and a register is four
//! such runs, interleaved.
//!
//! # Vectors
//! The executor handles sixteen cells at a time. All its callees are `#[inline(always)]` and have no closures, because
//! the compiler would otherwise not compile them for the processor's instruction set.

use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, u32x16};
use warpload::lane::{LANES, LaneValues};

use super::fault::{Half, TensorFault};
use super::instruction::TensorLoad;
use super::memory::{COLUMNS, SLAB_LANES, TensorAddress, TensorMemory};
use super::rules::{Issue, LaneMode, Rules};
use super::shape::{MAX_REGISTERS, Shape};

/// The destination of loads: the registers of a warp's 32 threads. Takes 16 KiB, so it is made once and used for many
/// loads.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct TensorRegisters {
    rows: [LaneValues; MAX_REGISTERS],
    count: usize,
    reduced: Option<LaneValues>,
}

impl TensorRegisters {
    /// Makes registers without values.
    #[must_use]
    pub const fn new() -> Self {
        Self { rows: [[0; LANES]; MAX_REGISTERS], count: 0, reduced: None }
    }

    /// Returns the data registers of the last load, each as the values of 32 threads, thread 0 first.
    #[must_use]
    pub fn data(&self) -> &[LaneValues] {
        &self.rows[..self.count]
    }

    /// Returns the result of the last load's reduction, thread 0 first; `None` after a plain load.
    #[must_use]
    pub const fn reduced(&self) -> Option<&LaneValues> {
        self.reduced.as_ref()
    }

    /// Returns the values thread by thread, each thread's data registers in order.
    pub fn by_thread(&self) -> impl Iterator<Item = u32> {
        (0..LANES).flat_map(|thread| self.data().iter().map(move |row| row[thread]))
    }
}

impl Default for TensorRegisters {
    fn default() -> Self {
        Self::new()
    }
}

/// The first cell of a load, or of one of its halves, in the warp's slab.
#[derive(Clone, Copy)]
struct Base {
    /// The lane in the slab, 0 or 16.
    lane: usize,
    column: usize,
}

/// Executes a load at once. The order that PTX gives asynchronous loads allows that for every program that waits as
/// required. Allocates no memory.
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
    // Hardware was measured for the address operand only, not for the second half.
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

/// Checks an address and the columns read from there.
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

/// Fills the registers. `WIDTH` is the number of columns per register, 2 if packed. `base` has checked that all cells
/// are inside the slab.
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

/// [`gather`] for everything that is not a plain copy.
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

/// The columns of a repeat. A constant at compile time, so that accesses to the columns need no bounds checks.
const fn repeat_columns(width: usize, shape: Shape) -> usize {
    width * shape.layout().repeat_columns
}

/// Reads four columns with four threads a lane: the registers of lanes 0 to 7 and of lanes 8 to 15.
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

/// Reads sixteen lanes of a column from `lane` on, 0 or 16. If `WIDTH` is 2, combines the low halves of two columns,
/// the first one below the second.
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

/// One register of all threads.
type RegisterVectors<S> = [u32x16<S>; 2];

/// The vector instruction set: the processor's best with the feature `simd`, and otherwise the build's.
pub(super) fn level() -> Level {
    if cfg!(feature = "simd") { Level::new() } else { Level::baseline() }
}

/// Reads the half of a column that begins at `lane`, 0 or 16.
#[inline(always)]
pub(super) fn half<S: Simd>(simd: S, column: &LaneValues, lane: usize) -> u32x16<S> {
    // A row of 32 has two arrays of 16.
    u32x16::load_array_ref(simd, &column.as_chunks().0[lane / 16 % 2])
}

#[inline(always)]
pub(super) fn load<S: Simd>(simd: S, row: &LaneValues) -> RegisterVectors<S> {
    [half(simd, row, 0), half(simd, row, 16)]
}

#[inline(always)]
pub(super) fn store<S: Simd>([low, high]: RegisterVectors<S>, row: &mut LaneValues) {
    let halves = row.as_chunks_mut().0;
    // A row of 32 has two arrays of 16.
    low.store_array(&mut halves[0]);
    high.store_array(&mut halves[1]);
}

/// Interleaves two vectors: `a[0]`, `b[0]`, `a[1]`, `b[1]` and so on.
#[inline(always)]
pub(super) fn zip<S: Simd>(a: u32x16<S>, b: u32x16<S>) -> RegisterVectors<S> {
    [a.zip_low(b), a.zip_high(b)]
}

#[cfg(test)]
mod tests {
    use fearless_simd::Level;

    use super::*;
    use crate::tensor::Pattern;

    /// The processor's instruction set and the build's must fill the same registers.
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
