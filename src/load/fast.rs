//! The fast executor.
//!
//! Almost every load of a real program has all its lanes in one place: one allocation, the
//! CTA's shared memory, or one part of the lanes' local memories. So the lanes are classified
//! once. The region of the first executing lane is looked up; where it holds the lowest and the
//! highest address of all executing lanes and they agree on Plg, it serves them all, and no
//! lane can fault. Where all rounded addresses are one, one fetch does. Only what is left goes
//! lane by lane, each with a look-up of its own.

use warpload_encoding::{Instruction, Reg};

use super::fault::{FaultKind, LaneFault, LaneFaults};
use super::op::{LaneAddresses, LoadOp, register_fault};
use super::outcome::{Destination, Outcome, UniformPath};
use crate::lane::{LANES, LaneMask, LaneValues};
use crate::machine::{Machine, Misaligned};
use crate::memory::{GenericAddress, Memory, Region, Space};
use crate::warp::Warp;

/// The values of up to four destination registers.
type Values = [LaneValues; 4];

/// Executes one instruction.
///
/// ```
/// use warpload::encoding::{Reg, parse_line};
/// use warpload::load::execute;
/// use warpload::machine::Machine;
/// use warpload::memory::{AddressMap, MemoryBuilder};
/// use warpload::warp::Warp;
///
/// let bytes: Vec<u8> = (0..128).collect();
/// let memory = MemoryBuilder::new(AddressMap::default()).global(0x1000, &bytes).build()?;
/// let mut warp = Warp::new();
/// warp.set_register(Reg::new(2), std::array::from_fn(|lane| 0x1000 + 4 * lane as u32));
///
/// let ld = parse_line("LD R0, [R2 + 4]")?.instruction;
/// let outcome = execute(&ld, &Machine::new(memory), &mut warp);
/// assert_eq!(warp.register(Reg::new(0))[0], 0x07060504);
/// // The last lane's address is the first one behind the allocation: it gets 0.
/// assert_eq!(warp.register(Reg::new(0))[31], 0);
/// assert_eq!(outcome.lane_faults.lanes("outside_allocation").bits(), 1 << 31);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn execute(instruction: &Instruction, machine: &Machine, warp: &mut Warp) -> Outcome {
    let lanes = LaneAddresses::of(instruction, machine, warp);
    let executing = lanes.executing;
    if executing.is_empty() {
        return Outcome::nothing();
    }
    let op = LoadOp::from(instruction.size());
    let destination = Destination { first: instruction.destination(), count: op.registers() };
    if let Some(fault) = register_fault(instruction, machine.register_limit) {
        return Outcome::warp_fault(executing, fault);
    }
    let mut values = [[0; LANES]; 4];
    let loaded = load(op, &lanes, machine, &mut values);
    write_back(warp, executing, destination, &values);
    Outcome {
        executing,
        destination: (!destination.first.is_zero()).then_some(destination),
        warp_fault: None,
        lane_faults: loaded.faults,
        uniform: op.uniform.then_some(if loaded.is_broadcast {
            UniformPath::Broadcast
        } else {
            UniformPath::Divergent
        }),
    }
}

fn write_back(warp: &mut Warp, executing: LaneMask, destination: Destination, values: &Values) {
    for (register, values) in
        (destination.first.number()..=u8::MAX).zip(values).take(destination.count as usize)
    {
        // Nothing for RZ, and no register follows it.
        let Some(row) = warp.register_mut(Reg::new(register)) else { return };
        if executing == LaneMask::ALL {
            *row = *values;
            continue;
        }
        for lane in executing.lanes() {
            row[lane] = values[lane];
        }
    }
}

struct Loaded {
    faults: LaneFaults,
    is_broadcast: bool,
}

/// Loads the executing lanes' values, which are zero before.
fn load(op: LoadOp, lanes: &LaneAddresses, machine: &Machine, values: &mut Values) -> Loaded {
    let report = machine.misaligned == Misaligned::Report;
    let is_misaligned = |lane: usize| lanes.addresses[lane] & (u64::from(op.bytes) - 1) != 0;
    let misaligned =
        if report { lanes.executing & LaneMask::where_lane(is_misaligned) } else { LaneMask::NONE };
    if let Some(common) = common_region(op, lanes, &machine.memory) {
        gather(op, lanes, &common, &machine.memory, values);
        let mut faults = LaneFaults::default();
        for lane in misaligned.lanes() {
            let space = Some(common.region.space);
            faults.push(lane_fault(op, lanes, lane, FaultKind::MisalignedAddress, space));
        }
        let is_broadcast =
            op.uniform && common.is_one_address && common.region.space != Space::Local;
        return Loaded { faults, is_broadcast };
    }
    // Lanes that share nothing cannot be broadcast to: see `common_region`.
    Loaded {
        faults: load_lanes(op, lanes, misaligned, &machine.memory, values),
        is_broadcast: false,
    }
}

/// What all executing lanes have in common.
struct CommonRegion {
    /// Holds every executing lane's access.
    region: Region,
    is_one_address: bool,
}

