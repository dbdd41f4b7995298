//! [`Worker`]: replays a block instruction by instruction. It executes, digests, checks and counts.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::costs::SpaceCosts;
use crate::counters::{
    Counter, FaultCounts, FirstFault, PcCounts, Spread, TmaCounts, TrafficCounts,
};
use crate::footprint::LineCollector;
use crate::options::{ReplayData, ReplayOptions};
use crate::statistics::{KEPT, KernelCounts};
use crate::summary::{Hex, LoadFault, ValueMismatch};
use crate::traffic::Traffic;
use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::load::{LaneAddresses, LaneFaultKind, LoadOp, Loaded, load};
use warpload::machine::Misaligned;
use warpload::memory::{
    AddressSpace, GenericAddress, LoadMemory, Space, WarpAddresses, Width, Window, mix,
};
use warpload::simd::vectorized;
use warpload_trace::binary::{BlockBuffers, MemoryRecord, TraceBlock, TraceError};
use warpload_trace::{MemoryOperation, OperationKind};

/// The results for some of the blocks. The size depends on these blocks' kernels, not on all kernels.
pub(super) struct WorkerCounts {
    pub(super) kernels: BTreeMap<u32, KernelCounts>,
    pub(super) digest: u64,
    pub(super) faults: Vec<LoadFault>,
    pub(super) mismatches: Vec<ValueMismatch>,
    /// The lines that loads of the current kernel touch. One collector serves block after block, because a loop touches
    /// the same lines in many.
    lines: LineCollector,
    kernel: Option<u32>,
    /// Buffers for the next block.
    pub(super) buffers: BlockBuffers,
}

impl WorkerCounts {
    pub(super) fn new() -> Self {
        Self {
            kernels: BTreeMap::new(),
            digest: 0,
            faults: Vec::new(),
            mismatches: Vec::new(),
            lines: LineCollector::default(),
            kernel: None,
            buffers: BlockBuffers::default(),
        }
    }

    /// Starts a block of a kernel.
    pub(super) fn begin_kernel(&mut self, kernel: u32) {
        if self.kernel != Some(kernel) {
            self.end_kernel();
            self.kernel = Some(kernel);
        }
    }

    /// Adds the lines of the current kernel to its footprint.
    pub(super) fn end_kernel(&mut self) {
        if let Some(kernel) = self.kernel.take() {
            let lines = self.lines.take();
            self.kernels.entry(kernel).or_default().footprint.add(lines);
        }
    }
}

/// Replays some memory instructions of a block.
pub(super) struct Worker<'b, 't> {
    block: &'b TraceBlock<'t>,
    /// The name of the block's kernel.
    kernel: &'b Arc<str>,
    options: &'b ReplayOptions<'b>,
    per_pc: FxHashMap<(u32, u16), PcCounts>,
    /// The lanes of the current instruction.
    lanes: LaneAddresses,
    /// The loaded registers.
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

    /// Replays a part of the memory instructions. Returns the counts of the kernel and adds everything else to `found`.
    pub(super) fn records<M: LoadMemory>(
        mut self,
        part: Range<usize>,
        memory: &M,
    ) -> Result<KernelCounts, TraceError> {
        self.pass(&part)?;
        for i in part {
            let traced = self.block.record(i)?;
            let operation = traced.operation();
            match operation.kind {
                OperationKind::Load | OperationKind::Store | OperationKind::Atomic => {
                    self.access(&traced, operation, memory)
                }
                OperationKind::Copy => self.copy(&traced, operation, memory),
                _ => self.other(&traced),
            }
        }
        let Self { mut counts, per_pc, .. } = self;
        counts.per_pc = per_pc.into_iter().collect();
        counts.per_pc.sort_unstable_by_key(|(key, _)| *key);
        Ok(counts)
    }

    /// Counts all instructions of a part, and as skipped the ones without a record. Instructions without a record
    /// belong to the part with the previous record; before the block's first record, to the first part.
    fn pass(&mut self, part: &Range<usize>) -> Result<(), TraceError> {
        let raw = self.block.raw();
        let from = if part.start == 0 { 0 } else { self.block.record(part.start)?.index };
        let to = if part.end == raw.memory_records as usize {
            raw.records
        } else {
            self.block.record(part.end)?.index
        };
        // Records ascend.
        let counts = &mut self.counts.counts;
        counts.records = u64::from(to.saturating_sub(from));
        counts.skipped.other = counts.records - part.len() as u64;
        Ok(())
    }

