//! [`Worker`]: replays a block instruction by instruction. It executes, digests, checks and counts.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::access::{Access, has_values};
use crate::counter::{AccessCounter, Executed};
use crate::counters::{Counter, TransferCounts};
use crate::launch_counts::{AccessKey, KEPT, LaunchCounts};
use crate::options::{ReplayData, ReplayOptions};
use crate::summary::{AccessFault, Hex, ValueMismatch};
use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::load::LaneAddresses;
use warpload::memory::{AddressMap, LoadMemory, Space, Width, mix};
use warpload::simd::vectorized;
use warpload_trace::binary::{BlockBuffers, MemoryRecord, TraceBlock, TraceError};
use warpload_trace::{MemoryOperation, OperationKind};

/// The results for some of the blocks. The size depends on these blocks' kernels, not on all kernels.
pub(super) struct WorkerCounts {
    pub(super) launches: BTreeMap<u32, LaunchCounts>,
    pub(super) digest: u64,
    pub(super) faults: Vec<AccessFault>,
    pub(super) mismatches: Vec<ValueMismatch>,
    /// The accesses of the current launch.
    counter: AccessCounter,
    kernel: Option<u32>,
    /// Buffers for the next block.
    pub(super) buffers: BlockBuffers,
}

impl WorkerCounts {
    pub(super) fn new() -> Self {
        Self {
            launches: BTreeMap::new(),
            digest: 0,
            faults: Vec::new(),
            mismatches: Vec::new(),
            counter: AccessCounter::default(),
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

    /// Moves the accesses of the current launch to its counts.
    pub(super) fn end_kernel(&mut self) {
        if let Some(kernel) = self.kernel.take() {
            self.counter.finish(self.launches.entry(kernel).or_default());
        }
    }
}

/// Replays some memory instructions of a block.
pub(super) struct Worker<'b, 't> {
    block: &'b TraceBlock<'t>,
    /// The name of the block's kernel.
    kernel: &'b Arc<str>,
    options: &'b ReplayOptions<'b>,
    /// The lanes of the current instruction.
    lanes: LaneAddresses,
    /// The loaded registers.
    values: [LaneValues; Width::MAX_REGISTERS],
    counts: LaunchCounts,
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
            lanes: LaneAddresses::NONE,
            values: [[0; LANES]; Width::MAX_REGISTERS],
            counts: LaunchCounts::default(),
            found,
        }
    }

    /// Replays a part of the memory instructions. Returns the counts of the kernel and adds everything else to `found`.
    pub(super) fn records<M: LoadMemory>(
        mut self,
        part: Range<usize>,
        memory: &M,
    ) -> Result<LaunchCounts, TraceError> {
        self.pass(&part)?;
        for i in part {
            let traced = self.block.record(i)?;
            self.replay(&traced, memory);
        }
        Ok(self.counts)
    }

    /// Counts all instructions of a part, and as others the ones without a record. Instructions without a record
    /// belong to the part with the previous record; before the block's first record, to the first part.
    fn pass(&mut self, part: &Range<usize>) -> Result<(), TraceError> {
        let raw = self.block.raw();
        let from = if part.start == 0 { 0 } else { self.block.record(part.start)?.index };
        let to = if part.end == raw.records as usize {
            raw.instructions
        } else {
            self.block.record(part.end)?.index
        };
        // Records ascend.
        let counts = &mut self.counts.counts;
        counts.instructions = u64::from(to.saturating_sub(from));
        counts.others = counts.instructions - part.len() as u64;
        Ok(())
    }

    /// Counts an instruction that is not a load, store, atomic or copy.
    fn other(&mut self, traced: &MemoryRecord<'_>) {
        let counts = &mut self.counts.counts;
        counts.others += 1;
        match traced.operation().kind {
            OperationKind::Transfer => {
                let (addresses, bytes) = traced.transfer().unwrap_or_default();
                counts.transfers.add(&TransferCounts { instructions: 1, addresses, bytes });
            }
            _ => *self.counts.others.entry(traced.operation).or_default() += 1,
        }
    }

    /// Whether an access with its first executing lane in `space` is counted; counts it as unselected if not.
    #[inline]
    fn is_selected(&mut self, traced: &MemoryRecord<'_>, space: Option<Space>) -> bool {
        let Some(selection) = self.options.selection else { return true };
        let is_selected = selection.has(self.block.raw().kernel, traced, space);
        self.counts.counts.unselected += u64::from(!is_selected);
        is_selected
    }

    /// Executes and counts an access; counts an instruction of another kind as such.
    #[inline]
    fn replay<M: LoadMemory>(&mut self, traced: &MemoryRecord<'_>, memory: &M) {
        let operation = traced.operation();
        let has_values = has_values(operation, self.options);
        let rows = if has_values { &mut self.values[..] } else { &mut [] };
        let Some(access) = Access::execute(traced, memory, &mut self.lanes, rows) else {
            return self.other(traced);
        };
        if !self.is_selected(traced, access.loaded.first_space) {
            return;
        }
        let served = self.count(traced, &access, memory.map());
        if has_values && traced.has_addresses() {
            let instruction = self.block.raw().first_instruction + u64::from(traced.index);
            self.digest(instruction, operation);
            // Only an image has the program's data; a fill is made up.
            if let ReplayData::Image(_) = self.options.data {
                // A matrix load's lanes receive elements of rows that other lanes address, so all executing lanes are
                // compared.
                let compared =
                    if operation.matrices.is_some() { self.lanes.executing } else { served };
                self.check(instruction, traced, compared);
            }
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
    fn check(&mut self, instruction: u64, traced: &MemoryRecord<'_>, compared: LaneMask) {
        let key = AccessKey { pc: traced.pc, operation: traced.operation, is_shared_side: false };
        let counts = &mut self.found.counter.row(key).values;
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
                        instruction,
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
    /// Counts an access in its row. Returns the lanes that access memory within bounds.
    #[inline]
    fn count(&mut self, traced: &MemoryRecord<'_>, access: &Access, map: &AddressMap) -> LaneMask {
        let rules = self.options.shared_rules;
        let executed = Executed::of(self.block, traced, access, &self.lanes, map, rules);
        let (instruction, loaded) = (executed.instruction, &access.loaded);
        let (served, row) = self.found.counter.count(&executed);
        row.width_disagreements += u64::from(traced.width_disagrees);
        row.values.accesses += u64::from(traced.is_valued);
        if !loaded.faults.is_empty() {
            let left = KEPT - self.found.faults.len();
            self.found.faults.extend(loaded.faults.iter().take(left).map(|fault| AccessFault {
                instruction,
                kernel: Arc::clone(self.kernel),
                pc: Hex(traced.pc.into()),
                lane: fault.lane,
                kind: fault.kind().name().to_owned(),
                address: Hex(fault.address.0),
            }));
        }
        served
    }
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
