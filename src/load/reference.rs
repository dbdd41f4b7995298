//! The literal executor: docs/ld.md sections 3 and 4, clause by clause, lane by lane, and what
//! docs/load-family.md section 3 and docs/load-sm70.md section 10 say of the other loads. Clause 4.6 is number 6 of section 4.
//!
//! Nothing here is clever. If it and the fast executor differ, the documents decide, never the
//! other executor.

use warpload_encoding::{
    Address, ConstantMode, LoadDestination, LoadInstruction, LoadParts, LoadSize, MemorySpace,
    Offset, Reg, Size, UniformReg,
};

use super::fault::{FaultCause, LaneFault, LaneFaults, WarpFault};
use super::op::ExecuteError;
use super::outcome::{Destination, Outcome, UniformPath};
use crate::lane::{LANES, LaneMask, LaneValues};
use crate::machine::{Machine, Misaligned};
use crate::memory::{GenericAddress, LoadMemory, OutsideWindow, Space};
use crate::warp::Warp;

/// What the instruction asks for. Its cache operator is left out: it never changes the value
/// (clause 4.9).
struct Load {
    memory: MemorySpace,
    address: Address,
    /// The bytes of one access, and whether a narrow one is sign-extended.
    bytes: u32,
    is_signed: bool,
    is_uniform: bool,
    /// The groups of registers that are filled, one after the other.
    destinations: Vec<Destination>,
}

/// Executes one instruction, literally.
///
/// # Errors
/// Returns [`ExecuteError`] if the instruction cannot be executed, whether or not a lane would execute.
/// The warp is then unchanged.
pub fn execute<I: LoadInstruction, M: LoadMemory>(
    instruction: &I,
    machine: &Machine<M>,
    warp: &mut Warp,
) -> Result<Outcome, ExecuteError> {
    // What is refused: docs/load-family.md, section 3, and docs/load-sm70.md, section 10.
    let parts = instruction.parts();
    let size = parts.size.map_err(ExecuteError::from)?;
    if let MemorySpace::Constant { mode, .. } = parts.space
        && mode != ConstantMode::Direct
    {
        return Err(ExecuteError::ConstantMode(mode));
    }

    // Who executes; without an executing lane nothing happens and nothing faults: clause 4.1.
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

    // The registers that are filled, four of each half of 256 bits.
    let all = size.registers();
    let destinations = match parts.destination {
        LoadDestination::Halves { low, high } => {
            vec![Destination { first: low, count: 4 }, Destination { first: high, count: 4 }]
        }
        LoadDestination::Registers(first) => vec![Destination { first, count: all }],
        _ => Vec::new(),
    };
    let load = Load {
        memory: parts.space,
        address: parts.address,
        bytes: size.bytes(),
        is_signed: size.of_lane().is_some_and(Size::is_signed),
        is_uniform: size.of_lane().is_some_and(Size::is_uniform),
        destinations,
    };
    let uniform_destinations = match parts.destination {
        LoadDestination::Uniform(first) => vec![(first, all)],
        LoadDestination::UniformHalves { low, high } => vec![(low, 4), (high, 4)],
        _ => Vec::new(),
    };

    // The register checks: clause 4.2.
    let checked = check_registers(&load, machine)
        .and_then(|()| check_uniform_registers(&parts, &uniform_destinations));
    if let Err(fault) = checked {
        return Ok(Outcome::warp_fault(executing, fault));
    }
    if let LoadSize::Matrices { count, transposed } = size {
        return execute_matrices(&load, count.into(), transposed, machine, warp, executing);
    }
    if !uniform_destinations.is_empty() {
        return Ok(execute_once(&load, &uniform_destinations, machine, warp, executing));
    }
    Ok(execute_lanes(&load, machine, warp, executing))
}

/// What one executing lane found.
struct LaneLoad {
    rounded: u64,
    space: Option<Space>,
    /// The registers' values; zeroes if the lane is marked outside.
    values: [u32; 8],
    is_outside: bool,
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
    let written = |n: usize| load.destinations.get(n).copied().filter(|d| d.first != Reg::RZ);
    Outcome {
        executing,
        destination: written(0),
        other_half: written(1),
        warp_fault: None,
        lane_faults,
        uniform: load.is_uniform.then(|| uniform_path(lanes)),
    }
}

/// Executes a load of uniform registers: one access for the warp, whose faults all executing lanes
/// have (docs/load-sm70.md, section 10).
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

