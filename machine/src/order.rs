//! [`BlockOrder`]: which accesses of other threads come before what a thread does now.
//!
//! The machine counts moments. An access has the moment at which it happens, and a thread that synchronizes with another
//! one learns up to which moment it knows that one's accesses. What a thread knows is its vector clock. [C. Flanagan,
//! S. Freund, "FastTrack: Efficient and Precise Dynamic Race Detection"] Most threads of a block know the same, so a
//! [`Clock`] has entries for whole blocks and warps, and threads share one until they differ.
//!
//! These orders are known [PTX ISA, "Memory Consistency Model"]:
//!
//! - A barrier orders its participants: all of the block, or those that arrive before those that wait.
//! - `bar.warp.sync` orders the lanes of its mask. No other exchange does: of the `.sync` instructions of a warp, only
//!   this one "guarantees memory ordering among threads participating in barrier". [PTX ISA, `bar.warp.sync`]
//! - An arrival at an mbarrier comes before the end of each wait for its phase, or for a later one.
//! - A release is a write with that order, or a strong write after a fence; an acquire is a read with that order, or a
//!   strong read before a fence. They order if the read sees the write, or one of a chain of atomic operations that begins
//!   with it. Fences and accesses need scopes that have both threads.
//! - `fence.sc` before a strong write, even one of another thread that a barrier orders after it, comes before `fence.sc`
//!   after a strong read that sees this write. The order of two such fences in one execution alone says nothing about the
//!   next one, so it does not count.
//! - Copies of `cp.async` are accesses of their own, which their thread knows after it has waited for their group, and
//!   threads that wait for an mbarrier after `cp.async.mbarrier.arrive`.

use std::collections::HashMap;
use std::rc::Rc;

use crate::warp::lanes;
use warpload::lane::LANES;

/// The threads that see an ordered access as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The threads of the block: `.cta`, and `.cluster` without clusters.
    Block,
    /// All threads: `.gpu` and `.sys`.
    Device,
}

/// How a strong access orders others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strong {
    /// The threads that see it as one.
    pub scope: Scope,
    /// Whether what its thread did before comes before it: `.release`, `.acq_rel`.
    pub releases: bool,
    /// Whether it comes before what its thread does next: `.acquire`, `.acq_rel`.
    pub acquires: bool,
}

/// A fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The threads that it orders.
    pub scope: Scope,
    /// Whether later strong writes release what is before it.
    pub releases: bool,
    /// Whether it acquires what strong reads before it have seen.
    pub acquires: bool,
    /// Whether it is `fence.sc`.
    pub is_sc: bool,
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

/// Counts what orders accesses: moments of the launch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moments {
    now: u32,
    /// Whether there was a `fence.sc`.
    has_sc: bool,
}

impl Moments {
    pub(crate) fn now(self) -> u32 {
        self.now
    }

    /// Whether there are no more moments, so that later accesses cannot be told apart.
    pub(crate) fn are_over(self) -> bool {
        self.now == u32::MAX
    }

    #[cfg(test)]
    pub(crate) fn skip(&mut self, moments: u32) {
        self.now = self.now.saturating_add(moments);
    }

    /// Begins the next moment. Accesses before it have an earlier one.
    pub(crate) fn tick(&mut self) -> u32 {
        self.now = self.now.saturating_add(1);
        self.now
    }
}

/// The threads that made an access together, or their asynchronous copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Performers {
    pub(crate) block: u32,
    pub(crate) warp: u8,
    pub(crate) lanes: u32,
    pub(crate) is_copy: bool,
}

/// What an entry of a clock is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Block,
    Warp,
    Thread,
    CopiesOfBlock,
    CopiesOfWarp,
    CopiesOfThread,
}

/// A block, and the number of a warp or thread in it.
type Key = (u32, Of, u16);

/// The moments up to which accesses are known: those with an earlier moment are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Known {
    at: u32,
    /// The accesses that are before a `fence.sc` of their thread.
    sc: u32,
}

impl Known {
    fn max(self, other: Self) -> Self {
        Self { at: self.at.max(other.at), sc: self.sc.max(other.sc) }
    }
}

/// What is known, in the order of the keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Clock(Vec<(Key, Known)>);

