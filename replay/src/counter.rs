//! [`AccessCounter`]: counts accesses one by one in their rows. Replays count the records of a trace with it, and
//! [`LaunchCounter`](crate::LaunchCounter) the accesses of a kernel that runs.

use rustc_hash::FxHashMap;

use crate::costs::{Offsets, SharedRules, SpaceCosts};
use crate::counters::{AccessCounts, FirstFault, GlobalCounts, SpaceCounts};
use crate::footprint::LineCollector;
use crate::launch_counts::{AccessKey, LaunchCounts};
use crate::summary::Hex;
use crate::traffic::Traffic;
use warpload::lane::LaneMask;
use warpload::load::{LaneAddresses, LaneFaultKind, LoadOp, Loaded};
use warpload::memory::{AddressMap, AddressSpace, Space};
use warpload_trace::{MemoryOperation, OperationKind};

/// An executed access: all that its counts depend on.
pub(crate) struct Executed<'e> {
    pub(crate) key: AccessKey,
    pub(crate) operation: &'e MemoryOperation,
    /// How the lanes access memory, on the side of a copy that the access is.
    pub(crate) op: LoadOp,
    pub(crate) lanes: &'e LaneAddresses,
    pub(crate) loaded: &'e Loaded,
    pub(crate) has_addresses: bool,
    /// The instruction's index in the trace.
    pub(crate) instruction: u64,
    pub(crate) map: &'e AddressMap,
    pub(crate) rules: SharedRules,
}

/// The lanes that access memory within bounds; none if the addresses are unknown.
#[inline]
pub(crate) fn served(
    operation: &MemoryOperation,
    executing: LaneMask,
    has_addresses: bool,
    loaded: &Loaded,
) -> LaneMask {
    if !has_addresses {
        return LaneMask::NONE;
    }
    let mut served = accessing(operation, executing);
    for fault in &loaded.faults {
        if fault.kind() != LaneFaultKind::MisalignedAddress {
            served = served & !LaneMask::from_bits(1 << fault.lane);
        }
    }
    served
}

/// The executing lanes that access memory; for matrices, the lanes that provide row addresses.
#[inline]
pub(crate) fn accessing(operation: &MemoryOperation, executing: LaneMask) -> LaneMask {
    match operation.matrices {
        None => executing,
        Some(matrices) => {
            executing & LaneMask::from_fn(|lane| lane < matrices.address_lanes() as usize)
        }
    }
}

/// The counts of the accesses of a launch.
#[derive(Debug, Default)]
pub(crate) struct AccessCounter {
    rows: FxHashMap<AccessKey, AccessCounts>,
    /// The lines that accesses touch. One collector serves block after block, because a loop touches the same lines in
    /// many.
    lines: LineCollector,
}

impl AccessCounter {
    /// The counts of an instruction.
    pub(crate) fn row(&mut self, key: AccessKey) -> &mut AccessCounts {
        self.rows.entry(key).or_default()
    }

    /// Counts an access. Returns the lanes that access memory within bounds, and the counts of its instruction.
    #[inline]
    pub(crate) fn count(&mut self, one: &Executed<'_>) -> (LaneMask, &mut AccessCounts) {
        let Executed { key, operation, op, lanes, loaded, has_addresses, map, .. } = *one;
        let served = served(operation, lanes.executing, has_addresses, loaded);
        let offsets = Offsets {
            lanes: served & !loaded.global,
            addresses: &lanes.addresses,
            base: 0,
            width: op.width,
            rules: one.rules,
        };
        let costs = SpaceCosts::new(op.space, &offsets, map);
        let traffic = match loaded.global.is_empty() {
            true => Traffic::default(),
            false => Traffic::of_lanes(&lanes.addresses, loaded.global, op.width, &mut self.lines),
        };
        let row = self.rows.entry(key).or_default();
        let executing = u64::from(lanes.executing.count());
        row.accesses += 1;
        row.lanes += executing;
        row.bytes += executing * u64::from(operation.bytes().unwrap_or(0));
        *space_of(&mut row.by_space, loaded.first_space) += 1;
        if !has_addresses {
            row.unattributable += 1;
            return (served, row);
        }
        // Without lanes, nothing tells the sides of a copy apart, so it has no cost on either.
        let is_of_a_side = operation.kind != OperationKind::Copy || executing > 0;
        if is_of_a_side && matches!(op.space, AddressSpace::Global | AddressSpace::Generic) {
            row.global.get_or_insert_with(GlobalCounts::default).count(traffic);
        }
        if let Some(cost) = costs.shared {
            let shared = row.shared.get_or_insert_default();
            if operation.kind == OperationKind::Atomic && cost.shares_words {
                shared.unknown += 1;
            } else {
                shared.count(cost, &costs.bank_words);
            }
        }
        if let Some(cost) = costs.local {
            row.local.get_or_insert_default().count(cost);
        }
        if let Some(cost) = costs.constant {
            row.constant.get_or_insert_default().count(cost);
        }
        if operation.uniform && executing > 0 {
            row.uniform.broadcast += u64::from(loaded.is_broadcast);
            row.uniform.divergent += u64::from(!loaded.is_broadcast);
        }
        if !loaded.faults.is_empty() {
            count_faults(row, loaded, one.instruction);
        }
        (served, row)
    }

    /// Moves the rows and the footprint to the counts of their launch.
    pub(crate) fn finish(&mut self, counts: &mut LaunchCounts) {
        let mut rows: Vec<_> = self.rows.drain().collect();
        rows.sort_unstable_by_key(|(key, _)| *key);
        let footprint = self.lines.take();
        counts.add(LaunchCounts { rows, footprint, ..LaunchCounts::default() });
    }
}

/// The count of a memory.
#[inline]
fn space_of(counts: &mut SpaceCounts, space: Option<Space>) -> &mut u64 {
    match space {
        Some(Space::Global) => &mut counts.global,
        Some(Space::Local) => &mut counts.local,
        Some(Space::Shared) => &mut counts.shared,
        Some(Space::Constant { .. }) => &mut counts.constant,
        None => &mut counts.unresolved,
    }
}

#[cold]
fn count_faults(row: &mut AccessCounts, loaded: &Loaded, instruction: u64) {
    for fault in &loaded.faults {
        row.lane_faults[fault.kind()] += 1;
        row.first_fault.get_or_insert_with(|| {
            Box::new(FirstFault {
                instruction,
                lane: fault.lane,
                kind: fault.kind().name().into(),
                address: Hex(fault.address.0),
            })
        });
    }
}
