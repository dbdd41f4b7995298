//! [`AccessCounter`]: counts accesses one by one in their rows. Replays count the records of a trace with it, and
//! [`LaunchCounter`](crate::LaunchCounter) the accesses of a kernel that runs.

use rustc_hash::FxHashMap;

use crate::access::Access;
use crate::costs::{AccessCost, Offsets, SharedRules, SpaceCosts};
use crate::counters::{AccessCounts, FirstFault, GlobalCounts, SpaceCounts};
use crate::footprint::LineCollector;
use crate::launch_counts::{AccessKey, LaunchCounts};
use crate::summary::Hex;
use crate::traffic::{TouchSink, Traffic};
use warpload::lane::LaneMask;
use warpload::load::{LaneAddresses, LaneFaultKind, LoadOp, Loaded};
use warpload::memory::{AddressMap, AddressSpace, Space};
use warpload_trace::binary::{MemoryRecord, TraceBlock};
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

impl<'e> Executed<'e> {
    /// The access of a record.
    #[inline]
    pub(crate) fn of(
        block: &TraceBlock<'_>,
        traced: &MemoryRecord<'e>,
        access: &'e Access,
        lanes: &'e LaneAddresses,
        map: &'e AddressMap,
        rules: SharedRules,
    ) -> Self {
        let Access { op, is_shared_side, ref loaded } = *access;
        Self {
            key: AccessKey { pc: traced.pc, operation: traced.operation, is_shared_side },
            operation: traced.operation(),
            op,
            lanes,
            loaded,
            has_addresses: traced.has_addresses(),
            instruction: block.raw().first_instruction + u64::from(traced.index),
            map,
            rules,
        }
    }

    /// The lanes that access memory within bounds; none if the addresses are unknown.
    #[inline]
    pub(crate) fn served(&self) -> LaneMask {
        if !self.has_addresses {
            return LaneMask::NONE;
        }
        let mut served = accessing(self.operation, self.lanes.executing);
        for fault in &self.loaded.faults {
            if fault.kind() != LaneFaultKind::MisalignedAddress {
                served = served & !LaneMask::from_bits(1 << fault.lane);
            }
        }
        served
    }

    /// Whether it has a cost in global memory, which may be none of its sectors.
    #[inline]
    pub(crate) fn reaches_global(&self) -> bool {
        // Without lanes, nothing tells the sides of a copy apart, so it has no cost on either.
        let is_of_a_side =
            self.operation.kind != OperationKind::Copy || !self.lanes.executing.is_empty();
        let reaches = matches!(self.op.space, AddressSpace::Global | AddressSpace::Generic);
        self.has_addresses && reaches && is_of_a_side
    }

    /// The sectors and lines of global memory. Passes the lines to `sink`.
    #[inline]
    pub(crate) fn traffic(&self, sink: &mut impl TouchSink) -> Traffic {
        match self.loaded.global.is_empty() {
            true => Traffic::default(),
            false => {
                Traffic::of_lanes(&self.lanes.addresses, self.loaded.global, self.op.width, sink)
            }
        }
    }

    /// The cost in the other memories, for the lanes that access memory within bounds.
    #[inline]
    pub(crate) fn space_costs(&self, served: LaneMask) -> SpaceCosts {
        let offsets = Offsets {
            lanes: served & !self.loaded.global,
            addresses: &self.lanes.addresses,
            base: 0,
            width: self.op.width,
            rules: self.rules,
        };
        SpaceCosts::new(self.op.space, &offsets, self.map)
    }

    /// Whether its wavefronts of shared memory are unknown: lanes of an atomic that share a word take turns, in an
    /// order that is not public.
    #[inline]
    pub(crate) fn takes_turns(&self, cost: &AccessCost) -> bool {
        self.operation.kind == OperationKind::Atomic && cost.shares_words
    }
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
        let Executed { key, operation, lanes, loaded, has_addresses, .. } = *one;
        let served = one.served();
        let costs = one.space_costs(served);
        let traffic = one.traffic(&mut self.lines);
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
        if one.reaches_global() {
            row.global.get_or_insert_with(GlobalCounts::default).count(traffic);
        }
        if let Some(cost) = costs.shared {
            let shared = row.shared.get_or_insert_default();
            if one.takes_turns(&cost) {
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