impl Clock {
    fn get(&self, key: Key) -> u32 {
        let found = self.0.binary_search_by_key(&key, |entry| entry.0);
        found.ok().and_then(|at| self.0.get(at)).map_or(0, |entry| entry.1.at)
    }

    fn raise(&mut self, key: Key, at: u32, sc: u32) {
        let known = Known { at, sc };
        if known == Known::default() {
            return;
        }
        match self.0.binary_search_by_key(&key, |entry| entry.0) {
            Ok(at) => self.0[at].1 = self.0[at].1.max(known),
            Err(at) => self.0.insert(at, (key, known)),
        }
    }

    pub(crate) fn join(&mut self, other: &Self) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        let mut joined = Vec::with_capacity(self.0.len() + other.0.len());
        let mut others = other.0.iter().copied().peekable();
        for (key, known) in self.0.drain(..) {
            joined.extend(std::iter::from_fn(|| others.next_if(|entry| entry.0 < key)));
            let same = others.next_if(|entry| entry.0 == key);
            joined.push((key, same.map_or(known, |entry| entry.1.max(known))));
        }
        joined.extend(others);
        self.0 = joined;
    }

    /// What is known of accesses before a `fence.sc`.
    fn before_fences(&self) -> Self {
        let entries = self.0.iter().filter(|entry| entry.1.sc != 0);
        Self(entries.map(|(key, Known { sc, .. })| (*key, Known { at: *sc, sc: *sc })).collect())
    }
}

/// Whether two threads know the same because they share it.
fn is_shared(one: &Extra, two: &Extra) -> bool {
    match (one, two) {
        (Some(one), Some(two)) => Rc::ptr_eq(one, two),
        (one, two) => one.is_none() && two.is_none(),
    }
}

/// Joins a clock to one that others may share.
fn join_shared(extra: &mut Extra, clock: &Rc<Clock>) {
    match extra {
        Some(known) => Rc::make_mut(known).join(clock),
        none => *none = Some(clock.clone()),
    }
}

/// What a thread knows, without what all of its block knew since the block's last barrier.
type Extra = Option<Rc<Clock>>;

/// What a thread knew at a moment.
#[derive(Clone, Debug)]
struct View {
    base: Rc<Clock>,
    barrier: u32,
    extra: Extra,
    copied: u32,
    moment: u32,
    sc: [u32; 2],
}

/// The state of a thread.
#[derive(Clone, Debug, Default)]
struct Thread {
    extra: Extra,
    /// What its last fence made ready to be released, to its block and to the device.
    fenced: [Option<View>; 2],
    /// What its strong reads have seen, for the next fence: from its block, and from others.
    observed: [Extra; 2],
    /// Its last `fence.sc`, and what its strong reads have seen that was before others.
    sc: u32,
    observed_sc: Extra,
    /// What its last strong read has seen, to know it again in a loop that waits.
    last_seen: [Extra; 3],
    last_read: Option<Strong>,
    /// The moments at which it closed groups of copies that it has not waited for.
    groups: Vec<u32>,
    /// Its copies before this moment are complete, and it knows it.
    copied: u32,
}

/// What a write has released at a location.
#[derive(Clone, Debug)]
struct Released {
    /// To threads of this block.
    block: Option<(u32, Rc<Clock>)>,
    /// To all threads, from this block; from several if it is `None`.
    device: Option<(Option<u32>, Rc<Clock>)>,
    /// What was before a `fence.sc` that came before the write.
    sc: Rc<Clock>,
    /// The block and the thread of the write. A release continues with later writes of its thread to the same place.
    by: (u32, u16),
}

/// The releases at the locations of a memory, by their addresses.
#[derive(Debug, Default)]
pub(crate) struct Releases(HashMap<u64, Released>);

/// The phases of an mbarrier.
#[derive(Debug, Default)]
struct Phases {
    pending: Clock,
    ended: Rc<Clock>,
}

