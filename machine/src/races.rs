//! [`RaceCheck`]: finds data races in shared memory.
//!
//! Two threads race if both access a byte, at least one writes, at least one access is weak, and nothing orders them.
//! [PTX ISA, "Memory Consistency Model"] Stores of equal bytes are not reported.
//!
//! Whether two accesses are ordered is not computed exactly. They are taken to be ordered if the first thread has
//! released something since its access, and the second one has acquired something since then. Every chain of
//! synchronization begins with the first and ends with the second, so that no race is reported falsely. Races are missed
//! if both threads synchronize with others only. These orders are known:
//!
//! - A barrier of the whole block orders all of its threads. Other barriers and the phases of an mbarrier release at the
//!   arrival, once the barrier opens, and acquire at the end of the wait.
//! - `bar.warp.sync` orders the lanes in its mask. No other exchange does: of the `.sync` instructions of a warp, only
//!   this one "guarantees memory ordering among threads participating in barrier". [PTX ISA, `bar.warp.sync`] `vote`,
//!   `shfl`, `match`, `redux`, `elect` and the matrix instructions only wait.
//! - A fence and a later strong write release, and a strong read and a later fence acquire. [PTX ISA, "Release and
//!   Acquire Patterns"] Release and acquire operations are compiled to such pairs.
//!
//! A read of a byte that `cp.async` copies is a race of its own, whichever thread reads, until the copying thread has
//! waited for the group of the copy. [PTX ISA, "cp.async.wait_group"]

use std::collections::HashMap;
use std::ops::Range;

use crate::code::Site;
use crate::warp::lanes;
use warpload::lane::LANES;

/// The bytes of shared memory with a common allocation of their history.
const PAGE: usize = 64;

/// The limit on arrivals at all mbarriers that no phase has consumed. Further ones release at once, to bound memory.
const MAX_ARRIVALS: usize = 1 << 16;

/// The part of a warp that makes an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Performer {
    Lane(usize),
    /// All lanes, from the first active one on. No documentation says which lane accesses which element of a `wmma`
    /// fragment, except that fragments of the same kind are distributed alike.
    Warp {
        first: usize,
        kind: FragmentKind,
    },
}

/// The kinds of `wmma` fragments with a distribution of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragmentKind {
    /// The left factor.
    A = 1,
    /// The right factor.
    B,
    /// The sum, and the addend.
    Accumulator,
}

/// Whether an access can race with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strength {
    Weak,
    /// Volatile, or with an order. It does not race with strong and atomic accesses.
    Strong,
    /// The same, but even a store of the same value is a race.
    Atomic,
}

/// An access to shared memory.
#[derive(Clone, Debug)]
pub(crate) struct SharedAccess {
    pub(crate) place: Range<usize>,
    /// For a write, the bytes whose value changes, bit 0 for the first one.
    pub(crate) write: Option<u32>,
    pub(crate) strength: Strength,
    pub(crate) warp: u32,
    pub(crate) performer: Performer,
    pub(crate) site: Site,
    /// Whether `cp.async` writes.
    pub(crate) is_copy: bool,
}

/// A race of an access with an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Race {
    pub(crate) other: Site,
    /// The number of the other thread in its block.
    pub(crate) thread: u32,
    /// Whether the earlier access is a copy that its thread has not waited for.
    pub(crate) is_copying: bool,
}

/// An operation on the groups of a thread's `cp.async` copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyGroups {
    /// Closes the group of the copies so far: `cp.async.commit_group`.
    Commit,
    /// Waits until no more than this many of the latest groups are pending.
    Wait(u32),
    /// Waits for all copies, in groups or not.
    WaitAll,
}

/// The groups of copies of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Groups {
    /// The number of the group that the next copy belongs to.
    current: u32,
    /// The number of groups that the thread has waited for.
    complete: u32,
}

/// A copy to a byte.
#[derive(Clone, Copy, Debug)]
struct Copied {
    /// The block, by the moment of its beginning.
    block: u64,
    site: Site,
    /// The thread's number in its block.
    thread: u32,
    group: u32,
}

/// An access to a byte.
#[derive(Clone, Copy, Debug)]
struct Touch {
    /// The number of synchronizing events before it.
    moment: u64,
    site: Site,
    warp: u8,
    lane: u8,
    /// The [`FragmentKind`] of an access by the whole warp; 0 for an access of the lane.
    kind: u8,
    strength: Strength,
}

