//! [`KernelCounts`]: what a replay counts, by kernel and by program counter. The counts of parts of
//! a trace add up to those of the whole.

use std::collections::BTreeMap;

use roaring::RoaringTreemap;

use super::summary::{Counts, FaultCounts, LdgstsCounts};
use crate::impossible::OrImpossible;
use crate::lane::LANES;

/// Bytes of a sector, a line and a page of global memory.
pub(super) const SECTOR: u64 = 32;
pub(super) const LINE: u64 = 128;
pub(super) const PAGE: u64 = 4096;

/// The most faults and mismatches that are kept in full.
pub(super) const KEPT: usize = 10;

/// The sectors and lines that loads touch in global memory, and the fewest sectors that would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    pub(super) sectors: u64,
    pub(super) lines: u64,
    pub(super) ideal_sectors: u64,
}

/// The counts of one program counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PcCounts {
    pub(super) loads: u64,
    pub(super) lanes: u64,
    pub(super) sectors: u64,
    pub(super) fewest_sectors: u64,
    pub(super) most_sectors: u64,
    pub(super) ideal_sectors: u64,
    pub(super) lane_faults: FaultCounts,
}

impl PcCounts {
    #[inline]
    pub(super) fn add(&mut self, other: &Self) {
        self.loads += other.loads;
        self.lanes += other.lanes;
        self.sectors += other.sectors;
        self.fewest_sectors = self.fewest_sectors.min(other.fewest_sectors);
        self.most_sectors = self.most_sectors.max(other.most_sectors);
        self.ideal_sectors += other.ideal_sectors;
        self.lane_faults.add(&other.lane_faults);
    }
}

/// Distinct pages and lines of global memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Footprint {
    pub(super) pages: RoaringTreemap,
    pub(super) lines: RoaringTreemap,
}

/// The counts of one kernel, or of a part of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct KernelCounts {
    /// What needs neither names nor the footprint: the rest of it is empty.
    pub(super) counts: Counts,
    /// Instructions that read memory but are not replayed, by the number of their name.
    pub(super) not_replayed: BTreeMap<u16, LdgstsCounts>,
    pub(super) footprint: Footprint,
    pub(super) per_pc: BTreeMap<(u32, u16), PcCounts>,
}

impl KernelCounts {
    pub(super) fn add(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        for (name, counts) in &other.not_replayed {
            self.not_replayed.entry(*name).or_default().add(*counts);
        }
        self.footprint.pages |= &other.footprint.pages;
        self.footprint.lines |= &other.footprint.lines;
        for (key, counts) in &other.per_pc {
            self.per_pc.entry(*key).and_modify(|known| known.add(counts)).or_insert(*counts);
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
