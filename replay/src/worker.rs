//! [`Worker`]: replays a block, instruction by instruction: executes, digests, checks and counts.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::costs::{Offsets, SharedRules, SpaceCosts};
use crate::counters::{
    Counter, FaultCounts, LdgstsCounts, PcCounts, Spread, TmaCounts, TrafficCounts,
};
use crate::options::{ReplayData, ReplayOptions};
use crate::statistics::{KEPT, KernelCounts};
use crate::summary::{Hex, LoadFault, ValueMismatch};
use crate::survey::{FaultyLoad, Surveyed};
use crate::traffic::{LINE, Traffic, TrafficCounter};
use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::load::{LaneAddresses, LaneFaultKind, LoadOp, Loaded, load};
use warpload::machine::Misaligned;
use warpload::memory::{AddressMap, AddressSpace, GenericAddress, LoadMemory, Space, Width, mix};
use warpload::simd::vectorized;
use warpload_trace::binary::{MemoryRecord, TraceBlock, TraceError};
use warpload_trace::{MemoryOperation, OperationKind};

/// What was found in some of the blocks. It grows with the kernels that these belong to, not with
/// all.
#[derive(Default)]
pub(super) struct WorkerCounts {
    pub(super) kernels: BTreeMap<u32, KernelCounts>,
    pub(super) digest: u64,
    pub(super) faults: Vec<LoadFault>,
    pub(super) mismatches: Vec<ValueMismatch>,
    /// If a survey is wanted.
    pub(super) surveyed: Option<Surveyed>,
    traffic: TrafficCounter,
    /// Of stores and atomics, whose lines are not part of the footprint.
    store_traffic: TrafficCounter,
}

impl WorkerCounts {
    pub(super) fn new(surveyed: Option<Surveyed>) -> Self {
        Self { surveyed, ..Self::default() }
    }
}

/// Replays some memory instructions of a block.
pub(super) struct Worker<'b, 't> {
    block: &'b TraceBlock<'t>,
    /// The name of the block's kernel.
    kernel: &'b Arc<str>,
    options: &'b ReplayOptions<'b>,
    per_pc: FxHashMap<(u32, u16), PcCounts>,
    /// Those of the load at hand.
    lanes: LaneAddresses,
    /// The registers that loads fill.
    values: [LaneValues; Width::MAX_REGISTERS],
    counts: KernelCounts,
    found: &'b mut WorkerCounts,
}

impl<'b, 't> Worker<'b, 't> {
    pub(super) fn new(
        block: &'b TraceBlock<'t>,
        kernel: &'b Arc<str>,
        options: &'b ReplayOptions<'b>,
        found: &'b mut WorkerCounts,
    ) -> Self {
        Self {
            block,
            kernel,
            options,
            per_pc: FxHashMap::default(),
            lanes: LaneAddresses::NONE,
            values: [[0; LANES]; Width::MAX_REGISTERS],
            counts: KernelCounts::default(),
            found,
        }
    }

    /// Replays a part of the memory instructions. Returns the counts of the kernel; all else is found.
    pub(super) fn records<M: LoadMemory>(
        mut self,
        part: Range<usize>,
        memory: &M,
    ) -> Result<KernelCounts, TraceError> {
        self.pass(&part)?;
        if let Some(surveyed) = &mut self.found.surveyed {
            surveyed.begin(self.block.raw().kernel as usize, part.len());
        }
        for i in part {
            let traced = self.block.record(i)?;
            let operation = traced.operation();
            match operation.kind {
                OperationKind::Load | OperationKind::Store | OperationKind::Atomic => {
                    self.access(&traced, operation, memory)
                }
                _ => self.other(&traced),
            }
        }
        let Self { mut counts, per_pc, found, .. } = self;
        counts.footprint = found.traffic.take_footprint();
        found.store_traffic.forget();
        counts.per_pc = per_pc.into_iter().collect();
        counts.per_pc.sort_unstable_by_key(|(key, _)| *key);
        Ok(counts)
    }