/// The last accesses to a byte: the first and last write of the same value, or the last weak write and the last atomic
/// operation, and the first and last read after them. They stand for all between, to bound memory.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    writes: [Option<Touch>; 2],
    reads: [Option<Touch>; 2],
    /// The last write, if it is a copy.
    copied: Option<Copied>,
}

/// The last events of a lane, or the latest of all lanes of a warp. An event orders accesses with an earlier moment.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    /// `bar.warp.sync`.
    joined: u64,
    published: u64,
    acquired: u64,
    fenced: u64,
    /// The last strong read.
    observed: u64,
}

/// The race detector for a block's shared memory.
#[derive(Debug, Default)]
pub(crate) struct RaceCheck {
    /// The histories of pages that have been accessed. They are kept for later blocks, where they are too old to matter.
    pages: Vec<Option<Box<[History; PAGE]>>>,
    /// Counts synchronizing events, over all blocks.
    now: u64,
    /// The last barrier of the whole block, or the beginning of the block.
    barrier: u64,
    lanes: Vec<Marks>,
    warps: Vec<Marks>,
    /// The moment when the block began.
    began: u64,
    /// The groups of copies of each thread.
    groups: Vec<Groups>,
    /// The arrivals in the current phase of each mbarrier, by its offset: thread and moment.
    arrivals: HashMap<usize, Vec<(u32, u64)>>,
    arrival_count: usize,
}

impl RaceCheck {
    /// Starts a new block. Costs nothing for each byte of shared memory, because all histories are before the moment.
    pub(crate) fn begin(&mut self, bytes: usize, warps: usize) {
        self.pages.resize_with(bytes.div_ceil(PAGE), || None);
        self.lanes.resize(warps * LANES, Marks::default());
        self.warps.resize(warps, Marks::default());
        self.arrivals.clear();
        self.arrival_count = 0;
        self.groups.clear();
        self.groups.resize(warps * LANES, Groups::default());
        self.pass_barrier();
        self.began = self.barrier;
    }

    fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    /// Orders all earlier accesses of the block before all later ones.
    pub(crate) fn pass_barrier(&mut self) {
        self.barrier = self.tick();
    }

    /// Orders the accesses of these lanes, which have met at `bar.warp.sync`.
    pub(crate) fn join(&mut self, warp: u32, mask: u32) {
        let now = self.tick();
        self.each(warp, mask, |marks| marks.joined = now);
    }

    /// Executes a fence.
    pub(crate) fn fence(&mut self, warp: u32, mask: u32) {
        let now = self.tick();
        self.each(warp, mask, |marks| {
            marks.fenced = now;
            marks.acquired = marks.acquired.max(marks.observed);
        });
    }

    /// Makes what is before the lanes' last fence visible, by a strong write.
    pub(crate) fn write_strongly(&mut self, warp: u32, mask: u32) {
        self.each(warp, mask, |marks| marks.published = marks.published.max(marks.fenced));
    }

    /// Reads strongly. A later fence acquires what was published up to now.
    pub(crate) fn read_strongly(&mut self, warp: u32, mask: u32) {
        let now = self.tick();
        self.each(warp, mask, |marks| marks.observed = now);
    }

    /// Ends the wait of these lanes at a barrier of some threads, or at an mbarrier.
    pub(crate) fn acquire(&mut self, warp: u32, mask: u32) {
        let now = self.tick();
        self.each(warp, mask, |marks| marks.acquired = now);
    }

    /// The moment of an arrival at a barrier, for [`Self::publish`] when it opens.
    pub(crate) fn arrive(&mut self) -> u64 {
        self.tick()
    }

    /// Makes what is before an arrival visible.
    pub(crate) fn publish(&mut self, warp: u32, mask: u32, moment: u64) {
        self.each(warp, mask, |marks| marks.published = marks.published.max(moment));
    }

    /// Arrives at the mbarrier at an offset of shared memory.
    pub(crate) fn arrive_at(&mut self, mbarrier: usize, warp: u32, lane: usize) {
        let moment = self.tick();
        if self.arrival_count >= MAX_ARRIVALS {
            return self.publish(warp, 1 << lane, moment);
        }
        self.arrival_count += 1;
        let arrivals = self.arrivals.entry(mbarrier).or_default();
        arrivals.push((warp * LANES as u32 + lane as u32, moment));
    }

