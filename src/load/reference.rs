//! The literal executor: docs/ld.md sections 3 and 4, clause by clause, lane by lane.
//!
//! Nothing here is clever. Where it and the fast executor differ, docs/ld.md decides, never the
//! other executor.

use warpload_encoding::{Instruction, Ld, Reg};

use super::fault::{FaultKind, LaneFault, LaneFaults, WarpFault};
use super::outcome::{Destination, Outcome, UniformPath};
use crate::lane::{LANES, LaneMask, LaneValues};
use crate::machine::{Machine, Misaligned};
use crate::memory::{GenericAddress, OutsideWindow, Space};
use crate::warp::Warp;

/// Executes one instruction, literally.
pub fn execute(instruction: &Instruction, machine: &Machine, warp: &mut Warp) -> Outcome {
    match instruction {
        Instruction::Ld(ld) => execute_ld(ld, machine, warp),
    }
}

/// What one executing lane found: section 4, clauses 3 to 8.
struct LaneLoad {
    rounded: u64,
    space: Option<Space>,
    /// The registers' values, zeroes where the lane is marked outside.
    values: [u32; 4],
    is_outside: bool,
}

fn execute_ld(ld: &Ld, machine: &Machine, warp: &mut Warp) -> Outcome {
    // Section 4, clause 1: who executes; without anybody nothing happens and nothing faults.
    let mut executing = LaneMask::NONE;
    for lane in 0..LANES {
        let guard = warp.predicate(ld.guard).contains(lane);
        if warp.active.contains(lane) && guard != ld.guard_negated {
            executing.insert(lane);
        }
    }
    if executing.is_empty() {
        return Outcome::nothing();
    }

    // Clause 2.
    if let Err(fault) = check_registers(ld, machine) {
        return Outcome::warp_fault(executing, fault);
    }

    // Clauses 3 to 8 for every lane before any register is written: Rd may overlap Ra.
    let mut faults = LaneFaults::default();
    let mut loads: Vec<(usize, LaneLoad)> = Vec::new();
    for lane in executing.lanes() {
        loads.push((lane, load_lane(ld, machine, warp, lane, &mut faults)));
    }

    // Clause 8, the writing: Rd, Rd+1, .. from the lowest address up. RZ drops the values.
    let count = ld.size.registers();
    for i in 0..count {
        if ld.destination == Reg::RZ {
            break;
        }
        let register = Reg::new(ld.destination.number() + i as u8);
        let mut row: LaneValues = *warp.register(register);
        for (lane, load) in &loads {
            row[*lane] = load.values[i as usize];
        }
        warp.set_register(register, row);
    }

    Outcome {
        executing,
        destination: (ld.destination != Reg::RZ)
            .then_some(Destination { first: ld.destination, count }),
        warp_fault: None,
        lane_faults: faults,
        uniform: ld.size.is_uniform().then(|| uniform_path(&loads)),
    }
}

/// Section 3: the order is Rd alignment, Rd range, then with a base and `.E` Ra alignment and
/// the range of Ra+1.
fn check_registers(ld: &Ld, machine: &Machine) -> Result<(), WarpFault> {
    let limit = u32::from(machine.register_limit.get());
    let destination = u32::from(ld.destination.number());
    let count = ld.size.registers();
    if ld.destination != Reg::RZ {
        if destination % count != 0 {
            return Err(WarpFault::MisalignedRegister(ld.destination));
        }
        if destination + count > limit {
            return Err(WarpFault::OutOfRangeRegister(ld.destination));
        }
    }
    if has_base(ld, machine) && ld.extended {
        let base = u32::from(ld.base.number());
        if base % 2 != 0 {
            return Err(WarpFault::MisalignedRegister(ld.base));
        }
        if base + 1 >= limit {
            return Err(WarpFault::OutOfRangeRegister(ld.base));
        }
    }
    Ok(())
}

/// Section 3: no base is Ra = RZ, or Ra at or above the shader's limit.
fn has_base(ld: &Ld, machine: &Machine) -> bool {
    ld.base != Reg::RZ && ld.base.number() < machine.register_limit.get()
}

