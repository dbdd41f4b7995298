//! The fast executor: [`load`] executes a [`LoadOp`] on any [`LoadMemory`].
//!
//! Almost every load of a real program has all its lanes in one place: one allocation, the CTA's shared memory, or one
//! part of the lanes' local memories. So the lanes are classified once:
//!
//! 1. Consecutive (`load_run`): lane n's address is the first one plus n accesses. If the region holds the first and
//!    the last byte, it holds all, and the load is one copy. A stride shows directly that lanes are consecutive; a list
//!    is compared address by address. Only this case is inlined into callers.
//! 2. Otherwise the region of the first executing lane is looked up. It can serve all lanes if they agree on Plg.
//! 3. One address, found in the stride or because the load may be broadcast: one fetch.
//! 4. Otherwise a gather from the region's bytes, which stops at the first lane outside of them.
//! 5. The remaining loads go lane by lane, each with its own lookup, and write the values of all executing lanes again.
//!
//! Comments cite the clauses of docs/ld.md, as in the literal executor: clause 4.6 is number 6 of section 4.

use super::lanes::LaneAddresses;
use super::op::LoadOp;
use super::outcome::{FaultCause, LaneFault, LaneFaults};
use crate::lane::{LANES, LaneMask, LaneValues};
use crate::machine::Misaligned;
use crate::memory::{
    GenericAddress, LaneAccess, LoadMemory, Place, Region, Space, WarpAddresses, Width, Words, put,
    set_row,
};

/// The result of loading, apart from the values.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Loaded {
    /// The faults of single lanes.
    pub faults: LaneFaults,
    /// The lanes that loaded from global memory.
    pub global: LaneMask,
    /// The memory of the first executing lane, if it can access its address.
    pub first_space: Option<Space>,
    /// Whether one fetch served all lanes of a load that may be broadcast.
    pub is_broadcast: bool,
}

impl Loaded {
    /// The result of loading all lanes at once.
    #[inline(always)]
    pub(super) fn run(space: Space) -> Self {
        Self {
            global: if space == Space::Global { LaneMask::ALL } else { LaneMask::NONE },
            first_space: Some(space),
            ..Self::default()
        }
    }
}

/// Loads the executing lanes' values into `rows`, one row per destination register. Lanes that are outside get zeroes;
/// lanes that do not execute keep the values of the rows. Values without a row are dropped; rows without a register are
/// unchanged.
#[inline]
pub fn load<M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    memory: &M,
    misaligned: Misaligned,
    rows: &mut [LaneValues],
) -> Loaded {
    if lanes.executing == LaneMask::ALL
        && lanes.addresses.is_run(op.width)
        && let Some(space) = load_run(&op, lanes.addresses.of(0), lanes.plg, memory, rows)
    {
        return Loaded::run(space);
    }
    load_spread(op, lanes, memory, misaligned, rows)
}

/// Loads all lanes at once, given that their aligned accesses follow one another from `first` on. Returns the memory,
/// or `None` if the accesses are not in one region or the lanes disagree on Plg. There are no faults to report.
///
/// Borrows the operation: a copy would be read in pieces of another size than it was written in. That defeats
/// store-to-load forwarding, which costs an instruction that is not prepared a fifth of its time.
#[inline(always)]
pub(super) fn load_run<M: LoadMemory>(
    op: &LoadOp,
    first: u64,
    plg: Option<LaneMask>,
    memory: &M,
    rows: &mut [LaneValues],
) -> Option<Space> {
    // For all lanes at once: Plg (clause 4.5), the allocation (clause 4.6), the values (clause 4.8).
    let plg = match plg {
        None => None,
        Some(LaneMask::ALL) => Some(true),
        Some(LaneMask::NONE) => Some(false),
        Some(_) => return None,
    };
    let first = GenericAddress(first);
    match memory.map().locate_global(op.space, first, plg) {
        Some(place) => copy_run(op, place, memory, rows).then_some(Space::Global),
        None => load_run_elsewhere(op, first, plg, memory, rows),
    }
}

