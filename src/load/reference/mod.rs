//! The literal executor: docs/ld.md sections 3 and 4, clause by clause, lane by lane, with docs/load-family.md section
//! 3 and docs/load-sm70.md section 10 for the other loads. Clause 4.6 is number 6 of section 4. `lane.rs` loads one
//! lane; this file decides which lanes execute and writes the registers.
//!
//! The code is kept simple rather than fast. If it and the fast executor differ, the documents decide, never the other
//! executor.

mod lane;

use warpload_encoding::{
    ConstantMode, Instruction, LoadDestination, LoadParts, LoadSize, MemorySpace, Reg, Size,
    UniformReg,
};

pub use self::lane::LaneLoad;
use self::lane::{Load, has_base, load_lane};
use super::op::ExecuteError;
use super::outcome::{Destination, LaneFaults, Outcome, UniformPath, WarpFault};
use crate::lane::{LANES, LaneMask, LaneValues};
use crate::machine::Machine;
use crate::memory::{LoadMemory, Space};
use crate::warp::Warp;

/// Executes one instruction, clause by clause.
///
/// # Errors
/// Returns [`ExecuteError`] if the instruction cannot be executed, even if no lane would execute it. The warp is then
/// unchanged.
pub fn execute<M: LoadMemory>(
    instruction: &Instruction,
    machine: &Machine<M>,
    warp: &mut Warp,
) -> Result<Outcome, ExecuteError> {
    // Refused instructions: docs/load-family.md, section 3, and docs/load-sm70.md, section 10.
    let parts = instruction.parts();
    let size = parts.size.map_err(ExecuteError::from)?;
    if let MemorySpace::Constant { mode, .. } = parts.space
        && mode != ConstantMode::Direct
    {
        return Err(ExecuteError::ConstantMode(mode));
    }

    // The executing lanes; without one there is no effect and no fault: clause 4.1.
    let guard = parts.guard;
    let mut executing = LaneMask::NONE;
    for lane in 0..LANES {
        let is_true = if parts.is_guard_uniform {
            warp.uniform_predicate(guard.pred)
        } else {
            warp.predicate(guard.pred).contains(lane)
        };
        if warp.active.contains(lane) && is_true != guard.negated {
            executing.insert(lane);
        }
    }
    if executing.is_empty() {
        return Ok(Outcome::default());
    }
    // Matrices need the whole warp, whatever the registers are: docs/load-sm70.md, clause 14.
    if matches!(size, LoadSize::Matrices { .. }) && executing != LaneMask::ALL {
        return Err(ExecuteError::PartialWarp("LDSM"));
    }

    let load = Load::new(&parts, size);
    let uniform_destinations = uniform_destinations(&parts, size);

    // The register checks: clause 4.2.
    if let Some(fault) = broken_register_rules(&parts, size, machine).first() {
        return Ok(Outcome::warp_fault(executing, *fault));
    }
    if let LoadSize::Matrices { count, transposed } = size {
        return Ok(execute_matrices(&load, count.into(), transposed, machine, warp));
    }
    if !uniform_destinations.is_empty() {
        return Ok(execute_once(&load, &uniform_destinations, machine, warp, executing));
    }
    Ok(execute_lanes(&load, machine, warp, executing))
}

impl Load {
    fn new(parts: &LoadParts, size: LoadSize) -> Self {
        // 256 bits fill two groups of four registers.
        let count = size.registers();
        let destinations = match parts.destination {
            LoadDestination::Halves { low, high } => {
                vec![Destination { first: low, count: 4 }, Destination { first: high, count: 4 }]
            }
            LoadDestination::Registers(first) => vec![Destination { first, count }],
            _ => Vec::new(),
        };
        Self { memory: parts.space, address: parts.address, size, destinations }
    }
}

