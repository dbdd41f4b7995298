//! The literal executor: docs/ld.md sections 3 and 4, clause by clause, lane by lane, and what
//! docs/load-family.md section 3 says of the other loads. Clause 4.6 is number 6 of section 4.
//!
//! Nothing here is clever. If it and the fast executor differ, the documents decide, never the
//! other executor.

use warpload_encoding::{Address, ConstantMode, Instruction, MemorySpace, Reg, Size};

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
    size: Size,
    is_uniform: bool,
    destination: Reg,
}

/// Executes one instruction, literally.
///
/// # Errors
/// Returns [`ExecuteError`] if the instruction has an invalid size or a mode whose meaning is
/// unknown, whether or not a lane would execute. The warp is then unchanged.
pub fn execute<M: LoadMemory>(
    instruction: &Instruction,
    machine: &Machine<M>,
    warp: &mut Warp,
) -> Result<Outcome, ExecuteError> {
    // What is refused: docs/load-family.md, section 3.
    let size = instruction.size().map_err(ExecuteError::InvalidSize)?;
    let memory = instruction.space();
    if let MemorySpace::Constant { mode, .. } = memory
        && mode != ConstantMode::Direct
    {
        return Err(ExecuteError::ConstantMode(mode));
    }

    // Who executes; without an executing lane nothing happens and nothing faults: clause 4.1.
    let guard = instruction.guard();
    let mut executing = LaneMask::NONE;
    for lane in 0..LANES {
        let is_true = warp.predicate(guard.pred).contains(lane);
        if warp.active.contains(lane) && is_true != guard.negated {
            executing.insert(lane);
        }
    }
    if executing.is_empty() {
        return Ok(Outcome::default());
    }

    let load = Load {
        memory,
        address: instruction.address(),
        size,
        is_uniform: instruction.is_uniform(),
        destination: instruction.destination(),
    };
    Ok(execute_lanes(&load, machine, warp, executing))
}

/// What one executing lane found.
struct LaneLoad {
    rounded: u64,
    space: Option<Space>,
    /// The registers' values; zeroes if the lane is marked outside.
    values: [u32; 4],
    is_outside: bool,
}

fn execute_lanes<M: LoadMemory>(
    load: &Load,
    machine: &Machine<M>,
    warp: &mut Warp,
    executing: LaneMask,
) -> Outcome {
    // The register checks: clause 4.2.
    if let Err(fault) = check_registers(load, machine) {
        return Outcome::warp_fault(executing, fault);
    }

    // Every lane loads before any register is written, since Rd may overlap Ra: clause 4.3.
    let mut faults = LaneFaults::default();
    let mut lanes: Vec<(usize, LaneLoad)> = Vec::new();
    for lane in executing.lanes() {
        lanes.push((lane, load_lane(load, machine, warp, lane, &mut faults)));
    }

    // Rd, Rd+1, .. get the values from the lowest address up: clause 4.8. RZ drops them.
    let count = load.size.registers();
    for i in 0..count {
        if load.destination == Reg::RZ {
            break;
        }
        let register = Reg::new(load.destination.number() + i as u8);
        let mut row: LaneValues = *warp.register(register);
        for (lane, found) in &lanes {
            row[*lane] = found.values[i as usize];
        }
        warp.set_register(register, row);
    }

    Outcome {
        executing,
        destination: (load.destination != Reg::RZ)
            .then_some(Destination { first: load.destination, count }),
        warp_fault: None,
        lane_faults: faults,
        uniform: load.is_uniform.then(|| uniform_path(&lanes)),
    }
}

/// Checks the registers (section 3). The order is Rd alignment, Rd range, then with a base and `.E` Ra alignment and
/// the range of Ra+1.
fn check_registers<M>(load: &Load, machine: &Machine<M>) -> Result<(), WarpFault> {
    let limit = u32::from(machine.register_limit.get());
    let destination = u32::from(load.destination.number());
    let count = load.size.registers();
    if load.destination != Reg::RZ {
        if destination % count != 0 {
            return Err(WarpFault::MisalignedRegister(load.destination));
        }
        if destination + count > limit {
            return Err(WarpFault::OutOfRangeRegister(load.destination));
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

/// Returns whether the address has a base: not if Ra is RZ, or at or above the shader's limit
/// (section 3).
fn has_base<M>(load: &Load, machine: &Machine<M>) -> bool {
    let base = load.address.base;
    base != Reg::RZ && base.number() < machine.register_limit.get()
}

/// Returns a lane's effective address: clause 4.3.
fn effective_address<M>(load: &Load, machine: &Machine<M>, warp: &Warp, lane: usize) -> u64 {
    let Address { base, extended, offset } = load.address;
    if !has_base(load, machine) {
        return u64::from(offset.without_base());
    }
    let low = warp.register(base)[lane];
    let offset = i64::from(offset.signed());
    if !extended {
        return (i64::from(low) + offset) as u64 % (1 << 32);
    }
    let high = warp.register(Reg::new(base.number() + 1))[lane];
    ((u64::from(high) << 32) + u64::from(low)).wrapping_add(offset as u64)
}

fn load_lane<M: LoadMemory>(
    load: &Load,
    machine: &Machine<M>,
    warp: &Warp,
    lane: usize,
    faults: &mut LaneFaults,
) -> LaneLoad {
    let bytes = load.size.bytes();
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
            return LaneLoad { rounded, space: None, values: [0; 4], is_outside: true };
        }
    };

    // The allocation: clause 4.6.
    let address_space = load.memory.into();
    let rounded_address = GenericAddress(rounded);
    let memory = &machine.memory;
    let Some(read) = memory.bytes(address_space, space, rounded_address, lane, bytes) else {
        mark(FaultCause::OutsideAllocation, Some(space));
        return LaneLoad { rounded, space: Some(space), values: [0; 4], is_outside: true };
    };

    // Little-endian, extended to 32 bits: clause 4.8.
    LaneLoad { rounded, space: Some(space), values: extend(load.size, &read), is_outside: false }
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
        MemorySpace::Global => Ok(Space::Global),
        MemorySpace::Local => Ok(Space::Local),
        MemorySpace::Shared => Ok(Space::Shared),
        MemorySpace::Constant { .. } => Ok(Space::Constant),
    }
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

/// Returns the values of up to four registers: clause 4.8.
fn extend(size: Size, memory: &[u8]) -> [u32; 4] {
    let mut values = [0u32; 4];
    for (i, byte) in memory.iter().enumerate() {
        values[i / 4] |= u32::from(*byte) << (8 * (i % 4));
    }
    if size.is_signed() {
        values[0] = match size.bytes() {
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