/// [`load_run`] for memory other than global. Separate, because the compiler would make jump tables of the four
/// memories, which take longer than the rest of a load.
#[inline(never)]
fn load_run_elsewhere<M: LoadMemory>(
    op: &LoadOp,
    first: GenericAddress,
    plg: Option<bool>,
    memory: &M,
    rows: &mut [LaneValues],
) -> Option<Space> {
    let place = memory.map().locate(op.space, first, plg).ok()?;
    copy_run(op, place, memory, rows).then_some(place.space)
}

/// Copies the values of all lanes, starting at `place`; returns false if the memory or its region ends too early.
#[inline(always)]
fn copy_run<M: LoadMemory>(op: &LoadOp, place: Place, memory: &M, rows: &mut [LaneValues]) -> bool {
    place.reaches(LANES as u64 * u64::from(op.width.bytes()))
        && memory
            .region(place.space, place.offset)
            .is_some_and(|region| region.copy(op.access(), GenericAddress(place.offset), rows))
}

/// Loads lanes with accesses that do not follow one another.
#[inline(never)]
pub(super) fn load_spread<M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    memory: &M,
    misaligned: Misaligned,
    rows: &mut [LaneValues],
) -> Loaded {
    let Some(first) = lanes.executing.first() else { return Loaded::default() };
    let count = rows.len().min(op.registers() as usize);
    let rows = &mut rows[..count];
    if misaligned == Misaligned::Fault && !misaligned_lanes(op, lanes).is_empty() {
        return load_lanes(op, lanes, misaligned, memory, rows);
    }
    let is_one_address = is_one_address(op, lanes, first);
    let space = match common_region(op, lanes, first, memory) {
        Some((space, region)) if load_region(op, lanes, first, is_one_address, &region, rows) => {
            space
        }
        _ => return load_lanes(op, lanes, misaligned, memory, rows),
    };
    let mut loaded = Loaded {
        faults: LaneFaults::default(),
        global: if space == Space::Global { lanes.executing } else { LaneMask::NONE },
        first_space: Some(space),
        // The broadcast: clause 4.10.
        is_broadcast: op.uniform
            && is_one_address
            && matches!(space, Space::Global | Space::Shared),
    };
    // Misalignment is reported: clause 4.4.
    if misaligned == Misaligned::Report {
        report_misaligned(op, lanes, space, &mut loaded.faults);
    }
    loaded
}

/// Executes one operation for warp after warp, as [`load`] does for each. `each` gets the warp's index, the result, and
/// the rows. All warps share the rows, so lanes that do not execute keep the values of the warp before.
///
/// Prefetches the bytes of the next warps, which is several times as fast as separate loads if lanes are spread over
/// more memory than caches hold.
///
/// ```
/// use warpload::lane::LaneMask;
/// use warpload::load::{LaneAddresses, LoadOp, load_many};
/// use warpload::machine::Misaligned;
/// use warpload::memory::{AddressSpace, Memory, WarpAddresses, Width};
///
/// let bytes: Vec<u8> = (0..=255).collect();
/// let memory = Memory::builder().global(0x1000, &bytes).build()?;
/// let space = AddressSpace::Global;
/// let op = LoadOp { space, width: Width::Bytes4, signed: false, uniform: false };
/// let warps = [0x1000, 0x1080].map(|base| LaneAddresses {
///     executing: LaneMask::ALL,
///     plg: None,
///     addresses: WarpAddresses::Stride { base, stride: 4 },
/// });
/// let (mut rows, mut first) = ([[0; 32]], Vec::new());
/// load_many(op, &warps, &memory, Misaligned::Force, &mut rows, |_, _, rows| {
///     first.push(rows[0][0]);
/// });
/// assert_eq!(first, [0x0302_0100, 0x8382_8180]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_many<M: LoadMemory>(
    op: LoadOp,
    warps: &[LaneAddresses],
    memory: &M,
    misaligned: Misaligned,
    rows: &mut [LaneValues],
    mut each: impl FnMut(usize, &Loaded, &[LaneValues]),
) {
    /// The prefetch distance in warps.
    const AHEAD: usize = 2;
    for (i, lanes) in warps.iter().enumerate() {
        if let Some(next) = warps.get(i + AHEAD)
            && let Some(first) = next.executing.first()
            && let Some((_, region)) = common_region(op, next, first, memory)
        {
            region.prefetch(&next.addresses, next.executing);
        }
        let loaded = load(op, lanes, memory, misaligned, rows);
        each(i, &loaded, rows);
    }
}

