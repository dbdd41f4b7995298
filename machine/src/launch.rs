//! [`run`]: executes the grid of a launch. [`LaunchOptions`]: its sizes, limits and checks. [`LaunchOutcome`]: the findings.

use std::collections::BTreeMap;

use crate::checks::Checks;
use crate::code::{Code, Site};
use crate::engine::{Engine, RawFault};
use crate::fault::{FaultKind, MachineFaultKind};
use crate::hang::PolledBytes;
use crate::log::FaultCount;
use crate::memory::{AllocationOffset, AllocationUse, DeviceMemory, NearestAllocation};
use crate::observer::{LaunchCounts, LaunchWatch, MemoryObserver};
use crate::registers::Origin;
use crate::tensor_load::WarpTensorMemory;
use warpload::lane::LaneMask;
use warpload::machine::Misaligned;

/// The default limit on warp instructions. It ends kernels that loop forever, within a minute or two.
const STEPS: u64 = 1 << 30;

/// The default size of the heap of `malloc`.
const HEAP: u64 = 8 << 20;

/// The default number of warp instructions between two comparisons of threads.
const BATCH: u64 = 1 << 20;

/// The default number of rounds of a launch that only polls.
const QUIET_ROUNDS: u64 = 1 << 10;

/// The sizes of a launch, its limits and its checks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LaunchOptions {
    /// The number of blocks along x, y and z.
    pub grid: [u32; 3],
    /// The number of threads in a block along x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block in bytes.
    pub shared_bytes: u64,
    /// The size of the heap of `malloc` in bytes, 8 MiB as CUDA's `cudaLimitMallocHeapSize`. Memory that earlier
    /// launches have not freed counts, too.
    pub heap_bytes: u64,
    /// The treatment of loads from misaligned addresses. GPUs fault. Other accesses always do.
    pub misaligned: Misaligned,
    /// The maximum number of warp instructions. Exceeding it is [`LaunchEnd::Steps`].
    pub steps: u64,
    /// The turns of each warp of the blocks on their way, 1,024, after which a launch that does nothing but poll memory is
    /// given up, if they take at least 4,194,304 warp instructions.
    pub quiet_rounds: u64,
    /// The checks beside faults of accesses.
    pub checks: Checks,
    /// The lanes of each warp that run threads; all by default.
    pub active: LaneMask,
    /// The only block to run, by its index; all blocks of the grid if it is `None`.
    pub only_block: Option<[u32; 3]>,
    /// The most blocks that have begun and not ended at the same time: 4,096 if it is `None`, or as many as 1 GiB of
    /// registers and local memory allows. A block begins if those before it wait for others.
    pub resident: Option<usize>,
    /// The number of threads that blocks run on; 0 for as many as there are cores. Results do not depend on it.
    pub threads: usize,
    /// The warp instructions that each thread executes before what it has written is compared with the others. Many,
    /// because what is written is copied each time.
    pub batch: u64,
    /// Tensor Memory at the start of every block. The warp's number in it is added to each warp's number in the block.
    /// If it is `None`, loads of Tensor Memory are skipped as unsupported.
    pub tensor: Option<WarpTensorMemory>,
}

impl LaunchOptions {
    /// Creates the options of `grid` blocks of `block` threads along x, y and z.
    #[must_use]
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self {
            grid,
            block,
            shared_bytes: 0,
            heap_bytes: HEAP,
            misaligned: Misaligned::Fault,
            steps: STEPS,
            quiet_rounds: QUIET_ROUNDS,
            checks: Checks::default(),
            active: LaneMask::ALL,
            only_block: None,
            resident: None,
            threads: 0,
            batch: BATCH,
            tensor: None,
        }
    }

    /// Returns the number of blocks to run: one with [`only_block`](Self::only_block), else all blocks of the grid.
    #[must_use]
    pub fn block_count(&self) -> u64 {
        let all = || self.grid.iter().fold(1_u64, |all, size| all.saturating_mul((*size).into()));
        if self.only_block.is_some() { 1 } else { all() }
    }
}

/// How a launch has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchEnd {
    /// All threads have ended.
    Done,
    /// A `trap` has ended it.
    Trapped,
    /// [`LaunchWatch::interrupt`] has ended it.
    Interrupted,
    /// It reached its limit on warp instructions, or was given up.
    Steps {
        /// The last warp instructions that did nothing but poll memory, if it was given up because of these.
        quiet: Option<u64>,
        /// The last backward jump of the blocks on their way, which is probably an endless loop; without a jump, the last
        /// instruction.
        last: Site,
        /// Whether it is a backward jump.
        is_jump: bool,
        /// The bytes that its loop reads until another thread changes them.
        polled: Option<PolledBytes<Site>>,
    },
}

/// The findings of a launch.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LaunchOutcome {
    /// How it has ended.
    pub end: LaunchEnd,
    /// The checks that were made, of those of the options: no races after 2^32 - 1 events that order accesses.
    pub checks: Checks,
    /// The instructions that were executed.
    pub counts: LaunchCounts,
    /// The first faults, in order of execution: at most 20 of each kind at each instruction and, after 10,000, only the
    /// first one.
    pub faults: Vec<MachineFault>,
    /// How many faults of each kind each instruction has, in the order of the first ones.
    pub fault_totals: Vec<FaultCount>,
    /// The total number of faults.
    pub fault_count: u64,
    /// The unsupported instructions that were reached, and how many times a warp reached each.
    pub skipped: BTreeMap<Site, u64>,
    /// The unknown bytes of allocations that the launch has written, in the order of their addresses.
    pub unknown: Vec<UnknownBytes<Origin>>,
    /// The text that `printf` has printed, in order of execution; the first MiB of it.
    pub printed: Vec<u8>,
    /// The size of the whole text in bytes.
    pub printed_bytes: u64,
}