/// The region that serves all executing lanes, where one does.
///
/// A broadcast needs one: lanes with one rounded address that all resolve to one space agree on
/// Plg (true reaches local and global memory only, false shared memory only), and then one
/// region holds them all or none is allocated.
fn common_region(op: LoadOp, lanes: &LaneAddresses, memory: &Memory) -> Option<CommonRegion> {
    let first = lanes.executing.first()?;
    let plg = lanes.plg.contains(first);
    let agreeing = if plg { lanes.plg } else { !lanes.plg };
    if !agreeing.is_superset(lanes.executing) {
        return None;
    }
    let (mut lowest, mut highest) = (u64::MAX, 0);
    for lane in lanes.executing.lanes() {
        let rounded = GenericAddress(lanes.addresses[lane]).align_down(op.bytes).0;
        lowest = lowest.min(rounded);
        highest = highest.max(rounded);
    }
    let (_, region) = memory.region(GenericAddress(lowest), plg).ok()?;
    region
        .filter(|region| {
            region.holds(GenericAddress(lowest), op.bytes)
                && region.holds(GenericAddress(highest), op.bytes)
        })
        .map(|region| CommonRegion { region, is_one_address: lowest == highest })
}

fn gather(
    op: LoadOp,
    lanes: &LaneAddresses,
    common: &CommonRegion,
    memory: &Memory,
    values: &mut Values,
) {
    let arena = memory.arena().bytes();
    let region = &common.region;
    if common.is_one_address && region.lane_stride == 0 {
        let lane = lanes.executing.first().unwrap_or_default();
        let one = fetch(op, arena, region.place(op, lanes.addresses[lane], lane));
        for (row, value) in values.iter_mut().zip(one) {
            *row = [value; LANES];
        }
        return;
    }
    for lane in lanes.executing.lanes() {
        let one = fetch(op, arena, region.place(op, lanes.addresses[lane], lane));
        put(values, lane, one);
    }
}

impl Region {
    /// Where a lane's bytes lie in the arena; the region must hold them.
    #[inline]
    fn place(&self, op: LoadOp, address: u64, lane: usize) -> usize {
        let offset = GenericAddress(address).align_down(op.bytes).0.wrapping_sub(self.base);
        self.start + offset as usize + lane * self.lane_stride
    }
}

fn put(values: &mut Values, lane: usize, one: [u32; 4]) {
    for (row, value) in values.iter_mut().zip(one) {
        row[lane] = value;
    }
}

/// One lane's value from that place of the arena, extended to whole registers.
#[inline]
fn fetch(op: LoadOp, arena: &[u8], place: usize) -> [u32; 4] {
    match op.bytes {
        1 => {
            let [byte] = take(arena, place);
            [if op.signed { byte as i8 as u32 } else { u32::from(byte) }, 0, 0, 0]
        }
        2 => {
            let half = u16::from_le_bytes(take(arena, place));
            [if op.signed { half as i16 as u32 } else { u32::from(half) }, 0, 0, 0]
        }
        4 => [u32::from_le_bytes(take(arena, place)), 0, 0, 0],
        8 => words(take::<8>(arena, place)),
        _ => words(take::<16>(arena, place)),
    }
}

/// `N` bytes of the arena; zeroes outside of it, where no region lies.
#[inline]
fn take<const N: usize>(arena: &[u8], place: usize) -> [u8; N] {
    arena.get(place..).and_then(|rest| rest.first_chunk::<N>()).copied().unwrap_or([0; N])
}

/// Little-endian words, zeroes behind the last.
#[inline]
fn words<const N: usize>(bytes: [u8; N]) -> [u32; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// The general path: every lane looks its memory up for itself.
fn load_lanes(
    op: LoadOp,
    lanes: &LaneAddresses,
    misaligned: LaneMask,
    memory: &Memory,
    values: &mut Values,
) -> LaneFaults {
    let arena = memory.arena().bytes();
    let mut faults = LaneFaults::default();
    for lane in lanes.executing.lanes() {
        let rounded = GenericAddress(lanes.addresses[lane]).align_down(op.bytes);
        let found = memory.region(rounded, lanes.plg.contains(lane));
        let space = found.ok().map(|(space, _)| space);
        if misaligned.contains(lane) {
            faults.push(lane_fault(op, lanes, lane, FaultKind::MisalignedAddress, space));
        }
        match found {
            Ok((_, Some(region))) if region.holds(rounded, op.bytes) => {
                let one = fetch(op, arena, region.place(op, lanes.addresses[lane], lane));
                put(values, lane, one);
            }
            Ok(_) => match across_local_parts(op, memory, space, lane, rounded) {
                Some(one) => put(values, lane, one),
                None => {
                    faults.push(lane_fault(op, lanes, lane, FaultKind::OutsideAllocation, space));
                }
            },
            Err(outside) => {
                faults.push(lane_fault(op, lanes, lane, FaultKind::OutsideWindow(outside), None));
            }
        }
    }
    faults
}

/// The value of an access that begins in the low part of a local memory and ends in its high
/// part, where they touch because they fill the window.
#[cold]
fn across_local_parts(
    op: LoadOp,
    memory: &Memory,
    space: Option<Space>,
    lane: usize,
    rounded: GenericAddress,
) -> Option<[u32; 4]> {
    let (low, high) = (memory.local_low_bytes(lane), memory.local_high_bytes(lane));
    let window = memory.map().local();
    if space != Some(Space::Local) || (low.len() + high.len()) as u64 != window.size {
        return None;
    }
    let offset = window.offset_of(rounded)? as usize;
    let bytes: Vec<u8> =
        low.iter().chain(high).copied().skip(offset).take(op.bytes as usize).collect();
    (bytes.len() == op.bytes as usize).then(|| fetch(op, &bytes, 0))
}

fn lane_fault(
    op: LoadOp,
    lanes: &LaneAddresses,
    lane: usize,
    kind: FaultKind,
    space: Option<Space>,
) -> LaneFault {
    let address = GenericAddress(lanes.addresses[lane]);
    LaneFault { lane, kind, address, rounded: address.align_down(op.bytes), bytes: op.bytes, space }
}
