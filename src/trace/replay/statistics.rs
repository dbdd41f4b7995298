//! [`KernelCounts`]: what a replay counts, by kernel and by program counter. The counts of parts of
//! a trace add up to those of the whole.

use std::collections::BTreeMap;

use roaring::RoaringTreemap;
use rustc_hash::FxHashMap;

use crate::impossible::OrImpossible;
use crate::lane::LANES;
use crate::load::ByFaultKind;
use crate::memory::Space;
use crate::trace::operation::{Operation, Skipped};

/// Bytes of a sector, a line and a page of global memory.
pub(super) const SECTOR: u64 = 32;
pub(super) const LINE: u64 = 128;
pub(super) const PAGE: u64 = 4096;

/// The most faults and mismatches that are kept in full.
pub(super) const KEPT: usize = 10;

/// The number of lane faults of each kind.
pub(super) type LaneFaultCounts = ByFaultKind<u64>;

/// The sectors and lines that loads touch in global memory, and the fewest sectors that would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    pub(super) sectors: u64,
    pub(super) lines: u64,
    pub(super) ideal_sectors: u64,
}

/// The counts of one program counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PcCounts {
    pub(super) loads: u64,
    pub(super) lanes: u64,
    pub(super) sectors: u64,
    pub(super) fewest_sectors: u64,
    pub(super) most_sectors: u64,
    pub(super) ideal_sectors: u64,
    pub(super) lane_faults: LaneFaultCounts,
}

impl Default for PcCounts {
    fn default() -> Self {
        Self {
            loads: 0,
            lanes: 0,
            sectors: 0,
            fewest_sectors: u64::MAX,
            most_sectors: 0,
            ideal_sectors: 0,
            lane_faults: LaneFaultCounts::default(),
        }
    }
}

impl PcCounts {
    fn add(&mut self, other: &Self) {
        self.loads += other.loads;
        self.lanes += other.lanes;
        self.sectors += other.sectors;
        self.fewest_sectors = self.fewest_sectors.min(other.fewest_sectors);
        self.most_sectors = self.most_sectors.max(other.most_sectors);
        self.ideal_sectors += other.ideal_sectors;
        self.lane_faults += other.lane_faults;
    }
}

/// Distinct pages and lines of global memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Footprint {
    pub(super) pages: RoaringTreemap,
    pub(super) lines: RoaringTreemap,
}

impl Footprint {
    pub(super) fn add(&mut self, other: &Self) {
        self.pages |= &other.pages;
        self.lines |= &other.lines;
    }
}

/// The instructions of one name that are not replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NotReplayed {
    pub(super) records: u64,
    /// Their active lanes.
    pub(super) lanes: u64,
}

impl NotReplayed {
    fn add(&mut self, other: Self) {
        self.records += other.records;
        self.lanes += other.lanes;
    }
}

/// The counts of one kernel, or of a part of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct KernelCounts {
    pub(super) records: u64,
    pub(super) loads: u64,
    pub(super) stores: u64,
    pub(super) atomics: u64,
    /// Instructions that read memory but are not replayed, by the number of their name.
    pub(super) not_replayed: BTreeMap<u16, NotReplayed>,
    pub(super) lanes: u64,
    pub(super) bytes: u64,
    /// In the order of [`Space::ALL`], those without a memory last.
    pub(super) by_space: [u64; Space::ALL.len() + 1],
    pub(super) traffic: Traffic,
    pub(super) lane_faults: LaneFaultCounts,
    pub(super) broadcast: u64,
    pub(super) divergent: u64,
    pub(super) footprint: Footprint,
    pub(super) width_disagreements: u64,
    pub(super) checked: u64,
    pub(super) mismatches: u64,
    pub(super) per_pc: BTreeMap<(u32, u16), PcCounts>,
}

/// Counts by program counter and operation, while a block is replayed.
#[derive(Debug, Default)]
pub(super) struct PcCounter {
    rows: FxHashMap<(u32, u16), PcCounts>,
}