/// Executes `LDSM` (docs/load-sm70.md, section 10): lane 8m + r has the address of row r of matrix m;
/// lane i gets elements 2(i mod 4) and the one after it of row i / 4, transposed those of column i / 4.
fn execute_matrices<M: LoadMemory>(
    load: &Load,
    count: usize,
    transposed: bool,
    machine: &Machine<M>,
    warp: &mut Warp,
    executing: LaneMask,
) -> Result<Outcome, ExecuteError> {
    if executing != LaneMask::ALL {
        return Err(ExecuteError::PartialWarp("LDSM"));
    }
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
    Ok(outcome(load, executing, faults, &[]))
}

/// Checks the registers (section 3). The order is Rd alignment, Rd range, of 256 bits the same for the
/// other half, then with a base and `.E` Ra alignment and the range of Ra+1.
fn check_registers<M>(load: &Load, machine: &Machine<M>) -> Result<(), WarpFault> {
    let limit = u32::from(machine.register_limit.get());
    for destination in &load.destinations {
        let first = u32::from(destination.first.number());
        if destination.first != Reg::RZ {
            if first % destination.count != 0 {
                return Err(WarpFault::MisalignedRegister(destination.first));
            }
            if first + destination.count > limit {
                return Err(WarpFault::OutOfRangeRegister(destination.first));
            }
        }
    }
    if has_base(load, machine) && load.address.extended {
        let base = u32::from(load.address.base.number());
        if base % 2 != 0 {
            return Err(WarpFault::MisalignedRegister(load.address.base));
        }
        if base + 1 >= limit {
            return Err(WarpFault::OutOfRangeRegister(load.address.base));
        }
    }
    Ok(())
}

/// Checks the uniform registers as the others are checked: first those that are written, then the pair
/// of an address. The shader's limit is none of theirs.
fn check_uniform_registers(
    parts: &LoadParts,
    destinations: &[(UniformReg, u32)],
) -> Result<(), WarpFault> {
    let mut groups: Vec<(UniformReg, u32)> = destinations.to_vec();
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
            return Err(WarpFault::MisalignedUniform(first));
        }
        if number + count > u32::from(parts.uniform_registers) {
            return Err(WarpFault::OutOfRangeUniform(first));
        }
    }
    Ok(())
}

/// Returns whether the address has a base: not if Ra is RZ, or at or above the shader's limit
/// (section 3).
fn has_base<M>(load: &Load, machine: &Machine<M>) -> bool {
    let base = load.address.base;
    base != Reg::RZ && base.number() < machine.register_limit.get()
}

/// Returns a lane's effective address: clause 4.3, and docs/load-sm70.md section 10 for scales and
/// uniform registers.
fn effective_address<M>(load: &Load, machine: &Machine<M>, warp: &Warp, lane: usize) -> u64 {
    let Address { base, extended, offset, scale, uniform } = load.address;
    let is_pair = uniform.is_some_and(|uniform| uniform.extended);
    let has_64_bits = extended || is_pair;

    let offset = match offset {
        // The address itself.
        Offset::ByBase { unsigned, .. } if !has_base(load, machine) => i64::from(unsigned),
        offset => i64::from(offset.signed()),
    };
    let mut sum = i128::from(offset);
    if has_base(load, machine) {
        let low = u64::from(warp.register(base)[lane]);
        let next = Reg::new(base.number().saturating_add(1));
        let high = if extended { u64::from(warp.register(next)[lane]) } else { 0 };
        sum += i128::from((high << 32) + low) * (1 << scale);
    }
    if let Some(uniform) = uniform {
        let low = u64::from(warp.uniform_register(uniform.register));
        let next = UniformReg::new(uniform.register.number().saturating_add(1));
        let high = if is_pair { u64::from(warp.uniform_register(next)) } else { 0 };
        sum += i128::from((high << 32) + low);
    }
    sum.rem_euclid(if has_64_bits { 1 << 64 } else { 1 << 32 }) as u64
}

