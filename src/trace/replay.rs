//! Replaying a binary trace: every load executed, counted, checked and digested, block by block
//! and in parallel.

use rayon::prelude::*;

use super::error::TraceError;
use super::format::{Kernel, RawBlock};
use super::operation::{Operation, TraceSpace};
use super::reader::{BinaryTrace, Block, TracedLoad};
use super::statistics::{
    FoundSpace, KEPT, KernelCounts, LoadCounts, PcCounter, Traffic, TrafficCounter,
};
use crate::lane::{LANES, LaneMask, LaneValues};
use crate::load::{FaultKind, LaneAddresses, LaneFault, LoadOp, Loaded, load};
use crate::machine::Misaligned;
use crate::memory::{
    AddressMap, AddressSpace, ConfigError, Fill, FilledMemory, GenericAddress, LoadMemory, Memory,
    Space, Window, mix,
};

/// The width of a generic address where nothing says otherwise: that of SM 6.x and later.
pub const DEFAULT_ADDRESS_BITS: u32 = 49;

/// Where a replay's data come from.
#[derive(Debug)]
pub enum Data<'m> {
    /// An image. Its own address map holds for all kernels.
    Image(&'m Memory),
    /// A rule; every address below 2^address_bits is allocated.
    Fill(Fill),
    /// Nowhere: everything but values is computed, and every address is allocated.
    Absent,
}

/// What a replay is asked to do.
#[derive(Debug)]
pub struct ReplayOptions<'m> {
    /// Where the data come from.
    pub data: Data<'m>,
    /// The width of a generic address; without an image.
    pub address_bits: u32,
    /// Where the shared window lies, whatever the trace says; without an image.
    pub shared_window: Option<Window>,
    /// Where the local window lies, whatever the trace says; without an image.
    pub local_window: Option<Window>,
    /// Which part of the loads to replay; all of them where left out.
    pub shard: Option<Shard>,
}

impl ReplayOptions<'_> {
    /// Tells replays apart that give different results: all shards of one have the same name.
    pub(super) fn name(&self, trace: &BinaryTrace) -> String {
        let trace = format!("trace {:08x}", trace.checksum());
        let data = match self.data {
            Data::Image(_) => return format!("{trace}, image"),
            Data::Fill(Fill::Address) => "fill address",
            Data::Fill(Fill::Zero) => "fill zero",
            Data::Absent => "no data",
        };
        let mut name = format!("{trace}, {data}, {} address bits", self.address_bits);
        for (space, window) in [("shared", self.shared_window), ("local", self.local_window)] {
            if let Some(Window { base, size }) = window {
                name += &format!(", {space} window {base:#x},{size:#x}");
            }
        }
        name
    }
}

/// One of several parts of a trace, cut at loads; the parts together are the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    /// The whole trace.
    pub(super) const WHOLE: Shard = Shard { index: 0, count: 1 };

    /// Part `index` (from 0) of `count`; nothing where there is no such part.
    pub fn new(index: u64, count: u64) -> Option<Self> {
        (index < count).then_some(Self { index, count })
    }

    /// The part's number, from 0.
    pub fn index(self) -> u64 {
        self.index
    }

    /// How many parts there are.
    pub fn count(self) -> u64 {
        self.count
    }

    /// The loads of the part, by their number in the trace.
    fn loads(self, all: u64) -> std::ops::Range<u64> {
        let border = |i: u64| (u128::from(all) * u128::from(i) / u128::from(self.count)) as u64;
        border(self.index)..border(self.index + 1)
    }

    /// The loads of a block that belong to the part, by their number in the block; nothing where
    /// the block does not concern it. A block without loads belongs to one part too.
    pub(super) fn of_block(self, block: &RawBlock, all: u64) -> Option<std::ops::Range<usize>> {
        let part = self.loads(all);
        let first = block.first_load;
        if block.loads == 0 {
            let is_last = self.index + 1 == self.count;
            let is_here = part.contains(&first) || (is_last && first == all);
            return is_here.then_some(0..0);
        }
        let start = part.start.max(first);
        let end = part.end.min(first + u64::from(block.loads));
        (start < end).then(|| (start - first) as usize..(end - first) as usize)
    }
}

/// Why a replay stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The trace is damaged or malformed.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A kernel's windows cannot be.
    #[error("kernel {index} ({name})")]
    Windows {
        /// The kernel's number, from 0.
        index: usize,
        /// Its name.
        name: String,
        /// What is wrong.
        source: ConfigError,
    },
}

/// A lane fault with its place in the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FaultAt {
    pub(super) record: u64,
    pub(super) kernel: u32,
    pub(super) pc: u32,
    pub(super) fault: LaneFault,
}

/// A value that is not the expected one, with its place in the trace.
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

/// What a replay found, of a whole trace or of a part.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// By kernel, in launch order.
    pub(super) kernels: Vec<KernelCounts>,
    /// Nothing where there were no data.
    pub(super) digest: Option<u64>,
    /// The first few, in the order of the trace.
    pub(super) faults: Vec<FaultAt>,
    pub(super) mismatches: Vec<MismatchAt>,
}