impl PcCounter {
    #[inline]
    pub(super) fn load(&mut self, load: &LoadCounts) {
        self.rows.entry((load.pc, load.operation)).or_default().add(&PcCounts {
            loads: 1,
            lanes: load.lanes,
            sectors: load.traffic.sectors,
            fewest_sectors: load.traffic.sectors,
            most_sectors: load.traffic.sectors,
            ideal_sectors: load.traffic.ideal_sectors,
            lane_faults: load.lane_faults,
        });
    }

    /// Returns the rows, by ascending program counter.
    pub(super) fn finish(self) -> BTreeMap<(u32, u16), PcCounts> {
        self.rows.into_iter().collect()
    }
}

/// What one load did.
pub(super) struct LoadCounts {
    pub(super) pc: u32,
    pub(super) operation: u16,
    pub(super) lanes: u64,
    /// The memory of the first executing lane.
    pub(super) space: Option<Space>,
    pub(super) traffic: Traffic,
    pub(super) lane_faults: LaneFaultCounts,
    pub(super) width_disagrees: bool,
    /// Whether the broadcast path was taken; `None` unless the load has the `.U.128` form and an
    /// executing lane.
    pub(super) broadcast: Option<bool>,
}

impl KernelCounts {
    pub(super) fn load(&mut self, operation: &Operation, load: &LoadCounts) {
        self.loads += 1;
        self.lanes += load.lanes;
        self.bytes += load.lanes * u64::from(operation.width.bytes());
        self.by_space[load.space.map_or(Space::ALL.len(), |space| space as usize)] += 1;
        self.traffic.sectors += load.traffic.sectors;
        self.traffic.lines += load.traffic.lines;
        self.traffic.ideal_sectors += load.traffic.ideal_sectors;
        self.lane_faults += load.lane_faults;
        match load.broadcast {
            Some(true) => self.broadcast += 1,
            Some(false) => self.divergent += 1,
            None => {}
        }
        self.width_disagreements += u64::from(load.width_disagrees);
    }

    /// Adds instructions, loads included.
    pub(super) fn passed(&mut self, records: u64, stores: u64, atomics: u64) {
        self.records += records;
        self.stores += stores;
        self.atomics += atomics;
    }

    /// Adds an instruction that is not replayed, with the number of its active lanes.
    pub(super) fn not_replayed(&mut self, name: u16, lanes: u8) {
        let one = NotReplayed { records: 1, lanes: u64::from(lanes) };
        self.not_replayed.entry(name).or_default().add(one);
    }

    /// Returns the number of skipped instructions of a kind.
    pub(super) fn skipped(&self, kind: Skipped) -> u64 {
        match kind {
            Skipped::Store => self.stores,
            Skipped::Atomic => self.atomics,
            Skipped::Other => self.records - self.loads - self.stores - self.atomics,
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.loads += other.loads;
        self.stores += other.stores;
        self.atomics += other.atomics;
        for (name, counts) in &other.not_replayed {
            self.not_replayed.entry(*name).or_default().add(*counts);
        }
        self.lanes += other.lanes;
        self.bytes += other.bytes;
        for (to, from) in self.by_space.iter_mut().zip(other.by_space) {
            *to += from;
        }
        self.traffic.sectors += other.traffic.sectors;
        self.traffic.lines += other.traffic.lines;
        self.traffic.ideal_sectors += other.traffic.ideal_sectors;
        self.lane_faults += other.lane_faults;
        self.broadcast += other.broadcast;
        self.divergent += other.divergent;
        self.footprint.add(&other.footprint);
        self.width_disagreements += other.width_disagreements;
        self.checked += other.checked;
        self.mismatches += other.mismatches;
        for (key, counts) in &other.per_pc {
            self.per_pc.entry(*key).or_default().add(counts);
        }
    }
}

/// Counts the distinct sectors and lines of each load, and collects the lines of all for the
/// footprint.
#[derive(Debug, Default)]
pub(super) struct TrafficCounter {
    lines: Vec<u64>,
}

impl TrafficCounter {
    /// Adds the rounded addresses of one load's lanes in global memory. They are sorted in place.
    ///
    /// All accesses of a load have one size and are aligned to it, so that two of them are equal
    /// or disjoint: distinct addresses have distinct bytes, and none crosses a sector.
    #[inline]
    pub(super) fn load(&mut self, addresses: &mut [u64], bytes: u32) -> Traffic {
        if !addresses.is_sorted() {
            addresses.sort_unstable();
        }
        let mut distinct = 0;
        let mut traffic = Traffic::default();
        let (mut last, mut last_sector, mut last_line) = (None, None, None);
        for &address in addresses.iter() {
            if last == Some(address) {
                continue;
            }
            last = Some(address);
            distinct += 1;
            let (sector, line) = (address / SECTOR, address / LINE);
            traffic.sectors += u64::from(last_sector != Some(sector));
            last_sector = Some(sector);
            if last_line != Some(line) {
                last_line = Some(line);
                traffic.lines += 1;
                self.lines.push(line);
            }
        }
        traffic.ideal_sectors = (distinct * u64::from(bytes)).div_ceil(SECTOR);
        if self.lines.len() > MAX_COLLECTED {
            self.compact();
        }
        traffic
    }

