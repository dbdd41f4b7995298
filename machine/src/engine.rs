//! [`Engine`]: executes the blocks of a grid, and the warps of a block in turns. A block runs to its end before the next
//! one begins, unless it only polls memory, because it may wait for a block that has not begun.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::mem::take;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use crate::access::{AccessKind, LaneBytes, extended};
use crate::checks::CheckedRaces;
use crate::code::{Action, BarrierKind, BarrierOp, Code, FunctionCode, Op, Preset, Site};
use crate::fault::{BarrierFault, FaultKind, MachineFaultKind};
use crate::launch::LaunchOptions;
use crate::log::FaultLog;
use crate::memory::{
    AllocationSide, AllocationUse, Bytes, DeviceMemory, MAX_LOCAL, NearestAllocation,
};
use crate::observer::{LaunchCounts, LaunchWatch, LoadAlone, MemoryAccess, MemoryObserver};
use crate::order::{BlockOrder, Clock, Scope};
use crate::races::{Access, FragmentKind, History, Place, Race, Races};
use crate::registers::{Origin, Origins, Registers};
use crate::warp::{Event, MAX_STACK, Path, Warp, lanes};
use warpload::lane::{LANES, LaneMask};
use warpload::memory::AddressSpace;

/// The instructions that a warp executes before another warp of its block gets a turn. Long, because a switch is only
/// necessary if the warp waits for a later one.
const WARP_TURN: u64 = 1 << 18;

/// The work between two looks at the watch, in units of about one instruction. Instructions that copy or clear memory
/// count more than one, see [`Engine::copied`]; else one call with a large argument could take as long as a million
/// others.
const LOOK: u64 = 1 << 12;

/// The bytes that are copied or cleared in about the time of an instruction.
const COPIED: u64 = 256;

/// The number of rounds with nothing but polls after which a block lets others have a turn. Several, because its warps
/// may wait for each other; a block that has waited before needs one.
const POLLING: u32 = 4;

/// The most blocks that wait for others at the same time: about as many as a GPU holds.
const MAX_WAITING: usize = 1 << 12;

/// Addresses below it look like a null pointer with an offset.
const NULL_PAGES: u64 = 1 << 16;

/// The distance before an allocation from which on an address looks like an index that has overflowed.
const FAR: u64 = 1 << 28;

/// The number of barriers in a block.
pub(crate) const BARRIERS: usize = 16;

/// The limit on the text of `printf` that a result keeps, in bytes.
const MAX_PRINTED: usize = 1 << 20;

/// The grid and block size of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) blocks: [u32; 3],
    pub(crate) threads: [u32; 3],
    /// Shared memory in bytes: the dynamic part, and the total.
    pub(crate) dynamic_shared: u64,
    pub(crate) shared: u64,
    /// The total in allocation units of the target.
    pub(crate) allocated_shared: u64,
}

impl Shape {
    /// The number of threads in a block.
    pub(crate) fn block_size(&self) -> u32 {
        self.threads.iter().product()
    }

    /// The index of a block.
    pub(crate) fn block(&self, number: u64) -> [u32; 3] {
        let [nx, ny, _] = self.blocks.map(|size| u64::from(size.max(1)));
        [number % nx, number / nx % ny, number / nx / ny].map(|index| index as u32)
    }

    /// The number of a block in the grid.
    fn number(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [nx, ny, _] = self.blocks.map(|size| u64::from(size.max(1)));
        (u64::from(z) * ny + u64::from(y)) * nx + u64::from(x)
    }

    pub(crate) fn warps(&self) -> u32 {
        self.block_size().div_ceil(LANES as u32)
    }

    /// The index of a thread in its block.
    pub(crate) fn thread(&self, warp: u32, lane: usize) -> [u32; 3] {
        let number = warp * LANES as u32 + lane as u32;
        let [x, y, _] = self.threads.map(|size| size.max(1));
        [number % x, number / x % y, number / x / y]
    }
}

/// The number of remembered allocations.
pub(crate) const HINTS: usize = 16;

/// The reason why execution cannot continue.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// Lanes of the path end with a fault. The others execute the instruction again, which must not have had an effect yet.
    Lanes(u32, MachineFaultKind),
    /// The launch ends, because it reached its limit on instructions, was interrupted, or a lane trapped.
    Launch(Site),
}

