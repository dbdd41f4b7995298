//! [`Survey`]: the data for the page's drawings, collected during the replay: heat maps, faulty loads, and the banks of
//! shared memory that each instruction uses.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, hash_map};
use std::ops::Range;
use std::sync::Arc;

use roaring::RoaringTreemap;
use rustc_hash::FxHashMap;

use crate::heat::{Cells, HeatMap, TimeAxis, TimeSlice};
use warpload::lane::{LANES, LaneMask};
use warpload::load::ByFaultKind;
use warpload_replay::{
    AccessCost, BANKS, ObservedAccess, ReplayError, ReplayObserver, ReplayOptions, Replayed,
    replay_observed,
};
use warpload_trace::binary::{BinaryTrace, RawBlock, TraceError};
use warpload_trace::{OperationKind, Shard};

/// The maximum number of faulty loads kept.
pub const MAX_FAULTY_LOADS: usize = 48;
/// The maximum number of kernels with heat maps.
pub const MAX_SURVEYED_KERNELS: usize = 6;

/// The maximum columns and rows of the heat map of the whole trace.
const WHOLE: (usize, usize) = (200, 128);
/// The maximum columns and rows of the heat map of a kernel.
const KERNEL: (usize, usize) = (160, 64);

/// Replays a trace like [`replay`](warpload_replay::replay), and collects the data for the page's drawings.
///
/// # Errors
/// Returns the errors of [`replay`](warpload_replay::replay).
pub fn survey<'a>(
    trace: &'a BinaryTrace,
    options: &ReplayOptions<'a>,
) -> Result<(Replayed<'a>, Survey), ReplayError> {
    let extent = Arc::new(Extent::new(trace, options)?);
    let (replayed, surveyed) =
        replay_observed(trace, options, || Surveyed::new(Arc::clone(&extent)))?;
    let survey = surveyed.finish(&replayed);
    Ok((replayed, survey))
}

/// The data for the page's drawings. They do not depend on the number of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The heat map of everything replayed.
    pub whole: HeatMap,
    /// The heat maps of the kernels that touch the most sectors, in launch order, each with the kernel's number; empty
    /// if the trace has a single kernel.
    pub kernels: Vec<(usize, HeatMap)>,
    /// The replayed instructions of each kernel.
    pub records: Vec<Range<u64>>,
    /// The first load with a lane fault of each kernel, program counter and operation, in the order
    /// of the trace; at most [`MAX_FAULTY_LOADS`].
    pub faulty: Vec<FaultyLoad>,
    /// The accesses of shared memory with the most bank conflicts, worst first; at most
    /// [`MAX_BANK_USES`](super::MAX_BANK_USES).
    pub banks: Vec<BankUse>,
}

/// A load with lane faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultyLoad {
    /// The instruction's index in the trace.
    pub record: u64,
    /// The kernel's number.
    pub kernel: usize,
    /// The program counter.
    pub pc: u32,
    /// The operation's number.
    pub operation: u16,
    /// The executing lanes.
    pub executing: LaneMask,
    /// The lanes with a fault of each kind.
    pub faults: ByFaultKind<LaneMask>,
    /// Each lane's address before rounding; meaningless for lanes that do not execute.
    pub addresses: [u64; LANES],
}

impl FaultyLoad {
    fn place(&self) -> (usize, u32, u16) {
        (self.kernel, self.pc, self.operation)
    }
}

/// The extent of a replay, known beforehand.
#[derive(Debug)]
struct Extent {
    whole: TimeAxis,
    /// The instructions, by kernel.
    records: Vec<Range<u64>>,
    memory_records: Vec<u64>,
}

