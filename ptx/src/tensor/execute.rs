//! [`execute`], from the cells of a [`TensorMemory`] to [`Registers`].
//!
//! # From cells to registers
//! Under `.32x32b` and `.16x32bx2` neighbouring threads read neighbouring lanes: a register of all
//! threads is one run of 32 lanes, or two of 16, of a column. In the other shapes the table has the
//! steps of one, two and four lanes at bits 2, 3 and 4 of the thread's number. So threads j, j+4, j+8
//! and so on read a run of eight lanes, and a register is four such runs, shuffled together. Where
//! each run begins is the cell of thread j; [`STARTS`] keeps these for one repeat.

use std::hint::black_box;

use super::address::TensorAddress;
use super::fault::{Half, TensorFault};
use super::instruction::TensorLoad;
use super::memory::{COLUMNS, SLAB_LANES, TensorMemory};
use super::rules::{Issue, LaneMode, Rules};
use super::shape::{CellOffset, MAX_REGISTERS, Shape};
use warpload::lane::{LANES, LaneValues};

/// What loads write to: the registers of the 32 threads of a warp. 16 KiB; made once and used for
/// many loads.
#[derive(Clone, Debug)]
pub struct Registers {
    rows: [LaneValues; MAX_REGISTERS],
    count: usize,
    reduced: Option<LaneValues>,
}

impl Registers {
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

impl Default for Registers {
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
    registers: &mut Registers,
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
///
/// Not inlined: only as parameters of a function are cells and registers known not to overlap,
/// which vector code needs.
#[inline(never)]
fn gather<const WIDTH: usize>(
    shape: Shape,
    slab: &[LaneValues],
    first: Base,
    second: Base,
    rows: &mut [LaneValues],
) {
    match shape {
        Shape::S32x32b if WIDTH == 1 => {
            rows.copy_from_slice(&slab[first.column..first.column + rows.len()]);
        }
        Shape::S32x32b => {
            let columns = slab[first.column..].chunks_exact(WIDTH);
            for (row, columns) in rows.iter_mut().zip(columns) {
                *row = run::<WIDTH, LANES>(columns, 0, 0);
            }
        }
        Shape::S16x32bx2 => {
            let columns = |base: Base| slab[base.column..].chunks_exact(WIDTH);
            for ((row, one), other) in rows.iter_mut().zip(columns(first)).zip(columns(second)) {
                let [low, high] = row.as_chunks_mut::<16>().0 else { continue };
                *low = run::<WIDTH, 16>(one, 0, first.lane);
                *high = run::<WIDTH, 16>(other, 0, second.lane);
            }
        }
        Shape::S16x64b => shuffled::<WIDTH, S16X64B, 1>(slab, first, rows),
        Shape::S16x128b => shuffled::<WIDTH, S16X128B, 2>(slab, first, rows),
        Shape::S16x256b => shuffled::<WIDTH, S16X256B, 4>(slab, first, rows),
    }
}

const S16X64B: usize = Shape::S16x64b as usize;
const S16X128B: usize = Shape::S16x128b as usize;
const S16X256B: usize = Shape::S16x256b as usize;

/// The cells of threads 0 to 3 in the registers of one repeat, for each shape.
const STARTS: [[[CellOffset; 4]; 4]; Shape::ALL.len()] = {
    let mut starts = [[[CellOffset { second_half: false, lane: 0, column: 0 }; 4]; 4]; 5];
    let mut at = 0;
    while at < 4 * 4 * Shape::ALL.len() {
        let (shape, register, thread) = (at / 16, at / 4 % 4, at % 4);
        starts[shape][register][thread] = Shape::ALL[shape].cell(thread, register);
        at += 1;
    }
    starts
};

/// The shapes of four threads a lane, `PER_REPEAT` registers for each repeat; `SHAPE` is the
/// shape's place in [`Shape::ALL`].
#[inline(never)]
fn shuffled<const WIDTH: usize, const SHAPE: usize, const PER_REPEAT: usize>(
    slab: &[LaneValues],
    base: Base,
    rows: &mut [LaneValues],
) {
    let repeat_columns = const { WIDTH * Shape::ALL[SHAPE].layout().repeat_columns };
    let repeats = slab[base.column..].chunks_exact(repeat_columns);
    // The compiler moves what it merely copies one cell at a time. With some arithmetic in between,
    // which packing has, it takes vectors: 0.33 instead of 0.54 µs for 128 registers.
    let kept = black_box(u32::MAX);
    for (rows, columns) in rows.as_chunks_mut::<PER_REPEAT>().0.iter_mut().zip(repeats) {
        shuffled_row::<WIDTH, SHAPE, 0>(columns, base.lane, kept, &mut rows[0]);
        if PER_REPEAT > 1 {
            shuffled_row::<WIDTH, SHAPE, 1>(columns, base.lane, kept, &mut rows[1]);
        }
        if PER_REPEAT > 2 {
            shuffled_row::<WIDTH, SHAPE, 2>(columns, base.lane, kept, &mut rows[2]);
            shuffled_row::<WIDTH, SHAPE, 3>(columns, base.lane, kept, &mut rows[3]);
        }
    }
}

/// Register `REGISTER` of a repeat, from the repeat's columns; `kept` has all bits set. That all places are constants makes
/// the difference between 0.6 and 2 µs for 128 registers.
#[inline(always)]
fn shuffled_row<const WIDTH: usize, const SHAPE: usize, const REGISTER: usize>(
    columns: &[LaneValues],
    base_lane: usize,
    kept: u32,
    row: &mut LaneValues,
) {
    let [one, two, three, four] = const { STARTS[SHAPE][REGISTER] };
    let run = |start: CellOffset| {
        let (column, lane) = (WIDTH * start.column, base_lane + start.lane);
        let cells = run::<WIDTH, 8>(columns, column, lane);
        if WIDTH == 1 { cells.map(|cell| cell & kept) } else { cells }
    };
    let (one, two, three, four) = (run(one), run(two), run(three), run(four));
    // Four threads at a time: a whole row made aside is copied twice.
    for (lane, threads) in row.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        *threads = [one[lane], two[lane], three[lane], four[lane]];
    }
}

/// `N` lanes of a column from `lane` on, a multiple of `N`; or of a pair of columns, the low half
/// of the first one below that of the second.
#[inline(always)]
fn run<const WIDTH: usize, const N: usize>(
    columns: &[LaneValues],
    column: usize,
    lane: usize,
) -> [u32; N] {
    let low = columns[column].as_chunks::<N>().0[lane / N % (LANES / N)];
    if WIDTH == 1 {
        return low;
    }
    let high = columns[column + 1].as_chunks::<N>().0[lane / N % (LANES / N)];
    std::array::from_fn(|i| low[i] & 0xffff | high[i] << 16)
}