/// A fault, before its text and position are looked up.
#[derive(Clone, Debug)]
pub(crate) struct RawFault {
    pub(crate) kind: MachineFaultKind,
    pub(crate) site: Site,
    pub(crate) block: [u32; 3],
    pub(crate) warp: u32,
    pub(crate) lane: u32,
    pub(crate) address: u64,
}

/// A block on its way: its memory, its warps and its barriers. A block that has ended is used for the next one.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) index: [u32; 3],
    pub(crate) shared: Bytes,
    /// For the race detector: what its threads know of each other, and the accesses to its shared memory.
    pub(crate) order: BlockOrder,
    history: History,
    /// The origin of Tensor Memory's contents; `None` if they are known.
    pub(crate) tensor_origin: Option<Origin>,
    /// Whether it has waited for other blocks.
    waits: bool,
    /// The bytes of registers and local memory in all frames.
    pub(crate) stack_bytes: u64,
    warps: Vec<Warp>,
    barriers: Vec<Barrier>,
}

impl Block {
    /// The bytes that it holds while it waits.
    fn bytes(&self) -> u64 {
        self.stack_bytes + self.shared.values.len() as u64
    }
}

/// A launch, and the block of it that has its turn.
pub(crate) struct Engine<'e> {
    pub(crate) code: &'e Code,
    pub(crate) options: &'e LaunchOptions,
    /// The limit on warp instructions.
    pub(crate) steps: u64,
    /// Whether it runs the blocks of one of several threads.
    pub(crate) is_part: bool,
    /// The initial registers of each function, copied into each frame.
    pub(crate) templates: Vec<Registers>,
    pub(crate) memory: &'e mut DeviceMemory,
    pub(crate) observer: Option<&'e mut dyn MemoryObserver>,
    pub(crate) shape: Shape,
    pub(crate) block: Block,
    pub(crate) counts: LaunchCounts,
    /// The blocks that have ended.
    pub(crate) ended: u64,
    /// The beginning of the text that `printf` has printed, and the size of all of it.
    pub(crate) printed: Vec<u8>,
    pub(crate) printed_bytes: u64,
    pub(crate) faults: FaultLog,
    /// The unsupported instructions that were reached, with their counts.
    pub(crate) skipped: BTreeMap<Site, u64>,
    /// The origins of unknown bytes in memory.
    pub(crate) origins: Origins,
    /// The allocation of the last access, tried first for the next one: by the low bits of the program counter, because an
    /// instruction usually stays in its buffer while neighbours are in others.
    pub(crate) hints: [Cell<usize>; HINTS],
    /// The number of accesses that a thread may use to wait for others: ordered loads, exchanges and mbarriers.
    pub(crate) polls: u64,
    /// The number of atomic operations that have changed memory and returned the old value.
    pub(crate) changes: u64,
    /// Shows how far the launch is, and can end it.
    pub(crate) watch: Option<&'e LaunchWatch>,
    /// Whether `watch` ended the launch.
    pub(crate) is_interrupted: bool,
    /// Whether a `trap` ended the launch.
    pub(crate) is_trapped: bool,
    /// The work since the last look at `watch`.
    pub(crate) worked: u64,
    /// Whether a wait has failed. Another warp gets a turn then, to complete it.
    pub(crate) yields: bool,
    /// The race detector, if the launch asks for it.
    pub(crate) races: Option<Races>,
    /// The pairs of instructions with a reported race, because each pair is reported once, and how many races each has.
    pub(crate) known_races: HashMap<[Site; 2], u64>,
    /// The last backward jump of the blocks on their way, reported when the launch reaches its limit.
    pub(crate) last_loop: Option<Site>,
    /// The last instruction with an effect beyond registers, or with a guard, for faults that end the warp.
    pub(crate) last_site: Site,
}

/// A barrier of a block.
#[derive(Clone, Debug, Default)]
struct Barrier {
    waiting: Vec<(usize, Path, BarrierKind)>,
    /// The threads that have arrived, one mask for each warp.
    arrived: Vec<u32>,
    /// The threads of each warp when its first ones arrived, and where these are, of barriers that whole warps must
    /// execute.
    expected: Vec<(u32, u32)>,
    /// The number of threads that must arrive; all if `None`.
    threads: Option<u32>,
    /// For the race detector: what those have released that arrived at a barrier of some threads.
    released: Clock,
}

