//! [`Engine`]: executes the blocks of a grid, and the warps of a block in turns. A block runs to its end before the next
//! one begins, unless it only polls memory, because it may wait for a block that has not begun.

use std::cell::Cell;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::mem::take;
use std::sync::atomic::Ordering;

use crate::access::{AccessKind, LaneBytes, extended};
use crate::block::Block;
use crate::checks::CheckedRaces;
use crate::code::{Code, FunctionCode, Op, Preset, Site};
use crate::fault::{FaultKind, MachineFaultKind};
use crate::hang::{Poll, Quiet};
use crate::launch::LaunchOptions;
use crate::log::FaultLog;
use crate::memory::{
    AllocationOffset, AllocationSide, AllocationUse, DeviceMemory, MAX_LOCAL, NearestAllocation,
};
use crate::observer::{LaunchCounts, LaunchWatch, LoadAlone, MemoryAccess, MemoryObserver};
use crate::order::Strong;
use crate::races::{CheckedAccess, FragmentKind, OtherAccess, Place, Race, Races, Unordered};
use crate::registers::{Origins, Registers};
use crate::warp::MAX_STACK;
use warpload::lane::{LANES, LaneMask};
use warpload::memory::AddressSpace;

/// The work between two looks at the watch, in units of about one instruction. Instructions that copy or clear memory
/// count more than one, see [`Engine::copied`]; else one call with a large argument could take as long as a million
/// others.
pub(crate) const LOOK: u64 = 1 << 12;

/// The bytes that are copied or cleared in about the time of an instruction.
const COPIED: u64 = 256;

/// The most blocks that wait for others at the same time: about as many as a GPU holds.
const MAX_WAITING: usize = 1 << 12;

/// Addresses below it look like a null pointer with an offset.
const NULL_PAGES: u64 = 1 << 16;

