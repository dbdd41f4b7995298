//! [`LaunchCounts`]: the counts of a launch while it is replayed. Threads add them.

use std::collections::BTreeMap;

use crate::counters::{AccessCounts, Counter, TraceCounts};
use crate::footprint::Footprint;

/// The maximum number of faults and mismatches that are kept in full.
pub(super) const KEPT: usize = 10;

/// The counts of one launch, or of a part of one.
#[derive(Clone, Debug, Default)]
pub(super) struct LaunchCounts {
    /// Without what derives from the rows and the footprint.
    pub(super) counts: TraceCounts,
    /// Instructions that may be counted by name, keyed by operation.
    pub(super) others: BTreeMap<u16, u64>,
    pub(super) footprint: Footprint,
    /// Ascending. A list, because a tree's nodes have room for many rows, and a trace may have many launches with one or
    /// two.
    pub(super) rows: Vec<(AccessKey, AccessCounts)>,
}

/// The instruction of an access, and the side of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct AccessKey {
    pub(super) pc: u32,
    pub(super) operation: u16,
    /// Whether it is the shared side of a copy, which has the opcode of the global side.
    pub(super) is_shared_side: bool,
}

impl LaunchCounts {
    /// Adds the counts of the next part of the launch.
    pub(super) fn add(&mut self, later: Self) {
        self.counts.add(&later.counts);
        self.others.add(&later.others);
        self.footprint.add(later.footprint);
        let known = self.rows.len();
        for (key, counts) in later.rows {
            match self.rows[..known].binary_search_by_key(&key, |(key, _)| *key) {
                Ok(place) => self.rows[place].1.add(&counts),
                Err(_) => self.rows.push((key, counts)),
            }
        }
        if self.rows.len() > known {
            // Fast, because this sort merges runs that ascend already.
            self.rows.sort_by_key(|(key, _)| *key);
        }
    }
}