impl<'e> Engine<'e> {
    pub(crate) fn new(
        code: &'e Code,
        options: &'e LaunchOptions,
        memory: &'e mut DeviceMemory,
        observer: Option<&'e mut dyn MemoryObserver>,
        watch: Option<&'e LaunchWatch>,
    ) -> Self {
        let shared = code.shared_bytes.saturating_add(options.shared_bytes);
        let shape = Shape {
            blocks: options.grid,
            threads: options.block,
            dynamic_shared: options.shared_bytes,
            shared: shared.max(memory.shared.values.len() as u64),
            allocated_shared: shared.next_multiple_of(code.shared_unit.max(1)),
        };
        let origins = Origins::after(memory);
        Self {
            code,
            options,
            steps: options.steps,
            is_part: false,
            templates: templates(code, memory, &origins),
            memory,
            observer,
            watch,
            shape,
            block: Block::default(),
            counts: LaunchCounts::default(),
            ended: 0,
            printed: Vec::new(),
            printed_bytes: 0,
            faults: FaultLog::default(),
            skipped: BTreeMap::new(),
            origins,
            hints: [const { Cell::new(0) }; HINTS],
            polls: 0,
            changes: 0,
            is_interrupted: false,
            is_trapped: false,
            worked: 0,
            yields: false,
            races: options.checks.races.map(|_| Races::default()),
            known_races: HashMap::new(),
            last_loop: None,
            last_site: Site::default(),
        }
    }

    /// Counts an instruction, and checks the limit and the watch.
    #[inline(always)]
    pub(crate) fn count(&mut self, exec: u32, op: &Op) -> Result<(), Stop> {
        self.counts.warp_instructions += 1;
        self.counts.thread_instructions += u64::from(exec.count_ones());
        if self.counts.warp_instructions > self.steps {
            // This one is not executed any more.
            self.uncount(exec);
            return Err(Stop::Launch(op.site));
        }
        self.worked += 1;
        if self.worked >= LOOK && self.look() {
            return Err(Stop::Launch(op.site));
        }
        Ok(())
    }

    /// Takes back the count of an instruction that a path will execute again.
    pub(crate) fn uncount(&mut self, exec: u32) {
        self.counts.warp_instructions = self.counts.warp_instructions.saturating_sub(1);
        let lanes = u64::from(exec.count_ones());
        self.counts.thread_instructions = self.counts.thread_instructions.saturating_sub(lanes);
    }

    /// Passes on a text of `printf`.
    pub(crate) fn print(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        let room = MAX_PRINTED.saturating_sub(self.printed.len());
        self.printed.extend_from_slice(&text[..text.len().min(room)]);
        self.printed_bytes += text.len() as u64;
        if let Some(observer) = self.observer.as_mut().filter(|_| !self.is_part) {
            observer.printed(text);
        }
    }

    /// Counts the work of an instruction that copies or clears bytes.
    pub(crate) fn copied(&mut self, bytes: u64) {
        self.worked = self.worked.saturating_add(bytes / COPIED);
    }

    /// Tells the watch how far the launch is. Returns whether it ends the launch.
    #[cold]
    fn look(&mut self) -> bool {
        self.worked = 0;
        let Some(watch) = self.watch else { return false };
        if !self.is_part {
            watch.blocks.store(self.ended, Ordering::Relaxed);
            watch.warp_instructions.store(self.counts.warp_instructions, Ordering::Relaxed);
        }
        self.is_interrupted |= watch.interrupt.load(Ordering::Relaxed);
        self.is_interrupted
    }

    pub(crate) fn not_executed(&mut self, op: &Op) {
        *self.skipped.entry(op.site).or_default() += 1;
    }

    pub(crate) fn fault(
        &mut self,
        kind: MachineFaultKind,
        op: &Op,
        warp: u32,
        lane: u32,
        address: u64,
    ) {
        self.fault_at(kind, op.site, warp, lane, address);
    }

    pub(crate) fn fault_at(
        &mut self,
        kind: MachineFaultKind,
        site: Site,
        warp: u32,
        lane: u32,
        address: u64,
    ) {
        let freed = match kind {
            FaultKind::OutOfBounds => self.memory.freed_around(address),
            _ => None,
        };
        let kind = freed.map_or(kind, |bytes| FaultKind::UseAfterFree { bytes });
        let block = self.block.index;
        self.faults.add(RawFault { kind, site, block, warp, lane, address });
    }