/// The order of a block's accesses, and what its threads know about others.
#[derive(Debug, Default)]
pub(crate) struct BlockOrder {
    pub(crate) number: u32,
    /// The last barrier of the whole block, or its beginning: all threads know what the block did before.
    barrier: u32,
    /// The accesses that were before a `fence.sc` of each thread then.
    barrier_sc: u32,
    /// What all threads knew then about others, and what they had seen that was before a `fence.sc`.
    base: Rc<Clock>,
    observed_sc: Extra,
    threads: Vec<Thread>,
    /// The lanes of each warp when the block began.
    warps: Vec<u32>,
    /// Whether a thread may know more than at the last barrier.
    differs: bool,
    mbarriers: HashMap<usize, Phases>,
    pub(crate) releases: Releases,
}

impl BlockOrder {
    /// Begins a block, with the lanes of each warp.
    pub(crate) fn begin(
        &mut self,
        number: u32,
        warps: impl Iterator<Item = u32>,
        now: &mut Moments,
    ) {
        self.number = number;
        self.barrier = now.tick();
        self.barrier_sc = 0;
        self.base = Rc::default();
        self.observed_sc = None;
        self.warps.clear();
        self.warps.extend(warps);
        self.threads.clear();
        self.threads.resize(self.warps.len() * LANES, Thread::default());
        self.differs = false;
        self.mbarriers.clear();
        self.releases.0.clear();
    }

    /// Whether an access at a moment is before the last barrier of the block.
    #[inline(always)]
    pub(crate) fn is_before_barrier(&self, block: u32, moment: u32) -> bool {
        block == self.number && moment < self.barrier
    }

    /// Whether no thread knows more than what barriers of the whole block have ordered.
    pub(crate) fn knows_barriers_only(&self) -> bool {
        !self.differs && self.base.0.is_empty()
    }

    /// The first of the lanes whose access at a moment is not known to a thread.
    pub(crate) fn unknown(
        &self,
        warp: u32,
        lane: usize,
        by: &Performers,
        moment: u32,
    ) -> Option<u32> {
        let is_here = by.block == self.number;
        if !by.is_copy && self.is_before_barrier(by.block, moment) {
            return None;
        }
        let thread = self.threads.get(warp as usize * LANES + lane)?;
        let mut left = by.lanes;
        if is_here && u32::from(by.warp) == warp && (!by.is_copy || moment < thread.copied) {
            left &= !(1 << lane);
        }
        let extra = thread.extra.as_deref();
        let at = |of: Of, number: usize| {
            let key = (by.block, of, number as u16);
            self.base.get(key).max(extra.map_or(0, |extra| extra.get(key)))
        };
        let of_warp = usize::from(by.warp);
        let [of_block, of_warps, of_threads] = match by.is_copy {
            true => [Of::CopiesOfBlock, Of::CopiesOfWarp, Of::CopiesOfThread],
            false => [Of::Block, Of::Warp, Of::Thread],
        };
        if left == 0 || moment < at(of_block, 0) || moment < at(of_warps, of_warp) {
            return None;
        }
        let is_unknown = |lane: &usize| moment >= at(of_threads, of_warp * LANES + lane);
        lanes(left).find(is_unknown).map(|lane| lane as u32)
    }

    fn of_warp(&mut self, warp: u32) -> &mut [Thread] {
        let first = warp as usize * LANES;
        self.threads.get_mut(first..first + LANES).unwrap_or_default()
    }

    /// What lanes release together, apart from what all threads of the block know.
    pub(crate) fn release(&self, warp: u32, mask: u32, now: &mut Moments) -> Clock {
        let moment = now.tick();
        let mut clock = Clock::default();
        let first = warp as usize * LANES;
        let mut last: Option<&Rc<Clock>> = None;
        for lane in lanes(mask) {
            let Some(extra) = self.threads.get(first + lane).and_then(|of| of.extra.as_ref())
            else {
                continue;
            };
            if last.is_none_or(|last| !Rc::ptr_eq(last, extra)) {
                clock.join(extra);
                last = Some(extra);
            }
        }
        let of_warp = self.warps.get(warp as usize).copied().unwrap_or_default();
        let threads = self.threads.get(first..first + LANES).unwrap_or_default();
        let copied = || lanes(mask).filter_map(|lane| Some((lane, threads.get(lane)?.copied)));
        let is_whole = mask & of_warp == of_warp;
        let least = copied().map(|known| known.1).min().filter(|_| is_whole).unwrap_or(0);
        if is_whole {
            clock.raise((self.number, Of::Warp, warp as u16), moment, 0);
            clock.raise((self.number, Of::CopiesOfWarp, warp as u16), least, 0);
        }
        for (lane, copied) in copied() {
            let key = |of: Of| (self.number, of, (first + lane) as u16);
            clock.raise(key(Of::Thread), if is_whole { 0 } else { moment }, threads[lane].sc);
            if copied > least {
                clock.raise(key(Of::CopiesOfThread), copied, 0);
            }
        }
        clock
    }

