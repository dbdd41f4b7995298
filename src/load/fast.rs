//! The fast executor: [`execute`] for an instruction, and [`load`] for a [`LoadOp`] on any
//! [`LoadMemory`].
//!
//! Almost every load of a real program has all its lanes in one place: one allocation, the
//! CTA's shared memory, or one part of the lanes' local memories. So the lanes are classified
//! once:
//!
//! 1. The region of the first executing lane is looked up. If the lanes agree on Plg it may serve
//!    them all.
//! 2. Consecutive: lane n's address is the first one plus n accesses. Then the first and the last
//!    byte decide, and the load is one copy.
//! 3. One address, if the load may be broadcast: one fetch.
//! 4. Else a gather out of the region's bytes, which stops at the first lane that is outside.
//! 5. Only what is left goes lane by lane, each with a look-up of its own; it writes the values of
//!    all executing lanes again.
//!
//! Comments cite the clauses of docs/ld.md, as those of the literal executor do: clause 4.6 is
//! number 6 of section 4.

use warpload_encoding::Instruction;

use super::fault::{FaultCause, LaneFault, LaneFaults};
use super::op::{ExecuteError, LaneAddresses, LoadOp, register_fault};
use super::outcome::{Destination, Outcome, UniformPath};
use crate::lane::{LANES, LaneMask, LaneValues};
use crate::machine::{Machine, Misaligned};
use crate::memory::{
    GenericAddress, LoadMemory, Region, Space, Width, Words, bytes_by_region, put,
};
use crate::warp::Warp;

/// Executes one instruction.
///
/// ```
/// use warpload::encoding::{Reg, parse_line};
/// use warpload::load::{LaneFaultKind, execute};
/// use warpload::machine::Machine;
/// use warpload::memory::Memory;
/// use warpload::warp::Warp;
///
/// let bytes: Vec<u8> = (0..128).collect();
/// let memory = Memory::builder().global(0x1000, &bytes).build()?;
/// let mut warp = Warp::new();
/// warp.set_register(Reg::new(2), std::array::from_fn(|lane| 0x1000 + 4 * lane as u32));
///
/// let ld = parse_line("LD R0, [R2 + 4]")?.instruction;
/// let outcome = execute(&ld, &Machine::new(memory), &mut warp)?;
/// assert_eq!(warp.register(Reg::new(0))[0], 0x07060504);
/// // The last lane's address is the first one after the allocation: it gets 0.
/// assert_eq!(warp.register(Reg::new(0))[31], 0);
/// assert_eq!(outcome.lane_faults.lanes(LaneFaultKind::OutsideAllocation).bits(), 1 << 31);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`ExecuteError`] if the instruction has an invalid size or a mode whose meaning is
/// unknown, whether or not a lane would execute. The warp is then unchanged.
pub fn execute<M: LoadMemory>(
    instruction: &Instruction,
    machine: &Machine<M>,
    warp: &mut Warp,
) -> Result<Outcome, ExecuteError> {
    // The cache operator is left out: it never changes the value (clause 4.9).
    let op = LoadOp::try_from(instruction)?;
    // The addresses are formed before any register is written: clause 4.3.
    let lanes = LaneAddresses::new(instruction, machine, warp);
    let executing = lanes.executing;
    // Without an executing lane nothing happens and nothing faults: clause 4.1.
    if executing.is_empty() {
        return Ok(Outcome::default());
    }
    // The register checks: clause 4.2.
    let destination = Destination { first: instruction.destination(), count: op.registers() };
    if let Some(fault) = register_fault(instruction, op, machine.register_limit) {
        return Ok(Outcome::warp_fault(executing, fault));
    }
    let rows = warp.rows_mut(destination.first, destination.count);
    let loaded = load(op, &lanes, &machine.memory, machine.misaligned, rows);
    Ok(Outcome {
        executing,
        destination: (!destination.first.is_zero()).then_some(destination),
        warp_fault: None,
        lane_faults: loaded.faults,
        uniform: op.uniform.then_some(if loaded.is_broadcast {
            UniformPath::Broadcast
        } else {
            UniformPath::Divergent
        }),
    })
}

