//! The fast path itself: a load operation over a memory, values and faults out.
//!
//! Almost every load of a real program has all its lanes in one place: one allocation, the
//! CTA's shared memory, or one part of the lanes' local memories. So the lanes are classified
//! once:
//!
//! 1. The region of the first executing lane is looked up. Where the lanes agree on Plg it may
//!    serve them all.
//! 2. Consecutive: lane n's address is the first one plus n accesses. Then the first and the last
//!    byte decide, and the load is one copy.
//! 3. One address, where the load may be broadcast: one fetch.
//! 4. Else a gather out of the region's bytes, which stops at the first lane that is outside.
//! 5. Only what is left goes lane by lane, each with a look-up of its own; it writes every
//!    executing lane anew.

use super::fault::{FaultKind, LaneFault, LaneFaults};
use super::op::{LaneAddresses, LoadOp};
use crate::lane::{LANES, LaneMask, LaneValues};
use crate::machine::Misaligned;
use crate::memory::{GenericAddress, LoadMemory, Region, Space, Width, Words, put};

/// What loading did, apart from the values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The faults of single lanes.
    pub faults: LaneFaults,
    /// The lanes that loaded from global memory.
    pub global: LaneMask,
    /// The memory of the first executing lane, where its address lies in one.
    pub first_space: Option<Space>,
    /// Whether one fetch served all lanes of a load that may be broadcast.
    pub is_broadcast: bool,
    /// Whether all 32 lanes loaded side by side, each right behind the one before it. Some loads
    /// for which that holds are not found to be so.
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
/// that are outside get zeroes; lanes that do not execute keep what the rows hold. Missing rows
/// drop their values; rows beyond the operation's registers keep theirs.
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
    common_region(op, lanes, first, memory)
        .and_then(|region| load_region(op, lanes, first, &region, memory, misaligned, rows))
        .unwrap_or_else(|| load_lanes(op, lanes, misaligned, memory, rows))
}

/// Loads out of one region; nothing where it does not hold all executing lanes' accesses. Then
/// the executing lanes' values are of no meaning.
#[inline]
fn load_region<M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    first: usize,
    region: &Region,
    memory: &M,
    misaligned: Misaligned,
    rows: &mut [LaneValues],
) -> Option<Loaded> {
    let addresses = &lanes.addresses;
    let is_consecutive = lanes.executing == LaneMask::ALL
        && region.lane_stride() == 0
        && is_consecutive(addresses, op.width)
        && region.holds(GenericAddress(addresses[0]), u64::from(op.width.bytes()) * LANES as u64);
    let is_one_address = !is_consecutive && op.uniform && is_one_address(op, lanes, first);
    if is_consecutive {
        let offset = region.offset_of(GenericAddress(addresses[0]));
        memory.copy(op.access(), region, offset, rows);
    } else if is_one_address && !region.is_per_lane() {
        let one = fetch_one(op, lanes, first, memory, region)?;
        for lane in lanes.executing.lanes() {
            put(rows, lane, one);
        }
    } else if !memory.gather(op.access(), region, addresses, lanes.executing, rows) {
        return None;
    }
    let mut loaded = Loaded {
        global: if region.space() == Space::Global { lanes.executing } else { LaneMask::NONE },
        first_space: Some(region.space()),
        is_broadcast: is_one_address && matches!(region.space(), Space::Global | Space::Shared),
        is_consecutive,
        ..Loaded::NOTHING
    };
    if misaligned == Misaligned::Report && !is_consecutive {
        for lane in misaligned_lanes(op, lanes).lanes() {
            let kind = FaultKind::MisalignedAddress;
            loaded.faults.push(lane_fault(op, lanes, lane, kind, Some(region.space())));
        }
    }
    Some(loaded)
}

/// The region that can serve all executing lanes, if one can: that of the first one, where all
/// agree on Plg.
///
/// A broadcast needs one region: lanes with one rounded address that all resolve to one space
/// agree on Plg (true reaches local and global memory only, false shared memory only), and then
/// one region holds them all or none is allocated.
#[inline]
fn common_region<M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    first: usize,
    memory: &M,
) -> Option<Region> {
    let plg = lanes.plg.contains(first);
    let agreeing = if plg { lanes.plg } else { !lanes.plg };
    if !agreeing.is_superset(lanes.executing) {
        return None;
    }
    let rounded = GenericAddress(lanes.addresses[first]).align_down(op.width);
    memory.region(op.space, rounded, plg).ok()?.1
}

/// Whether each address is aligned and follows the one before it. The last one is compared first:
/// of addresses that are spread it is the one that shows it.
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
    lanes.executing & LaneMask::where_lane(|lane| lanes.addresses[lane] & low_bits != 0)
}

/// The bits in which some distance between neighbours differs from `bytes`. Apart from its
/// comparison with 0, or the compiler makes 31 branches of the one pass in vectors.
#[inline(never)]
fn different_from_run(addresses: &[u64; LANES], bytes: u64) -> u64 {
    let distances =
        addresses.iter().zip(&addresses[1..]).map(|(one, next)| next.wrapping_sub(*one));
    distances.fold(0, |different, distance| different | (distance ^ bytes))
}

/// Whether all executing lanes have one rounded address.
#[inline]
fn is_one_address(op: LoadOp, lanes: &LaneAddresses, first: usize) -> bool {
    let rounded = |lane: usize| GenericAddress(lanes.addresses[lane]).align_down(op.width);
    lanes.executing.lanes().all(|lane| rounded(lane) == rounded(first))
}

/// One lane's value, where the region holds it.
#[inline]
fn fetch_one<M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    lane: usize,
    memory: &M,
    region: &Region,
) -> Option<Words> {
    let rounded = GenericAddress(lanes.addresses[lane]).align_down(op.width);
    let offset = region.offset_of(rounded);
    region
        .holds(rounded, op.width.bytes().into())
        .then(|| memory.fetch(op.access(), region, offset, lane))
}

/// The general path: every lane looks its memory up for itself.
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
        let rounded = GenericAddress(lanes.addresses[lane]).align_down(op.width);
        let found = memory.region(op.space, rounded, lanes.plg.contains(lane));
        let space = found.ok().map(|(space, _)| space);
        if i == 0 {
            loaded.first_space = space;
        }
        if misaligned.contains(lane) {
            let kind = FaultKind::MisalignedAddress;
            loaded.faults.push(lane_fault(op, lanes, lane, kind, space));
        }
        let value = match found {
            Ok((_, Some(region))) if region.holds(rounded, op.width.bytes().into()) => {
                Ok(memory.fetch(op.access(), &region, region.offset_of(rounded), lane))
            }
            Ok((space, _)) => memory
                .fetch_across(op.access(), op.space, space, rounded, lane)
                .ok_or(FaultKind::OutsideAllocation),
            Err(outside) => Err(FaultKind::OutsideWindow(outside)),
        };
        match value {
            Ok(value) => {
                put(rows, lane, value);
                if space == Some(Space::Global) {
                    loaded.global.insert(lane);
                }
            }
            Err(kind) => {
                put(rows, lane, Words::default());
                loaded.faults.push(lane_fault(op, lanes, lane, kind, space));
            }
        }
    }
    loaded
}

fn lane_fault(
    op: LoadOp,
    lanes: &LaneAddresses,
    lane: usize,
    kind: FaultKind,
    space: Option<Space>,
) -> LaneFault {
    let address = GenericAddress(lanes.addresses[lane]);
    let rounded = address.align_down(op.width);
    LaneFault { lane, kind, address, rounded, bytes: op.width.bytes(), space }
}
