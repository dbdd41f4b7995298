//! What a [`Worker`] counts of an access, once it is executed.

use std::sync::Arc;

use super::{Worker, WorkerCounts};
use crate::costs::SpaceCosts;
use crate::spaces::Offsets;
use crate::statistics::{KEPT, KernelCounts, PcCounts, SpaceSums};
use crate::summary::{FaultCounts, Hex, LoadFault, TrafficCounts};
use crate::traffic::{LINE, Traffic};
use warpload::lane::LaneMask;
use warpload::load::{LoadOp, Loaded};
use warpload::memory::{AddressMap, AddressSpace, GenericAddress, Space};
use warpload_trace::OperationKind;
use warpload_trace::binary::MemoryRecord;

impl Worker<'_, '_> {
    /// Counts an access under its program counter, and returns what it counted.
    #[inline]
    pub(super) fn count(
        &mut self,
        traced: &MemoryRecord<'_>,
        traffic: Traffic,
        loaded: &Loaded,
        spaces: &SpaceSums,
    ) -> PcCounts {
        let mut lane_faults = FaultCounts::default();
        for fault in &loaded.faults {
            lane_faults[fault.kind()] += 1;
        }
        let lanes = u64::from(self.lanes.executing.count());
        let one = PcCounts::of_one(lanes, traffic, lane_faults);
        let row = self.per_pc.entry((traced.pc, traced.operation));
        row.and_modify(|known| known.add(&one)).or_insert_with(|| one.clone()).add_spaces(spaces);
        one
    }

    #[inline]
    pub(super) fn count_load(
        &mut self,
        traced: &MemoryRecord<'_>,
        op: LoadOp,
        loaded: &Loaded,
        lines: u64,
        one: &PcCounts,
        spaces: &SpaceSums,
    ) {
        self.counts.spaces.add(spaces);
        let counts = &mut self.counts.counts;
        counts.loads += 1;
        counts.lanes += one.lanes;
        counts.bytes += one.lanes * u64::from(op.width.bytes());
        counts.sectors += one.sectors;
        counts.lines += lines;
        counts.ideal_sectors += one.ideal_sectors;
        counts.lane_faults.add(&one.lane_faults);
        counts.width_disagreements += u64::from(traced.width_disagrees);
        counts.valued_loads += u64::from(traced.is_valued);
        let by_space = &mut counts.by_space;
        *match loaded.first_space {
            Some(Space::Global) => &mut by_space.global,
            Some(Space::Local) => &mut by_space.local,
            Some(Space::Shared) => &mut by_space.shared,
            Some(Space::Constant) => &mut by_space.constant,
            None => &mut by_space.unresolved,
        } += 1;
        if !traced.has_addresses() {
            counts.unattributable += 1;
        } else if op.uniform && one.lanes > 0 {
            counts.uniform.broadcast += u64::from(loaded.is_broadcast);
            counts.uniform.divergent += u64::from(!loaded.is_broadcast);
        }
        let record = self.block.raw().first_record + u64::from(traced.index);
        for fault in &loaded.faults {
            if self.found.faults.len() == KEPT {
                break;
            }
            self.found.faults.push(LoadFault {
                record,
                kernel: Arc::clone(self.kernel),
                pc: Hex(traced.pc.into()),
                lane: fault.lane,
                kind: fault.kind().name().to_owned(),
                address: Hex(fault.address.0),
            });
        }
    }

    pub(super) fn count_store(&mut self, kind: OperationKind, op: LoadOp, one: &PcCounts) {
        let is_store = kind == OperationKind::Store;
        let KernelCounts { counts, stores, atomics, .. } = &mut self.counts;
        let (traffic, skipped) = if is_store {
            (stores, &mut counts.skipped.store)
        } else {
            (atomics, &mut counts.skipped.atomic)
        };
        *skipped += 1;
        traffic.add(TrafficCounts {
            count: 1,
            lanes: one.lanes,
            bytes: one.lanes * u64::from(op.width.bytes()),
            sectors: one.sectors,
            ideal_sectors: one.ideal_sectors,
        });
    }

    /// Returns what an access costs in memory other than global.
    #[inline]
    pub(super) fn spaces(
        &mut self,
        traced: &MemoryRecord<'_>,
        lanes: LaneMask,
        map: &AddressMap,
    ) -> SpaceSums {
        let operation = traced.operation();
        let op = operation.load_op();
        if lanes.is_empty() {
            return SpaceSums::default();
        }
        let addresses = &self.lanes.addresses;
        let costs = SpaceCosts::new(op, lanes, addresses, map);
        let is_atomic = operation.kind == OperationKind::Atomic;
        if let (Some(surveyed), Some(cost)) = (&mut self.found.surveyed, costs.shared)
            && !(is_atomic && cost.shares_words)
        {
            let offsets = Offsets { lanes, addresses, base: 0, width: op.width };
            let offsets = match op.space {
                AddressSpace::Generic => offsets.in_shared_window(map),
                _ => offsets,
            };
            surveyed.add_banks(traced.pc, traced.operation, &offsets, cost);
        }
        SpaceSums::of(costs, is_atomic)
    }

    /// Returns the traffic of lanes in global memory, whose lines are those of the footprint if it is a
    /// load's.
    #[inline]
    pub(super) fn traffic(&mut self, op: LoadOp, global: LaneMask, is_load: bool) -> Traffic {
        if global.is_empty() {
            return Traffic::default();
        }
        let WorkerCounts { traffic, store_traffic, surveyed, .. } = &mut *self.found;
        let (traffic, slice) = if is_load {
            (traffic, surveyed.as_mut().map(|surveyed| &mut surveyed.slice))
        } else {
            (store_traffic, None)
        };
        traffic.of_lanes(&self.lanes.addresses, global, op.width, slice)
    }

    /// Counts the lines that a load touches for the loads that touch them again.
    pub(super) fn touch(&mut self, op: LoadOp, global: LaneMask) {
        let rounded = |lane| GenericAddress(self.lanes.addresses.of(lane)).align_down(op.width).0;
        let mut lines: Vec<u64> = global.lanes().map(|lane| rounded(lane) / LINE).collect();
        lines.sort_unstable();
        lines.dedup();
        self.counts.reuse.touch(&lines);
    }
}