fn load_lane<M: LoadMemory>(
    load: &Load,
    machine: &Machine<M>,
    warp: &Warp,
    lane: usize,
    faults: &mut LaneFaults,
) -> LaneLoad {
    let bytes = load.bytes;
    let address = effective_address(load, machine, warp, lane);

    // Forced alignment: clause 4.4.
    let rounded = address - address % u64::from(bytes);
    let mut mark = |cause, space| {
        faults.push(LaneFault {
            lane,
            cause,
            address: GenericAddress(address),
            rounded: GenericAddress(rounded),
            bytes,
            space,
        });
    };
    let is_reported = rounded != address && machine.misaligned == Misaligned::Report;

    // The memory: clause 4.5.
    let reached = resolve(load.memory, machine, warp, lane, rounded);
    if is_reported {
        mark(FaultCause::MisalignedAddress, reached.ok());
    }
    let space = match reached {
        Ok(space) => space,
        Err(outside) => {
            // Zero in every destination register: clause 4.7.
            mark(FaultCause::OutsideWindow(outside), None);
            return LaneLoad { rounded, space: None, values: [0; 8], is_outside: true };
        }
    };

    // The allocation: clause 4.6.
    let address_space = load.memory.into();
    let rounded_address = GenericAddress(rounded);
    let memory = &machine.memory;
    let Some(read) = memory.bytes(address_space, space, rounded_address, lane, bytes) else {
        mark(FaultCause::OutsideAllocation, Some(space));
        return LaneLoad { rounded, space: Some(space), values: [0; 8], is_outside: true };
    };

    // Little-endian, extended to 32 bits: clause 4.8.
    LaneLoad { rounded, space: Some(space), values: extend(load, &read), is_outside: false }
}

/// Returns the memory of an address: clause 4.5. Only a generic address can be outside of a window
/// (docs/load-family.md, section 3).
fn resolve<M: LoadMemory>(
    memory: MemorySpace,
    machine: &Machine<M>,
    warp: &Warp,
    lane: usize,
    address: u64,
) -> Result<Space, OutsideWindow> {
    match memory {
        MemorySpace::Generic { plg } => {
            resolve_generic(machine, warp.predicate(plg).contains(lane), address)
        }
        MemorySpace::Windows => resolve_by_windows(machine, address),
        MemorySpace::Global => Ok(Space::Global),
        MemorySpace::Local => Ok(Space::Local),
        MemorySpace::Shared => Ok(Space::Shared),
        // The last two are refused before.
        MemorySpace::Constant { .. } | MemorySpace::Tensor | MemorySpace::Undocumented => {
            Ok(Space::Constant)
        }
    }
}

/// Returns the memory of a generic address that no predicate selects (docs/load-sm70.md, section 10).
fn resolve_by_windows<M: LoadMemory>(
    machine: &Machine<M>,
    address: u64,
) -> Result<Space, OutsideWindow> {
    let shared = machine.memory.map().shared();
    let end = u128::from(shared.base) + u128::from(shared.size);
    let is_shared = address >= shared.base && u128::from(address) < end;
    // The rules of `LD` for the predicate that its window asks for.
    resolve_generic(machine, !is_shared, address)
}

fn resolve_generic<M: LoadMemory>(
    machine: &Machine<M>,
    plg: bool,
    address: u64,
) -> Result<Space, OutsideWindow> {
    let map = machine.memory.map();
    let is_inside = |base: u64, size: u64| {
        address >= base && u128::from(address) < u128::from(base) + u128::from(size)
    };
    let is_shared = is_inside(map.shared().base, map.shared().size);
    let is_local = is_inside(map.local().base, map.local().size);
    if plg {
        if is_local {
            Ok(Space::Local)
        } else if is_shared {
            Err(OutsideWindow::ByPredicate)
        } else if u128::from(address) >= 1 << map.address_bits() {
            Err(OutsideWindow::BeyondAddressBits)
        } else {
            Ok(Space::Global)
        }
    } else if is_shared {
        Ok(Space::Shared)
    } else {
        Err(OutsideWindow::ByPredicate)
    }
}

/// Returns the values of up to eight registers: clause 4.8.
fn extend(load: &Load, memory: &[u8]) -> [u32; 8] {
    let mut values = [0u32; 8];
    for (i, byte) in memory.iter().enumerate() {
        values[i / 4] |= u32::from(*byte) << (8 * (i % 4));
    }
    if load.is_signed {
        values[0] = match load.bytes {
            1 => values[0] as u8 as i8 as u32,
            _ => values[0] as u16 as i16 as u32,
        };
    }
    values
}

/// Returns the path of a `.U.128`: broadcast if the lanes have one rounded address and one memory,
/// global or shared, and none is outside (clause 4.10).
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