/// Loads from one region; returns whether it holds the accesses of all executing lanes. If it does not, the loaded
/// values are meaningless. Inlined, because each load would otherwise copy the region through memory.
#[inline(always)]
fn load_region(
    op: LoadOp,
    lanes: &LaneAddresses,
    first: usize,
    is_one_address: bool,
    region: &Region<'_>,
    rows: &mut [LaneValues],
) -> bool {
    let LaneAddresses { executing, addresses, .. } = lanes;
    if !is_one_address || region.is_per_lane() {
        return region.gather(op.access(), addresses, *executing, rows);
    }
    let Some(one) = region.fetch(op.access(), op.rounded(addresses.of(first)), first) else {
        return false;
    };
    for (row, value) in rows.iter_mut().zip(one) {
        set_row(row, *executing, |_| value);
    }
    true
}

/// The memory and the region of the first lane, which may serve all executing lanes if they agree on Plg (clause 4.5).
#[inline(always)]
fn common_region<'m, M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    first: usize,
    memory: &'m M,
) -> Option<(Space, Region<'m>)> {
    let plg = lanes.plg_of(first);
    if let (Some(plg), Some(of_lane)) = (lanes.plg, plg) {
        let agreeing = if of_lane { plg } else { !plg };
        if !agreeing.is_superset(lanes.executing) {
            return None;
        }
    }
    let address = op.rounded(lanes.addresses.of(first));
    // Global memory is separate for the reason given at `load_run_elsewhere`.
    if let Some(place) = memory.map().locate_global(op.space, address, plg) {
        let region = memory.region(Space::Global, address.0)?;
        return Some((Space::Global, region.reached(place, address)?));
    }
    let place = memory.map().locate(op.space, address, plg).ok()?;
    Some((place.space, memory.region(place.space, place.offset)?.reached(place, address)?))
}

#[inline]
fn misaligned_lanes(op: LoadOp, lanes: &LaneAddresses) -> LaneMask {
    let low_bits = u64::from(op.width.bytes()) - 1;
    let any = match &lanes.addresses {
        WarpAddresses::Stride { base, stride } => base | stride,
        WarpAddresses::Each(list) => list.iter().fold(0, |bits, address| bits | address),
    };
    if any & low_bits == 0 {
        return LaneMask::NONE;
    }
    lanes.executing & LaneMask::from_fn(|lane| lanes.addresses.of(lane) & low_bits != 0)
}

#[inline]
fn report_misaligned(op: LoadOp, lanes: &LaneAddresses, space: Space, faults: &mut LaneFaults) {
    for lane in misaligned_lanes(op, lanes) {
        faults.push(lane_fault(op, lanes, lane, FaultCause::MisalignedAddress, Some(space)));
    }
}

/// Whether all executing lanes have one rounded address. May be false despite one address if the load cannot be
/// broadcast.
#[inline]
fn is_one_address(op: LoadOp, lanes: &LaneAddresses, first: usize) -> bool {
    match &lanes.addresses {
        WarpAddresses::Stride { stride: 0, .. } => true,
        addresses if op.uniform => {
            let rounded = |lane: usize| op.rounded(addresses.of(lane));
            lanes.executing.lanes().all(|lane| rounded(lane) == rounded(first))
        }
        _ => false,
    }
}

