//! [`Worker`]: replays a block, load by load: executes, digests, checks and counts.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::statistics::{KEPT, KernelCounts, PcCounts, Traffic, TrafficCounter};
use super::summary::{Fault, FaultCounts, Hex, LdgstsCounts, Mismatch};
use super::survey::{FaultyLoad, Surveyed};
use crate::lane::{LANES, LaneMask, LaneValues};
use crate::load::{LaneAddresses, LoadOp, Loaded, load};
use crate::machine::Misaligned;
use crate::memory::{AddressMap, AddressSpace, Addresses, GenericAddress, LoadMemory, Space, mix};
use crate::simd::vectorized;
use crate::trace::binary::{Block, TraceError, TracedLoad};

/// What was found in some of the blocks. It grows with the kernels that these belong to, not with
/// all.
#[derive(Default)]
pub(super) struct Part {
    pub(super) kernels: BTreeMap<u32, KernelCounts>,
    pub(super) digest: u64,
    pub(super) faults: Vec<Fault>,
    pub(super) mismatches: Vec<Mismatch>,
    /// If a survey is wanted.
    pub(super) surveyed: Option<Surveyed>,
    traffic: TrafficCounter,
}

impl Part {
    pub(super) fn new(surveyed: Option<Surveyed>) -> Self {
        Self { surveyed, ..Self::default() }
    }
}

/// Replays some loads of a block.
pub(super) struct Worker<'b, 't> {
    block: &'b Block<'t>,
    /// The name of the block's kernel.
    kernel: &'b Arc<str>,
    /// Whether values are known and wanted.
    has_data: bool,
    per_pc: FxHashMap<(u32, u16), PcCounts>,
    /// Those of the load at hand.
    lanes: LaneAddresses,
    /// The registers that loads fill.
    values: [LaneValues; 4],
    counts: KernelCounts,
    found: &'b mut Part,
}

impl<'b, 't> Worker<'b, 't> {
    pub(super) fn new(
        block: &'b Block<'t>,
        kernel: &'b Arc<str>,
        has_data: bool,
        found: &'b mut Part,
    ) -> Self {
        Self {
            block,
            kernel,
            has_data,
            per_pc: FxHashMap::default(),
            lanes: LaneAddresses::NONE,
            values: [[0; LANES]; 4],
            counts: KernelCounts::default(),
            found,
        }
    }

    /// Replays a part of the loads. Returns the counts of the kernel; all else is found.
    pub(super) fn loads<M: LoadMemory>(
        mut self,
        part: Range<usize>,
        memory: &M,
    ) -> Result<KernelCounts, TraceError> {
        self.pass(&part)?;
        if let Some(surveyed) = &mut self.found.surveyed {
            surveyed.begin(self.block.raw().kernel as usize, part.len());
        }
        for i in part {
            let traced = self.block.load(i)?;
            self.load(&traced, memory);
        }
        let Self { mut counts, per_pc, found, .. } = self;
        counts.footprint = found.traffic.take_footprint();
        counts.per_pc = per_pc.into_iter().collect();
        Ok(counts)
    }

    /// Counts the instructions of a part: from its first load, or from the start of the block if it
    /// has the first, to the load after it, or to the end of the block.
    fn pass(&mut self, part: &Range<usize>) -> Result<(), TraceError> {
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
        let counts = &mut self.counts.counts;
        let skipped = &mut counts.skipped;
        counts.records = passed(to.0, from.0);
        skipped.store = passed(to.1, from.1);
        skipped.atomic = passed(to.2, from.2);
        skipped.other = counts.records - part.len() as u64 - skipped.store - skipped.atomic;
        for one in self.block.not_replayed() {
            if (from.0..to.0).contains(&one.index) {
                let one_more = LdgstsCounts { records: 1, lanes: u64::from(one.lanes) };
                self.counts.not_replayed.entry(one.name).or_default().add(one_more);
            }
        }
        Ok(())
    }

    #[inline]
    fn load<M: LoadMemory>(&mut self, traced: &TracedLoad<'_>, memory: &M) {
        let op = traced.operation().load_op();
        read_lanes(traced, memory.map(), &mut self.lanes);
        // Without data the values are not used.
        let rows = if self.has_data { &mut self.values[..] } else { &mut [] };
        let loaded = load(op, &self.lanes, memory, Misaligned::Report, rows);
        let record = self.block.raw().first_record + u64::from(traced.index);
        if self.has_data {
            self.digest(record, op);
            self.check(record, traced, op);
        }
        self.count(record, traced, op, &loaded);
    }

    #[inline]
    fn digest(&mut self, record: u64, op: LoadOp) {
        for (i, row) in (0u64..).zip(&self.values).take(op.registers() as usize) {
            let place = (record << 13).wrapping_add(i);
            let terms = vectorized!(digest(row, place, self.lanes.executing));
            self.found.digest = self.found.digest.wrapping_add(terms);
        }
    }