/// The first uniform register and the size of each group to fill.
fn uniform_destinations(parts: &LoadParts, size: LoadSize) -> Vec<(UniformReg, u32)> {
    match parts.destination {
        LoadDestination::Uniform(first) => vec![(first, size.registers())],
        LoadDestination::UniformHalves { low, high } => vec![(low, 4), (high, 4)],
        _ => Vec::new(),
    }
}

/// Returns the load of each lane of `lanes`, lowest lane first, as the literal executor finds it before it writes a
/// register. Shows which rules apply to a load.
pub fn lane_loads<M: LoadMemory>(
    parts: &LoadParts,
    size: LoadSize,
    machine: &Machine<M>,
    warp: &Warp,
    lanes: LaneMask,
) -> Vec<(usize, LaneLoad)> {
    let load = Load::new(parts, size);
    let mut faults = LaneFaults::default();
    lanes.lanes().map(|lane| (lane, load_lane(&load, machine, warp, lane, &mut faults))).collect()
}

fn execute_lanes<M: LoadMemory>(
    load: &Load,
    machine: &Machine<M>,
    warp: &mut Warp,
    executing: LaneMask,
) -> Outcome {
    // Every lane loads before any register is written, since Rd may overlap Ra: clause 4.3.
    let mut faults = LaneFaults::default();
    let mut lanes: Vec<(usize, LaneLoad)> = Vec::new();
    for lane in executing.lanes() {
        lanes.push((lane, load_lane(load, machine, warp, lane, &mut faults)));
    }

    // Rd, Rd+1, .. get the values from the lowest address up: clause 4.8. RZ drops them.
    let mut word = 0;
    for destination in &load.destinations {
        for i in 0..destination.count {
            if destination.first != Reg::RZ {
                let register = Reg::new(destination.first.number() + i as u8);
                let mut row: LaneValues = *warp.register(register);
                for (lane, found) in &lanes {
                    row[*lane] = found.values[word];
                }
                warp.set_register(register, row);
            }
            word += 1;
        }
    }

    outcome(load, executing, faults, &lanes)
}

fn outcome(
    load: &Load,
    executing: LaneMask,
    lane_faults: LaneFaults,
    lanes: &[(usize, LaneLoad)],
) -> Outcome {
    let is_uniform = load.size.of_lane().is_some_and(Size::is_uniform);
    let written = |n: usize| load.destinations.get(n).copied().filter(|d| d.first != Reg::RZ);
    Outcome {
        executing,
        destination: written(0),
        other_half: written(1),
        warp_fault: None,
        lane_faults,
        uniform: is_uniform.then(|| uniform_path(lanes)),
    }
}

/// Executes a load of uniform registers: one access for the warp, with its faults in all executing lanes
/// (docs/load-sm70.md, section 10).
fn execute_once<M: LoadMemory>(
    load: &Load,
    destinations: &[(UniformReg, u32)],
    machine: &Machine<M>,
    warp: &mut Warp,
    executing: LaneMask,
) -> Outcome {
    let mut faults = LaneFaults::default();
    let mut values = [0; 8];
    for lane in executing.lanes() {
        values = load_lane(load, machine, warp, lane, &mut faults).values;
    }
    let mut word = 0;
    for (first, count) in destinations {
        for i in 0..*count {
            if !first.is_zero() {
                let register = UniformReg::new(first.number() + i as u8);
                warp.set_uniform_register(register, values[word]);
            }
            word += 1;
        }
    }
    Outcome { executing, lane_faults: faults, ..Outcome::default() }
}

