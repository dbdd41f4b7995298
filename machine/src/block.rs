//! [`Block`]: gives the warps of a block their turns, and opens its barriers.

use std::collections::HashMap;
use std::mem::take;
use std::rc::Rc;

use crate::code::Site;
use crate::code::{Action, BarrierKind, BarrierOp, Code, Pc};
use crate::engine::{Engine, LOOK, Stop};
use crate::fault::{BarrierFault, FaultKind};
use crate::hang::{QuietRounds, Repetition, Wait};
use crate::memory::Bytes;
use crate::order::{BlockOrder, Clock};
use crate::races::History;
use crate::registers::Origin;
use crate::warp::{Event, Path, Warp, lanes};
use warpload::lane::LANES;

/// The instructions that a warp executes before another warp of its block gets a turn. Long, because a switch is only
/// necessary if the warp waits for a later one.
const WARP_TURN: u64 = 1 << 18;

/// The number of rounds with nothing but polls after which a block lets others have a turn. Several, because its warps
/// may wait for each other; a block that has waited before needs one.
const POLLING: u32 = 4;

/// The number of barriers in a block.
pub(crate) const BARRIERS: usize = 16;

/// A block on its way: its memory, its warps and its barriers. A block that has ended is used for the next one.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) index: [u32; 3],
    pub(crate) shared: Bytes,
    /// For the race detector: what its threads know of each other, and the accesses to its shared memory.
    pub(crate) order: BlockOrder,
    pub(crate) history: History,
    /// The origin of Tensor Memory's contents; `None` if they are known.
    pub(crate) tensor_origin: Option<Origin>,
    /// The last instruction that changed each mbarrier, by its offset.
    pub(crate) mbarriers: HashMap<usize, Site>,
    /// Whether it has waited for other blocks.
    waits: bool,
    pub(crate) repetition: Repetition,
    pub(crate) quiet: QuietRounds,
    /// The bytes of registers and local memory in all frames.
    pub(crate) stack_bytes: u64,
    warps: Vec<Warp>,
    barriers: Vec<Barrier>,
}

impl Block {
    /// Whether a warp that can run reads what another block may change.
    pub(crate) fn polls(&self) -> bool {
        self.warps.iter().any(|warp| !warp.ready.is_empty() && !warp.polls.is_empty())
    }

    /// The warps and the barriers, of a block that has ended.
    pub(crate) fn take_warps(&mut self) -> (Vec<Warp>, Vec<Barrier>) {
        (take(&mut self.warps), take(&mut self.barriers))
    }

    /// The bytes that it holds while it waits.
    pub(crate) fn bytes(&self) -> u64 {
        self.stack_bytes + self.shared.values.len() as u64
    }
}

/// A barrier of a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Barrier {
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