    /// The allocation nearest to a generic address.
    pub(crate) fn nearest(&self, address: u64) -> Option<NearestAllocation> {
        let windows = [
            (self.memory.map().shared(), AllocationUse::Shared, self.shape.shared),
            (self.memory.map().local(), AllocationUse::Local, MAX_LOCAL),
        ];
        for (window, purpose, size) in windows {
            let offset = address.wrapping_sub(window.base);
            if offset < window.size {
                let (side, distance) = match offset.checked_sub(size) {
                    Some(distance) => (AllocationSide::After, distance),
                    None => (AllocationSide::Inside, size - offset),
                };
                return Some(NearestAllocation { purpose, side, distance });
            }
        }
        self.memory.nearest(address)
    }

    /// What an address out of bounds looks like.
    pub(crate) fn address_hint(
        &self,
        address: u64,
        nearest: &NearestAllocation,
    ) -> Option<&'static str> {
        if nearest.side != AllocationSide::Before {
            return None;
        }
        let local = self.code.functions.iter().map(|function| function.local_bytes).max();
        if address < self.shape.shared {
            Some(
                "an address so low looks like an offset in shared memory that was not converted \
                 (`cvta.shared`), or like a null pointer",
            )
        } else if address < local.unwrap_or(0) {
            Some(
                "an address so low looks like an offset in local memory that was not converted \
                 (`cvta.local`), or like a null pointer",
            )
        } else if address < NULL_PAGES {
            Some("a null pointer?")
        } else if nearest.distance >= FAR {
            Some("the offset is negative: an index of 32 bits overflowed?")
        } else {
            None
        }
    }

    /// The generic address of an address in a space.
    pub(crate) fn generic(&self, space: AddressSpace, address: u64) -> u64 {
        let map = self.memory.map();
        match space {
            AddressSpace::Shared => map.shared().base.wrapping_add(address),
            AddressSpace::Local => map.local().base.wrapping_add(address),
            AddressSpace::Constant { bank } => {
                self.memory.of_bank(bank, address).unwrap_or(address)
            }
            AddressSpace::Global | AddressSpace::Generic => address,
        }
    }

    /// Whether the observer needs the loaded and stored bytes.
    pub(crate) fn observes_values(&self) -> bool {
        self.observer.as_ref().is_some_and(|observer| observer.needs_values())
    }

    pub(crate) fn observe(
        &mut self,
        op: &Op,
        warp: u32,
        (kind, space, bytes): (AccessKind, AddressSpace, u32),
        (lanes, unknown): (u32, u32),
        addresses: &[u64; LANES],
        values: &LaneBytes,
    ) {
        let block = self.block.index;
        let Some(observer) = &mut self.observer else { return };
        let executing = LaneMask::from_bits(lanes);
        let unknown = LaneMask::from_bits(lanes & unknown);
        let site = op.site;
        observer.access(&MemoryAccess {
            site,
            kind,
            space,
            bytes,
            block,
            warp,
            executing,
            addresses,
            values,
            unknown,
        });
    }

    /// Passes on a load alone.
    pub(crate) fn report(&mut self, load: &LoadAlone<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.load_alone(load);
        }
    }

    /// Executes all blocks.
    pub(crate) fn run(&mut self) -> Result<(), Site> {
        let mut left: Box<dyn Iterator<Item = [u32; 3]>> = match self.options.only_block {
            Some(block) => Box::new(std::iter::once(block)),
            None => {
                let (shape, done) = (self.shape, self.run_divided());
                Box::new((done..self.options.block_count()).map(move |number| shape.block(number)))
            }
        };
        // The block that has waited longest is the first.
        let mut waiting: VecDeque<Block> = VecDeque::new();
        loop {
            let held = || waiting.iter().map(Block::bytes).sum::<u64>();
            let has_room = waiting.len() < MAX_WAITING && held() < MAX_STACK;
            if let Some(index) = has_room.then(|| left.next()).flatten() {
                if waiting.is_empty() {
                    self.last_loop = None;
                }
                self.begin(index)?;
            } else if let Some(block) = waiting.pop_front() {
                self.block = block;
            } else {
                return Ok(());
            }
            if !self.run_begun()? {
                waiting.push_back(take(&mut self.block));
            }
        }
    }

    /// Runs the block that has its turn. Returns whether it has ended, rather than waits for others.
    pub(crate) fn run_begun(&mut self) -> Result<bool, Site> {
        let mut warps = take(&mut self.block.warps);
        let mut barriers = take(&mut self.block.barriers);
        let has_ended = self.run_block(&mut warps, &mut barriers)?;
        (self.block.warps, self.block.barriers) = (warps, barriers);
        self.ended += u64::from(has_ended);
        Ok(has_ended)
    }

    /// Begins a block.
    pub(crate) fn begin(&mut self, index: [u32; 3]) -> Result<(), Site> {
        self.block.index = index;
        self.block.tensor_origin = None;
        self.block.waits = false;
        self.counts.blocks += 1;
        let shared = self.shape.shared as usize;
        let replaced = self.block.shared.renew(shared, self.options.checks.uninitialized);
        self.copied(replaced as u64);
        let of_image = 0..self.memory.shared.values.len();
        self.copied(of_image.len() as u64);
        self.block.shared.copy_from(&self.memory.shared, of_image, 0);
        let count = self.shape.warps() as usize;
        self.block.barriers.resize_with(BARRIERS, Barrier::default);
        self.block.barriers.iter_mut().for_each(|barrier| barrier.renew(count));
        let mut warps = take(&mut self.block.warps);
        warps.resize_with(count, Warp::default);
        let (threads, active) = (self.shape.block_size(), self.options.active.bits());
        let lanes_of = |warp: u32| {
            let lanes = (threads - warp * LANES as u32).min(LANES as u32);
            u32::MAX >> (LANES as u32 - lanes) & active
        };
        if let Some(races) = &mut self.races {
            let number = self.shape.number(index);
            let warps = (0..self.shape.warps()).map(lanes_of);
            self.block.order.begin(number as u32, warps, &mut races.moments);
        }
        for (number, warp) in warps.iter_mut().enumerate() {
            self.counts.warps += 1;
            if let Err(stop) = warp.begin(self, number as u32, lanes_of(number as u32)) {
                self.end_lanes(warp, stop)?;
            }
            self.copied(warp.local.bytes.values.len() as u64);
            // A block may clear a gigabyte before its first instruction.
            self.worked += 1;
            if self.worked >= LOOK && self.look() {
                return Err(self.last_site);
            }
        }
        self.block.warps = warps;
        Ok(())
    }

    /// Gives the warps of the block their turns. Returns whether the block has ended, rather than waits for others.
    fn run_block(&mut self, warps: &mut [Warp], barriers: &mut [Barrier]) -> Result<bool, Site> {
        let count = warps.len();
        let mut rounds = 0;
        let mut before = (self.polls, self.changes);
        'round: loop {
            let mut is_stuck = true;
            for at in 0..count {
                loop {
                    let event = match warps[at].run(self, WARP_TURN) {
                        Ok(event) => event,
                        Err(stop) => {
                            self.end_lanes(&mut warps[at], stop)?;
                            Event::Ended
                        }
                    };
                    match event {
                        Event::Idle => break,
                        Event::Turn => {
                            is_stuck = false;
                            break;
                        }
                        Event::Ended => {
                            (is_stuck, rounds) = (false, 0);
                            let mut restarts = false;
                            for barrier in &mut *barriers {
                                restarts |= self.open_if_complete(barrier, warps);
                            }
                            if restarts {
                                continue 'round;
                            }
                        }
                        Event::Barrier(path, op) => {
                            (is_stuck, rounds) = (false, 0);
                            if self.arrive(barriers, warps, at, path, op) {
                                continue 'round;
                            }
                        }
                    }
                }
            }
            if warps.iter().all(|warp| warp.alive == 0) {
                return Ok(true);
            }
            let polled = self.polls != before.0 && self.changes == before.1;
            rounds = if polled { rounds + 1 } else { 0 };
            before = (self.polls, self.changes);
            if rounds >= POLLING || rounds > 0 && self.block.waits {
                self.block.waits = true;
                return Ok(false);
            }
            if is_stuck && warps.iter().all(|warp| warp.ready.is_empty()) {
                let parted = warps.iter_mut().filter_map(|warp| warp.part().then_some(())).count();
                if parted > 0 {
                    continue;
                }
                self.report_stuck(barriers, warps);
                return Ok(true);
            }
        }
    }

    /// Ends a launch, or the lanes of a warp that cannot start.
    fn end_lanes(&mut self, warp: &mut Warp, stop: Stop) -> Result<(), Site> {
        match stop {
            Stop::Launch(site) => Err(site),
            Stop::Lanes(lost, kind) => {
                let site = self.last_site;
                for lane in lanes(lost) {
                    self.fault_at(kind.clone(), site, warp.number, lane as u32, 0);
                }
                warp.alive &= !lost;
                Ok(())
            }
        }
    }

    /// Handles the arrival of a path at a barrier.
    fn arrive(
        &mut self,
        barriers: &mut [Barrier],
        warps: &mut [Warp],
        warp: usize,
        path: Path,
        op: BarrierOp,
    ) -> bool {
        let registers = &warps[warp].frames[path.frame].registers;
        let lane = path.mask.trailing_zeros() as usize;
        let id = registers.get::<u32>(op.id)[lane] as usize;
        let threads = op.threads.map(|slot| registers.get::<u32>(slot)[lane]);
        if let Some(count) =
            threads.filter(|count| !count.is_multiple_of(LANES as u32) && self.options.checks.sync)
        {
            let site = self.code.ops[path.pc as usize].site;
            let kind = FaultKind::Barrier(BarrierFault::Count(count));
            self.fault_at(kind, site, warp as u32, lane as u32, 0);
        }
        let Some(barrier) = barriers.get_mut(id) else { return false };
        if op.is_aligned && barrier.arrived[warp] == 0 {
            barrier.expected[warp] = (warps[warp].alive, path.pc);
        }
        // A whole warp must arrive at one place. Lanes elsewhere wait for ever, as on an H100, and so does their warp.
        let (lanes, pc) = barrier.expected[warp];
        if (op.is_aligned || lanes != 0) && pc != path.pc {
            barrier.waiting.push((warp, path, op.kind));
            return false;
        }
        barrier.arrived[warp] |= path.mask;
        if let (Some(races), Some(_)) = (&mut self.races, threads) {
            let order = &self.block.order;
            let released = order.release(warp as u32, path.mask, &mut races.moments);
            barrier.released.join(&released);
        }
        barrier.threads = threads.or(barrier.threads);
        if op.kind == BarrierKind::Arrive {
            warps[warp].pass_barrier(path);
        } else {
            barrier.waiting.push((warp, path, op.kind));
        }
        self.open_if_complete(barrier, warps)
    }

    /// Opens a barrier if all of its threads have arrived or exited. Returns whether execution restarts at the first
    /// warp. It does after a barrier of the whole block, because warps run in order between barriers. It does not after
    /// a barrier of some threads, because these could then starve the others.
    fn open_if_complete(&mut self, barrier: &mut Barrier, warps: &mut [Warp]) -> bool {
        if !barrier.is_complete(warps) {
            return false;
        }
        let is_whole = barrier.threads.is_none();
        let counted: Vec<usize> =
            (0..warps.len()).filter(|at| barrier.count(*at, &warps[*at]) != 0).collect();
        // Warps that do not count go on waiting, and so do lanes that have not arrived.
        let is_opened = |(warp, path, _): &(usize, Path, BarrierKind)| {
            counted.contains(warp) && path.mask & !barrier.arrived[*warp] == 0
        };
        let (opened, waiting) = take(&mut barrier.waiting).into_iter().partition(is_opened);
        barrier.waiting = waiting;
        if let Some(races) = &mut self.races {
            let (order, released) = (&mut self.block.order, Rc::new(take(&mut barrier.released)));
            match barrier.threads {
                None => order.pass_barrier(&mut races.moments),
                Some(_) => {
                    opened.iter().for_each(|(warp, path, _): &(usize, Path, BarrierKind)| {
                        order.acquire(*warp as u32, path.mask, &released);
                    })
                }
            }
        }
        reduce(&opened, self.code, warps);
        for at in counted {
            let (lanes, pc) = take(&mut barrier.expected[at]);
            let missing = lanes & !take(&mut barrier.arrived[at]);
            if missing != 0 && self.options.checks.sync {
                let (site, lane) = (self.code.ops[pc as usize].site, missing.trailing_zeros());
                let kind = FaultKind::Barrier(BarrierFault::PartOfWarp { missing });
                self.fault_at(kind, site, at as u32, lane, 0);
            }
        }
        barrier.threads = None;
        for (warp, path, _) in opened {
            warps[warp].pass_barrier(path);
        }
        is_whole
    }

    /// Checks the accesses of lanes for races. `are_equal` is whether two lanes store the same.
    pub(crate) fn check_lanes(
        &mut self,
        access: &Access,
        exec: u32,
        (space, addresses): (AddressSpace, &[u64; LANES]),
        are_equal: &dyn Fn(usize, usize) -> bool,
    ) {
        let Some(races) = &mut self.races else { return };
        let Block { order, history, .. } = &mut self.block;
        // The lanes of this instruction know each other by the moment.
        if access.is_write {
            races.moments.tick();
        }
        let map = self.memory.map();
        let is_checked = is_checked(self.options.checks.races);
        let place = |lane: usize| Place::of(space, addresses[lane], map).filter(&is_checked);
        races.access(access, exec, place, are_equal, order, history);
        self.report_races(access);
    }

    /// Checks an access that lanes make together for races.
    pub(crate) fn check_together(
        &mut self,
        access: &Access,
        lanes: (u32, FragmentKind),
        (space, address): (AddressSpace, u64),
    ) {
        let Some(races) = &mut self.races else { return };
        let Block { order, history, .. } = &mut self.block;
        let place = Place::of(space, address, self.memory.map());
        if let Some(place) = place.filter(is_checked(self.options.checks.races)) {
            races.access_together(access, lanes, place, order, history);
        }
        self.report_races(access);
    }

    fn report_races(&mut self, access: &Access) {
        let Some(races) = &mut self.races else { return };
        for race in races.take_found() {
            let Race { other, access: how, reason, thread, block, lane, place } = race;
            let site = access.site;
            let times = self.known_races.entry([other.min(site), other.max(site)]).or_default();
            *times += 1;
            if *times > 1 {
                continue;
            }
            let address = match place {
                Place::Shared(offset) => self.memory.map().shared().base + offset,
                Place::Global(address) => address,
            };
            let thread = self.shape.thread(thread / LANES as u32, thread as usize % LANES);
            let block = self.shape.block(block.into());
            let kind = FaultKind::Race { other, thread, block, access: how, reason, times: 1 };
            self.fault_at(kind, site, access.warp, lane as u32, address);
        }
    }

    /// Tells the race detector of a strong access of a lane, which reads, writes or both.
    pub(crate) fn order_strong(
        &mut self,
        (warp, lane): (u32, usize),
        (space, address): (AddressSpace, u64),
        scope: Scope,
        [reads, writes]: [bool; 2],
    ) {
        let (Some(races), order) = (&mut self.races, &mut self.block.order) else { return };
        let Some(place) = Place::of(space, address, self.memory.map()) else { return };
        let mut own = take(&mut order.releases);
        let (address, releases) = match place {
            Place::Shared(offset) => (offset, &mut own),
            Place::Global(address) => (address, &mut races.releases),
        };
        if reads {
            order.read(warp, lane, (address, scope), releases);
        }
        if writes {
            order.write(warp, lane, (address, scope, reads), releases);
        }
        order.releases = own;
    }

    fn report_stuck(&mut self, barriers: &[Barrier], warps: &[Warp]) {
        let at_barriers = barriers.iter().flat_map(|barrier| &barrier.waiting);
        let stuck = at_barriers.map(|(warp, path, _)| (*warp, *path));
        let in_warps = warps.iter().enumerate();
        let in_warps = in_warps.flat_map(|(at, warp)| warp.stuck().map(move |path| (at, *path)));
        for (warp, path) in stuck.chain(in_warps).collect::<Vec<_>>() {
            let site = self.code.ops[path.pc as usize].site;
            let lane = path.mask.trailing_zeros();
            self.fault_at(FaultKind::BarrierDivergence, site, warp as u32, lane, 0);
        }
    }
}

