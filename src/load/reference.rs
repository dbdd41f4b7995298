//! The literal executor: docs/ld.md sections 3 and 4, clause by clause, lane by lane, and what
//! docs/load-family.md section 3 says of the other loads.
//!
//! Nothing here is clever. Where it and the fast executor differ, the documents decide, never the
//! other executor.

use warpload_encoding::{Address, ConstantMode, Instruction, MemorySpace, Reg, Size};

use super::fault::{FaultKind, LaneFault, LaneFaults, WarpFault};
use super::op::ExecuteError;
use super::outcome::{Destination, Outcome, UniformPath};
use crate::lane::{LANES, LaneMask, LaneValues};
use crate::machine::{Machine, Misaligned};
use crate::memory::{GenericAddress, OutsideWindow, Space};
use crate::warp::Warp;

/// What the instruction asks for.
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
/// [`ExecuteError`] where the instruction has no size or a mode whose meaning is not known; then
/// the warp is as before, whether a lane would have executed or not.
pub fn execute(
    instruction: &Instruction,
    machine: &Machine,
    warp: &mut Warp,
) -> Result<Outcome, ExecuteError> {
    // Family, section 3: what is refused.
    let size = instruction.size().map_err(ExecuteError::InvalidSize)?;
    let memory = instruction.space();
    if let MemorySpace::Constant { mode, .. } = memory
        && mode != ConstantMode::Direct
    {
        return Err(ExecuteError::ConstantMode(mode));
    }

    // Section 4, clause 1: who executes; without anybody nothing happens and nothing faults.
    let guard = instruction.guard();
    let mut executing = LaneMask::NONE;
    for lane in 0..LANES {
        let is_true = warp.predicate(guard.pred).contains(lane);
        if warp.active.contains(lane) && is_true != guard.negated {
            executing.insert(lane);
        }
    }
    if executing.is_empty() {
        return Ok(Outcome::nothing());
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

/// What one executing lane found: section 4, clauses 3 to 8.
struct LaneLoad {
    rounded: u64,
    space: Option<Space>,
    /// The registers' values, zeroes where the lane is marked outside.
    values: [u32; 4],
    is_outside: bool,
}

fn execute_lanes(load: &Load, machine: &Machine, warp: &mut Warp, executing: LaneMask) -> Outcome {
    // Clause 2.
    if let Err(fault) = check_registers(load, machine) {
        return Outcome::warp_fault(executing, fault);
    }

    // Clauses 3 to 8 for every lane before any register is written: Rd may overlap Ra.
    let mut faults = LaneFaults::default();
    let mut lanes: Vec<(usize, LaneLoad)> = Vec::new();
    for lane in executing.lanes() {
        lanes.push((lane, load_lane(load, machine, warp, lane, &mut faults)));
    }

    // Clause 8, the writing: Rd, Rd+1, .. from the lowest address up. RZ drops the values.
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

/// Section 3: the order is Rd alignment, Rd range, then with a base and `.E` Ra alignment and
/// the range of Ra+1.
fn check_registers(load: &Load, machine: &Machine) -> Result<(), WarpFault> {
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

/// Section 3: no base is Ra = RZ, or Ra at or above the shader's limit.
fn has_base(load: &Load, machine: &Machine) -> bool {
    let base = load.address.base;
    base != Reg::RZ && base.number() < machine.register_limit.get()
}

/// Clause 3.
fn effective_address(load: &Load, machine: &Machine, warp: &Warp, lane: usize) -> u64 {
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

fn load_lane(
    load: &Load,
    machine: &Machine,
    warp: &Warp,
    lane: usize,
    faults: &mut LaneFaults,
) -> LaneLoad {
    let bytes = load.size.bytes();
    let address = effective_address(load, machine, warp, lane);

    // Clause 4: forced alignment.
    let rounded = address - address % u64::from(bytes);
    let mut mark = |kind, space| {
        faults.push(LaneFault {
            lane,
            kind,
            address: GenericAddress(address),
            rounded: GenericAddress(rounded),
            bytes,
            space,
        });
    };
    let is_reported = rounded != address && machine.misaligned == Misaligned::Report;

    // Clause 5: the memory.
    let reached = resolve(load.memory, machine, warp, lane, rounded);
    if is_reported {
        mark(FaultKind::MisalignedAddress, reached.ok());
    }
    let space = match reached {
        Ok(space) => space,
        Err(outside) => {
            // Clause 7: zero in every destination register.
            mark(FaultKind::OutsideWindow(outside), None);
            return LaneLoad { rounded, space: None, values: [0; 4], is_outside: true };
        }
    };

    // Clause 6: the allocation.
    let Some(memory) = allocated_bytes(load.memory, machine, space, lane, rounded, bytes) else {
        mark(FaultKind::OutsideAllocation, Some(space));
        return LaneLoad { rounded, space: Some(space), values: [0; 4], is_outside: true };
    };

    // Clause 8: little-endian, extended to 32 bits.
    LaneLoad { rounded, space: Some(space), values: extend(load.size, &memory), is_outside: false }
}

/// Clause 5; only a generic address can be outside of a window (family, section 3).
fn resolve(
    memory: MemorySpace,
    machine: &Machine,
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

fn resolve_generic(machine: &Machine, plg: bool, address: u64) -> Result<Space, OutsideWindow> {
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

/// Clause 6: the bytes, where all of them are allocated. A global access stays in one
/// allocation; a local one reads the lane's own memory, its low and its high part. Local and
/// shared memory count from the window's base, and from 0 where the load gives an offset.
fn allocated_bytes(
    load: MemorySpace,
    machine: &Machine,
    space: Space,
    lane: usize,
    address: u64,
    bytes: u32,
) -> Option<Vec<u8>> {
    let memory = &machine.memory;
    let is_generic = matches!(load, MemorySpace::Generic { .. });
    let from = |window_base: u64| if is_generic { address - window_base } else { address };
    let wanted = 0..u64::from(bytes);
    match space {
        Space::Global => {
            if u128::from(address) >= 1 << memory.map().address_bits() {
                return None;
            }
            for allocation in memory.allocations() {
                let end = u128::from(allocation.base) + u128::from(allocation.size);
                if address >= allocation.base && u128::from(address) + u128::from(bytes) <= end {
                    let held = memory.allocation_bytes(allocation);
                    let offset = address - allocation.base;
                    return wanted.map(|i| held.get((offset + i) as usize).copied()).collect();
                }
            }
            None
        }
        Space::Shared => {
            let offset = from(memory.map().shared().base);
            let held = memory.shared_bytes();
            wanted.map(|i| held.get((offset + i) as usize).copied()).collect()
        }
        Space::Local => {
            let window = memory.map().local();
            let offset = from(window.base);
            let low = memory.local_low_bytes(lane);
            let high = memory.local_high_bytes(lane);
            let high_from = window.size - high.len() as u64;
            let byte = |offset: u64| {
                if offset >= high_from {
                    high.get((offset - high_from) as usize).copied()
                } else {
                    low.get(offset as usize).copied()
                }
            };
            wanted.map(|i| byte(offset + i)).collect()
        }
        Space::Constant => {
            let MemorySpace::Constant { bank, .. } = load else { return None };
            let held = memory.constant_bytes(bank.get())?;
            wanted.map(|i| held.get((address + i) as usize).copied()).collect()
        }
    }
}

/// Clause 8: up to four registers' values.
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

/// The broadcast path: one rounded address, one space, global or shared, nobody outside.
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