    /// Counts an instruction that is not a load, store, atomic or copy.
    fn other(&mut self, traced: &MemoryRecord<'_>) {
        let counts = &mut self.counts.counts;
        counts.skipped.other += 1;
        match traced.operation().kind {
            OperationKind::Transfer => {
                let (addresses, bytes) = traced.transfer().unwrap_or_default();
                counts.tma.add(&Some(TmaCounts { records: 1, addresses, bytes }));
            }
            _ => *self.counts.others.entry(traced.operation).or_default() += 1,
        }
    }

    /// Counts a record of a copy from global to shared memory. Only its addresses reveal the side, because the opcode
    /// is the same.
    fn copy<M: LoadMemory>(
        &mut self,
        traced: &MemoryRecord<'_>,
        operation: &MemoryOperation,
        memory: &M,
    ) {
        let executing = set_lanes(traced, &mut self.lanes);
        self.counts.counts.skipped.other += 1;
        let has_addresses = !executing.is_empty() && traced.has_addresses();
        let offsets =
            has_addresses.then(|| shared_offsets(&self.lanes, memory.map().shared())).flatten();
        let side = if offsets.is_some() { Space::Shared } else { Space::Global };
        if let Some(selection) = self.options.get_selection()
            && !selection.has(self.block.raw().kernel, traced, has_addresses.then_some(side))
        {
            return;
        }
        let counts = &mut self.counts.counts;
        let copies = counts.ldgsts.get_or_insert_default();
        copies.records += 1;
        let lanes = u64::from(executing.count());
        copies.lanes += lanes;
        if !has_addresses {
            return;
        }
        let width = operation.width;
        let row = self.per_pc.entry((traced.pc, traced.operation)).or_default();
        if let Some(offsets) = offsets {
            let op = LoadOp { space: AddressSpace::Shared, ..operation.load_op() };
            self.lanes.addresses = offsets;
            let (lanes, rules) = (&self.lanes, self.options.get_shared_rules());
            let loaded = load(op, lanes, memory, Misaligned::Report, &mut []);
            let served = served(traced, executing, &loaded);
            let costs = SpaceCosts::new(rules, op, served, &lanes.addresses, memory.map());
            copies.count_shared(costs.shared.unwrap_or_default());
            if let Some(cost) = costs.shared {
                row.shared.get_or_insert_default().count(cost, &costs.bank_words, false);
            }
            return;
        }
        let op = LoadOp { space: AddressSpace::Global, ..operation.load_op() };
        let loaded = load(op, &self.lanes, memory, Misaligned::Report, &mut []);
        let traffic = Traffic::of_lanes(&self.lanes.addresses, loaded.global, width, &mut ());
        copies.count_global(lanes * u64::from(width.bytes()), traffic);
        let record = self.block.raw().first_record + u64::from(traced.index);
        row.add(&pc_counts(record, lanes, traffic, &loaded));
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
        // Values are not used without data, and stores load none.
        let has_values = is_load && self.options.has_data() && has_public_values(operation);
        let rows = if has_values { &mut self.values[..] } else { &mut [] };
        let loaded = execute(traced, memory, &mut self.lanes, rows);
        let kernel = self.block.raw().kernel;
        if let Some(selection) = self.options.get_selection()
            && !selection.has(kernel, traced, loaded.first_space)
        {
            // The numbers of skipped instructions are the trace's, like that of all instructions.
            self.count_skipped(operation.kind);
            return;
        }
        let served = served(traced, self.lanes.executing, &loaded);
        if has_values && traced.has_addresses() {
            let record = self.block.raw().first_record + u64::from(traced.index);
            self.digest(record, operation);
            // Only an image has the program's data; a fill is made up.
            if let ReplayData::Image(_) = self.options.get_data() {
                // A matrix load's lanes receive elements of rows that other lanes address, so all executing lanes are
                // compared.
                let compared =
                    if operation.matrices.is_some() { self.lanes.executing } else { served };
                self.check(record, traced, compared);
            }
        }
        let spaces = SpaceCosts::new(
            self.options.get_shared_rules(),
            op,
            served & !loaded.global,
            &self.lanes.addresses,
            memory.map(),
        );
        let traffic = self.traffic(op, loaded.global, is_load);
        let one = self.count(traced, operation.kind, traffic, &loaded, &spaces);
        if is_load {
            self.count_load(traced, operation, &loaded, traffic, &one, &spaces);
        } else {
            self.count_skipped(operation.kind);
            self.count_store(operation.kind, op, &one);
        }
    }