impl Extent {
    fn new(trace: &BinaryTrace, options: &ReplayOptions<'_>) -> Result<Self, TraceError> {
        let shard = options.get_shard().unwrap_or(Shard::WHOLE);
        let kernels = trace.contents().kernels.len();
        let mut whole: Option<Range<u64>> = None;
        let mut records: Vec<Option<Range<u64>>> = vec![None; kernels];
        let mut memory_records = vec![0; kernels];
        for raw in trace.blocks() {
            let Some(part) = shard.of_block(raw, trace.memory_records()) else { continue };
            let more = part_records(trace, raw, &part)?;
            for range in [&mut whole, &mut records[raw.kernel as usize]] {
                let start = range.as_ref().map_or(more.start, |range| range.start);
                *range = Some(start..more.end);
            }
            memory_records[raw.kernel as usize] += part.len() as u64;
        }
        let whole = TimeAxis::new(whole.unwrap_or_default(), WHOLE.0);
        let records = records.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Self { whole, records, memory_records })
    }
}

/// Converts a range of a block's memory instructions to a range of instructions, including all others in between.
fn part_records(
    trace: &BinaryTrace,
    raw: &RawBlock,
    part: &Range<usize>,
) -> Result<Range<u64>, TraceError> {
    let all = raw.memory_records as usize;
    if part.start == 0 && part.end == all {
        return Ok(raw.first_record..raw.first_record + u64::from(raw.records));
    }
    let block = trace.block(raw)?;
    let record = |record: usize| Ok(raw.first_record + u64::from(block.record(record)?.index));
    let start = if part.start == 0 { raw.first_record } else { record(part.start)? };
    let end =
        if part.end == all { raw.first_record + u64::from(raw.records) } else { record(part.end)? };
    Ok(start..end)
}

/// The results for some of the blocks. Bounded for any number of loads and kernels, as long as the blocks of each
/// kernel are consecutive.
#[derive(Debug)]
struct Surveyed {
    extent: Arc<Extent>,
    /// The sectors of the instructions in `current`. A slice ends where a column of either map ends, so it belongs to
    /// one column of each. `column` is the one in the kernel's map.
    slice: TimeSlice,
    current: Range<u64>,
    kernel: usize,
    column: usize,
    /// The earlier slices in the same column of the whole map, added up here first, because many kernels can share a
    /// column.
    whole_slice: TimeSlice,
    whole_current: Range<u64>,
    whole_column: usize,
    whole: Cells,
    /// The current kernel, and kernels with records still missing.
    open: BTreeMap<usize, OpenKernel>,
    /// Of the complete kernels, the ones that touch the most sectors.
    busiest: Vec<(usize, KernelCells)>,
    /// Of the complete kernels, the worst accesses of shared memory.
    banks: Vec<BankUse>,
    faulty: Vec<FaultyLoad>,
}

#[derive(Debug, Default)]
struct OpenKernel {
    /// The memory instructions so far.
    records: u64,
    banks: KernelBanks,
    /// `None` if the trace has a single kernel, because the whole's map shows it.
    cells: Option<KernelCells>,
}

#[derive(Debug)]
struct KernelCells {
    time: TimeAxis,
    cells: Cells,
    sectors: u64,
}

impl Surveyed {
    fn new(extent: Arc<Extent>) -> Self {
        Self {
            slice: TimeSlice::new(),
            current: 0..0,
            kernel: 0,
            column: 0,
            whole_slice: TimeSlice::new(),
            whole_current: 0..0,
            whole_column: 0,
            whole: Cells::new(extent.whole.columns),
            open: BTreeMap::new(),
            busiest: Vec::new(),
            banks: Vec::new(),
            faulty: Vec::new(),
            extent,
        }
    }

    /// Prepares the slice for an instruction of the current kernel.
    #[inline]
    fn prepare(&mut self, record: u64) {
        if !self.current.contains(&record) || self.slice.is_full() {
            self.next_slice(record);
        }
    }