/// Whether races are looked for at a place.
fn is_checked(races: Option<CheckedRaces>) -> impl Fn(&Place) -> bool {
    move |place| races == Some(CheckedRaces::All) || matches!(place, Place::Shared(_))
}

/// Creates the initial registers of each function.
fn templates(code: &Code, memory: &DeviceMemory, origins: &Origins) -> Vec<Registers> {
    let of_function = |(number, function): (usize, &FunctionCode)| {
        let mut registers = Registers::new(number, function.rows);
        for preset in &function.presets {
            match preset {
                Preset::Constant(slot, value, 1) => registers.broadcast(*slot, *value as u32),
                Preset::Constant(slot, value, _) => registers.broadcast(*slot, *value),
                Preset::Lanes(slot, rows, values) => {
                    for (lane, value) in values.iter().enumerate() {
                        registers.set_lane(*slot, *rows, lane, *value);
                    }
                    registers.know(*slot, u32::MAX);
                }
                Preset::Bank(slot, of) => {
                    // Without such bytes, the row stays one that nothing has written.
                    let bytes = of.scalar.bytes() as usize;
                    let Some((bytes, flags)) = memory.bank_bytes(of.bank, of.offset, bytes) else {
                        continue;
                    };
                    let value = extended(bytes, of.scalar, of.bits);
                    for lane in 0..LANES {
                        registers.set_lane(*slot, of.bits.div_ceil(32), lane, value);
                    }
                    registers.know(*slot, u32::MAX);
                    if let Some(origin) = origins.of(flags) {
                        registers.forget(*slot, u32::MAX, origin);
                    }
                }
                Preset::Special(..) => {}
            }
        }
        registers
    };
    code.functions.iter().enumerate().map(of_function).collect()
}

