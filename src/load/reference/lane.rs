//! One lane of the literal executor: its address, its memory and the value there.

use warpload_encoding::{Address, LoadSize, MemorySpace, Offset, Reg, Size, UniformReg};

use crate::load::outcome::{Destination, FaultCause, LaneFault, LaneFaults};
use crate::machine::{Machine, Misaligned};
use crate::memory::{GenericAddress, LoadMemory, OutsideWindow, Space};
use crate::warp::Warp;

/// The parts of the instruction, without the cache operator, which never changes the value (clause 4.9).
pub(super) struct Load {
    pub(super) memory: MemorySpace,
    pub(super) address: Address,
    pub(super) size: LoadSize,
    /// The groups of registers to fill, in order.
    pub(super) destinations: Vec<Destination>,
}

/// The load of one executing lane, before registers are written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LaneLoad {
    /// The sum of the address, before it is reduced to 32 or 64 bits.
    pub sum: i128,
    /// The effective address.
    pub address: u64,
    /// The address rounded down to a multiple of the access size.
    pub rounded: u64,
    /// The memory of the rounded address; `None` if it is outside of a window.
    pub space: Option<Space>,
    /// The registers' values; zeroes if the lane is outside.
    pub values: [u32; 8],
    /// Whether the lane gets zeroes instead of a value.
    pub is_outside: bool,
}

/// An address has no base if Ra is RZ, or at or above the register limit (section 3).
pub(super) fn has_base<M>(load: &Load, machine: &Machine<M>) -> bool {
    let base = load.address.base;
    base != Reg::RZ && base.number() < machine.register_limit.get()
}

/// The sum of a lane's address, and the effective address: clause 4.3, and docs/load-sm70.md section 10 for scales and
/// uniform registers.
fn effective_address<M>(
    load: &Load,
    machine: &Machine<M>,
    warp: &Warp,
    lane: usize,
) -> (i128, u64) {
    let Address { base, extended, offset, uniform, .. } = load.address;
    let scale = load.address.scale();
    let is_pair = uniform.is_some_and(|uniform| uniform.extended);
    let has_64_bits = extended || is_pair;

    let offset = match offset {
        // Without a base, the offset is the address itself.
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
    (sum, sum.rem_euclid(if has_64_bits { 1 << 64 } else { 1 << 32 }) as u64)
}

pub(super) fn load_lane<M: LoadMemory>(
    load: &Load,
    machine: &Machine<M>,
    warp: &Warp,
    lane: usize,
    faults: &mut LaneFaults,
) -> LaneLoad {
    let bytes = load.size.bytes();
    let (sum, address) = effective_address(load, machine, warp, lane);

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
    let is_reported = rounded != address && machine.misaligned != Misaligned::Force;

    let found =
        |space, values, is_outside| LaneLoad { sum, address, rounded, space, values, is_outside };

    // The memory: clause 4.5.
    let reached = resolve(load.memory, machine, warp, lane, rounded);
    if is_reported {
        mark(FaultCause::MisalignedAddress, reached.ok());
        if machine.misaligned == Misaligned::Fault {
            return found(reached.ok(), [0; 8], true);
        }
    }
    let space = match reached {
        Ok(space) => space,
        Err(outside) => {
            // Zero in every destination register: clause 4.7.
            mark(FaultCause::OutsideWindow(outside), None);
            return found(None, [0; 8], true);
        }
    };

    // The allocation: clause 4.6.
    let Some(read) = read(load, machine, warp, lane, space, rounded) else {
        mark(FaultCause::OutsideAllocation, Some(space));
        return found(Some(space), [0; 8], true);
    };

    // Little-endian, extended to 32 bits: clause 4.8.
    found(Some(space), extend(load, &read), false)
}

/// The memory of an address: clause 4.5. Only a generic address can be outside of a window (docs/load-family.md,
/// section 3).
fn resolve<M: LoadMemory>(
    memory: MemorySpace,
    machine: &Machine<M>,
    warp: &Warp,
    lane: usize,
    address: u64,
) -> Result<Space, OutsideWindow> {
    match memory {
        MemorySpace::Generic { plg } => {
            resolve_generic(machine, plg.map(|plg| warp.predicate(plg).contains(lane)), address)
        }
        MemorySpace::Global => Ok(Space::Global),
        MemorySpace::Local => Ok(Space::Local),
        MemorySpace::Shared => Ok(Space::Shared),
        MemorySpace::Constant { bank, .. } => Ok(Space::Constant { bank: bank.get() }),
        // Refused earlier, so any answer will do.
        MemorySpace::Tensor | MemorySpace::Undocumented => Ok(Space::Global),
    }
}

/// The memory of a generic address: clause 4.5. Without a predicate the windows alone decide (docs/load-sm70.md,
/// section 10).
fn resolve_generic<M: LoadMemory>(
    machine: &Machine<M>,
    plg: Option<bool>,
    address: u64,
) -> Result<Space, OutsideWindow> {
    let map = machine.memory.map();
    let is_inside = |base: u64, size: u64| {
        address >= base && u128::from(address) < u128::from(base) + u128::from(size)
    };
    let is_shared = is_inside(map.shared().base, map.shared().size);
    let is_local = is_inside(map.local().base, map.local().size);
    if plg.unwrap_or(!is_shared) {
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

/// The bytes of an access, lowest address first, if all of them are allocated: clause 4.6. Bytes of local memory may
/// lie in two regions, but no access spans two memories.
fn read<M: LoadMemory>(
    load: &Load,
    machine: &Machine<M>,
    warp: &Warp,
    lane: usize,
    space: Space,
    address: u64,
) -> Option<Vec<u8>> {
    let memory = &machine.memory;
    let window = match (load.memory, space) {
        (MemorySpace::Generic { .. }, Space::Local) => memory.map().local().base,
        (MemorySpace::Generic { .. }, Space::Shared) => memory.map().shared().base,
        _ => 0,
    };
    let mut bytes = Vec::new();
    for i in 0..load.size.bytes() {
        let byte = address.checked_add(i.into())?;
        if resolve(load.memory, machine, warp, lane, byte) != Ok(space) {
            return None;
        }
        let held_by = if space == Space::Local { byte } else { address };
        bytes.push(memory.region(space, held_by - window)?.byte(byte - window, lane)?);
    }
    Some(bytes)
}

/// The values of up to eight registers: clause 4.8.
fn extend(load: &Load, memory: &[u8]) -> [u32; 8] {
    let mut values = [0u32; 8];
    for (i, byte) in memory.iter().enumerate() {
        values[i / 4] |= u32::from(*byte) << (8 * (i % 4));
    }
    if load.size.of_lane().is_some_and(Size::is_signed) {
        values[0] = match load.size.bytes() {
            1 => values[0] as u8 as i8 as u32,
            _ => values[0] as u16 as i16 as u32,
        };
    }
    values
}
