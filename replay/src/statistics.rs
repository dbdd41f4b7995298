//! [`KernelCounts`]: what a replay counts of a kernel, with the sets and the program counters that its
//! [`LoadCounts`] are made of. Threads and shards add the same counts in the same way.

use std::collections::BTreeMap;

use crate::counters::{Counter, LoadCounts, PcCounts};
use crate::footprint::Footprint;
use crate::reuse::Reuse;

/// The most faults and mismatches that are kept in full.
pub(super) const KEPT: usize = 10;

/// The counts of one kernel, or of a part of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct KernelCounts {
    /// Without what follows from the rest: names, the footprint and reuse.
    pub(super) counts: LoadCounts,
    /// Instructions that may be counted by their name, by operation.
    pub(super) others: BTreeMap<u16, u64>,
    pub(super) footprint: Footprint,
    /// Of loads, stores and atomics, by program counter and operation.
    pub(super) per_pc: BTreeMap<(u32, u16), PcCounts>,
    /// The touches of lines, if they are wanted.
    pub(super) reuse: Reuse,
}

impl KernelCounts {
    /// Adds the counts of the part of the kernel that follows.
    pub(super) fn add(&mut self, later: Self) {
        self.counts.add(&later.counts);
        self.others.add(&later.others);
        self.footprint.add(later.footprint);
        if self.per_pc.is_empty() {
            self.per_pc = later.per_pc;
        } else {
            for (key, counts) in later.per_pc {
                self.per_pc.entry(key).or_default().add(&counts);
            }
        }
        self.reuse.add(later.reuse);
    }
}
