//! [`RaceCheck`]: finds accesses of shared memory that nothing orders.
//!
//! Two threads race if both access a byte, one of them writes, and no barrier lies between. Any barrier
//! of the block, or a phase of an mbarrier, orders everything before it with everything after it, even
//! if only some warps take part: a race may be missed then, but none is invented. Within a warp, `.sync`
//! instructions order, too. Volatile accesses and atomic operations synchronize, and are left out, and
//! so is a store of the bytes that are there already.

use std::collections::HashSet;

use crate::module::StatementId;

/// An access of a byte.
#[derive(Clone, Copy, Debug)]
struct Touch {
    /// The thread's number in its block.
    thread: u32,
    /// Barriers of the block and of the warp before it.
    epoch: u32,
    warp_epoch: u32,
    statement: StatementId,
}

/// What happened to a byte since it was last written: the writer, the first reader, the last one.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    write: Option<Touch>,
    reads: [Option<Touch>; 2],
}

/// The accesses of a block's shared memory.
#[derive(Debug, Default)]
pub(super) struct RaceCheck {
    bytes: Vec<History>,
    epoch: u32,
    warp_epochs: Vec<u32>,
    /// The pairs of instructions that have been reported.
    known: HashSet<(StatementId, StatementId)>,
}

impl RaceCheck {
    /// Begins with a block.
    pub(super) fn begin(&mut self, bytes: usize, warps: usize) {
        self.bytes.clear();
        self.bytes.resize(bytes, History::default());
        self.epoch = 0;
        self.warp_epochs.clear();
        self.warp_epochs.resize(warps, 0);
    }

    /// A barrier of the block has opened.
    pub(super) fn pass_barrier(&mut self) {
        self.epoch += 1;
    }

    /// Lanes of a warp have met.
    pub(super) fn pass_warp(&mut self, warp: u32) {
        if let Some(epoch) = self.warp_epochs.get_mut(warp as usize) {
            *epoch += 1;
        }
    }

    /// Notes an access, and returns the race that it is.
    pub(super) fn access(
        &mut self,
        place: std::ops::Range<usize>,
        is_store: bool,
        warp: u32,
        lane: usize,
        statement: StatementId,
    ) -> Option<(StatementId, u32)> {
        let warp_epoch = self.warp_epochs.get(warp as usize).copied().unwrap_or(0);
        let thread = warp * 32 + lane as u32;
        let touch = Touch { thread, epoch: self.epoch, warp_epoch, statement };
        let mut race = None;
        for history in self.bytes.get_mut(place).unwrap_or_default() {
            let others = if is_store { history.reads } else { [None; 2] };
            let others = [history.write, others[0], others[1]];
            race = race.or(others.into_iter().flatten().find(|other| other.races(&touch)));
            if is_store {
                *history = History { write: Some(touch), reads: [None; 2] };
            } else if history.reads[0].is_none_or(|first| first.epoch != touch.epoch) {
                history.reads = [Some(touch); 2];
            } else {
                history.reads[1] = Some(touch);
            }
        }
        let race = race?;
        let is_new = self.known.insert((race.statement, statement));
        is_new.then_some((race.statement, race.thread))
    }
}

impl Touch {
    fn races(&self, later: &Self) -> bool {
        let is_ordered = self.epoch != later.epoch
            || (self.thread / 32 == later.thread / 32 && self.warp_epoch != later.warp_epoch);
        self.thread != later.thread && !is_ordered
    }
}
