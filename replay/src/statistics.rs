//! [`KernelCounts`]: the counts of a kernel, with the sets and program counters from which its [`LoadCounts`] derive.
//! Threads and shards add them alike.

use std::collections::BTreeMap;

use crate::counters::{Counter, LoadCounts, PcCounts};
use crate::footprint::Footprint;

/// The maximum number of faults and mismatches that are kept in full.
pub(super) const KEPT: usize = 10;

/// The counts of one kernel, or of a part of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct KernelCounts {
    /// Without derived counts: names and the footprint.
    pub(super) counts: LoadCounts,
    /// Instructions that may be counted by name, keyed by operation.
    pub(super) others: BTreeMap<u16, u64>,
    pub(super) footprint: Footprint,
    /// Counts of loads, stores, atomics and copies, ascending by program counter and operation. A list, because a
    /// tree's nodes have room for many rows, and a trace may have many kernels with one or two.
    pub(super) per_pc: Vec<((u32, u16), PcCounts)>,
}

impl KernelCounts {
    /// Adds the counts of the next part of the kernel.
    pub(super) fn add(&mut self, later: Self) {
        self.counts.add(&later.counts);
        self.others.add(&later.others);
        self.footprint.add(later.footprint);
        self.add_rows(later.per_pc);
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
            // Fast, because this sort merges runs that ascend already.
            self.per_pc.sort_by_key(|(key, _)| *key);
        }
    }

    pub(super) fn row(&self, key: &(u32, u16)) -> Option<&PcCounts> {
        let place = self.per_pc.binary_search_by_key(key, |(key, _)| *key).ok()?;
        self.per_pc.get(place).map(|(_, counts)| counts)
    }
}