    /// What lanes learn that waited for a release.
    pub(crate) fn acquire(&mut self, warp: u32, mask: u32, clock: &Rc<Clock>) {
        if clock.0.is_empty() {
            return;
        }
        self.differs = true;
        // Lanes that knew the same share what they know now.
        let mut last: Option<(Extra, Rc<Clock>)> = None;
        let threads = self.of_warp(warp);
        for lane in lanes(mask) {
            let Some(thread) = threads.get_mut(lane) else { continue };
            let joined = match last.take().filter(|known| is_shared(&known.0, &thread.extra)) {
                Some((_, joined)) => joined,
                None => match &thread.extra {
                    None => clock.clone(),
                    Some(extra) => {
                        let mut joined = Clock::clone(extra);
                        joined.join(clock);
                        Rc::new(joined)
                    }
                },
            };
            last = Some((thread.extra.replace(joined.clone()), joined));
        }
    }

    /// Orders the lanes of a mask, which have met at `bar.warp.sync`.
    pub(crate) fn meet(&mut self, warp: u32, mask: u32, now: &mut Moments) {
        let clock = Rc::new(self.release(warp, mask, now));
        self.acquire(warp, mask, &clock);
    }

    /// Orders all threads of the block, which have met at a barrier.
    pub(crate) fn pass_barrier(&mut self, now: &mut Moments) {
        if self.differs {
            let mut clock = Clock::clone(&self.base);
            let mut last: Extra = None;
            for thread in &mut self.threads {
                let Some(extra) = thread.extra.take() else { continue };
                if last.as_ref().is_none_or(|last| !Rc::ptr_eq(last, &extra)) {
                    clock.join(&extra);
                }
                last = Some(extra);
            }
            let here = self.number;
            // What the whole block knows takes one entry.
            let of_lanes = |warp: usize| {
                let of_warp = &self.threads[warp * LANES..(warp + 1) * LANES];
                lanes(self.warps[warp]).filter_map(move |lane| of_warp.get(lane))
            };
            let all = || (0..self.warps.len()).flat_map(of_lanes);
            let copied = all().map(|thread| thread.copied).min().unwrap_or(0);
            self.barrier_sc = all().map(|thread| thread.sc).min().unwrap_or(0);
            clock.raise((here, Of::CopiesOfBlock, 0), copied, 0);
            for (at, thread) in self.threads.iter().enumerate() {
                clock.raise((here, Of::Thread, at as u16), 0, thread.sc);
                clock.raise((here, Of::CopiesOfThread, at as u16), thread.copied, 0);
            }
            let copied = clock.get((here, Of::CopiesOfBlock, 0));
            clock.0.retain_mut(|((block, of, _), known)| {
                if *block != here {
                    return true;
                }
                match of {
                    Of::Warp | Of::Thread => known.at = 0,
                    Of::CopiesOfWarp | Of::CopiesOfThread if known.at <= copied => known.at = 0,
                    Of::Block | Of::CopiesOfBlock | Of::CopiesOfWarp | Of::CopiesOfThread => {}
                }
                known.at != 0 || known.sc > self.barrier_sc
            });
            for thread in &self.threads {
                if let Some(seen) = &thread.observed_sc {
                    join_shared(&mut self.observed_sc, seen);
                }
            }
            self.base = Rc::new(clock);
            self.differs = false;
        }
        self.barrier = now.tick();
    }

