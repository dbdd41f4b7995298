//! [`Worker`]: replays a block, load by load: executes, digests, checks and counts.

use super::statistics::{
    KEPT, KernelCounts, LaneFaultCounts, LoadCounts, PcCounter, Traffic, TrafficCounter,
};
use crate::lane::{LANES, LaneMask, LaneValues};
use crate::load::{LaneAddresses, LaneFault, LoadOp, Loaded, load};
use crate::machine::Misaligned;
use crate::memory::{AddressMap, AddressSpace, GenericAddress, LoadMemory, mix};
use crate::trace::binary::{Block, TraceError, TracedLoad};
use crate::trace::operation::Operation;

/// A lane fault with its place in the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FaultAt {
    pub(super) record: u64,
    pub(super) kernel: u32,
    pub(super) pc: u32,
    pub(super) fault: LaneFault,
}

/// A value that differs from the expected one, with its place in the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MismatchAt {
    pub(super) record: u64,
    pub(super) kernel: u32,
    pub(super) pc: u32,
    pub(super) lane: usize,
    pub(super) register: usize,
    pub(super) expected: u32,
    pub(super) got: u32,
}

/// What was found in one block.
#[derive(Default)]
pub(super) struct Found {
    pub(super) counts: KernelCounts,
    pub(super) digest: u64,
    pub(super) faults: Vec<FaultAt>,
    pub(super) mismatches: Vec<MismatchAt>,
}

/// Replays some loads of a block.
pub(super) struct Worker<'b, 't> {
    block: &'b Block<'t>,
    /// Whether values are known and wanted.
    has_data: bool,
    traffic: TrafficCounter,
    per_pc: PcCounter,
    /// The registers that loads fill.
    values: [LaneValues; 4],
    pub(super) found: Found,
}

impl<'b, 't> Worker<'b, 't> {
    pub(super) fn new(block: &'b Block<'t>, has_data: bool) -> Self {
        Self {
            block,
            has_data,
            traffic: TrafficCounter::default(),
            per_pc: PcCounter::default(),
            values: [[0; LANES]; 4],
            found: Found::default(),
        }
    }

    pub(super) fn loads<M: LoadMemory>(
        &mut self,
        part: std::ops::Range<usize>,
        memory: &M,
    ) -> Result<(), TraceError> {
        self.pass(&part)?;
        for i in part {
            let traced = self.block.load(i)?;
            self.load(&traced, memory);
        }
        let traffic = std::mem::take(&mut self.traffic);
        self.found.counts.footprint = traffic.footprint();
        self.found.counts.per_pc = std::mem::take(&mut self.per_pc).finish();
        Ok(())
    }

    /// Counts the instructions of a part: from its first load, or from the start of the block if it
    /// has the first, to the load after it, or to the end of the block.
    fn pass(&mut self, part: &std::ops::Range<usize>) -> Result<(), TraceError> {
        let raw = self.block.raw();
        let before = |load: &TracedLoad<'_>| (load.index, load.stores, load.atomics);
        let from = if part.start == 0 { (0, 0, 0) } else { before(&self.block.load(part.start)?) };
        let to = if part.end == raw.loads as usize {
            (raw.records, raw.stores, raw.atomics)
        } else {
            before(&self.block.load(part.end)?)
        };
        // Blocks whose records do not ascend are refused when they are read.
        let passed = |to: u32, from: u32| u64::from(to.saturating_sub(from));
        self.found.counts.passed(passed(to.0, from.0), passed(to.1, from.1), passed(to.2, from.2));
        for one in self.block.not_replayed() {
            if (from.0..to.0).contains(&one.index) {
                self.found.counts.not_replayed(one.name, one.lanes);
            }
        }
        Ok(())
    }

    #[inline]
    fn load<M: LoadMemory>(&mut self, traced: &TracedLoad<'_>, memory: &M) {
        let operation = traced.operation();
        let op = operation.load_op();
        let lanes = lane_addresses(operation, traced, memory.map());
        let loaded = load(op, &lanes, memory, Misaligned::Report, &mut self.values);
        let record = self.block.raw().first_record + u64::from(traced.index);
        if self.has_data {
            self.digest(record, op, lanes.executing);
            self.check(record, traced, op, lanes.executing);
        }
        self.count(record, traced, op, &lanes, &loaded);
    }