    #[inline]
    fn digest(&mut self, record: u64, operation: &MemoryOperation) {
        for (i, row) in (0u64..).zip(&self.values).take(operation.registers() as usize) {
            let place = (record << 13).wrapping_add(i);
            let terms = vectorized!(digest(row, place, self.lanes.executing));
            self.found.digest = self.found.digest.wrapping_add(terms);
        }
    }

    /// Compares the lanes' values with the expected ones, if the trace has them. Lanes with a false guard keep their
    /// previous values, which are unknown.
    fn check(&mut self, record: u64, traced: &MemoryRecord<'_>, compared: LaneMask) {
        let counts = &mut self.counts.counts;
        let before = counts.mismatched_words;
        let registers = traced.operation().registers() as usize;
        for (register, row) in self.values.iter().enumerate().take(registers) {
            let Some(expected) = traced.values(register) else { return };
            for (lane, expected) in traced.mask.lanes().zip(expected) {
                if !compared.contains(lane) {
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

/// The sum of a term for each executing lane's value. `place` identifies the record and the register (docs/traces.md).
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
    /// Counts an access under its program counter. Returns its counts, without memories other than global.
    #[inline]
    fn count(
        &mut self,
        traced: &MemoryRecord<'_>,
        kind: OperationKind,
        traffic: Traffic,
        loaded: &Loaded,
        spaces: &SpaceCosts,
    ) -> PcCounts {
        let record = self.block.raw().first_record + u64::from(traced.index);
        let one = pc_counts(record, self.lanes.executing.count().into(), traffic, loaded);
        let row = self.per_pc.entry((traced.pc, traced.operation)).or_default();
        row.add(&one);
        let SpaceCosts { shared, local, constant, bank_words } = spaces;
        if let Some(cost) = *shared {
            let is_atomic = kind == OperationKind::Atomic;
            row.shared.get_or_insert_default().count(cost, bank_words, is_atomic);
        }
        if let Some(cost) = *local {
            row.local.get_or_insert_default().count(cost);
        }
        if let Some(cost) = *constant {
            row.constant.get_or_insert_default().count(cost);
        }
        one
    }

    #[inline(always)]
    fn count_load(
        &mut self,
        traced: &MemoryRecord<'_>,
        operation: &MemoryOperation,
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
        counts.bytes += one.lanes * u64::from(operation.bytes().unwrap_or(0));
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
        } else if operation.uniform && one.lanes > 0 {
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

    fn count_skipped(&mut self, kind: OperationKind) {
        let skipped = &mut self.counts.counts.skipped;
        match kind {
            OperationKind::Store => skipped.store += 1,
            OperationKind::Atomic => skipped.atomic += 1,
            _ => {}
        }
    }

    fn count_store(&mut self, kind: OperationKind, op: LoadOp, one: &PcCounts) {
        let counts = &mut self.counts.counts;
        let traffic = match kind {
            OperationKind::Store => &mut counts.stores,
            _ => &mut counts.atomics,
        };
        traffic.add(&Some(TrafficCounts {
            count: 1,
            lanes: one.lanes,
            bytes: one.lanes * u64::from(op.width.bytes()),
            sectors: one.sectors.sum,
            ideal_sectors: one.ideal_sectors,
        }));
    }

    /// The traffic of lanes in global memory. A load's lines are added to the footprint.
    #[inline]
    pub(super) fn traffic(&mut self, op: LoadOp, global: LaneMask, is_load: bool) -> Traffic {
        if global.is_empty() {
            return Traffic::default();
        }
        let (addresses, width) = (&self.lanes.addresses, op.width);
        if is_load {
            Traffic::of_lanes(addresses, global, width, &mut self.found.lines)
        } else {
            Traffic::of_lanes(addresses, global, width, &mut ())
        }
    }
}

/// Sets `lanes` to a record's lanes. Returns the executing ones.
#[inline]
fn set_lanes(traced: &MemoryRecord<'_>, lanes: &mut LaneAddresses) -> LaneMask {
    lanes.executing = traced.mask & traced.guard.unwrap_or(LaneMask::ALL);
    traced.read_addresses(&mut lanes.addresses);
    lanes.plg = traced.plg;
    lanes.executing
}

/// The lanes' offsets in shared memory; `None` if an address is neither an offset nor in the window.
fn shared_offsets(lanes: &LaneAddresses, window: Window) -> Option<WarpAddresses> {
    let mut offsets = [0; LANES];
    for lane in lanes.executing {
        let address = lanes.addresses.of(lane);
        offsets[lane] = if address < window.size {
            address
        } else {
            window.offset_of(GenericAddress(address))?
        };
    }
    Some(WarpAddresses::Each(offsets))
}

/// The counts of one access for its program counter, without memories other than global.
#[inline]
fn pc_counts(record: u64, lanes: u64, traffic: Traffic, loaded: &Loaded) -> PcCounts {
    let mut lane_faults = FaultCounts::default();
    for fault in &loaded.faults {
        lane_faults[fault.kind()] += 1;
    }
    PcCounts {
        loads: 1,
        lanes,
        sectors: Spread::of_one(traffic.sectors),
        ideal_sectors: traffic.ideal_sectors,
        lane_faults,
        first_fault: loaded.faults.iter().next().map(|fault| FirstFault::of(record, fault)),
        ..PcCounts::default()
    }
}

/// Whether values can be loaded. Excludes matrices with an unpublished distribution over the lanes.
#[inline]
pub(super) fn has_public_values(operation: &MemoryOperation) -> bool {
    operation.matrices.is_none() || operation.matrix_load().is_some()
}

/// Sets `lanes` to the lanes of an access and loads their values into `rows`, unless the addresses are unknown. Faults
/// of matrices belong to the lanes that provide row addresses.
#[inline]
pub(super) fn execute<M: LoadMemory>(
    traced: &MemoryRecord<'_>,
    memory: &M,
    lanes: &mut LaneAddresses,
    rows: &mut [LaneValues],
) -> Loaded {
    let operation = traced.operation();
    let op = operation.load_op();
    set_lanes(traced, lanes);
    if !traced.has_addresses() {
        return Loaded { first_space: op.space.only(), ..Loaded::default() };
    }
    if operation.matrices.is_some() {
        return execute_matrices(traced, memory, lanes, rows);
    }
    load(op, lanes, memory, Misaligned::Report, rows)
}

#[inline(never)]
fn execute_matrices<M: LoadMemory>(
    traced: &MemoryRecord<'_>,
    memory: &M,
    lanes: &LaneAddresses,
    rows: &mut [LaneValues],
) -> Loaded {
    let operation = traced.operation();
    let loaded = match operation.matrix_load() {
        Some(matrices) => matrices.load(lanes, memory, Misaligned::Report, rows),
        None => {
            let lanes = LaneAddresses { executing: accessing(traced, lanes.executing), ..*lanes };
            load(operation.load_op(), &lanes, memory, Misaligned::Report, &mut [])
        }
    };
    // The executing lanes may differ from the lanes that provide addresses.
    let first_space = loaded.first_space.or(operation.space.only());
    Loaded { first_space: first_space.filter(|_| !lanes.executing.is_empty()), ..loaded }
}

/// The executing lanes that access memory; for matrices, the lanes that provide row addresses.
#[inline]
fn accessing(traced: &MemoryRecord<'_>, executing: LaneMask) -> LaneMask {
    match traced.operation().matrices {
        None => executing,
        Some(matrices) => {
            executing & LaneMask::from_fn(|lane| lane < matrices.address_lanes() as usize)
        }
    }
}

/// The lanes that access memory within bounds; none if the addresses are unknown.
#[inline]
pub(super) fn served(traced: &MemoryRecord<'_>, executing: LaneMask, loaded: &Loaded) -> LaneMask {
    if !traced.has_addresses() {
        return LaneMask::NONE;
    }
    let mut served = accessing(traced, executing);
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