impl Barrier {
    /// Empties the barrier for another block, which has this number of warps.
    fn renew(&mut self, warps: usize) {
        self.waiting.clear();
        self.arrived.clear();
        self.arrived.resize(warps, 0);
        self.expected.clear();
        self.expected.resize(warps, (0, 0));
        self.threads = None;
        self.released = Clock::default();
    }

    fn is_complete(&self, warps: &[Warp]) -> bool {
        if self.waiting.is_empty() && self.threads.is_none() {
            return false;
        }
        let mut warps = warps.iter().enumerate();
        match self.threads {
            None => warps.all(|(at, warp)| warp.alive == 0 || self.count(at, warp) == 32),
            Some(threads) => warps.map(|(at, warp)| self.count(at, warp)).sum::<u32>() >= threads,
        }
    }

    /// The threads of a warp that count. A warp counts as 32 once all of its lanes have arrived or exited; before, a
    /// barrier that whole warps must execute does not count it at all.
    fn count(&self, at: usize, warp: &Warp) -> u32 {
        let arrived = self.arrived[at];
        match self.expected[at] {
            _ if arrived != 0 && warp.alive & !arrived == 0 => 32,
            (0, _) => arrived.count_ones(),
            _ => 0,
        }
    }
}

/// Computes the results of `bar.red`.
fn reduce(opened: &[(usize, Path, BarrierKind)], code: &Code, warps: &mut [Warp]) {
    // The threads with a true and with a false predicate, and the origin of an unknown one.
    let (mut trues, mut falses, mut unknown) = (0, 0, None);
    for (warp, path, kind) in opened {
        let op = &code.ops[path.pc as usize];
        let registers = &warps[*warp].frames[path.frame].registers;
        let lost = registers.unknown(op.a) & path.mask;
        if *kind != BarrierKind::Sync && lost != 0 {
            unknown = Some(registers.origin(op.a));
        }
        let lanes = registers.predicate(op.a);
        trues += (path.mask & lanes & !lost).count_ones();
        falses += (path.mask & !lanes & !lost).count_ones();
    }
    for (warp, path, kind) in opened {
        let Action::Barrier(_) = code.ops[path.pc as usize].action else { continue };
        let op = &code.ops[path.pc as usize];
        let registers = &mut warps[*warp].frames[path.frame].registers;
        let every = |is_true: bool| if is_true { u32::MAX } else { 0 };
        // One known predicate can decide: a false one `and`, a true one `or`.
        let is_decided = match kind {
            BarrierKind::And => {
                registers.set_predicate(op.d, every(falses == 0), path.mask);
                falses > 0
            }
            BarrierKind::Or => {
                registers.set_predicate(op.d, every(trues > 0), path.mask);
                trues > 0
            }
            BarrierKind::Popc => {
                registers.put(op.d, &[trues; LANES], path.mask);
                false
            }
            BarrierKind::Sync | BarrierKind::Arrive => continue,
        };
        match unknown.filter(|_| !is_decided) {
            None => registers.know(op.d, path.mask),
            Some(origin) => registers.forget(op.d, path.mask, origin),
        }
    }
}