/// The distance before an allocation from which on an address looks like an index that has overflowed.
const FAR: u64 = 1 << 28;

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
    pub(crate) fn number(&self, [x, y, z]: [u32; 3]) -> u64 {
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

/// The races of two instructions.
#[derive(Clone, Debug)]
pub(crate) struct KnownRace {
    pub(crate) times: u64,
    /// One of those between the threads that are furthest apart, because what orders these orders the others.
    pub(crate) widest: RawFault,
    reason: Unordered,
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
    /// The number of instructions that may change more than registers, or read a clock: only with such ones can a launch
    /// come to a state that it has not been in.
    pub(crate) effects: u64,
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
    /// The pairs of instructions with a reported race, because each pair is reported once.
    pub(crate) known_races: HashMap<[Site; 2], KnownRace>,
    /// The last backward jump of the blocks on their way, reported when the launch reaches its limit.
    pub(crate) last_loop: Option<(Site, Site)>,
    /// The last poll of any warp.
    pub(crate) last_poll: Option<([u32; 3], Poll)>,
    /// The number of effects that only read a clock.
    pub(crate) clocks: u64,
    /// Whether a warp has done more than poll since the last round, the time since when none has, and whether it ended the
    /// launch.
    pub(crate) works: bool,
    pub(crate) quiet: Quiet,
    pub(crate) gives_up: bool,
    /// The number of blocks that have begun and not ended.
    pub(crate) resident: usize,
    /// The last instruction with an effect beyond registers, or with a guard, for faults that end the warp.
    pub(crate) last_site: Site,
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
            effects: 0,
            is_interrupted: false,
            is_trapped: false,
            worked: 0,
            yields: false,
            races: options.checks.races.map(|_| Races::default()),
            known_races: HashMap::new(),
            last_loop: None,
            last_poll: None,
            clocks: 0,
            works: false,
            quiet: Quiet::default(),
            gives_up: false,
            resident: 1,
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
    pub(crate) fn look(&mut self) -> bool {
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

    /// The allocation that a generic address is in.
    pub(crate) fn place(&self, address: u64) -> Option<AllocationOffset> {
        let map = self.memory.map();
        let windows = [
            (map.shared(), AllocationUse::Shared, self.shape.shared),
            (map.local(), AllocationUse::Local, MAX_LOCAL),
        ];
        for (window, purpose, size) in windows {
            let offset = address.wrapping_sub(window.base);
            if offset < window.size {
                return (offset < size).then_some(AllocationOffset { purpose, offset });
            }
        }
        self.memory.place(address)
    }

    /// The generic address of a place.
    pub(crate) fn address(&self, place: Place) -> u64 {
        match place {
            Place::Shared(offset) => self.memory.map().shared().base.wrapping_add(offset),
            Place::Global(address) => address,
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
            let most = self.options.resident.unwrap_or(usize::MAX).min(MAX_WAITING);
            let has_room = waiting.len() < most && held() < MAX_STACK;
            let is_stuck = |block: &Block| block.repetition.holds(self.effects);
            if let Some(index) = has_room.then(|| left.next()).flatten() {
                if waiting.is_empty() {
                    self.last_loop = None;
                }
                self.begin(index)?;
            } else if !waiting.is_empty() && waiting.iter().all(is_stuck) {
                let not_resident = left.next();
                waiting.make_contiguous().sort_by_key(|block| self.shape.number(block.index));
                for mut block in waiting.drain(..) {
                    self.report_hang(&mut block, not_resident);
                }
                return Ok(());
            } else if let Some(block) = waiting.pop_front() {
                self.block = block;
            } else {
                return Ok(());
            }
            self.resident = waiting.len() + 1;
            if self.run_begun()? {
                continue;
            }
            let mut block = take(&mut self.block);
            // No other block can help one that looks at nothing.
            if block.repetition.holds(self.effects) && !block.polls() {
                self.report_hang(&mut block, None);
                if block.repetition.has_loop {
                    return Ok(());
                }
                self.block = block;
            } else {
                waiting.push_back(block);
            }
        }
    }

    /// Checks the accesses of lanes for races. `are_equal` is whether two lanes store the same.
    pub(crate) fn check_lanes(
        &mut self,
        access: &CheckedAccess,
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
        access: &CheckedAccess,
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

    /// Whether the race detector has judged only a part of the launch.
    pub(crate) fn races_are_over(&self) -> bool {
        self.races.as_ref().is_some_and(|races| races.moments.are_over())
    }

    /// The last write of a place, as far as races are checked.
    pub(crate) fn last_write(&self, place: Place) -> Option<Site> {
        self.races.as_ref()?.last_write(place, &self.block.history)
    }

    fn report_races(&mut self, access: &CheckedAccess) {
        let Some(races) = &mut self.races else { return };
        for race in races.take_found() {
            let Race { other, access: how, reason, thread, block, lane, place } = race;
            let site = access.site;
            let pair = [other.min(site), other.max(site)];
            if let Some(known) = self.known_races.get_mut(&pair) {
                known.times += 1;
                if known.reason >= reason {
                    continue;
                }
            }
            let own = match (access.is_copy, access.is_write) {
                (true, _) => OtherAccess::Copy,
                (false, true) => OtherAccess::Write,
                (false, false) => OtherAccess::Read,
            };
            let here = (site, self.block.index, access.warp * LANES as u32 + lane as u32, own);
            let there = (other, self.shape.block(block.into()), thread, how);
            // The first race of a pair decides at which of the two instructions it is reported.
            let is_reversed =
                self.known_races.get(&pair).is_some_and(|known| known.widest.site != site);
            let [of, other] = if is_reversed { [there, here] } else { [here, there] };
            let number = |thread: u32| (thread / LANES as u32, thread % LANES as u32);
            let (warp, lane) = number(of.2);
            let (other_warp, other_lane) = number(other.2);
            let kind = FaultKind::Race {
                other: other.0,
                thread: self.shape.thread(other_warp, other_lane as usize),
                block: other.1,
                access: other.3,
                reason,
                is_update: false,
                times: 1,
            };
            let address = self.address(place);
            let widest = RawFault { kind, site: of.0, block: of.1, warp, lane, address };
            match self.known_races.entry(pair) {
                Entry::Occupied(mut known) => {
                    (known.get_mut().widest, known.get_mut().reason) = (widest, reason);
                }
                Entry::Vacant(none) => {
                    self.faults.add(widest.clone());
                    none.insert(KnownRace { times: 1, widest, reason });
                }
            }
        }
    }

    /// Tells the race detector of a strong access of a lane, which reads, writes or both.
    pub(crate) fn order_strong(
        &mut self,
        (warp, lane): (u32, usize),
        (space, address): (AddressSpace, u64),
        strong: Strong,
        [reads, writes]: [bool; 2],
    ) {
        let (Some(races), order) = (&mut self.races, &mut self.block.order) else { return };
        let Some(place) = Place::of(space, address, self.memory.map()) else { return };
        let (mut own, mut all) = (take(&mut order.releases), take(&mut races.releases));
        let (address, releases) = match place {
            Place::Shared(offset) => (offset, &mut own),
            Place::Global(address) => (address, &mut all),
        };
        if reads {
            order.read(warp, lane, (address, strong), releases);
        }
        if writes {
            let access = (address, strong, reads);
            order.write(warp, lane, access, (releases, &mut races.moments));
        }
        (order.releases, races.releases) = (own, all);
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