    fn next_slice(&mut self, record: u64) {
        self.end_slice();
        if !self.whole_current.contains(&record) || self.whole_slice.is_full() {
            self.end_whole_slice();
            let (column, end) = self.extent.whole.column(record).unwrap_or_default();
            self.whole_column = column;
            self.whole_current = record..end;
        }
        self.current = record..self.whole_current.end;
        let mut level = self.whole_slice.level();
        if let Some(own) = self.open.get(&self.kernel).and_then(|own| own.cells.as_ref()) {
            let (column, end) = own.time.column(record).unwrap_or_default();
            self.column = column;
            self.current.end = self.current.end.min(end);
            level = level.min(own.cells.level());
        }
        self.slice.restart(level);
    }

    /// Adds the slice to the maps.
    fn end_slice(&mut self) {
        if let Some(own) = self.open.get_mut(&self.kernel).and_then(|own| own.cells.as_mut()) {
            own.cells.add_slice(self.column, &self.slice);
            own.sectors += self.slice.sectors();
        }
        self.whole_slice.add(&self.slice);
        self.slice.restart(0);
        self.current = 0..0;
    }

    fn end_whole_slice(&mut self) {
        self.whole.add_slice(self.whole_column, &self.whole_slice);
        self.whole_slice.restart(self.whole.level());
        self.whole_current = 0..0;
    }

    /// Ends the current kernel.
    fn end_kernel(&mut self) {
        self.end_slice();
        self.close(self.kernel);
        self.keep_busiest();
    }

    /// Moves a kernel out of `open` once all of its records were seen.
    fn close(&mut self, kernel: usize) {
        let all = self.extent.memory_records.get(kernel).copied();
        if let Entry::Occupied(own) = self.open.entry(kernel)
            && Some(own.get().records) == all
        {
            let own = own.remove();
            self.busiest.extend(own.cells.map(|cells| (kernel, cells)));
            self.banks.extend(own.banks.into_conflicts(kernel));
        }
    }

    /// Keeps only the busiest kernels and the worst accesses, up to their limits.
    fn keep_busiest(&mut self) {
        keep_worst(&mut self.banks);
        if self.busiest.len() > MAX_SURVEYED_KERNELS {
            self.busiest.sort_by_key(|(kernel, own)| (std::cmp::Reverse(own.sectors), *kernel));
            self.busiest.truncate(MAX_SURVEYED_KERNELS);
        }
    }

    /// Adds a load with lane faults, if it is the first at its place and there is room.
    fn add_faulty(&mut self, faulty: FaultyLoad) {
        let same = |known: &FaultyLoad| known.place() == faulty.place();
        if self.faulty.len() < MAX_FAULTY_LOADS && !self.faulty.iter().any(same) {
            self.faulty.push(faulty);
        }
    }

    /// The survey of a whole replay.
    fn finish(mut self, replayed: &Replayed<'_>) -> Survey {
        self.end_kernel();
        self.end_whole_slice();
        self.whole.settle();
        let pages = (0..self.extent.records.len()).flat_map(|kernel| replayed.pages(kernel));
        let pages: RoaringTreemap = pages.collect();
        self.busiest.sort_unstable_by_key(|(kernel, _)| *kernel);
        let of_kernel = |(kernel, mut own): (usize, KernelCells)| {
            own.cells.settle();
            let pages = replayed.pages(kernel).collect();
            (kernel, HeatMap::new(&own.time, &own.cells, &pages, KERNEL.1))
        };
        Survey {
            whole: HeatMap::new(&self.extent.whole, &self.whole, &pages, WHOLE.1),
            kernels: self.busiest.into_iter().map(of_kernel).collect(),
            records: self.extent.records.clone(),
            faulty: self.faulty,
            banks: self.banks,
        }
    }
}

impl ReplayObserver for Surveyed {
    fn begin(&mut self, block: &RawBlock, records: usize) {
        if records == 0 {
            return;
        }
        let kernel = block.kernel as usize;
        if self.kernel != kernel {
            self.end_kernel();
            self.kernel = kernel;
        }
        let own = self.open.entry(kernel).or_insert_with(|| {
            let cells = (self.extent.records.len() > 1).then(|| {
                let time = TimeAxis::new(self.extent.records[kernel].clone(), KERNEL.0);
                KernelCells { cells: Cells::new(time.columns), time, sectors: 0 }
            });
            OpenKernel { cells, ..OpenKernel::default() }
        });
        own.records += records as u64;
    }

