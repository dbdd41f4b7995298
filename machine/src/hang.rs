//! [`Hang`]: what threads wait for that never happens, and how the machine knows.
//!
//! A block hangs if all of its warps wait, or repeat themselves: they run without an effect beyond registers until the
//! registers and the places of all their threads are what they were before. Nothing but another block can let them go on
//! then. A launch hangs if all of its resident blocks do, and no other one can begin. A loop that counts its rounds or
//! reads the clock does not repeat itself.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};

use crate::block::Block;
use crate::code::Site;
use crate::engine::Engine;
use crate::fault::FaultKind;
use crate::mbarrier::State;
use crate::races::Place;
use crate::registers::Origin;
use crate::warp::{Path, Warp};

/// What threads wait for that never happens. `S` is how another instruction is known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hang<S> {
    /// What they wait for.
    pub wait: Wait<S>,
    /// The number of threads of the block that wait for it at this instruction.
    pub threads: u32,
    /// The first block that cannot begin, because those that wait take all room.
    pub not_resident: Option<[u32; 3]>,
    /// Whether only this block was run, so that others could not help.
    pub is_alone: bool,
}

/// What threads wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wait<S> {
    /// A barrier of the block.
    Barrier {
        /// Its number.
        number: u32,
        /// The number of threads that have arrived.
        arrived: u32,
        /// The number that must arrive.
        expected: u32,
        /// The warps with threads that have not arrived.
        missing: Box<[u32]>,
    },
    /// Other lanes of the warp, at an exchange.
    Lanes {
        /// Those that have not arrived.
        missing: u32,
    },
    /// The phase of an mbarrier.
    Mbarrier {
        /// The parity of the phase that has not ended.
        phase: bool,
        /// The arrivals that it still waits for.
        pending: u64,
        /// The arrivals that each phase waits for.
        expected: u64,
        /// The bytes of copies that it still waits for.
        bytes: i64,
        /// The last instruction that changed it.
        last: Option<S>,
    },
    /// A change of the bytes that a loop reads.
    Memory {
        /// The last instruction that wrote them, if races are checked.
        last: Option<S>,
    },
    /// Nothing: an endless loop.
    Loop,
}

impl<S> Hang<S> {
    /// The same, with what `site` makes of instructions.
    pub fn map<L>(self, site: impl FnOnce(S) -> L) -> Hang<L> {
        let Self { wait, threads, not_resident, is_alone } = self;
        let wait = match wait {
            Wait::Barrier { number, arrived, expected, missing } => {
                Wait::Barrier { number, arrived, expected, missing }
            }
            Wait::Lanes { missing } => Wait::Lanes { missing },
            Wait::Mbarrier { phase, pending, expected, bytes, last } => {
                Wait::Mbarrier { phase, pending, expected, bytes, last: last.map(site) }
            }
            Wait::Memory { last } => Wait::Memory { last: last.map(site) },
            Wait::Loop => Wait::Loop,
        };
        Hang { wait, threads, not_resident, is_alone }
    }
}

/// The last time that lanes of a warp have read what another thread may change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Poll {
    pub(crate) lanes: u32,
    pub(crate) site: Site,
    pub(crate) place: Place,
    pub(crate) is_mbarrier: bool,
}

/// The states of a block since the last effect of the launch.
#[derive(Debug, Default)]
pub(crate) struct Repetition {
    effects: u64,
    seen: HashSet<u64>,
    /// Whether a state has come again, or all warps wait.
    pub(crate) is_found: bool,
    /// Whether it was that of a warp that runs.
    pub(crate) has_loop: bool,
}

impl Repetition {
    /// That of a block whose warps all wait.
    pub(crate) fn found(effects: u64) -> Self {
        Self { effects, is_found: true, ..Self::default() }
    }

