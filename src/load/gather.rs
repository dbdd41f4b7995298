//! The fast path itself: a load operation over a memory, values and faults out.
//!
//! Almost every load of a real program has all its lanes in one place: one allocation, the
//! CTA's shared memory, or one part of the lanes' local memories. So the lanes are classified
//! once. The region of the lane with the lowest address is looked up; where it also holds the
//! highest address and the executing lanes agree on Plg, it serves them all, and no lane can be
//! outside. Where all rounded addresses are one, one fetch does. Only what is left goes lane by
//! lane, each with a look-up of its own.

use super::fault::{FaultKind, LaneFault, LaneFaults};
use super::op::{LaneAddresses, LoadOp};
use crate::lane::{LANES, LaneMask, LaneValues};
use crate::machine::Misaligned;
use crate::memory::{GenericAddress, LoadMemory, Region, Space};

/// The values of up to four destination registers, each of 32 lanes.
pub type LoadedValues = [LaneValues; 4];

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
}

/// Loads the executing lanes' values. `values` must be zero before; lanes that are outside and
/// lanes that do not execute stay so.
#[inline]
pub fn load<M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    memory: &M,
    misaligned: Misaligned,
    values: &mut LoadedValues,
) -> Loaded {
    let is_misaligned = |lane: usize| lanes.addresses[lane] & (u64::from(op.bytes) - 1) != 0;
    let misaligned = match misaligned {
        Misaligned::Report => lanes.executing & LaneMask::where_lane(is_misaligned),
        Misaligned::Force => LaneMask::NONE,
    };
    let Some(common) = common_region(op, lanes, memory) else {
        return load_lanes(op, lanes, misaligned, memory, values);
    };
    let region = &common.region;
    gather(op, lanes, &common, memory, values);
    let mut faults = LaneFaults::default();
    for lane in misaligned.lanes() {
        let kind = FaultKind::MisalignedAddress;
        faults.push(lane_fault(op, lanes, lane, kind, Some(region.space)));
    }
    let is_global = region.space == Space::Global;
    Loaded {
        faults,
        global: if is_global { lanes.executing } else { LaneMask::NONE },
        first_space: Some(region.space),
        is_broadcast: op.uniform
            && common.is_one_address
            && matches!(region.space, Space::Global | Space::Shared),
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
#[inline]
fn common_region<M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    memory: &M,
) -> Option<CommonRegion> {
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
    let (_, region) = memory.region(op.space, GenericAddress(lowest), plg).ok()?;
    region
        .filter(|region| {
            region.holds(GenericAddress(lowest), op.bytes)
                && region.holds(GenericAddress(highest), op.bytes)
        })
        .map(|region| CommonRegion { region, is_one_address: lowest == highest })
}

#[inline]
fn gather<M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    common: &CommonRegion,
    memory: &M,
    values: &mut LoadedValues,
) {
    let region = &common.region;
    let fetch = |lane: usize| {
        let rounded = GenericAddress(lanes.addresses[lane]).align_down(op.bytes);
        memory.fetch(op.bytes, op.signed, region, rounded, lane)
    };
    if common.is_one_address && !region.is_per_lane() && lanes.executing == LaneMask::ALL {
        let one = fetch(0);
        for (row, value) in values.iter_mut().zip(one).take(op.registers() as usize) {
            *row = [value; LANES];
        }
        return;
    }
    for lane in lanes.executing.lanes() {
        put(values, lane, fetch(lane));
    }
}

#[inline]
fn put(values: &mut LoadedValues, lane: usize, one: [u32; 4]) {
    for (row, value) in values.iter_mut().zip(one) {
        row[lane] = value;
    }
}

/// The general path: every lane looks its memory up for itself.
fn load_lanes<M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    misaligned: LaneMask,
    memory: &M,
    values: &mut LoadedValues,
) -> Loaded {
    // Lanes that share no region cannot be broadcast to: see `common_region`.
    let mut loaded = Loaded {
        faults: LaneFaults::default(),
        global: LaneMask::NONE,
        first_space: None,
        is_broadcast: false,
    };
    for (i, lane) in lanes.executing.lanes().enumerate() {
        let rounded = GenericAddress(lanes.addresses[lane]).align_down(op.bytes);
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
            Ok((_, Some(region))) if region.holds(rounded, op.bytes) => {
                Ok(memory.fetch(op.bytes, op.signed, &region, rounded, lane))
            }
            Ok((space, _)) => memory
                .fetch_across(op.space, space, op.bytes, op.signed, rounded, lane)
                .ok_or(FaultKind::OutsideAllocation),
            Err(outside) => Err(FaultKind::OutsideWindow(outside)),
        };
        match value {
            Ok(value) => {
                put(values, lane, value);
                if space == Some(Space::Global) {
                    loaded.global.insert(lane);
                }
            }
            Err(kind) => loaded.faults.push(lane_fault(op, lanes, lane, kind, space)),
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
    LaneFault { lane, kind, address, rounded: address.align_down(op.bytes), bytes: op.bytes, space }
}