    /// Ends a phase of an mbarrier.
    pub(crate) fn end_phase(&mut self, mbarrier: usize) {
        for (thread, moment) in self.arrivals.remove(&mbarrier).unwrap_or_default() {
            self.arrival_count -= 1;
            self.publish(thread / LANES as u32, 1 << (thread % LANES as u32), moment);
        }
    }

    /// Executes an operation on the groups of copies in these lanes.
    pub(crate) fn group_copies(&mut self, operation: CopyGroups, warp: u32, mask: u32) {
        for lane in lanes(mask) {
            let Some(groups) = self.groups.get_mut(warp as usize * LANES + lane) else { continue };
            let complete = match operation {
                CopyGroups::Commit => {
                    groups.current += 1;
                    continue;
                }
                CopyGroups::Wait(pending) => groups.current.saturating_sub(pending),
                CopyGroups::WaitAll => {
                    groups.current += 1;
                    groups.current
                }
            };
            groups.complete = groups.complete.max(complete);
        }
    }

    /// Changes the marks of lanes, and of their warp.
    fn each(&mut self, warp: u32, mask: u32, change: impl Fn(&mut Marks)) {
        let first = warp as usize * LANES;
        for lane in lanes(mask) {
            let Some(marks) = self.lanes.get_mut(first + lane) else { continue };
            change(marks);
            let Some(all) = self.warps.get_mut(warp as usize) else { continue };
            all.joined = all.joined.max(marks.joined);
            all.published = all.published.max(marks.published);
            all.acquired = all.acquired.max(marks.acquired);
        }
    }

    /// Records an access. Returns a race with an earlier access if there is one.
    pub(crate) fn access(&mut self, access: SharedAccess) -> Option<Race> {
        let SharedAccess { place, write, strength, warp, performer, site, is_copy } = access;
        let (lane, kind) = match performer {
            Performer::Lane(lane) => (lane, 0),
            Performer::Warp { first, kind } => (first, kind as u8),
        };
        let (warp, lane) = (warp as u8, lane as u8);
        let touch = Touch { moment: self.now, site, warp, lane, kind, strength };
        let thread = touch.thread();
        let group = self.groups.get(thread as usize).map_or(0, |groups| groups.current);
        let copied = is_copy.then_some(Copied { block: self.began, site, thread, group });
        let (mut race, mut copying) = (None, None);
        for (byte, at) in place.enumerate() {
            let page = self.pages.get(at / PAGE).and_then(|page| page.as_deref());
            let mut history = page.map_or(History::default(), |page| page[at % PAGE]);
            let is_changed = write.is_some_and(|changed| changed >> byte & 1 != 0);
            // A read and a write race even if the value stays the same. Two stores of one value do not.
            let is_equal = write.is_some() && !is_changed;
            let counts = |other: &Touch| !is_equal || other.strength == Strength::Atomic;
            let writes = history.writes.map(|other| other.filter(counts));
            let reads = if write.is_some() { history.reads } else { [None; 2] };
            let mut others = writes.into_iter().chain(reads).flatten();
            race = race.or_else(|| others.find(|other| self.races(other, &touch)));
            let barrier = self.barrier;
            let touches = match write {
                Some(_) => {
                    history.reads = [None; 2];
                    history.copied = copied;
                    &mut history.writes
                }
                None => {
                    copying = copying.or(history.copied.filter(|copied| self.is_pending(copied)));
                    &mut history.reads
                }
            };
            let keeps_first = touches[0].is_some_and(|first| {
                let is_weak = first.strength == Strength::Weak;
                let is_stronger = is_weak && strength != Strength::Weak;
                let is_alike = is_weak || strength != Strength::Weak;
                let is_same = write.is_none() || is_equal || strength != Strength::Weak;
                let is_new = is_stronger || !first.is_by_same(&touch);
                is_alike && is_same && is_new && first.moment >= barrier
            });
            *touches = [if keeps_first { touches[0] } else { Some(touch) }, Some(touch)];
            let Some(page) = self.pages.get_mut(at / PAGE) else { continue };
            page.get_or_insert_with(|| Box::new([History::default(); PAGE]))[at % PAGE] = history;
        }
        let race = race.map(|race: Touch| (race.site, race.thread(), false));
        let copying = copying.map(|copied| (copied.site, copied.thread, true));
        let (other, thread, is_copying) = copying.or(race)?;
        Some(Race { other, thread, is_copying })
    }