    /// Counts the instructions without a record of a part: from its first record, or from the start of
    /// the block if it has the first, to the record after it, or to the end of the block.
    fn pass(&mut self, part: &Range<usize>) -> Result<(), TraceError> {
        let raw = self.block.raw();
        let before = |record: &MemoryRecord<'_>| (record.index, record.stores, record.atomics);
        let from =
            if part.start == 0 { (0, 0, 0) } else { before(&self.block.record(part.start)?) };
        let to = if part.end == raw.memory_records as usize {
            self.block.unrecorded()
        } else {
            before(&self.block.record(part.end)?)
        };
        // Blocks whose records do not ascend are refused when they are read.
        let passed = |to: u32, from: u32| u64::from(to.saturating_sub(from));
        let counts = &mut self.counts.counts;
        let skipped = &mut counts.skipped;
        counts.records = passed(to.0, from.0);
        skipped.store = passed(to.1, from.1);
        skipped.atomic = passed(to.2, from.2);
        skipped.other = counts.records - part.len() as u64 - skipped.store - skipped.atomic;
        Ok(())
    }

    /// Counts an instruction that is neither load nor store nor atomic.
    fn other(&mut self, traced: &MemoryRecord<'_>) {
        let counts = &mut self.counts.counts;
        counts.skipped.other += 1;
        match traced.operation().kind {
            OperationKind::Copy => {
                let lanes = traced.mask.count().into();
                counts.ldgsts.add(&Some(LdgstsCounts { records: 1, lanes }));
            }
            OperationKind::Transfer => {
                let (addresses, bytes) = traced.transfer().unwrap_or_default();
                counts.tma.add(&Some(TmaCounts { records: 1, addresses, bytes }));
            }
            _ => *self.counts.others.entry(traced.operation).or_default() += 1,
        }
    }

    /// Executes a load, and counts any access.
    #[inline]
    fn access<M: LoadMemory>(
        &mut self,
        traced: &MemoryRecord<'_>,
        operation: &MemoryOperation,
        memory: &M,
    ) {
        let (op, is_load) = (operation.load_op(), operation.kind == OperationKind::Load);
        // Without data the values are not used; stores have none.
        let has_values = is_load && self.options.has_data();
        let rows = if has_values { &mut self.values[..] } else { &mut [] };
        let loaded = execute(traced, memory, &mut self.lanes, rows);
        let kernel = self.block.raw().kernel;
        if let (true, Some(selection)) = (is_load, self.options.get_selection())
            && !selection.has(kernel, traced, loaded.first_space)
        {
            return;
        }
        let served = served(traced, self.lanes.executing, &loaded);
        if is_load && traced.has_addresses() && self.options.has_data() {
            let record = self.block.raw().first_record + u64::from(traced.index);
            self.digest(record, op);
            // What a fill holds is made up, and not what the program has read.
            if let ReplayData::Image(_) = self.options.get_data() {
                self.check(record, traced, op, served);
            }
        }
        if is_load {
            self.survey(traced, &loaded);
        }
        let spaces = self.spaces(traced, served & !loaded.global, memory.map());
        let traffic = self.traffic(op, loaded.global, is_load);
        let one = self.count(traced, operation.kind, traffic, &loaded, &spaces);
        if is_load {
            self.count_load(traced, op, &loaded, traffic, &one, &spaces);
            if self.options.counts_reuse() && !loaded.global.is_empty() {
                self.touch(op, loaded.global);
            }
        } else {
            self.count_store(operation.kind, op, &one);
        }
    }

    /// Makes room for the sectors of a load in the pictures, and keeps it if it has faults.
    #[inline]
    fn survey(&mut self, traced: &MemoryRecord<'_>, loaded: &Loaded) {
        let Some(surveyed) = &mut self.found.surveyed else { return };
        let record = self.block.raw().first_record + u64::from(traced.index);
        surveyed.prepare(record);
        if !loaded.faults.is_empty() {
            surveyed.add_faulty(FaultyLoad {
                record,
                kernel: self.block.raw().kernel as usize,
                pc: traced.pc,
                operation: traced.operation,
                executing: self.lanes.executing,
                faults: loaded.faults.by_kind(),
                addresses: self.lanes.addresses.to_array(),
            });
        }
    }