/// Executes `LDSM` (docs/load-sm70.md, section 10): lane 8m + r has the address of row r of matrix m. Lane i gets
/// elements 2(i mod 4) and 2(i mod 4) + 1 of row i / 4, or of column i / 4 if transposed.
fn execute_matrices<M: LoadMemory>(
    load: &Load,
    count: usize,
    transposed: bool,
    machine: &Machine<M>,
    warp: &mut Warp,
) -> Outcome {
    let mut faults = LaneFaults::default();
    let mut rows: Vec<LaneLoad> = Vec::new();
    for lane in 0..8 * count {
        rows.push(load_lane(load, machine, warp, lane, &mut faults));
    }
    // The 16-bit element in a row and a column of a matrix.
    let element = |matrix: usize, row: usize, column: usize| {
        rows[8 * matrix + row].values[column / 2] >> (16 * (column % 2)) & 0xffff
    };
    for destination in &load.destinations {
        if destination.first == Reg::RZ {
            continue;
        }
        for matrix in 0..count {
            let mut values: LaneValues = [0; LANES];
            for (lane, value) in values.iter_mut().enumerate() {
                let (one, two) = (lane / 4, 2 * (lane % 4));
                let (low, high) = if transposed {
                    (element(matrix, two, one), element(matrix, two + 1, one))
                } else {
                    (element(matrix, one, two), element(matrix, one, two + 1))
                };
                *value = high << 16 | low;
            }
            let register = Reg::new(destination.first.number() + matrix as u8);
            warp.set_register(register, values);
        }
    }
    outcome(load, LaneMask::ALL, faults, &[])
}

/// Returns the faults of the broken register rules (section 3), the raised one first. The order is Rd alignment and
/// range, for 256 bits the same for the other half, then with a base and `.E` the alignment of Ra and the range of
/// Ra+1, then uniform registers.
#[must_use]
pub fn broken_register_rules<M>(
    parts: &LoadParts,
    size: LoadSize,
    machine: &Machine<M>,
) -> Vec<WarpFault> {
    let load = Load::new(parts, size);
    let limit = u32::from(machine.register_limit.get());
    let mut broken = Vec::new();
    for destination in &load.destinations {
        let first = u32::from(destination.first.number());
        if destination.first != Reg::RZ {
            if first % destination.count != 0 {
                broken.push(WarpFault::MisalignedRegister(destination.first));
            }
            if first + destination.count > limit {
                broken.push(WarpFault::OutOfRangeRegister(destination.first));
            }
        }
    }
    if has_base(&load, machine) && load.address.extended {
        let base = u32::from(load.address.base.number());
        if base % 2 != 0 {
            broken.push(WarpFault::MisalignedRegister(load.address.base));
        }
        if base + 1 >= limit {
            broken.push(WarpFault::OutOfRangeRegister(load.address.base));
        }
    }
    check_uniform_registers(parts, size, &mut broken);
    broken
}

/// Checks the uniform registers in the same way: first the destinations, then the pair of an address. The per-thread
/// register limit does not apply to uniform registers.
fn check_uniform_registers(parts: &LoadParts, size: LoadSize, broken: &mut Vec<WarpFault>) {
    let mut groups = uniform_destinations(parts, size);
    if let Some(uniform) = parts.address.uniform
        && uniform.extended
    {
        groups.push((uniform.register, 2));
    }
    for (first, count) in groups {
        let number = u32::from(first.number());
        if first == UniformReg::URZ {
            continue;
        }
        if number % count != 0 {
            broken.push(WarpFault::MisalignedUniform(first));
        }
        if number + count > u32::from(parts.uniform_registers) {
            broken.push(WarpFault::OutOfRangeUniform(first));
        }
    }
}

/// The path of a `.U.128`: broadcast if the lanes have one rounded address in one memory, global or shared, and none is
/// outside (clause 4.10).
fn uniform_path(lanes: &[(usize, LaneLoad)]) -> UniformPath {
    let Some((_, first)) = lanes.first() else { return UniformPath::Divergent };
    let is_broadcast = lanes.iter().all(|(_, lane)| {
        lane.rounded == first.rounded
            && lane.space == first.space
            && matches!(lane.space, Some(Space::Global | Space::Shared))
            && !lane.is_outside
    });
    if is_broadcast { UniformPath::Broadcast } else { UniformPath::Divergent }
}