    #[inline]
    fn digest(&mut self, record: u64, op: LoadOp, executing: LaneMask) {
        for (i, row) in (0u64..).zip(&self.values).take(op.registers() as usize) {
            for lane in executing.lanes() {
                let place = (record << 13).wrapping_add((lane as u64) << 8).wrapping_add(i);
                let term = mix(mix(place).wrapping_add(u64::from(row[lane])));
                self.found.digest = self.found.digest.wrapping_add(term);
            }
        }
    }

    /// Compares the values with the expected ones, if the trace has them. Lanes whose guard is false
    /// keep their previous values, which are unknown.
    fn check(&mut self, record: u64, traced: &TracedLoad<'_>, op: LoadOp, executing: LaneMask) {
        let mut is_checked = false;
        let mut is_equal = true;
        for (register, row) in self.values.iter().enumerate().take(op.registers() as usize) {
            let Some(expected) = traced.expected(register) else { return };
            is_checked = true;
            for (lane, expected) in traced.mask.lanes().zip(expected) {
                let got = row[lane];
                if got == expected || !executing.contains(lane) {
                    continue;
                }
                is_equal = false;
                if self.found.mismatches.len() < KEPT {
                    let (kernel, pc) = (self.block.raw().kernel, traced.pc);
                    self.found.mismatches.push(MismatchAt {
                        record,
                        kernel,
                        pc,
                        lane,
                        register,
                        expected,
                        got,
                    });
                }
            }
        }
        self.found.counts.checked += u64::from(is_checked);
        self.found.counts.mismatches += u64::from(is_checked && !is_equal);
    }

    #[inline]
    fn count(
        &mut self,
        record: u64,
        traced: &TracedLoad<'_>,
        op: LoadOp,
        lanes: &LaneAddresses,
        loaded: &Loaded,
    ) {
        let mut lane_faults = LaneFaultCounts::default();
        for fault in &loaded.faults {
            lane_faults[fault.kind()] += 1;
            if self.found.faults.len() < KEPT {
                let (kernel, pc) = (self.block.raw().kernel, traced.pc);
                self.found.faults.push(FaultAt { record, kernel, pc, fault: *fault });
            }
        }
        let traffic = self.traffic(op, lanes, loaded);
        let has_lanes = !lanes.executing.is_empty();
        let counts = LoadCounts {
            pc: traced.pc,
            operation: traced.operation,
            lanes: u64::from(lanes.executing.count()),
            space: loaded.first_space,
            traffic,
            lane_faults,
            width_disagrees: traced.width_disagrees,
            broadcast: (op.uniform && has_lanes).then_some(loaded.is_broadcast),
        };
        self.found.counts.load(traced.operation(), &counts);
        self.per_pc.load(&counts);
    }

    #[inline]
    fn traffic(&mut self, op: LoadOp, lanes: &LaneAddresses, loaded: &Loaded) -> Traffic {
        let global = loaded.global;
        if global.is_empty() {
            return Traffic::default();
        }
        if loaded.is_consecutive {
            return self.traffic.run(lanes.addresses[0], op.width.bytes());
        }
        let mut rounded = [0; LANES];
        let mut count = 0;
        for lane in global.lanes() {
            rounded[count] = GenericAddress(lanes.addresses[lane]).align_down(op.width).0;
            count += 1;
        }
        self.traffic.load(&mut rounded[..count], op.width.bytes())
    }
}

/// Returns executing lanes, Plg and addresses. If the record has no Plg, the windows decide it.
#[inline]
pub(super) fn lane_addresses(
    operation: &Operation,
    traced: &TracedLoad<'_>,
    map: &AddressMap,
) -> LaneAddresses {
    let executing = traced.mask & traced.guard.unwrap_or(LaneMask::ALL);
    let addresses = traced.addresses();
    let plg = match (operation.space, traced.plg) {
        (_, Some(plg)) => plg,
        (AddressSpace::Generic, None) => compiled_plg(&addresses, map),
        _ => LaneMask::ALL,
    };
    LaneAddresses { executing, plg, addresses }
}

/// Returns Plg as the compiled `LEA` forms it: true if the address is not in the shared window.
fn compiled_plg(addresses: &[u64; LANES], map: &AddressMap) -> LaneMask {
    LaneMask::from_fn(|lane| map.shared().offset_of(GenericAddress(addresses[lane])).is_none())
}
