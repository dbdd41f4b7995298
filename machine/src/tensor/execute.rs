//! [`execute`]: from the cells of a [`TensorMemory`] to [`TensorRegisters`].

use std::array;

use warpload::lane::{LANES, LaneValues};

use super::fault::{Half, TensorFault};
use super::instruction::TensorLoad;
use super::memory::{COLUMNS, SLAB_LANES, TensorAddress, TensorMemory};
use super::rules::{Issue, LaneMode, Rules};
use super::shape::{CellOffset, MAX_REGISTERS};

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
    gather(load, columns, [first, second], rows);
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

/// Fills the registers with the cells that the table of shapes gives them. [`base`] has checked that all of them are
/// inside the slab.
fn gather(load: &TensorLoad, slab: &[LaneValues], bases: [Base; 2], rows: &mut [LaneValues]) {
    let shape = load.shape();
    // The cell of a thread's register is as far from the thread's first cell as from the register's.
    let of_threads: [CellOffset; LANES] = array::from_fn(|thread| shape.cell(thread, 0));
    for (register, row) in rows.iter_mut().enumerate() {
        let of_register = shape.cell(0, register);
        *row = of_threads.map(|of_thread| {
            let base = bases[usize::from(of_thread.second_half)];
            let lane = base.lane + of_thread.lane + of_register.lane;
            let column = of_thread.column + of_register.column;
            if load.is_packed() {
                let [low, high] = [0, 1].map(|odd| slab[base.column + 2 * column + odd][lane]);
                low & 0xffff | high << 16
            } else {
                slab[base.column + column][lane]
            }
        });
    }
}