    /// Notes the state after a turn of all warps without effects of their own. Returns whether it has come again.
    pub(crate) fn note(&mut self, warps: &mut [Warp], effects: u64) -> bool {
        if self.effects != effects {
            *self = Self { effects, ..Self::default() };
            warps.iter_mut().for_each(|warp| warp.polls.clear());
        }
        let mut hasher = BuildHasherDefault::<DefaultHasher>::default().build_hasher();
        warps.iter().for_each(|warp| warp.hash(&mut hasher));
        if self.seen.insert(hasher.finish()) {
            return false;
        }
        // Lanes may wait at a join for those that wait for them.
        if warps.iter_mut().any(Warp::part) {
            self.seen.clear();
            return false;
        }
        self.is_found = true;
        self.has_loop = true;
        true
    }

    /// Whether the block repeats itself, and nothing has happened since.
    pub(crate) fn holds(&self, effects: u64) -> bool {
        self.is_found && self.effects == effects
    }
}

impl Hash for Warp {
    /// All that decides what the warp does next, apart from memory.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.alive, self.paths().collect::<Vec<_>>()).hash(state);
        for frame in &self.frames {
            frame.hash(state);
        }
    }
}

impl Engine<'_> {
    /// Reports all that wait in a block that hangs.
    pub(crate) fn report_hang(&mut self, block: &mut Block, not_resident: Option<[u32; 3]>) {
        std::mem::swap(&mut self.block, block);
        let (warps, barriers) = self.block.take_warps();
        let mut waits: Vec<(Site, usize, u32, Wait<Site>, u64)> = Vec::new();
        for (number, barrier) in barriers.iter().enumerate() {
            for (warp, path) in barrier.waiting() {
                let wait = barrier.wait(number as u32, &warps);
                waits.push((self.site(path), warp, path.mask, wait, 0));
            }
        }
        for (at, warp) in warps.iter().enumerate() {
            for (path, missing) in warp.stuck() {
                waits.push((self.site(path), at, path.mask, Wait::Lanes { missing }, 0));
            }
            for path in &warp.ready {
                let poll = warp.polls.iter().rev().find(|poll| poll.lanes & path.mask != 0);
                let (site, wait, address) = match poll {
                    Some(poll) => (poll.site, self.polled(poll), self.address(poll.place)),
                    None => (self.site(path), Wait::Loop, 0),
                };
                waits.push((site, at, path.mask, wait, address));
            }
        }
        // Threads that wait for the same at one instruction are one fault.
        while let Some((site, warp, mask, wait, address)) =
            (!waits.is_empty()).then(|| waits.remove(0))
        {
            let is_same = |of: &mut (Site, usize, u32, Wait<Site>, u64)| {
                of.0 == site && of.3 == wait && of.4 == address
            };
            let others = waits.extract_if(.., is_same);
            let threads = others.fold(mask.count_ones(), |all, of| all + of.2.count_ones());
            let kind = match self.skipped.keys().next() {
                // It may be what they wait for.
                Some(skipped) => FaultKind::UnknownValue {
                    what: "whether this wait ends",
                    cause: Origin::NotExecuted(*skipped),
                },
                None => {
                    let is_alone = self.options.only_block.is_some();
                    FaultKind::Hang(Box::new(Hang { wait, threads, not_resident, is_alone }))
                }
            };
            self.fault_at(kind, site, warp as u32, mask.trailing_zeros(), address);
        }
        std::mem::swap(&mut self.block, block);
    }

    fn site(&self, path: &Path) -> Site {
        self.code.ops[path.pc as usize].site
    }

    fn address(&self, place: Place) -> u64 {
        match place {
            Place::Shared(offset) => self.memory.map().shared().base + offset,
            Place::Global(address) => address,
        }
    }

    /// What a poll waits for.
    fn polled(&self, poll: &Poll) -> Wait<Site> {
        if let (Place::Shared(offset), true) = (poll.place, poll.is_mbarrier) {
            let offset = offset as usize;
            let word = self.block.shared.values.get(offset..offset + 8);
            let word = word.and_then(|word| word.try_into().ok()).map_or(0, u64::from_le_bytes);
            if let Ok(State { phase, expected, pending, bytes }) = State::of_word(word) {
                let last = self.block.mbarriers.get(&offset).copied();
                return Wait::Mbarrier { phase, pending, expected, bytes, last };
            }
        }
        Wait::Memory { last: self.last_write(poll.place) }
    }
}
