//! [`Hang`]: a wait that never ends, and how the machine knows.
//!
//! A block hangs if each of its warps waits or repeats itself: it runs without an effect beyond registers until its
//! registers and the places of its lanes are the same as before. Only another block can let it go on then. A launch hangs
//! if all of its resident blocks do, and no other one can begin. A loop that counts its rounds or reads the clock does not
//! repeat itself; a launch that does nothing else for long is given up.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::block::Block;
use crate::code::Site;
use crate::engine::Engine;
use crate::fault::FaultKind;
use crate::mbarrier::State;
use crate::memory::AllocationOffset;
use crate::races::Place;
use crate::registers::Origin;
use crate::warp::{Path, Warp};

/// A wait that never ends. `S` is how another instruction is known.
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
        /// The instruction where other threads of one warp are, if these and the ones here had to arrive at one.
        other: Option<S>,
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
        Hang { wait: wait.map(site), threads, not_resident, is_alone }
    }
}

impl<S> Wait<S> {
    /// Returns the other instruction: where other threads of a warp are, or the last one that changed what threads wait for.
    #[must_use]
    pub fn other(&self) -> Option<&S> {
        match self {
            Self::Barrier { other: last, .. }
            | Self::Mbarrier { last, .. }
            | Self::Memory { last } => last.as_ref(),
            Self::Lanes { .. } | Self::Loop => None,
        }
    }

    /// The same, with what `site` makes of the other instruction.
    pub fn map<L>(self, site: impl FnOnce(S) -> L) -> Wait<L> {
        match self {
            Self::Barrier { number, arrived, expected, missing, other } => {
                Wait::Barrier { number, arrived, expected, missing, other: other.map(site) }
            }
            Self::Lanes { missing } => Wait::Lanes { missing },
            Self::Mbarrier { phase, pending, expected, bytes, last } => {
                Wait::Mbarrier { phase, pending, expected, bytes, last: last.map(site) }
            }
            Self::Memory { last } => Wait::Memory { last: last.map(site) },
            Self::Loop => Wait::Loop,
        }
    }
}

/// Bytes that a loop reads until another thread changes them. `S` is how another instruction is known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolledBytes<S> {
    /// The instruction that reads them.
    pub site: S,
    /// The generic address of the first byte.
    pub address: u64,
    /// The allocation that it is in.
    pub place: Option<AllocationOffset>,
    /// What they lack, and the last instruction that changed them.
    pub wait: Wait<S>,
}

impl<S> PolledBytes<S> {
    /// The same, with what `site` makes of instructions.
    pub fn map<L>(self, mut site: impl FnMut(S) -> L) -> PolledBytes<L> {
        let Self { site: reads, address, place, wait } = self;
        PolledBytes { site: site(reads), address, place, wait: wait.map(site) }
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

/// The fewest warp instructions after which a launch that only polls is given up. A loop that waits for as long before it
/// stops waiting by itself is rare, and one that never does is not.
const QUIET_INSTRUCTIONS: u64 = 1 << 22;

/// The most warp instructions for each poll of a loop that does nothing else.
const INSTRUCTIONS_OF_POLL: u64 = 1 << 7;

/// A time without anything but polls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quiet {
    /// Its number among such times.
    number: u64,
    /// The warp instructions before it, and the effects.
    begin: u64,
    effects: u64,
    /// The blocks with enough rounds.
    blocks: usize,
}

/// The rounds of a block in a quiet time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct QuietRounds {
    number: u64,
    rounds: u64,
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
        let mut hasher = DefaultHasher::new();
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
        (self.alive, &self.tokens, self.paths().collect::<Vec<_>>()).hash(state);
        for frame in &self.frames {
            frame.hash(state);
        }
    }
}

/// Lanes of a warp that wait, with the address of the mbarrier or of the bytes that they poll.
struct Stuck {
    site: Site,
    warp: usize,
    lanes: u32,
    wait: Wait<Site>,
    address: u64,
}