/// Replays a trace. The threads are those of the current rayon pool. `observe` is told how many
/// bytes of blocks were replayed.
///
/// # Errors
/// [`ReplayError`] where a block is damaged, or a kernel's windows cannot be.
pub fn replay(
    trace: &BinaryTrace,
    options: &ReplayOptions<'_>,
    observe: &(dyn Fn(u64) + Sync),
) -> Result<Replayed, ReplayError> {
    let kernels = &trace.contents().kernels;
    let maps = maps(kernels, options)?;
    let shard = options.shard.unwrap_or(Shard::WHOLE);
    let of_shard = |block: &RawBlock| Some((*block, shard.of_block(block, trace.loads())?));
    let blocks: Vec<_> = trace.blocks().iter().filter_map(of_shard).collect();
    let empty = || Replayed::empty(kernels.len(), options);
    let replayed: Result<Replayed, TraceError> = blocks
        .par_iter()
        .map(|(raw, part)| {
            let block = trace.block(raw)?;
            let mut worker = Worker::new(&block, options);
            let map = maps[raw.kernel as usize];
            match options.data {
                Data::Image(memory) => worker.loads(part.clone(), memory)?,
                Data::Fill(fill) => worker.loads(part.clone(), &FilledMemory { map, fill })?,
                Data::Absent => {
                    worker.loads(part.clone(), &FilledMemory { map, fill: Fill::Zero })?;
                }
            }
            observe(u64::from(raw.length));
            Ok((raw.kernel as usize, worker.found))
        })
        // Blocks are added in order within each thread's run, and runs in order: what is kept
        // in full stays sorted by record.
        .try_fold(empty, |mut sum, block: Result<_, TraceError>| {
            let (kernel, found) = block?;
            sum.add_block(kernel, found);
            Ok(sum)
        })
        .try_reduce(empty, |mut sum, other| {
            sum.add(other);
            Ok(sum)
        });
    Ok(replayed?)
}

/// Each kernel's address map.
pub(super) fn maps(
    kernels: &[Kernel],
    options: &ReplayOptions<'_>,
) -> Result<Vec<AddressMap>, ReplayError> {
    let map = |(index, kernel): (usize, &Kernel)| match options.data {
        Data::Image(memory) => Ok(*memory.map()),
        _ => {
            let at = |base: Option<u64>, default: Window| {
                base.map_or(default, |base| Window { base, ..default })
            };
            let shared = at(kernel.shared_base, Window::DEFAULT_SHARED);
            let local = at(kernel.local_base, Window::DEFAULT_LOCAL);
            AddressMap::new(
                options.address_bits,
                options.shared_window.unwrap_or(shared),
                options.local_window.unwrap_or(local),
            )
            .map_err(|source| ReplayError::Windows {
                index,
                name: kernel.name.clone(),
                source,
            })
        }
    };
    kernels.iter().enumerate().map(map).collect()
}

impl Replayed {
    /// The kernel's number, the program counter and the operation's number of each row of
    /// [`Summary::per_pc`](super::Summary::per_pc), in its order.
    pub fn program_counters(&self) -> impl Iterator<Item = (usize, u32, u16)> + '_ {
        self.kernels.iter().enumerate().flat_map(|(kernel, counts)| {
            counts.per_pc.keys().map(move |&(pc, operation)| (kernel, pc, operation))
        })
    }

    fn empty(kernels: usize, options: &ReplayOptions<'_>) -> Self {
        Self {
            kernels: vec![KernelCounts::default(); kernels],
            digest: (!matches!(options.data, Data::Absent)).then_some(0),
            faults: Vec::new(),
            mismatches: Vec::new(),
        }
    }

    fn add_block(&mut self, kernel: usize, found: Found) {
        self.kernels[kernel].add(&found.counts);
        self.add_kept(found.digest, found.faults, found.mismatches);
    }

    fn add(&mut self, other: Self) {
        for (kernel, counts) in self.kernels.iter_mut().zip(&other.kernels) {
            kernel.add(counts);
        }
        self.add_kept(other.digest.unwrap_or(0), other.faults, other.mismatches);
    }

    /// What `other` kept comes behind what was kept so far.
    fn add_kept(&mut self, digest: u64, faults: Vec<FaultAt>, mismatches: Vec<MismatchAt>) {
        self.digest = self.digest.map(|sum| sum.wrapping_add(digest));
        self.faults.extend(faults);
        self.faults.truncate(KEPT);
        self.mismatches.extend(mismatches);
        self.mismatches.truncate(KEPT);
    }
}

/// What one block gave.
#[derive(Default)]
struct Found {
    counts: KernelCounts,
    digest: u64,
    faults: Vec<FaultAt>,
    mismatches: Vec<MismatchAt>,
}

struct Worker<'b, 't> {
    block: &'b Block<'t>,
    /// Whether values are known and wanted.
    has_data: bool,
    traffic: TrafficCounter,
    per_pc: PcCounter,
    /// The registers that loads fill.
    values: [LaneValues; 4],
    found: Found,
}