/// A fault of a launch.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MachineFault {
    /// The kind.
    pub kind: MachineFaultKind,
    /// The instruction.
    pub site: Site,
    /// The block's index.
    pub block: [u32; 3],
    /// The thread's index in its block.
    pub thread: [u32; 3],
    /// The thread's lane, 0 to 31.
    pub lane: u32,
    /// The generic address of the access; 0 for other faults.
    pub address: u64,
    /// The allocation nearest to an out-of-bounds address; `None` for other faults.
    pub nearest: Option<NearestAllocation>,
    /// The known mistake that an out-of-bounds address looks like; `None` if there is none.
    pub hint: Option<&'static str>,
    /// The allocation that the address is in; `None` if the fault has no address, or it is in none.
    pub place: Option<AllocationOffset>,
}

/// The unknown bytes of an allocation after a launch. `C` is the reason, [`Origin`] or a text for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownBytes<C> {
    /// The purpose of the allocation.
    pub purpose: AllocationUse,
    /// The address of its first byte.
    pub base: u64,
    /// The number of unknown bytes.
    pub bytes: u64,
    /// The offset of the first unknown byte in the allocation.
    pub first: u64,
    /// The reason why the first one is unknown.
    pub cause: C,
}

impl<C> UnknownBytes<C> {
    /// The same bytes with another form of the reason.
    pub fn map<D>(self, cause: impl FnOnce(C) -> D) -> UnknownBytes<D> {
        let Self { purpose, base, bytes, first, cause: of } = self;
        UnknownBytes { purpose, base, bytes, first, cause: cause(of) }
    }
}

/// Executes the grid of a launch. `memory` has all allocations that `code` names. `observer` gets each access. `watch`
/// shows another thread how far the launch is, and can end it.
pub fn run(
    code: &Code,
    options: &LaunchOptions,
    memory: &mut DeviceMemory,
    observer: Option<&mut dyn MemoryObserver>,
    watch: Option<&LaunchWatch>,
) -> LaunchOutcome {
    let observer = observer.map(|observer| observer as &mut dyn MemoryObserver);
    let mut engine = Engine::new(code, options, memory, observer, watch);
    let ended = engine.run();
    let end = match ended {
        _ if engine.is_interrupted => LaunchEnd::Interrupted,
        _ if engine.is_trapped => LaunchEnd::Trapped,
        Ok(()) => LaunchEnd::Done,
        Err(site) => LaunchEnd::Steps {
            quiet: engine.gives_up.then(|| engine.quiet_instructions()),
            last: engine.last_loop.map_or(site, |(_, end)| end),
            is_jump: engine.last_loop.is_some(),
            polled: engine.polled_bytes(),
        },
    };
    let unknown = engine.memory.unknown_bytes().map(|unknown| UnknownBytes {
        purpose: unknown.purpose.clone(),
        base: unknown.base,
        bytes: unknown.bytes,
        first: unknown.first,
        cause: engine.origins.get(unknown.origin),
    });
    let mut checks = options.checks;
    checks.races = checks.races.filter(|_| !engine.races_are_over());
    LaunchOutcome {
        end,
        checks,
        unknown: unknown.collect(),
        faults: engine.faults.recorded.iter().map(|fault| described(fault, &engine)).collect(),
        fault_totals: engine.faults.totals(),
        fault_count: engine.faults.count,
        counts: engine.counts,
        skipped: engine.skipped,
        printed: engine.printed,
        printed_bytes: engine.printed_bytes,
    }
}

/// A fault with its thread, and the allocation that it is near to.
fn described(raw: &RawFault, engine: &Engine<'_>) -> MachineFault {
    let known = match raw.kind {
        FaultKind::Race { other, .. } => {
            engine.known_races.get(&[raw.site.min(other), raw.site.max(other)])
        }
        _ => None,
    };
    let raw = known.map_or(raw, |known| &known.widest);
    let RawFault { site, block, warp, lane, address, .. } = *raw;
    let is_of_place = matches!(raw.kind, FaultKind::OutOfBounds | FaultKind::ReadOnly);
    let nearest = if is_of_place { engine.nearest(address) } else { None };
    let place = if is_of_place || address == 0 { None } else { engine.place(address) };
    let hint = nearest.as_ref().and_then(|nearest| engine.address_hint(address, nearest));
    let thread = engine.shape.thread(warp, lane as usize);
    let mut kind = raw.kind.clone();
    if let (FaultKind::Race { other, times, is_update: is, .. }, Some(known)) = (&mut kind, known) {
        *times = known.times;
        *is = [site, *other].iter().any(|site| engine.known_races.contains_key(&[*site; 2]));
    }
    MachineFault { kind, site, block, thread, lane, address, nearest, hint, place }
}