impl Engine<'_> {
    /// Whether instructions since a moment have polled too rarely to do nothing else.
    pub(crate) fn has_worked(&self, instructions: u64, polls: u64) -> bool {
        let polls = self.polls.saturating_sub(polls);
        self.counts.warp_instructions.saturating_sub(instructions) > INSTRUCTIONS_OF_POLL * polls
    }

    /// Counts a round of the block's warps. Returns whether the launch has done nothing but poll for so long that it is given
    /// up.
    pub(crate) fn only_polls(&mut self) -> bool {
        let (now, effects) = (self.counts.warp_instructions, self.effects - self.clocks);
        if std::mem::take(&mut self.works) || effects != self.quiet.effects {
            let number = self.quiet.number + 1;
            self.quiet = Quiet { number, begin: now, effects, blocks: 0 };
        }
        let of_block = &mut self.block.quiet;
        if of_block.number != self.quiet.number {
            *of_block = QuietRounds { number: self.quiet.number, rounds: 0 };
        }
        of_block.rounds += 1;
        self.quiet.blocks += usize::from(of_block.rounds == self.options.quiet_rounds);
        self.gives_up =
            self.quiet.blocks >= self.resident && now - self.quiet.begin >= QUIET_INSTRUCTIONS;
        self.gives_up
    }

    /// Reports all that wait in a block that hangs.
    pub(crate) fn report_hang(&mut self, block: &mut Block, not_resident: Option<[u32; 3]>) {
        std::mem::swap(&mut self.block, block);
        let (warps, barriers) = self.block.take_warps();
        let mut stuck: Vec<Stuck> = Vec::new();
        for (number, barrier) in barriers.iter().enumerate() {
            for (warp, path) in barrier.waiting() {
                let other = barrier.split_from(path.pc).map(|path| self.site(path));
                let wait = barrier.wait(number as u32, &warps, other);
                stuck.push(Stuck {
                    site: self.site(path),
                    warp,
                    lanes: path.mask,
                    wait,
                    address: 0,
                });
            }
        }
        for (at, warp) in warps.iter().enumerate() {
            let of = |path: &Path, site, wait, address| Stuck {
                site,
                warp: at,
                lanes: path.mask,
                wait,
                address,
            };
            for (path, missing) in warp.stuck() {
                stuck.push(of(path, self.site(path), Wait::Lanes { missing }, 0));
            }
            for path in &warp.ready {
                let poll = warp.polls.iter().rev().find(|poll| poll.lanes & path.mask != 0);
                stuck.push(match poll {
                    Some(poll) => of(path, poll.site, self.polled(poll), self.address(poll.place)),
                    None => of(path, self.site(path), Wait::Loop, 0),
                });
            }
        }
        while !stuck.is_empty() {
            let Stuck { site, warp, lanes, wait, address } = stuck.remove(0);
            // Threads that wait for the same at one instruction are one fault.
            let is_same =
                |of: &mut Stuck| (of.site, of.address) == (site, address) && of.wait == wait;
            let others = stuck.extract_if(.., is_same);
            let threads = others.fold(lanes.count_ones(), |all, of| all + of.lanes.count_ones());
            let is_alone = self.options.only_block.is_some();
            let kind = match self.skipped.keys().next() {
                // It may be the one that would end the wait.
                Some(skipped) => FaultKind::UnknownValue {
                    what: "whether this wait ends",
                    cause: Origin::NotExecuted(*skipped),
                },
                None => FaultKind::Hang(Box::new(Hang { wait, threads, not_resident, is_alone })),
            };
            self.fault_at(kind, site, warp as u32, lanes.trailing_zeros(), address);
        }
        std::mem::swap(&mut self.block, block);
    }

    /// The bytes that the last loop polls.
    pub(crate) fn polled_bytes(&self) -> Option<PolledBytes<Site>> {
        let (start, end) = self.last_loop?;
        let (block, poll) = self.last_poll?;
        if !(start..=end).contains(&poll.site) || block != self.block.index {
            return None;
        }
        let address = self.address(poll.place);
        let (place, wait) = (self.place(address), self.polled(&poll));
        Some(PolledBytes { site: poll.site, address, place, wait })
    }

    /// The warp instructions at the end of which the launch only polled.
    pub(crate) fn quiet_instructions(&self) -> u64 {
        self.counts.warp_instructions - self.quiet.begin
    }

    fn site(&self, path: &Path) -> Site {
        self.code.ops[path.pc as usize].site
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