impl Engine<'_> {
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
        self.block.mbarriers.clear();
        self.block.repetition = Repetition::default();
        self.block.quiet = QuietRounds::default();
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
        self.block.repetition.is_found = false;
        'round: loop {
            let effects = self.effects;
            let mut is_stuck = true;
            for at in 0..count {
                loop {
                    let (instructions, polls) = (self.counts.warp_instructions, self.polls);
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
                            self.works |= self.has_worked(instructions, polls);
                            is_stuck = false;
                            break;
                        }
                        Event::Ended => {
                            self.effects += 1;
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
            if self.only_polls() {
                return Err(self.last_site);
            }
            let polled = self.polls != before.0 && self.changes == before.1;
            rounds = if polled { rounds + 1 } else { 0 };
            before = (self.polls, self.changes);
            if is_stuck && warps.iter().all(|warp| warp.ready.is_empty()) {
                if warps.iter_mut().any(Warp::part) {
                    continue;
                }
                self.block.repetition = Repetition::found(self.effects);
            }
            // A block that only waits for a barrier has nothing to repeat.
            if self.block.repetition.is_found
                || self.effects == effects && self.block.repetition.note(warps, effects)
            {
                return Ok(false);
            }
            if rounds >= POLLING || rounds > 0 && self.block.waits {
                self.block.waits = true;
                return Ok(false);
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
        self.effects += 1;
        let registers = &warps[warp].frames[path.frame].registers;
        let lane = path.mask.trailing_zeros() as usize;
        let id = registers.get::<u32>(op.id)[lane] as usize;
        let threads = op.threads.map(|slot| registers.get::<u32>(slot)[lane]);
        let misuse = barriers.get(id).and_then(|barrier| barrier.misuse(op.kind, threads));
        if let Some(fault) = misuse.filter(|_| self.options.checks.sync) {
            let site = self.code.ops[path.pc as usize].site;
            self.fault_at(FaultKind::Barrier(fault), site, warp as u32, lane as u32, 0);
        }
        let Some(barrier) = barriers.get_mut(id) else { return false };
        if op.is_aligned && barrier.arrived[warp] == 0 {
            barrier.expected[warp] = (warps[warp].alive, path.pc);
        }
        // A whole warp must arrive at one place. Lanes elsewhere wait for ever, as on an H100, and so does their warp.
        let (lanes, pc) = barrier.expected[warp];
        if (op.is_aligned || lanes != 0) && pc != path.pc {
            if self.options.checks.sync {
                let [site, other] = [path.pc, pc].map(|pc| self.code.ops[pc as usize].site);
                let kind = FaultKind::TwoBarriers { other };
                self.fault_at(kind, site, warp as u32, lane as u32, 0);
            }
            barrier.waiting.push((warp, path, op.kind));
            return false;
        }
        barrier.arrived[warp] |= if op.counts_warps { u32::MAX } else { path.mask };
        let is_counted = threads.or(barrier.threads).is_some();
        if let (Some(races), true) = (&mut self.races, is_counted) {
            // Of a barrier of all threads until now, those that wait have released nothing.
            let others = barrier.waiting.iter().filter(|_| barrier.threads.is_none());
            let others = others.map(|(warp, path, _)| (*warp, path.mask));
            for (warp, mask) in others.chain([(warp, path.mask)]) {
                let released = self.block.order.release(warp as u32, mask, &mut races.moments);
                barrier.released.join(&released);
            }
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
            let arrived = take(&mut barrier.arrived[at]);
            let missing = lanes & !arrived;
            if missing != 0 && self.options.checks.sync {
                let site = self.code.ops[pc as usize].site;
                let lane = (lanes & arrived).trailing_zeros() % LANES as u32;
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
}

impl Barrier {
    /// The undefined use of the barrier that an arrival would be; `None` if it is a defined one.
    fn misuse(&self, kind: BarrierKind, threads: Option<u32>) -> Option<BarrierFault> {
        let is_reduction = |kind: BarrierKind| {
            matches!(kind, BarrierKind::And | BarrierKind::Or | BarrierKind::Popc)
        };
        let mut others = self.waiting.iter().map(|(_, _, other)| is_reduction(*other));
        match (threads, self.threads) {
            (Some(count), _) if !count.is_multiple_of(LANES as u32) => {
                Some(BarrierFault::Count(count))
            }
            (Some(given), Some(other)) if given != other => {
                Some(BarrierFault::Counts { given, other })
            }
            _ => others.any(|other| other != is_reduction(kind)).then_some(BarrierFault::Mixed),
        }
    }

    /// The paths that wait, each with the number of its warp.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (usize, &Path)> {
        self.waiting.iter().map(|(warp, path, _)| (*warp, path))
    }

    /// A path elsewhere of a warp that also waits at an instruction.
    pub(crate) fn split_from(&self, pc: Pc) -> Option<&Path> {
        let is_here = |warp: usize| self.waiting().any(|of| of.0 == warp && of.1.pc == pc);
        self.waiting().find(|(warp, path)| path.pc != pc && is_here(*warp)).map(|of| of.1)
    }

    /// What these wait for.
    pub(crate) fn wait(&self, number: u32, warps: &[Warp], other: Option<Site>) -> Wait<Site> {
        let arrived = self.arrived.iter().map(|mask| mask.count_ones()).sum();
        let alive = || warps.iter().map(|warp| warp.alive.count_ones()).sum();
        let expected = self.threads.unwrap_or_else(alive);
        let is_missing = |at: &usize| warps[*at].alive & !self.arrived[*at] != 0;
        let missing = (0..warps.len()).filter(is_missing).map(|at| at as u32).collect();
        Wait::Barrier { number, arrived, expected, missing, other }
    }

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