    /// Whether the thread of a copy has not waited for its group.
    fn is_pending(&self, copied: &Copied) -> bool {
        let groups = self.groups.get(copied.thread as usize).copied().unwrap_or_default();
        copied.block == self.began && copied.group >= groups.complete
    }

    fn races(&self, earlier: &Touch, later: &Touch) -> bool {
        let is_weak = [earlier, later].iter().any(|touch| touch.strength == Strength::Weak);
        is_weak && !earlier.is_by_same(later) && !self.may_order(earlier, later)
    }

    /// Whether the first thread has released something since its access, and the second one has acquired something.
    fn may_order(&self, earlier: &Touch, later: &Touch) -> bool {
        let since = earlier.moment;
        if since < self.barrier {
            return true;
        }
        let (from, to) = (self.marks(earlier), self.marks(later));
        if earlier.warp == later.warp {
            return from.joined.max(from.published) > since && to.joined.max(to.acquired) > since;
        }
        // A lane that has joined others of its warp has released and acquired what these have.
        let of_warp =
            |touch: &Touch| self.warps.get(touch.warp as usize).copied().unwrap_or_default();
        let is_released =
            from.published > since || from.joined > since && of_warp(earlier).published > since;
        let is_acquired =
            to.acquired > since || to.joined > since && of_warp(later).acquired > since;
        is_released && is_acquired
    }

    /// The marks of the lane, or the latest of the warp if all lanes access together.
    fn marks(&self, touch: &Touch) -> Marks {
        let warp = usize::from(touch.warp);
        let marks = match touch.kind {
            0 => self.lanes.get(warp * LANES + usize::from(touch.lane)),
            _ => self.warps.get(warp),
        };
        marks.copied().unwrap_or_default()
    }
}

impl Touch {
    /// The thread's number in its block.
    fn thread(&self) -> u32 {
        u32::from(self.warp) * LANES as u32 + u32::from(self.lane)
    }

    fn is_by_same(&self, other: &Self) -> bool {
        let is_same = self.warp == other.warp && self.kind == other.kind;
        is_same && (self.kind != 0 || self.lane == other.lane)
    }
}

#[cfg(test)]
mod tests {
    use super::{PAGE, Performer, Race, RaceCheck, SharedAccess, Strength};
    use crate::code::Site;
    use warpload::lane::LANES;

    fn access(warp: u32, lane: usize, at: usize, write: Option<u32>, site: u32) -> SharedAccess {
        SharedAccess {
            place: at..at + 1,
            write,
            strength: Strength::Weak,
            warp,
            performer: Performer::Lane(lane),
            site: Site(site),
            is_copy: false,
        }
    }

    #[test]
    fn blocks_cost_what_they_use() {
        let mut races = RaceCheck::default();
        for block in 0..1000 {
            races.begin(1 << 20, 32);
            for lane in 0..32 {
                let place = (1 << 19) + lane;
                assert_eq!(races.access(access(block % 32, lane, place, Some(1), 1)), None);
            }
        }
        let pages = races.pages.iter().flatten().count();
        assert_eq!(pages * PAGE, 64);
    }

    const WARPS: usize = 3;
    const LANES_OF_WARP: usize = 3;
    const THREADS: usize = WARPS * LANES_OF_WARP;

    /// What a thread knows of each other one: the number of its accesses that come before.
    type Clock = [u32; THREADS];

    fn join(clock: &mut Clock, other: &Clock) {
        clock.iter_mut().zip(other).for_each(|(here, there)| *here = (*here).max(*there));
    }

