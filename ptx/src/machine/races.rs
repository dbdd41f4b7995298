//! [`RaceCheck`]: finds data races in shared memory.
//!
//! Two threads race if both access a byte, at least one writes, and no barrier is between the accesses. A barrier of
//! the block, or a phase of an mbarrier, is taken to order everything before it with everything after it, even if only
//! some warps take part. Races can be missed that way, but none is reported falsely. Within a warp, `.sync`
//! instructions also order accesses. Volatile accesses and atomic operations synchronize, so they are never races.
//! Neither is a store that leaves the bytes unchanged.

use std::collections::HashSet;

use crate::module::StatementId;

/// An access to a byte.
#[derive(Clone, Copy, Debug)]
struct Touch {
    /// The thread's number in its block.
    thread: u32,
    /// The barriers of the block before the access. The next field counts the `.sync` instructions of the warp.
    epoch: u32,
    warp_epoch: u32,
    statement: StatementId,
}

/// The accesses to a byte since its last write, inclusive: the write, the first read, and the last read. These two
/// stand for all reads, to bound memory.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    write: Option<Touch>,
    reads: [Option<Touch>; 2],
}

/// The race detector for a block's shared memory.
#[derive(Debug, Default)]
pub(super) struct RaceCheck {
    bytes: Vec<History>,
    epoch: u32,
    warp_epochs: Vec<u32>,
    /// The pairs of instructions with a reported race, because each pair is reported once.
    known: HashSet<(StatementId, StatementId)>,
}

impl RaceCheck {
    /// Starts a new block.
    pub(super) fn begin(&mut self, bytes: usize, warps: usize) {
        self.bytes.clear();
        self.bytes.resize(bytes, History::default());
        self.epoch = 0;
        self.warp_epochs.clear();
        self.warp_epochs.resize(warps, 0);
    }

    /// Starts a new epoch, because a barrier of the block has opened.
    pub(super) fn pass_barrier(&mut self) {
        self.epoch += 1;
    }

    /// Starts a new epoch of a warp, because its lanes have met.
    pub(super) fn pass_warp(&mut self, warp: u32) {
        if let Some(epoch) = self.warp_epochs.get_mut(warp as usize) {
            *epoch += 1;
        }
    }

    /// Records an access. Returns the statement and thread of the earlier access if there is a new race.
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