    fn access(&mut self, access: &ObservedAccess<'_>) {
        let ObservedAccess { record, traced, lanes, loaded, .. } = *access;
        if traced.operation().kind == OperationKind::Load {
            self.prepare(record);
            if !loaded.faults.is_empty() {
                self.add_faulty(FaultyLoad {
                    record,
                    kernel: self.kernel,
                    pc: traced.pc,
                    operation: traced.operation,
                    executing: lanes.executing,
                    faults: loaded.faults.by_kind(),
                    addresses: lanes.addresses.to_array(),
                });
            }
        }
        if let Some(cost) = access.shared
            && let Some(own) = self.open.get_mut(&self.kernel)
        {
            let uses = own.banks.of(traced.pc, traced.operation);
            uses.count(cost);
            access.add_bank_words(&mut uses.words);
        }
    }

    #[inline]
    fn sectors(&mut self, line: u64, sectors: u64) {
        self.slice.touch(line, sectors);
    }

    fn join(&mut self, mut later: Self) {
        for part in [&mut *self, &mut later] {
            part.end_kernel();
            part.end_whole_slice();
        }
        self.whole.add(later.whole);
        for (kernel, more) in later.open {
            match self.open.entry(kernel) {
                Entry::Vacant(place) => drop(place.insert(more)),
                Entry::Occupied(mut own) => own.get_mut().add(more),
            }
            self.close(kernel);
        }
        self.busiest.extend(later.busiest);
        self.banks.extend(later.banks);
        self.keep_busiest();
        // Correct, because the first few of all are among the first few of their parts.
        later.faulty.into_iter().for_each(|faulty| self.add_faulty(faulty));
    }
}

impl OpenKernel {
    /// Adds the results for other instructions of the kernel.
    fn add(&mut self, more: Self) {
        self.records += more.records;
        self.banks.add(more.banks);
        if let (Some(own), Some(more)) = (&mut self.cells, more.cells) {
            own.cells.add(more.cells);
            own.sectors += more.sectors;
        }
    }
}

/// The maximum number of instructions with bank uses.
pub const MAX_BANK_USES: usize = 16;

/// The accesses of shared memory by one instruction of a kernel, and the banks that they use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankUse {
    /// The kernel's number.
    pub kernel: usize,
    /// The program counter.
    pub pc: u32,
    /// The operation's number: of a load, a store, an atomic or a copy.
    pub operation: u16,
    /// Accesses with a lane in shared memory. Excludes atomics with lanes that share a word, because their cost is
    /// unknown.
    pub accesses: u64,
    /// Their wavefronts.
    pub wavefronts: u64,
    /// The fewest wavefronts that hold the words of each access, added up.
    pub ideal_wavefronts: u64,
    /// Bank conflicts: wavefronts beyond the first of each group of lanes.
    pub conflicts: u64,
    /// The number of wavefronts in which each bank serves a word.
    pub words: [u64; BANKS],
}

impl BankUse {
    fn place(&self) -> (usize, u32, u16) {
        (self.kernel, self.pc, self.operation)
    }

    fn count(&mut self, AccessCost { amount, ideal, conflicts, .. }: AccessCost) {
        self.accesses += 1;
        self.wavefronts += amount;
        self.ideal_wavefronts += ideal;
        self.conflicts += conflicts;
    }

    fn add(&mut self, other: &Self) {
        self.accesses += other.accesses;
        self.wavefronts += other.wavefronts;
        self.ideal_wavefronts += other.ideal_wavefronts;
        self.conflicts += other.conflicts;
        for (words, more) in self.words.iter_mut().zip(&other.words) {
            *words += more;
        }
    }
}

