//! [`ReplayObserver`]: sees each access of a replay. For results other than sums.

use warpload::lane::LaneMask;
use warpload::load::{LaneAddresses, Loaded};
use warpload::memory::{AddressMap, AddressSpace};
use warpload_trace::binary::{MemoryRecord, RawBlock};

use crate::costs::{AccessCost, BANKS, Offsets, SharedRules};

/// Sees the accesses of some blocks, in trace order. Each thread has observers of its own, which are joined in that
/// order.
pub trait ReplayObserver: Sized + Send {
    /// Begins `records` memory instructions of a block.
    fn begin(&mut self, block: &RawBlock, records: usize) {
        _ = (block, records);
    }

    /// Sees a load, a store, an atomic, or the shared side of a copy.
    #[inline]
    fn access(&mut self, access: &ObservedAccess<'_>) {
        _ = access;
    }

    /// Sees the sectors of global memory that the last load touches in one line. The line's number is its address
    /// divided by [`LINE_BYTES`](super::LINE_BYTES). A line can be seen more than once.
    #[inline]
    fn sectors(&mut self, line: u64, sectors: u64) {
        _ = (line, sectors);
    }

    /// Adds the observations of later blocks.
    fn join(&mut self, later: Self);
}

/// Ignores all accesses.
impl ReplayObserver for () {
    fn join(&mut self, (): ()) {}
}

/// A replayed access.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ObservedAccess<'r> {
    /// The instruction's index in the trace.
    pub record: u64,
    /// Its record.
    pub traced: &'r MemoryRecord<'r>,
    /// The executing lanes and their addresses, which are meaningless for other lanes.
    pub lanes: &'r LaneAddresses,
    /// Its faults and the memory of its first executing lane.
    pub loaded: &'r Loaded,
    /// The cost in shared memory; `None` if no lane accesses it, and for an atomic with lanes that share a word,
    /// because their order of taking turns is unknown.
    pub shared: Option<AccessCost>,
    /// The address space of the addresses.
    pub(super) space: AddressSpace,
    pub(super) rules: SharedRules,
    pub(super) served: LaneMask,
    pub(super) map: &'r AddressMap,
}

impl ObservedAccess<'_> {
    /// Adds to each bank of shared memory the number of words that it serves for the access, in a wavefront each.
    pub fn add_bank_words(&self, banks: &mut [u64; BANKS]) {
        if self.shared.is_none() {
            return;
        }
        let (rules, width) = (self.rules, self.traced.operation().width);
        let addresses = &self.lanes.addresses;
        let all = Offsets { lanes: self.served, addresses, base: 0, width, rules };
        let offsets = match self.space {
            AddressSpace::Generic => all.in_shared_window(self.map),
            _ => all,
        };
        offsets.add_bank_words(banks);
    }
}