    /// Compares the values with the expected ones, if the trace has them. Lanes whose guard is false
    /// keep their previous values, which are unknown.
    fn check(&mut self, record: u64, traced: &TracedLoad<'_>, op: LoadOp) {
        let mut is_checked = false;
        let mut is_equal = true;
        for (register, row) in self.values.iter().enumerate().take(op.registers() as usize) {
            let Some(expected) = traced.expected(register) else { return };
            is_checked = true;
            for (lane, expected) in traced.mask.lanes().zip(expected) {
                let got = row[lane];
                if got == expected || !self.lanes.executing.contains(lane) {
                    continue;
                }
                is_equal = false;
                if self.found.mismatches.len() < KEPT {
                    self.found.mismatches.push(Mismatch {
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
        self.counts.counts.checked += u64::from(is_checked);
        self.counts.counts.mismatches += u64::from(is_checked && !is_equal);
    }

    #[inline]
    fn count(&mut self, record: u64, traced: &TracedLoad<'_>, op: LoadOp, loaded: &Loaded) {
        let mut lane_faults = FaultCounts::default();
        for fault in &loaded.faults {
            lane_faults[fault.kind()] += 1;
            if self.found.faults.len() < KEPT {
                self.found.faults.push(Fault {
                    record,
                    kernel: Arc::clone(self.kernel),
                    pc: Hex(traced.pc.into()),
                    lane: fault.lane,
                    kind: fault.kind().name().to_owned(),
                    address: Hex(fault.address.0),
                });
            }
        }
        if let Some(surveyed) = &mut self.found.surveyed {
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
        let traffic = self.traffic(op, loaded);
        let one = PcCounts {
            loads: 1,
            lanes: u64::from(self.lanes.executing.count()),
            sectors: traffic.sectors,
            fewest_sectors: traffic.sectors,
            most_sectors: traffic.sectors,
            ideal_sectors: traffic.ideal_sectors,
            lane_faults,
        };
        let key = (traced.pc, traced.operation);
        self.per_pc.entry(key).and_modify(|known| known.add(&one)).or_insert(one);
        let counts = &mut self.counts.counts;
        counts.loads += 1;
        counts.lanes += one.lanes;
        counts.bytes += one.lanes * u64::from(op.width.bytes());
        counts.sectors += traffic.sectors;
        counts.lines += traffic.lines;
        counts.ideal_sectors += traffic.ideal_sectors;
        counts.lane_faults.add(&lane_faults);
        counts.width_disagreements += u64::from(traced.width_disagrees);
        let by_space = &mut counts.by_space;
        *match loaded.first_space {
            Some(Space::Global) => &mut by_space.global,
            Some(Space::Local) => &mut by_space.local,
            Some(Space::Shared) => &mut by_space.shared,
            Some(Space::Constant) => &mut by_space.constant,
            None => &mut by_space.unresolved,
        } += 1;
        if op.uniform && one.lanes > 0 {
            counts.uniform.broadcast += u64::from(loaded.is_broadcast);
            counts.uniform.divergent += u64::from(!loaded.is_broadcast);
        }
    }

    #[inline]
    fn traffic(&mut self, op: LoadOp, loaded: &Loaded) -> Traffic {
        let (lanes, global) = (&self.lanes, loaded.global);
        let Part { traffic, surveyed, .. } = &mut *self.found;
        let mut slice = surveyed.as_mut().map(|surveyed| &mut surveyed.slice);
        if global.is_empty() {
            return Traffic::default();
        }
        if let (Addresses::Stride { stride, .. }, Some(range)) = (&lanes.addresses, global.range())
        {
            let (first, count) = (lanes.addresses.of(range.start), range.len() as u64);
            let slice = slice.as_deref_mut();
            if let Some(traffic) = traffic.stride(first, *stride, count, op.width, slice) {
                return traffic;
            }
        }
        traffic.each(&lanes.addresses, global, op.width, slice)
    }
}

/// Sets `lanes` to the executing lanes, Plg and addresses. If the record has no Plg, the windows
/// decide it.
#[inline]
fn read_lanes(traced: &TracedLoad<'_>, map: &AddressMap, lanes: &mut LaneAddresses) {
    lanes.executing = traced.mask & traced.guard.unwrap_or(LaneMask::ALL);
    traced.read_addresses(&mut lanes.addresses);
    lanes.plg = match (traced.operation().space, traced.plg) {
        (_, Some(plg)) => plg,
        (AddressSpace::Generic, None) => compiled_plg(&lanes.addresses, map),
        _ => LaneMask::ALL,
    };
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

/// Returns Plg as the compiled `LEA` forms it: true if the address is not in the shared window.
fn compiled_plg(addresses: &Addresses, map: &AddressMap) -> LaneMask {
    LaneMask::from_fn(|lane| map.shared().offset_of(GenericAddress(addresses.of(lane))).is_none())
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
