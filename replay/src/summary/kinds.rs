//! What [`LoadCounts`](super::LoadCounts) are made of: the counts of each kind of instruction and memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use warpload::load::ByFaultKind;

/// Adds counts that are unknown of the whole if they are of a part.
pub(super) fn add_known<Part: Copy>(
    to: &mut Option<Part>,
    from: Option<Part>,
    add: fn(&mut Part, Part),
) {
    match (to, from) {
        (Some(to), Some(from)) => add(to, from),
        (to, _) => *to = None,
    }
}

/// Adds numbers of a summary. A made-up one can have any number, which must not end the process.
pub(super) fn add(to: &mut u64, from: u64) {
    *to = to.saturating_add(from);
}

pub(super) fn add_by_name<Name: Clone + Ord>(
    to: &mut BTreeMap<Name, u64>,
    from: &BTreeMap<Name, u64>,
) {
    for (name, count) in from {
        add(to.entry(name.clone()).or_default(), *count);
    }
}

/// Instructions that are not loads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "named as the kinds are")]
pub struct SkippedCounts {
    pub store: u64,
    pub atomic: u64,
    pub other: u64,
    /// The others that read memory, except `LDGSTS`, by the opcode before its first dot; `None` if
    /// the trace does not name them.
    pub not_replayed: Option<BTreeMap<String, u64>>,
}

/// Copies from global to shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LdgstsCounts {
    /// Instructions of the trace. Some tracers write two for each copy.
    pub records: u64,
    /// Their active lanes.
    pub lanes: u64,
}

impl LdgstsCounts {
    pub(super) fn add(&mut self, from: Self) {
        add(&mut self.records, from.records);
        add(&mut self.lanes, from.lanes);
    }
}

/// Instructions that move blocks between global and shared memory, as the trace states them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TmaCounts {
    /// Instructions of the trace.
    pub records: u64,
    /// Their addresses, of transfers and not of lanes.
    pub addresses: u64,
    /// The bytes that they move.
    pub bytes: u64,
}

impl TmaCounts {
    pub(super) fn add(&mut self, from: Self) {
        add(&mut self.records, from.records);
        add(&mut self.addresses, from.addresses);
        add(&mut self.bytes, from.bytes);
    }
}

/// Loads of shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedCounts {
    /// Loads with a lane that loads from it.
    pub loads: u64,
    /// Their wavefronts.
    pub wavefronts: u64,
    /// The fewest wavefronts that hold the words of each load, added up.
    pub ideal_wavefronts: u64,
    /// Bank conflicts: wavefronts beyond one for each group of lanes that has one. 0 in what an earlier
    /// version wrote.
    #[serde(default)]
    pub conflicts: u64,
}

/// Loads of local memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalCounts {
    /// Loads with a lane that loads from it.
    pub loads: u64,
    /// Distinct 32-byte sectors of each load in the interleaved layout, added up.
    pub sectors: u64,
    /// The fewest sectors that hold the words of each load, added up.
    pub ideal_sectors: u64,
}

/// Loads of constant memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantCounts {
    /// Loads with a lane that loads from it.
    pub loads: u64,
    /// Distinct addresses of each load, added up: how many times it is issued.
    pub addresses: u64,
}

/// Stores or atomics: those of every space; sectors are of global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrafficCounts {
    /// Instructions.
    pub count: u64,
    /// Their executing lanes.
    pub lanes: u64,
    /// Access size times lanes.
    pub bytes: u64,
    /// Distinct 32-byte sectors of global memory of each, added up.
    pub sectors: u64,
    /// The fewest sectors that hold the bytes of each, added up.
    pub ideal_sectors: u64,
}

impl TrafficCounts {
    pub(crate) fn add(&mut self, from: Self) {
        for (to, from) in [
            (&mut self.count, from.count),
            (&mut self.lanes, from.lanes),
            (&mut self.bytes, from.bytes),
            (&mut self.sectors, from.sectors),
            (&mut self.ideal_sectors, from.ideal_sectors),
        ] {
            add(to, from);
        }
    }
}

/// For each touch of a 128-byte line of global memory by a load, the loads of global memory since the
/// last load of the kernel that touched it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReuseCounts {
    /// Pairs of an upper bound 2^k and how many touches have more than 2^(k-1) loads, up to 2^k;
    /// ascending, without zeros. 1 is the load before.
    pub buckets: Vec<(u64, u64)>,
    /// First touches.
    pub cold: u64,
}

impl ReuseCounts {
    /// Adds the counts of another kernel.
    pub(crate) fn add(&mut self, from: &Self) {
        let mut sums: BTreeMap<u64, u64> = self.buckets.iter().copied().collect();
        for (bound, touches) in &from.buckets {
            add(sums.entry(*bound).or_default(), *touches);
        }
        self.buckets = sums.into_iter().collect();
        add(&mut self.cold, from.cold);
    }
}

/// Loads by space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "named as the spaces are")]
pub struct SpaceCounts {
    pub global: u64,
    pub local: u64,
    pub shared: u64,
    pub constant: u64,
    /// No lane executes, or the first one's address is in no memory.
    pub unresolved: u64,
}

/// Lane faults by kind.
pub type FaultCounts = ByFaultKind<u64>;

/// Loads of `.U.128` form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UniformCounts {
    /// Served by one fetch.
    pub broadcast: u64,
    /// Served lane by lane.
    pub divergent: u64,
}

/// Distinct parts of global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FootprintCounts {
    /// Of 4 KiB.
    pub pages: u64,
    /// Of 128 bytes.
    pub lines: u64,
}