    #[inline]
    fn digest(&mut self, record: u64, op: LoadOp) {
        for (i, row) in (0u64..).zip(&self.values).take(op.registers() as usize) {
            let place = (record << 13).wrapping_add(i);
            let terms = vectorized!(digest(row, place, self.lanes.executing));
            self.found.digest = self.found.digest.wrapping_add(terms);
        }
    }

    /// Compares the values of the served lanes with the expected ones, if the trace has them. Lanes whose
    /// guard is false keep their previous values, which are unknown.
    fn check(&mut self, record: u64, traced: &MemoryRecord<'_>, op: LoadOp, served: LaneMask) {
        let counts = &mut self.counts.counts;
        let before = counts.mismatched_words;
        for (register, row) in self.values.iter().enumerate().take(op.registers() as usize) {
            let Some(expected) = traced.values(register) else { return };
            for (lane, expected) in traced.mask.lanes().zip(expected) {
                if !served.contains(lane) {
                    continue;
                }
                let got = row[lane];
                counts.checked_words += 1;
                if got == expected {
                    continue;
                }
                counts.mismatched_words += 1;
                if self.found.mismatches.len() < KEPT {
                    self.found.mismatches.push(ValueMismatch {
                        record,
                        kernel: Arc::clone(self.kernel),
                        pc: Hex(traced.pc.into()),
                        lane,
                        register,
                        expected: Hex(expected.into()),
                        got: Hex(got.into()),
                    });
                }
            }
        }
        counts.checked += 1;
        counts.mismatches += u64::from(counts.mismatched_words > before);
    }
}

/// Returns the sum of one term for each executing lane's value. `place` is the record's and the
/// register's (docs/traces.md).
#[inline(always)]
fn digest(row: &LaneValues, place: u64, executing: LaneMask) -> u64 {
    let mut digest = 0u64;
    for (lane, value) in row.iter().enumerate() {
        let place = place.wrapping_add((lane as u64) << 8);
        let term = mix(mix(place).wrapping_add(u64::from(*value)));
        let is_counted = u64::from(executing.bits() >> lane & 1);
        digest = digest.wrapping_add(term & is_counted.wrapping_neg());
    }
    digest
}

impl Worker<'_, '_> {
    /// Counts an access under its program counter, and returns its counts, without memories other than global.
    #[inline]
    fn count(
        &mut self,
        traced: &MemoryRecord<'_>,
        kind: OperationKind,
        traffic: Traffic,
        loaded: &Loaded,
        spaces: &SpaceCosts,
    ) -> PcCounts {
        let mut lane_faults = FaultCounts::default();
        for fault in &loaded.faults {
            lane_faults[fault.kind()] += 1;
        }
        let one = PcCounts {
            loads: 1,
            lanes: self.lanes.executing.count().into(),
            sectors: Spread::of_one(traffic.sectors),
            ideal_sectors: traffic.ideal_sectors,
            lane_faults,
            ..PcCounts::default()
        };
        let row = self.per_pc.entry((traced.pc, traced.operation)).or_default();
        row.add(&one);
        let SpaceCosts { shared, local, constant } = *spaces;
        if let Some(cost) = shared {
            row.shared.get_or_insert_default().count(cost, kind == OperationKind::Atomic);
        }
        if let Some(cost) = local {
            row.local.get_or_insert_default().count(cost);
        }
        if let Some(cost) = constant {
            row.constant.get_or_insert_default().count(cost);
        }
        one
    }