/// The accesses of shared memory of one kernel, or of a part of one, by program counter and operation.
#[derive(Debug, Default)]
struct KernelBanks(FxHashMap<(u32, u16), BankUse>);

impl KernelBanks {
    fn of(&mut self, pc: u32, operation: u16) -> &mut BankUse {
        self.0.entry((pc, operation)).or_insert(BankUse {
            kernel: 0,
            pc,
            operation,
            accesses: 0,
            wavefronts: 0,
            ideal_wavefronts: 0,
            conflicts: 0,
            words: [0; BANKS],
        })
    }

    /// Adds the accesses of another part.
    fn add(&mut self, other: Self) {
        for (key, uses) in other.0 {
            match self.0.entry(key) {
                hash_map::Entry::Vacant(place) => drop(place.insert(uses)),
                hash_map::Entry::Occupied(mut known) => known.get_mut().add(&uses),
            }
        }
    }

    /// The worst accesses with bank conflicts.
    fn into_conflicts(self, kernel: usize) -> Vec<BankUse> {
        let uses = self.0.into_values().map(|uses| BankUse { kernel, ..uses });
        let mut worst: Vec<BankUse> = uses.filter(|uses| uses.conflicts > 0).collect();
        keep_worst(&mut worst);
        worst
    }
}

/// Sorts by bank conflicts, most first, and keeps [`MAX_BANK_USES`].
fn keep_worst(uses: &mut Vec<BankUse>) {
    uses.sort_unstable_by_key(|uses| (Reverse(uses.conflicts), uses.place()));
    uses.truncate(MAX_BANK_USES);
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpload::memory::{Space, WarpAddresses, Width};
    use warpload_replay::{LoadCosts, SharedRules, shared_wavefronts};

    /// Counts accesses of 4 bytes, given their program counters and strides.
    fn counted(accesses: &[(u32, u64)]) -> KernelBanks {
        let mut banks = KernelBanks::default();
        for &(pc, stride) in accesses {
            let addresses = &WarpAddresses::Stride { base: 0, stride };
            let (width, lanes) = (Width::Bytes4, LaneMask::ALL);
            let uses = banks.of(pc, 0);
            uses.count(
                LoadCosts::of_access(Space::Shared, width, lanes, addresses).shared.unwrap(),
            );
            for wavefront in shared_wavefronts(SharedRules::default(), width, lanes, addresses) {
                for (words, served) in uses.words.iter_mut().zip(wavefront.banks) {
                    *words += u64::from(!served.is_empty());
                }
            }
        }
        banks
    }

    #[test]
    fn a_column_uses_one_bank() {
        let mut expected = [0; BANKS];
        expected[0] = 64;
        let uses = counted(&[(8, 128), (16, 4), (8, 128)]).into_conflicts(3);
        let [uses] = &uses[..] else { panic!("{uses:?}") };
        assert_eq!((uses.kernel, uses.pc, uses.accesses), (3, 8, 2));
        assert_eq!((uses.wavefronts, uses.ideal_wavefronts, uses.conflicts), (64, 2, 62));
        assert_eq!(uses.words, expected);
    }

    #[test]
    fn the_worst_are_kept_whatever_the_parts() {
        let accesses: Vec<(u32, u64)> =
            (0..400).map(|i| (i * 7 % 50, 1 << (2 + i * 7 % 50 % 6))).collect();
        let whole = counted(&accesses).into_conflicts(0);
        assert_eq!(whole.len(), MAX_BANK_USES);
        assert!(whole.is_sorted_by_key(|uses| (Reverse(uses.conflicts), uses.pc)));
        for cut in [1, 7, 200, 399] {
            let (first, last) = accesses.split_at(cut);
            let mut parts = counted(first);
            parts.add(counted(last));
            assert_eq!(parts.into_conflicts(0), whole);
        }
    }
}