/// Clause 3.
fn effective_address(ld: &Ld, machine: &Machine, warp: &Warp, lane: usize) -> u64 {
    if !has_base(ld, machine) {
        return u64::from(ld.immediate.unsigned());
    }
    let low = warp.register(ld.base)[lane];
    let offset = i64::from(ld.immediate.signed());
    if !ld.extended {
        return (i64::from(low) + offset) as u64 % (1 << 32);
    }
    let high = warp.register(Reg::new(ld.base.number() + 1))[lane];
    ((u64::from(high) << 32) + u64::from(low)).wrapping_add(offset as u64)
}

fn load_lane(
    ld: &Ld,
    machine: &Machine,
    warp: &Warp,
    lane: usize,
    faults: &mut LaneFaults,
) -> LaneLoad {
    let bytes = ld.size.bytes();
    let address = effective_address(ld, machine, warp, lane);

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

    // Clause 5: the window.
    let window = resolve(ld, machine, warp, lane, rounded);
    if is_reported {
        mark(FaultKind::MisalignedAddress, window.ok());
    }
    let space = match window {
        Ok(space) => space,
        Err(outside) => {
            // Clause 7: zero in every destination register.
            mark(FaultKind::OutsideWindow(outside), None);
            return LaneLoad { rounded, space: None, values: [0; 4], is_outside: true };
        }
    };

    // Clause 6: the allocation.
    let Some(memory) = allocated_bytes(machine, space, lane, rounded, bytes) else {
        mark(FaultKind::OutsideAllocation, Some(space));
        return LaneLoad { rounded, space: Some(space), values: [0; 4], is_outside: true };
    };

    // Clause 8: little-endian, extended to 32 bits.
    LaneLoad { rounded, space: Some(space), values: extend(ld, &memory), is_outside: false }
}

/// Clause 5.
fn resolve(
    ld: &Ld,
    machine: &Machine,
    warp: &Warp,
    lane: usize,
    address: u64,
) -> Result<Space, OutsideWindow> {
    let map = machine.memory.map();
    let is_inside = |base: u64, size: u64| {
        address >= base && u128::from(address) < u128::from(base) + u128::from(size)
    };
    let is_shared = is_inside(map.shared().base, map.shared().size);
    let is_local = is_inside(map.local().base, map.local().size);
    if warp.predicate(ld.plg).contains(lane) {
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
/// allocation; a local one reads the lane's own memory, its low and its high part.
fn allocated_bytes(
    machine: &Machine,
    space: Space,
    lane: usize,
    address: u64,
    bytes: u32,
) -> Option<Vec<u8>> {
    let memory = &machine.memory;
    let wanted = 0..u64::from(bytes);
    match space {
        Space::Global => {
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
            let offset = address - memory.map().shared().base;
            let held = memory.shared_bytes();
            wanted.map(|i| held.get((offset + i) as usize).copied()).collect()
        }
        Space::Local => {
            let window = memory.map().local();
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
            wanted.map(|i| byte(address - window.base + i)).collect()
        }
        // No generic address lies there.
        Space::Constant => None,
    }
}

/// Clause 8: up to four registers' values.
fn extend(ld: &Ld, memory: &[u8]) -> [u32; 4] {
    let mut values = [0u32; 4];
    for (i, byte) in memory.iter().enumerate() {
        values[i / 4] |= u32::from(*byte) << (8 * (i % 4));
    }
    if ld.size.is_signed() {
        values[0] = match ld.size.bytes() {
            1 => values[0] as u8 as i8 as u32,
            _ => values[0] as u16 as i16 as u32,
        };
    }
    values
}

/// The broadcast path: one rounded address, one space, global or shared, nobody outside.
fn uniform_path(loads: &[(usize, LaneLoad)]) -> UniformPath {
    let Some((_, first)) = loads.first() else { return UniformPath::Divergent };
    let is_broadcast = loads.iter().all(|(_, load)| {
        load.rounded == first.rounded
            && load.space == first.space
            && matches!(load.space, Some(Space::Global | Space::Shared))
            && !load.is_outside
    });
    if is_broadcast { UniformPath::Broadcast } else { UniformPath::Divergent }
}