impl<'b, 't> Worker<'b, 't> {
    fn new(block: &'b Block<'t>, options: &ReplayOptions<'_>) -> Self {
        Self {
            block,
            has_data: !matches!(options.data, Data::Absent),
            traffic: TrafficCounter::default(),
            per_pc: PcCounter::default(),
            values: [[0; LANES]; 4],
            found: Found::default(),
        }
    }

    fn loads<M: LoadMemory + MapOf>(
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

    /// Counts the instructions of a part: from its first load on, or from the block's beginning
    /// where that is in it, up to the load behind it, or to the block's end.
    fn pass(&mut self, part: &std::ops::Range<usize>) -> Result<(), TraceError> {
        let raw = self.block.raw();
        let in_front = |load: &TracedLoad<'_>| (load.index, load.stores, load.atomics);
        let from =
            if part.start == 0 { (0, 0, 0) } else { in_front(&self.block.load(part.start)?) };
        let to = if part.end == raw.loads as usize {
            (raw.records, raw.stores, raw.atomics)
        } else {
            in_front(&self.block.load(part.end)?)
        };
        // Blocks whose records do not ascend are refused when they are read.
        let passed = |to: u32, from: u32| u64::from(to.saturating_sub(from));
        self.found.counts.passed(passed(to.0, from.0), passed(to.1, from.1), passed(to.2, from.2));
        Ok(())
    }

    #[inline]
    fn load<M: LoadMemory + MapOf>(&mut self, traced: &TracedLoad<'_>, memory: &M) {
        let operation = self.block.operation(traced);
        let op = load_op(operation);
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

    /// Compares with the expected values, where the trace has them. Lanes whose guard is false
    /// keep what they had before, which nobody knows here.
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
        let mut lane_faults = [0; 3];
        for fault in &loaded.faults {
            lane_faults[fault_row(fault.kind)] += 1;
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
            space: found_space(loaded.first_space),
            traffic,
            lane_faults,
            width_disagrees: traced.width_disagrees,
            broadcast: (op.uniform && has_lanes).then_some(loaded.is_broadcast),
        };
        self.found.counts.load(self.block.operation(traced), &counts);
        self.per_pc.load(&counts);
    }

    #[inline]
    fn traffic(&mut self, op: LoadOp, lanes: &LaneAddresses, loaded: &Loaded) -> Traffic {
        let global = loaded.global;
        if global.is_empty() {
            return Traffic::default();
        }
        if loaded.is_consecutive {
            return self.traffic.run(lanes.addresses[0], op.bytes);
        }
        let mut rounded = [0; LANES];
        let mut count = 0;
        for lane in global.lanes() {
            rounded[count] = GenericAddress(lanes.addresses[lane]).align_down(op.bytes).0;
            count += 1;
        }
        self.traffic.load(&mut rounded[..count], op.bytes)
    }
}

pub(super) fn load_op(operation: &Operation) -> LoadOp {
    let space = match operation.space {
        TraceSpace::Generic => AddressSpace::Generic,
        TraceSpace::Global => AddressSpace::Global,
        TraceSpace::Local => AddressSpace::Local,
        TraceSpace::Shared => AddressSpace::Shared,
        // Traces do not name the bank.
        TraceSpace::Constant => AddressSpace::Constant { bank: 0 },
    };
    let Operation { bytes, signed, uniform, .. } = *operation;
    LoadOp { space, bytes, signed, uniform }
}

/// Who loads from where. Without a Plg in the record it is derived from the windows.
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
        (TraceSpace::Generic, None) => compiled_plg(&addresses, map),
        _ => LaneMask::ALL,
    };
    LaneAddresses { executing, plg, addresses }
}

/// Plg as the compiled `LEA` forms it: true where the address does not lie in the shared window.
fn compiled_plg(addresses: &[u64; LANES], map: &AddressMap) -> LaneMask {
    LaneMask::where_lane(|lane| map.shared().offset_of(GenericAddress(addresses[lane])).is_none())
}

fn found_space(space: Option<Space>) -> FoundSpace {
    match space {
        Some(Space::Global) => FoundSpace::Global,
        Some(Space::Local) => FoundSpace::Local,
        Some(Space::Shared) => FoundSpace::Shared,
        Some(Space::Constant) => FoundSpace::Constant,
        None => FoundSpace::Unresolved,
    }
}

/// A fault's row in the order of [`crate::vector::LANE_FAULTS`].
pub(super) fn fault_row(kind: FaultKind) -> usize {
    match kind {
        FaultKind::OutsideWindow(_) => 0,
        FaultKind::OutsideAllocation => 1,
        FaultKind::MisalignedAddress => 2,
    }
}

/// The address map of a memory.
trait MapOf {
    fn map(&self) -> &AddressMap;
}

impl MapOf for Memory {
    fn map(&self) -> &AddressMap {
        Memory::map(self)
    }
}

impl MapOf for FilledMemory {
    fn map(&self) -> &AddressMap {
        &self.map
    }
}
