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
    /// Of loads, stores, atomics and copies, by program counter and operation, ascending. A list, because a tree's nodes
    /// have room for many rows, and a trace may have many kernels with one or two.
    pub(super) per_pc: Vec<((u32, u16), PcCounts)>,
    /// The touches of lines, if they are wanted.
    pub(super) reuse: Reuse,
}

impl KernelCounts {
    /// Adds the counts of the part of the kernel that follows.
    pub(super) fn add(&mut self, later: Self) {
        self.counts.add(&later.counts);
        self.others.add(&later.others);
        self.footprint.add(later.footprint);
        self.add_rows(later.per_pc);
        self.reuse.add(later.reuse);
    }
    fn add_rows(&mut self, later: Vec<((u32, u16), PcCounts)>) {
        let known = self.per_pc.len();
        for (key, counts) in later {
            match self.per_pc[..known].binary_search_by_key(&key, |(key, _)| *key) {
                Ok(place) => self.per_pc[place].1.add(&counts),
                Err(_) => self.per_pc.push((key, counts)),
            }
        }
        if self.per_pc.len() > known {
            // Takes runs that ascend as they are.
            self.per_pc.sort_by_key(|(key, _)| *key);
        }
    }

    /// Returns the counts of a program counter and operation.
    pub(super) fn row(&self, key: &(u32, u16)) -> Option<&PcCounts> {
        let place = self.per_pc.binary_search_by_key(key, |(key, _)| *key).ok()?;
        self.per_pc.get(place).map(|(_, counts)| counts)
    }
}
