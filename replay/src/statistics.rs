//! [`KernelCounts`]: what a replay counts, by kernel and by program counter. The counts of parts of
//! a trace add up to those of the whole.

use std::collections::BTreeMap;

use super::costs::SpaceCosts;
use super::footprint::Footprint;
use super::reuse::Reuse;
use super::summary::{FaultCounts, LoadCounts, TrafficCounts};
use super::traffic::Traffic;
use crate::costs::AccessCost;

/// The most faults and mismatches that are kept in full.
pub(super) const KEPT: usize = 10;

/// The counts of one program counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PcCounts {
    pub(super) loads: u64,
    pub(super) lanes: u64,
    pub(super) sectors: u64,
    pub(super) fewest_sectors: u64,
    pub(super) most_sectors: u64,
    pub(super) ideal_sectors: u64,
    pub(super) lane_faults: FaultCounts,
    /// What it costs in memories other than global, apart because most rows have no such cost, and a trace may have
    /// a row for each of many kernels.
    spaces: Option<Box<SpaceSums>>,
}

/// What accesses cost in each memory other than global.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SpaceSums {
    pub(super) shared: SpaceCost,
    pub(super) local: SpaceCost,
    pub(super) constant: SpaceCost,
}

impl SpaceSums {
    #[inline]
    pub(super) fn of(costs: SpaceCosts, is_atomic: bool) -> Self {
        let sum = |cost: Option<AccessCost>| cost.map_or_else(SpaceCost::default, SpaceCost::of);
        let SpaceCosts { shared, local, constant } = costs;
        let is_unknown = is_atomic && shared.is_some_and(|cost| cost.shares_words);
        Self {
            shared: SpaceCost { is_unknown, ..sum(shared) },
            local: sum(local),
            constant: sum(constant),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, other: &Self) {
        self.shared.add(&other.shared);
        self.local.add(&other.local);
        self.constant.add(&other.constant);
    }
}

/// What loads of one memory cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SpaceCost {
    pub(super) loads: u64,
    pub(super) amount: u64,
    pub(super) ideal: u64,
    pub(super) conflicts: u64,
    /// The least and the most of one load. 32 lanes have 256 words at most; the small type keeps the rows of many
    /// kernels small.
    pub(super) fewest: u16,
    pub(super) most: u16,
    /// Whether an atomic has lanes that share a word of shared memory: how they take turns is not known.
    pub(super) is_unknown: bool,
}

impl SpaceCost {
    pub(super) fn of(AccessCost { amount, ideal, conflicts, .. }: AccessCost) -> Self {
        let of_one = u16::try_from(amount).unwrap_or(u16::MAX);
        let (fewest, most) = (of_one, of_one);
        Self { loads: 1, amount, ideal, conflicts, fewest, most, is_unknown: false }
    }

    #[inline]
    pub(super) fn add(&mut self, other: &Self) {
        if other.loads == 0 {
            return;
        }
        let is_first = self.loads == 0;
        self.loads += other.loads;
        self.amount += other.amount;
        self.fewest = if is_first { other.fewest } else { self.fewest.min(other.fewest) };
        self.most = self.most.max(other.most);
        self.ideal += other.ideal;
        self.conflicts += other.conflicts;
        self.is_unknown |= other.is_unknown;
    }
}

impl PcCounts {
    /// Returns the counts of one access, without what it costs in memories other than global.
    #[inline]
    pub(super) fn of_one(lanes: u64, traffic: Traffic, lane_faults: FaultCounts) -> Self {
        let Traffic { sectors, ideal_sectors, .. } = traffic;
        Self {
            loads: 1,
            lanes,
            sectors,
            fewest_sectors: sectors,
            most_sectors: sectors,
            ideal_sectors,
            lane_faults,
            spaces: None,
        }
    }

    #[inline]
    pub(super) fn add(&mut self, other: &Self) {
        self.loads += other.loads;
        self.lanes += other.lanes;
        self.sectors += other.sectors;
        self.fewest_sectors = self.fewest_sectors.min(other.fewest_sectors);
        self.most_sectors = self.most_sectors.max(other.most_sectors);
        self.ideal_sectors += other.ideal_sectors;
        self.lane_faults.add(&other.lane_faults);
        if let Some(spaces) = &other.spaces {
            self.add_spaces(spaces);
        }
    }

    /// Adds what an access costs in memories other than global.
    #[inline]
    pub(super) fn add_spaces(&mut self, spaces: &SpaceSums) {
        if *spaces != SpaceSums::default() {
            self.spaces.get_or_insert_default().add(spaces);
        }
    }

    pub(super) fn spaces(&self) -> SpaceSums {
        self.spaces.as_deref().copied().unwrap_or_default()
    }
}

/// The counts of one kernel, or of a part of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct KernelCounts {
    /// What needs neither names nor the footprint: the rest of it is empty.
    pub(super) counts: LoadCounts,
    /// Loads of memory other than global.
    pub(super) spaces: SpaceSums,
    /// Stores and atomics.
    pub(super) stores: TrafficCounts,
    pub(super) atomics: TrafficCounts,
    /// Memory instructions that are not loads, stores or atomics, by their operation.
    pub(super) others: BTreeMap<u16, OtherCounts>,
    pub(super) footprint: Footprint,
    /// Of loads, stores and atomics, by program counter and operation.
    pub(super) per_pc: BTreeMap<(u32, u16), PcCounts>,
    /// The touches of lines, if they are wanted.
    pub(super) reuse: Reuse,
}

impl KernelCounts {
    /// Adds the counts of the part of the kernel that follows.
    pub(super) fn add(&mut self, later: &Self) {
        self.add_unordered(later);
        self.reuse.add(&later.reuse);
    }

    /// Adds all counts of a part or of another kernel that do not depend on the order, which is all
    /// but reuse.
    pub(super) fn add_unordered(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.spaces.add(&other.spaces);
        self.stores.add(other.stores);
        self.atomics.add(other.atomics);
        for (operation, counts) in &other.others {
            self.others.entry(*operation).or_default().add(*counts);
        }
        self.footprint.add(&other.footprint);
        for (key, counts) in &other.per_pc {
            self.per_pc
                .entry(*key)
                .and_modify(|known| known.add(counts))
                .or_insert_with(|| counts.clone());
        }
    }
}

/// Memory instructions that are neither loads nor stores nor atomics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OtherCounts {
    pub(super) records: u64,
    pub(super) lanes: u64,
    /// What the trace states of instructions that move blocks.
    pub(super) addresses: u64,
    pub(super) bytes: u64,
}

impl OtherCounts {
    pub(super) fn add(&mut self, other: Self) {
        self.records += other.records;
        self.lanes += other.lanes;
        // A made-up trace can state any number.
        self.addresses = self.addresses.saturating_add(other.addresses);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}