    /// Executes a fence in lanes of a warp.
    pub(crate) fn fence(&mut self, warp: u32, mask: u32, fence: Fence, now: &mut Moments) {
        let moment = now.tick();
        let of_block = self.observed_sc.clone();
        for lane in lanes(mask) {
            let Some(thread) = self.of_warp(warp).get_mut(lane) else { continue };
            let mut seen: Vec<Rc<Clock>> = Vec::new();
            if fence.acquires {
                seen.extend(thread.observed[0].take());
                seen.extend(thread.observed[1].take_if(|_| fence.scope == Scope::Device));
            }
            if fence.is_sc && fence.scope == Scope::Device {
                seen.extend(thread.observed_sc.take().into_iter().chain(of_block.clone()));
                thread.sc = moment;
                now.has_sc = true;
                self.differs = true;
            }
            for clock in seen {
                self.acquire(warp, 1 << lane, &clock);
            }
            if fence.releases {
                let view = self.view(warp, lane, moment);
                let Some(thread) = self.of_warp(warp).get_mut(lane) else { continue };
                if fence.scope == Scope::Device {
                    thread.fenced[1].clone_from(&view);
                }
                thread.fenced[0] = view;
            }
        }
    }

    /// What a thread knows at a moment.
    fn view(&self, warp: u32, lane: usize, moment: u32) -> Option<View> {
        let thread = self.threads.get(warp as usize * LANES + lane)?;
        let (base, barrier) = (self.base.clone(), self.barrier);
        let (extra, copied, sc) =
            (thread.extra.clone(), thread.copied, [self.barrier_sc, thread.sc]);
        Some(View { base, barrier, extra, copied, moment, sc })
    }

    /// All that a thread knew, as a clock.
    fn whole(&self, view: &View, thread: usize) -> Clock {
        let mut clock = Clock::clone(&view.base);
        if let Some(extra) = &view.extra {
            clock.join(extra);
        }
        let thread = thread as u16;
        clock.raise((self.number, Of::Block, 0), view.barrier, view.sc[0]);
        clock.raise((self.number, Of::Thread, thread), view.moment, view.sc[1]);
        clock.raise((self.number, Of::CopiesOfThread, thread), view.copied, 0);
        clock
    }

    /// Writes strongly at an address: releases what is before the lane's last fence, or before the write itself. An atomic
    /// operation adds to what was released there before.
    pub(crate) fn write(
        &self,
        warp: u32,
        lane: usize,
        (address, strong, is_atomic): (u64, Strong, bool),
        (releases, now): (&mut Releases, &mut Moments),
    ) {
        let number = warp as usize * LANES + lane;
        let Some(thread) = self.threads.get(number) else { return };
        let by = (self.number, number as u16);
        let is_continued = releases.0.get(&address).is_some_and(|released| released.by == by);
        if !is_atomic && !is_continued {
            releases.0.remove(&address);
        }
        let is_far = strong.scope == Scope::Device;
        if !strong.releases && !now.has_sc && thread.fenced[0].is_none() {
            return;
        }
        let own = if strong.releases { self.view(warp, lane, now.tick()) } else { None };
        let [block, device] = [0, 1].map(|level| {
            let own = own.as_ref().filter(|_| level == 0 || is_far);
            let views = thread.fenced[level].iter().chain(own);
            let mut clocks = views.map(|view| self.whole(view, number));
            let mut clock = clocks.next()?;
            clocks.for_each(|other| clock.join(&other));
            Some(Rc::new(clock))
        });
        let sc = match self.view(warp, lane, 0).filter(|_| is_far && now.has_sc) {
            Some(view) => self.whole(&view, number).before_fences(),
            None => Clock::default(),
        };
        if block.is_none() && device.is_none() && sc.0.is_empty() {
            return;
        }
        let none = || Released { block: None, device: None, sc: Rc::default(), by };
        let released = releases.0.entry(address).or_insert_with(none);
        released.by = by;
        let with = |mut clock: Rc<Clock>, before: &Rc<Clock>| {
            Rc::make_mut(&mut clock).join(before);
            clock
        };
        Rc::make_mut(&mut released.sc).join(&sc);
        if let Some(clock) = block {
            let before = released.block.take().filter(|before| before.0 == self.number);
            let clock = before.map_or(clock.clone(), |before| with(clock, &before.1));
            released.block = Some((self.number, clock));
        }
        if let Some(clock) = device.filter(|_| is_far) {
            released.device = Some(match released.device.take() {
                None => (Some(self.number), clock),
                Some((from, before)) => {
                    (from.filter(|from| *from == self.number), with(clock, &before))
                }
            });
        }
    }