    #[inline(always)]
    fn count_load(
        &mut self,
        traced: &MemoryRecord<'_>,
        op: LoadOp,
        loaded: &Loaded,
        traffic: Traffic,
        one: &PcCounts,
        spaces: &SpaceCosts,
    ) {
        let counts = &mut self.counts.counts;
        if let Some(cost) = spaces.shared {
            counts.shared.count(cost);
        }
        if let Some(cost) = spaces.local {
            counts.local.count(cost);
        }
        if let Some(cost) = spaces.constant {
            counts.constant.count(cost);
        }
        counts.loads += 1;
        counts.lanes += one.lanes;
        counts.bytes += one.lanes * u64::from(op.width.bytes());
        counts.sectors += traffic.sectors;
        counts.lines += traffic.lines;
        counts.ideal_sectors += traffic.ideal_sectors;
        counts.lane_faults.add(&one.lane_faults);
        counts.width_disagreements += u64::from(traced.width_disagrees);
        counts.valued_loads += u64::from(traced.is_valued);
        let by_space = &mut counts.by_space;
        *match loaded.first_space {
            Some(Space::Global) => &mut by_space.global,
            Some(Space::Local) => &mut by_space.local,
            Some(Space::Shared) => &mut by_space.shared,
            Some(Space::Constant { .. }) => &mut by_space.constant,
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

    fn count_store(&mut self, kind: OperationKind, op: LoadOp, one: &PcCounts) {
        let counts = &mut self.counts.counts;
        let (traffic, skipped) = if kind == OperationKind::Store {
            (&mut counts.stores, &mut counts.skipped.store)
        } else {
            (&mut counts.atomics, &mut counts.skipped.atomic)
        };
        *skipped += 1;
        traffic.add(&Some(TrafficCounts {
            count: 1,
            lanes: one.lanes,
            bytes: one.lanes * u64::from(op.width.bytes()),
            sectors: one.sectors.sum,
            ideal_sectors: one.ideal_sectors,
        }));
    }

    /// Returns what an access costs in memory other than global.
    #[inline]
    pub(super) fn spaces(
        &mut self,
        traced: &MemoryRecord<'_>,
        lanes: LaneMask,
        map: &AddressMap,
    ) -> SpaceCosts {
        let operation = traced.operation();
        let op = operation.load_op();
        if lanes.is_empty() {
            return SpaceCosts::default();
        }
        let addresses = &self.lanes.addresses;
        let costs = SpaceCosts::new(op, lanes, addresses, map);
        let is_atomic = operation.kind == OperationKind::Atomic;
        if let (Some(surveyed), Some(cost)) = (&mut self.found.surveyed, costs.shared)
            && !(is_atomic && cost.shares_words)
        {
            let rules = SharedRules::default();
            let offsets = Offsets { lanes, addresses, base: 0, width: op.width, rules };
            let offsets = match op.space {
                AddressSpace::Generic => offsets.in_shared_window(map),
                _ => offsets,
            };
            surveyed.add_banks(traced.pc, traced.operation, &offsets, cost);
        }
        costs
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

/// Sets `lanes` to the lanes of an access, and loads their values into `rows`. If the addresses are
/// unknown, nothing is loaded.
#[inline]
pub(super) fn execute<M: LoadMemory>(
    traced: &MemoryRecord<'_>,
    memory: &M,
    lanes: &mut LaneAddresses,
    rows: &mut [LaneValues],
) -> Loaded {
    let op = traced.operation().load_op();
    lanes.executing = traced.mask & traced.guard.unwrap_or(LaneMask::ALL);
    traced.read_addresses(&mut lanes.addresses);
    lanes.plg = traced.plg;
    if !traced.has_addresses() {
        return Loaded { first_space: op.space.only(), ..Loaded::default() };
    }
    load(op, lanes, memory, Misaligned::Report, rows)
}

/// Returns the executing lanes that are not outside; none if the addresses are unknown.
#[inline]
pub(super) fn served(traced: &MemoryRecord<'_>, executing: LaneMask, loaded: &Loaded) -> LaneMask {
    if !traced.has_addresses() {
        return LaneMask::NONE;
    }
    let mut served = executing;
    for fault in &loaded.faults {
        if fault.kind() != LaneFaultKind::MisalignedAddress {
            served = served & !LaneMask::from_bits(1 << fault.lane);
        }
    }
    served
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn vectors_digest_as_the_portable_loop_does(
            row in any::<LaneValues>(),
            place: u64,
            executing in prop_oneof![Just(u32::MAX), any::<u32>()],
        ) {
            let executing = LaneMask::from_bits(executing);
            // docs/traces.md: one term for each lane.
            let expected = executing.lanes().fold(0u64, |sum, lane| {
                let place = place.wrapping_add((lane as u64) << 8);
                sum.wrapping_add(mix(mix(place).wrapping_add(row[lane].into())))
            });
            prop_assert_eq!(digest(&row, place, executing), expected);
            prop_assert_eq!(vectorized!(digest(&row, place, executing)), expected);
        }
    }
}