/// The general path: loads lane by lane, each with its own lookup.
#[cold]
#[inline(never)]
fn load_lanes<M: LoadMemory>(
    op: LoadOp,
    lanes: &LaneAddresses,
    misaligned: Misaligned,
    memory: &M,
    rows: &mut [LaneValues],
) -> Loaded {
    let (misaligned, faults) = match misaligned {
        Misaligned::Report => (misaligned_lanes(op, lanes), false),
        Misaligned::Fault => (misaligned_lanes(op, lanes), true),
        Misaligned::Force => (LaneMask::NONE, false),
    };
    let (mut loaded, mut is_outside) = (Loaded::default(), false);
    for (i, lane) in lanes.executing.lanes().enumerate() {
        // Forced alignment: clause 4.4.
        let rounded = op.rounded(lanes.addresses.of(lane));
        // The memory: clause 4.5.
        let found = memory.map().locate(op.space, rounded, lanes.plg_of(lane));
        let space = found.ok().map(|place| place.space);
        if i == 0 {
            loaded.first_space = space;
        }
        if misaligned.contains(lane) {
            let cause = FaultCause::MisalignedAddress;
            loaded.faults.push(lane_fault(op, lanes, lane, cause, space));
            if faults {
                is_outside = true;
                put(rows, lane, Words::default());
                continue;
            }
        }
        // The allocation and the value: clause 4.6, clause 4.8.
        let value = match found {
            Ok(place) => fetch(op.access(), place, memory, lane)
                .or_else(|| fetch_across(op, place, memory, lane))
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
                is_outside = true;
                put(rows, lane, Words::default());
                loaded.faults.push(lane_fault(op, lanes, lane, cause, space));
            }
        }
    }
    // The broadcast: clause 4.10. One address in several memories means that lanes disagree on Plg, so some of them are
    // outside.
    let first = lanes.executing.first();
    loaded.is_broadcast = op.uniform
        && !is_outside
        && matches!(loaded.first_space, Some(Space::Global | Space::Shared))
        && first.is_some_and(|first| is_one_address(op, lanes, first));
    loaded
}

/// Fetches a value that lies in one region.
fn fetch<M: LoadMemory>(
    access: LaneAccess,
    place: Place,
    memory: &M,
    lane: usize,
) -> Option<Words> {
    let region = memory.region(place.space, place.offset)?;
    let is_reached = place.reaches(access.width.bytes().into());
    region.fetch(access, GenericAddress(place.offset), lane).filter(|_| is_reached)
}

/// Fetches a value that spans two regions: the low and the high part of local memory, which touch if they fill the
/// window (clause 4.6).
#[cold]
fn fetch_across<M: LoadMemory>(op: LoadOp, place: Place, memory: &M, lane: usize) -> Option<Words> {
    const BYTE: LaneAccess = LaneAccess { width: Width::Bytes1, signed: false };
    if place.space != Space::Local || !place.reaches(op.width.bytes().into()) {
        return None;
    }
    let byte = |i: u32| {
        let offset = place.offset.checked_add(i.into())?;
        Some(fetch(BYTE, Place { offset, ..place }, memory, lane)?[0] as u8)
    };
    let bytes: Vec<u8> = (0..op.width.bytes()).map(byte).collect::<Option<_>>()?;
    Region::new(0, &bytes)?.fetch(op.access(), GenericAddress(0), lane)
}

fn lane_fault(
    op: LoadOp,
    lanes: &LaneAddresses,
    lane: usize,
    cause: FaultCause,
    space: Option<Space>,
) -> LaneFault {
    let address = GenericAddress(lanes.addresses.of(lane));
    let rounded = address.align_down(op.width);
    LaneFault { lane, cause, address, rounded, bytes: op.width.bytes(), space }
}