    /// Numbers that are the same in every run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) as usize % end
        }

        fn mask(&mut self) -> u32 {
            self.below(1 << LANES_OF_WARP) as u32
        }
    }

    /// Happens-before with vector clocks, for comparison.
    #[derive(Default)]
    struct Exact {
        clocks: [Clock; THREADS],
        fenced: [Clock; THREADS],
        observed: [Clock; THREADS],
        flag: Clock,
        pending: Clock,
        phase: Clock,
        /// Each access: thread, its own time, byte, and whether it writes.
        accesses: Vec<(usize, u32, usize, bool)>,
    }

    /// Random schedules of all kinds of synchronization: each reported race is one, and most are reported.
    #[test]
    fn reported_races_are_races() {
        let (mut reported, mut racing) = (0, 0);
        for seed in 0..3000 {
            let mut numbers = Numbers(seed);
            let mut races = RaceCheck::default();
            races.begin(256, WARPS);
            let mut exact = Exact::default();
            for _ in 0..60 {
                step(&mut numbers, &mut races, &mut exact, &mut reported, &mut racing);
            }
        }
        assert!(reported > 10_000 && 10 * reported > 8 * racing, "{reported} of {racing}");
    }

    fn step(
        numbers: &mut Numbers,
        races: &mut RaceCheck,
        exact: &mut Exact,
        reported: &mut usize,
        racing: &mut usize,
    ) {
        let (warp, lane) = (numbers.below(WARPS), numbers.below(LANES_OF_WARP));
        let (thread, number, bit) = (warp * LANES_OF_WARP + lane, warp as u32, 1 << lane);
        let of = |warp: usize, mask: u32| {
            (0..LANES_OF_WARP)
                .filter(move |lane| mask >> lane & 1 != 0)
                .map(move |lane| warp * LANES_OF_WARP + lane)
        };
        let mask = numbers.mask() | bit;
        match numbers.below(24) {
            0 => {
                races.pass_barrier();
                let mut all = Clock::default();
                exact.clocks.iter().for_each(|clock| join(&mut all, clock));
                exact.clocks = [all; THREADS];
            }
            1..4 => {
                races.join(number, mask);
                let mut all = Clock::default();
                of(warp, mask).for_each(|thread| join(&mut all, &exact.clocks[thread]));
                of(warp, mask).for_each(|thread| exact.clocks[thread] = all);
            }
            4 => {
                // A barrier of some threads: the lanes of one warp arrive, those of another one wait.
                let other = numbers.below(WARPS);
                let waiting = numbers.mask() | 1;
                let arrived =
                    [(number, mask, races.arrive()), (other as u32, waiting, races.arrive())];
                arrived
                    .into_iter()
                    .for_each(|(warp, mask, moment)| races.publish(warp, mask, moment));
                races.acquire(other as u32, waiting);
                let mut all = Clock::default();
                for thread in of(warp, mask).chain(of(other, waiting)) {
                    join(&mut all, &exact.clocks[thread]);
                }
                of(other, waiting).for_each(|thread| join(&mut exact.clocks[thread], &all));
            }
            5 => {
                races.fence(number, bit);
                let observed = exact.observed[thread];
                join(&mut exact.clocks[thread], &observed);
                exact.fenced[thread] = exact.clocks[thread];
            }
            6 => {
                races.write_strongly(number, bit);
                join(&mut exact.flag, &exact.fenced[thread]);
            }
            7 => {
                races.read_strongly(number, bit);
                join(&mut exact.observed[thread], &exact.flag);
            }
            8 => {
                races.arrive_at(128, number, lane);
                join(&mut exact.pending, &exact.clocks[thread]);
            }
            9 => {
                races.end_phase(128);
                exact.phase = std::mem::take(&mut exact.pending);
            }
            10 => {
                races.acquire(number, bit);
                join(&mut exact.clocks[thread], &exact.phase);
            }
            _ => {
                let (at, writes) = (numbers.below(3), numbers.below(2) == 0);
                let clock = &mut exact.clocks[thread];
                clock[thread] += 1;
                let conflicts = |other: &(usize, u32, usize, bool)| {
                    let is_before = clock[other.0] >= other.1;
                    other.2 == at && other.0 != thread && (writes || other.3) && !is_before
                };
                let found = races.access(access(
                    number,
                    lane,
                    at,
                    writes.then_some(1),
                    exact.accesses.len() as u32,
                ));
                *racing += usize::from(exact.accesses.iter().any(conflicts));
                if let Some(Race { other: Site(site), thread: by, .. }) = found {
                    let other = exact.accesses[site as usize];
                    let lane = by as usize % LANES;
                    assert_eq!(other.0, by as usize / LANES * LANES_OF_WARP + lane);
                    assert!(conflicts(&other), "a false alarm");
                    *reported += 1;
                }
                exact.accesses.push((thread, exact.clocks[thread][thread], at, writes));
            }
        }
    }
}