/// What loading did, apart from the values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The faults of single lanes.
    pub faults: LaneFaults,
    /// The lanes that loaded from global memory.
    pub global: LaneMask,
    /// The memory of the first executing lane, if it can access its address.
    pub first_space: Option<Space>,
    /// Whether one fetch served all lanes of a load that may be broadcast.
    pub is_broadcast: bool,
    /// Whether all 32 lanes loaded side by side, each access right after that of the lane before.
    /// May be false for a load to which that applies.
    pub is_consecutive: bool,
}

impl Loaded {
    const NOTHING: Loaded = Loaded {
        faults: LaneFaults::NONE,
        global: LaneMask::NONE,
        first_space: None,
        is_broadcast: false,
        is_consecutive: false,
    };
}

/// Loads the executing lanes' values into `rows`, one row for each destination register. Lanes
/// that are outside get zeroes; lanes that do not execute keep what the rows hold. Values of
/// missing rows are dropped; rows beyond the operation's registers keep theirs.
#[inline]
pub fn load<M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    memory: &M,
    misaligned: Misaligned,
    rows: &mut [LaneValues],
) -> Loaded {
    let Some(first) = lanes.executing.first() else { return Loaded::NOTHING };
    let count = rows.len().min(op.registers() as usize);
    let rows = &mut rows[..count];
    if let Some(region) = common_region(op, lanes, first, memory)
        && let Some(loaded) = load_region(op, lanes, first, &region, misaligned, rows)
    {
        return loaded;
    }
    load_lanes(op, lanes, misaligned, memory, rows)
}

/// Loads out of one region. Returns `None` if it does not hold the accesses of all executing lanes;
/// their values are then meaningless. Inlined, or each load copies the region through memory.
#[inline(always)]
fn load_region(
    op: LoadOp,
    lanes: &LaneAddresses,
    first: usize,
    region: &Region<'_>,
    misaligned: Misaligned,
    rows: &mut [LaneValues],
) -> Option<Loaded> {
    let addresses = &lanes.addresses;
    // For all lanes at once, the allocation and the values: clause 4.6, clause 4.8.
    let is_consecutive = lanes.executing == LaneMask::ALL
        && is_consecutive(addresses, op.width)
        && region.copy(op.access(), GenericAddress(addresses[0]), rows);
    let is_one_address = !is_consecutive && op.uniform && is_one_address(op, lanes, first);
    if is_consecutive {
        // The rows are set.
    } else if is_one_address && !region.is_per_lane() {
        let rounded = GenericAddress(addresses[first]).align_down(op.width);
        let one = region.fetch(op.access(), rounded, first)?;
        for lane in lanes.executing {
            put(rows, lane, one);
        }
    } else if !region.gather(op.access(), addresses, lanes.executing, rows) {
        return None;
    }
    let mut loaded = Loaded {
        global: if region.space() == Space::Global { lanes.executing } else { LaneMask::NONE },
        first_space: Some(region.space()),
        // The broadcast: clause 4.10.
        is_broadcast: is_one_address && matches!(region.space(), Space::Global | Space::Shared),
        is_consecutive,
        ..Loaded::NOTHING
    };
    // Misalignment is reported: clause 4.4. Consecutive lanes are aligned.
    if misaligned == Misaligned::Report && !is_consecutive {
        for lane in misaligned_lanes(op, lanes) {
            let cause = FaultCause::MisalignedAddress;
            loaded.faults.push(lane_fault(op, lanes, lane, cause, Some(region.space())));
        }
    }
    Some(loaded)
}

/// Returns the region that may serve all executing lanes: that of the first one, if all agree on
/// Plg (clause 4.5).
///
/// A broadcast needs one region: lanes with one rounded address that all resolve to one space
/// agree on Plg (true selects local and global memory, false shared memory), and then one region
/// holds them all or none is allocated.
#[inline(always)]
fn common_region<'m, M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    first: usize,
    memory: &'m M,
) -> Option<Region<'m>> {
    let plg = lanes.plg.contains(first);
    let agreeing = if plg { lanes.plg } else { !lanes.plg };
    if !agreeing.is_superset(lanes.executing) {
        return None;
    }
    let rounded = GenericAddress(lanes.addresses[first]).align_down(op.width);
    memory.region(op.space, rounded, plg).ok()?.1
}