    /// Reads strongly at an address. The access itself acquires what was released there, or the next fence.
    pub(crate) fn read(
        &mut self,
        warp: u32,
        lane: usize,
        (address, strong): (u64, Strong),
        releases: &Releases,
    ) {
        let Some(released) = releases.0.get(&address) else { return };
        let number = self.number;
        let Some(thread) = self.threads.get_mut(warp as usize * LANES + lane) else { return };
        let of_block = released.block.iter().filter(|of| of.0 == number).map(|of| (0, &of.1));
        let of_device = released.device.iter().filter_map(|(from, clock)| match from {
            Some(from) if *from == number => Some((0, clock)),
            _ if strong.scope == Scope::Device => Some((1, clock)),
            _ => None,
        });
        let now = [
            released.block.as_ref().map(|of| of.1.clone()),
            released.device.as_ref().map(|of| of.1.clone()),
            Some(released.sc.clone()),
        ];
        let knows = thread
            .last_read
            .is_some_and(|last| last.scope >= strong.scope && (last.acquires || !strong.acquires));
        if knows && thread.last_seen.iter().zip(&now).all(|(one, two)| is_shared(one, two)) {
            return;
        }
        (thread.last_seen, thread.last_read) = (now, Some(strong));
        if strong.scope == Scope::Device && !released.sc.0.is_empty() {
            join_shared(&mut thread.observed_sc, &released.sc);
            self.differs = true;
        }
        let mut seen: Extra = None;
        for (place, clock) in of_block.chain(of_device) {
            join_shared(&mut thread.observed[place], clock);
            if strong.acquires {
                join_shared(&mut seen, clock);
            }
        }
        if let Some(clock) = seen {
            self.acquire(warp, 1 << lane, &clock);
        }
    }

    /// Arrives at the mbarrier at an offset of shared memory. `copies` is whether the arrival is that of copies.
    pub(crate) fn arrive_at(
        &mut self,
        offset: usize,
        warp: u32,
        lane: usize,
        copies: bool,
        now: &mut Moments,
    ) {
        // The arrival of copies is ordered after the copies alone. [PTX ISA, "cp.async.mbarrier.arrive"]
        let clock = if copies {
            let number = (warp as usize * LANES + lane) as u16;
            let mut clock = Clock::default();
            clock.raise((self.number, Of::CopiesOfThread, number), now.tick(), 0);
            clock
        } else {
            self.release(warp, 1 << lane, now)
        };
        self.mbarriers.entry(offset).or_default().pending.join(&clock);
    }

    /// Ends a phase of an mbarrier.
    pub(crate) fn end_phase(&mut self, offset: usize) {
        let phases = self.mbarriers.entry(offset).or_default();
        let pending = std::mem::take(&mut phases.pending);
        Rc::make_mut(&mut phases.ended).join(&pending);
    }

    /// Ends a wait for the last phase of an mbarrier that has ended.
    pub(crate) fn end_wait(&mut self, offset: usize, warp: u32, lane: usize) {
        if let Some(phases) = self.mbarriers.get(&offset) {
            let ended = phases.ended.clone();
            self.acquire(warp, 1 << lane, &ended);
        }
    }

    /// Executes an operation on the groups of copies in lanes of a warp.
    pub(crate) fn group_copies(
        &mut self,
        operation: CopyGroups,
        warp: u32,
        mask: u32,
        now: &mut Moments,
    ) {
        let moment = now.tick();
        for lane in lanes(mask) {
            let Some(thread) = self.of_warp(warp).get_mut(lane) else { continue };
            let complete = match operation {
                CopyGroups::Commit => {
                    thread.groups.push(moment);
                    continue;
                }
                CopyGroups::Wait(pending) => {
                    let count = thread.groups.len().saturating_sub(pending as usize);
                    thread.groups.drain(..count).next_back()
                }
                CopyGroups::WaitAll => {
                    thread.groups.clear();
                    Some(moment)
                }
            };
            thread.copied = thread.copied.max(complete.unwrap_or(0));
            self.differs = true;
        }
    }
}