    /// Adds a load of 32 consecutive accesses, the first at `address`.
    #[inline]
    pub(super) fn run(&mut self, address: u64, bytes: u32) -> Traffic {
        let all_bytes = u64::from(bytes) * LANES as u64;
        let last = address + (all_bytes - 1);
        let (first_line, last_line) = (address / LINE, last / LINE);
        self.lines.extend(first_line..=last_line);
        if self.lines.len() > MAX_COLLECTED {
            self.compact();
        }
        Traffic {
            sectors: last / SECTOR - address / SECTOR + 1,
            lines: last_line - first_line + 1,
            ideal_sectors: all_bytes.div_ceil(SECTOR),
        }
    }

    fn compact(&mut self) {
        self.lines.sort_unstable();
        self.lines.dedup();
    }

    /// Returns the touched lines, and their pages.
    pub(super) fn footprint(mut self) -> Footprint {
        self.compact();
        let mut pages: Vec<u64> = self.lines.iter().map(|line| line * LINE / PAGE).collect();
        pages.dedup();
        Footprint { pages: set(pages), lines: set(self.lines) }
    }
}

/// Returns the set of ascending numbers.
fn set(ascending: Vec<u64>) -> RoaringTreemap {
    let set = RoaringTreemap::from_sorted_iter(ascending).ok();
    set.or_impossible(RoaringTreemap::new(), "the numbers ascend")
}

/// Collected lines are deduplicated beyond this number; a block touches at most 131,072.
const MAX_COLLECTED: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic(mut addresses: Vec<u64>, bytes: u32) -> (u64, u64, u64) {
        let traffic = TrafficCounter::default().load(&mut addresses, bytes);
        (traffic.sectors, traffic.lines, traffic.ideal_sectors)
    }

    #[test]
    fn sectors_lines_and_the_ideal() {
        // 32 lanes of 4 bytes side by side: 128 bytes, 4 sectors, 1 line.
        assert_eq!(traffic((0..32).map(|lane| 4 * lane).collect(), 4), (4, 1, 4));
        // The same, 16 bytes further: 5 sectors of 2 lines hold 128 bytes.
        assert_eq!(traffic((0..32).map(|lane| 16 + 4 * lane).collect(), 4), (5, 2, 4));
        // One address for all: 4 bytes need one sector.
        assert_eq!(traffic(vec![64; 32], 4), (1, 1, 1));
        // Backwards, a line apart: 32 sectors, 32 lines, 128 bytes.
        assert_eq!(traffic((0..32).rev().map(|lane| 128 * lane).collect(), 4), (32, 32, 4));
        assert_eq!(traffic(vec![], 4), (0, 0, 0));
        // 16 bytes each, two lanes in one sector.
        assert_eq!(traffic(vec![0, 16, 32], 16), (2, 1, 2));
    }

    #[test]
    fn a_run_counts_as_its_lanes_do() {
        for (address, bytes) in
            [(0, 4), (16, 4), (96, 4), (5, 1), (31, 1), (126, 2), (8, 8), (48, 16)]
        {
            let mut lanes: Vec<u64> = (0..32).map(|lane| address + lane * bytes).collect();
            let (mut one, mut other) = (TrafficCounter::default(), TrafficCounter::default());
            assert_eq!(one.run(address, bytes as u32), other.load(&mut lanes, bytes as u32));
            assert_eq!(one.footprint(), other.footprint());
        }
    }
}