/// Returns whether each address is aligned and follows the one before it. The last one is compared
/// first: it is the one that shows when addresses are spread.
#[inline]
fn is_consecutive(addresses: &[u64; LANES], width: Width) -> bool {
    let (base, bytes) = (addresses[0], u64::from(width.bytes()));
    let last = base.wrapping_add(bytes * (LANES as u64 - 1));
    if addresses[LANES - 1] != last || base & (bytes - 1) != 0 {
        return false;
    }
    different_from_run(addresses, bytes) == 0
}

fn misaligned_lanes(op: LoadOp, lanes: &LaneAddresses) -> LaneMask {
    let low_bits = u64::from(op.width.bytes()) - 1;
    lanes.executing & LaneMask::from_fn(|lane| lanes.addresses[lane] & low_bits != 0)
}

/// The bits in which some distance between neighbours differs from `bytes`. Apart from its
/// comparison with 0, or the compiler makes 31 branches of the one pass in vectors.
#[inline(never)]
fn different_from_run(addresses: &[u64; LANES], bytes: u64) -> u64 {
    let distances =
        addresses.iter().zip(&addresses[1..]).map(|(one, next)| next.wrapping_sub(*one));
    distances.fold(0, |different, distance| different | (distance ^ bytes))
}

/// Returns whether all executing lanes have one rounded address.
#[inline]
fn is_one_address(op: LoadOp, lanes: &LaneAddresses, first: usize) -> bool {
    let rounded = |lane: usize| GenericAddress(lanes.addresses[lane]).align_down(op.width);
    lanes.executing.lanes().all(|lane| rounded(lane) == rounded(first))
}

/// Loads lane by lane, each with a look-up of its own: the general path.
#[inline]
fn load_lanes<M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    misaligned: Misaligned,
    memory: &M,
    rows: &mut [LaneValues],
) -> Loaded {
    let misaligned = match misaligned {
        Misaligned::Report => misaligned_lanes(op, lanes),
        Misaligned::Force => LaneMask::NONE,
    };
    // Lanes that share no region cannot be broadcast to: see `common_region`.
    let mut loaded = Loaded::NOTHING;
    for (i, lane) in lanes.executing.lanes().enumerate() {
        // Forced alignment: clause 4.4.
        let rounded = GenericAddress(lanes.addresses[lane]).align_down(op.width);
        // The memory: clause 4.5.
        let found = memory.region(op.space, rounded, lanes.plg.contains(lane));
        let space = found.ok().map(|(space, _)| space);
        if i == 0 {
            loaded.first_space = space;
        }
        if misaligned.contains(lane) {
            let cause = FaultCause::MisalignedAddress;
            loaded.faults.push(lane_fault(op, lanes, lane, cause, space));
        }
        // The allocation and the value: clause 4.6, clause 4.8.
        let value = match found {
            Ok((space, region)) => region
                .and_then(|region| region.fetch(op.access(), rounded, lane))
                .or_else(|| fetch_across(op, space, rounded, memory, lane))
                .ok_or(FaultCause::OutsideAllocation),
            Err(outside) => Err(FaultCause::OutsideWindow(outside)),
        };
        match value {
            Ok(value) => {
                put(rows, lane, value);
                if space == Some(Space::Global) {
                    loaded.global.insert(lane);
                }
            }
            // Zero in every destination register: clause 4.7.
            Err(cause) => {
                put(rows, lane, Words::default());
                loaded.faults.push(lane_fault(op, lanes, lane, cause, space));
            }
        }
    }
    loaded
}

/// Fetches a value that no region holds as a whole although all its bytes are allocated: from
/// local memory whose low and high part touch because they fill the window (clause 4.6).
#[cold]
fn fetch_across<M: LoadMemory>(
    op: LoadOp,
    found: Space,
    address: GenericAddress,
    memory: &M,
    lane: usize,
) -> Option<Words> {
    if found != Space::Local {
        return None;
    }
    let bytes = bytes_by_region(memory, op.space, found, address, lane, op.width.bytes())?;
    Region::new(found, 0, &bytes)?.fetch(op.access(), GenericAddress(0), lane)
}

fn lane_fault(
    op: LoadOp,
    lanes: &LaneAddresses,
    lane: usize,
    cause: FaultCause,
    space: Option<Space>,
) -> LaneFault {
    let address = GenericAddress(lanes.addresses[lane]);
    let rounded = address.align_down(op.width);
    LaneFault { lane, cause, address, rounded, bytes: op.width.bytes(), space }
}
