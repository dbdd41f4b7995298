//! [`TrafficCounter`]: the sectors and lines of global memory that accesses touch.

use roaring::RoaringTreemap;

use super::compare::nearest_before;
use crate::heat::TimeSlice;
use warpload::lane::{LANES, LaneMask};
use warpload::memory::{GenericAddress, WarpAddresses, Width};
use warpload::simd::vectorized;

/// Bytes of a sector, a line and a page of global memory.
pub(super) const SECTOR: u64 = 32;
pub(super) const LINE: u64 = 128;
pub(super) const PAGE: u64 = 4096;

/// What one access touches in global memory, and the least that would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// The distinct sectors of 32 bytes.
    pub sectors: u64,
    /// The distinct lines of 128 bytes.
    pub lines: u64,
    /// The fewest sectors that hold the distinct bytes.
    pub ideal_sectors: u64,
}

/// Distinct pages and lines of global memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Footprint {
    pub(super) pages: RoaringTreemap,
    pub(super) lines: RoaringTreemap,
}

/// Counts the distinct sectors and lines of each load, and collects the lines of all for the
/// footprint.
///
/// All accesses of a load have one size and are aligned to it, so that two of them are equal or
/// disjoint: distinct addresses have distinct bytes, and none crosses a sector.
///
/// One counter serves block after block, so that small blocks need not allocate and clear a table.
#[derive(Clone, Debug)]
pub(super) struct TrafficCounter {
    lines: Vec<u64>,
    /// The line that was added last of those that share a place, plus 1: loops that touch the same
    /// lines again do not grow `lines`. Each line of it is in `lines`.
    recent: Box<[u64; RECENT]>,
}

/// As many lines as 1 MiB has.
const RECENT: usize = 1 << 13;

impl Default for TrafficCounter {
    fn default() -> Self {
        Self { lines: Vec::new(), recent: Box::new([0; RECENT]) }
    }
}

impl TrafficCounter {
    /// Adds the accesses of the lanes in `global`; their sectors are added to `slice`, too.
    #[inline]
    pub(super) fn of_lanes(
        &mut self,
        addresses: &WarpAddresses,
        global: LaneMask,
        width: Width,
        mut slice: Option<&mut TimeSlice>,
    ) -> Traffic {
        if let (WarpAddresses::Stride { stride, .. }, Some(range)) = (addresses, global.range()) {
            let (first, count) = (addresses.of(range.start), range.len() as u64);
            let slice = slice.as_deref_mut();
            if let Some(traffic) = self.stride(first, *stride, count, width, slice) {
                return traffic;
            }
        }
        self.each(addresses, global, width, slice)
    }

    /// Adds the accesses of `count` lanes in global memory, each `stride` bytes after the one before
    /// and then rounded down; their sectors are added to `slice`, too. Returns `None`, and adds
    /// nothing, if an address passes 2^64.
    #[inline]
    fn stride(
        &mut self,
        first: u64,
        stride: u64,
        count: u64,
        width: Width,
        slice: Option<&mut TimeSlice>,
    ) -> Option<Traffic> {
        let end = first.checked_add(stride.checked_mul(count.checked_sub(1)?)?)?;
        let bytes = u64::from(width.bytes());
        let (start, last) = (first & !(bytes - 1), end & !(bytes - 1));
        // Rounding moves neighbours apart by less than their size: with a stride up to that of a
        // block no block between is left out, and with a longer one each has its own.
        let touched = |block: u64| {
            if stride <= block { last / block - start / block + 1 } else { count }
        };
        if stride <= LINE {
            (start / LINE..=last / LINE).for_each(|line| self.add_line(line));
        } else {
            (0..count).for_each(|i| self.add_line((first + i * stride) / LINE));
        }
        if let Some(slice) = slice {
            touch_stride(slice, first, last, stride, count);
        }
        let distinct = if stride < bytes { (last - start) / bytes + 1 } else { count };
        Some(Traffic {
            sectors: touched(SECTOR),
            lines: touched(LINE),
            ideal_sectors: (distinct * bytes).div_ceil(SECTOR),
        })
    }

    /// Adds the accesses of the lanes in `global`, rounded down to the width; their sectors are added
    /// to `slice`, too.
    #[inline]
    fn each(
        &mut self,
        addresses: &WarpAddresses,
        global: LaneMask,
        width: Width,
        slice: Option<&mut TimeSlice>,
    ) -> Traffic {
        let mut rounded = [0; LANES];
        let mut count = 0;
        let round = |address| GenericAddress(address).align_down(width).0;
        match addresses {
            WarpAddresses::Each(list) if global == LaneMask::ALL => {
                rounded = list.map(round);
                count = LANES;
            }
            _ => {
                for lane in global.lanes() {
                    rounded[count] = round(addresses.of(lane));
                    count += 1;
                }
            }
        }
        let rounded = &mut rounded[..count];
        let Some(lowest) = rounded.iter().copied().min() else { return Traffic::default() };
        let base = lowest & !(LINE - 1);
        let span = rounded.iter().fold(0, |bits, address| bits | (address - base));
        if span > MAX_SPAN.into() {
            return self.sorted(rounded, width, slice);
        }
        // The lanes left over are as the first one, and count for nothing.
        let mut offsets = [(rounded[0] - base) as u32; 2 * LANES];
        offsets[..LANES].fill(BEFORE);
        for (offset, address) in offsets[LANES..].iter_mut().zip(rounded.iter()) {
            *offset = (address - base) as u32;
        }
        let mut nearest = [u32::MAX; LANES];
        nearest_before(&offsets, &mut nearest);
        let [distinct, sectors, lines] = vectorized!(count_new(&nearest));
        for (nearest, address) in nearest.iter().zip(rounded.iter()) {
            if *nearest >= LINE as u32 {
                self.add_line(address / LINE);
            }
        }
        if let Some(slice) = slice {
            for (nearest, address) in nearest.iter().zip(rounded.iter()) {
                if *nearest >= SECTOR as u32 {
                    slice.touch(address / LINE, 1);
                }
            }
        }
        let ideal_sectors = (u64::from(distinct) * u64::from(width.bytes())).div_ceil(SECTOR);
        Traffic { sectors: sectors.into(), lines: lines.into(), ideal_sectors }
    }

    /// Adds addresses that are far from each other. They are sorted in place.
    #[cold]
    fn sorted(
        &mut self,
        addresses: &mut [u64],
        width: Width,
        mut slice: Option<&mut TimeSlice>,
    ) -> Traffic {
        addresses.sort_unstable();
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
            if last_sector != Some(sector) {
                last_sector = Some(sector);
                traffic.sectors += 1;
                if let Some(slice) = slice.as_deref_mut() {
                    slice.touch(line, 1);
                }
            }
            if last_line != Some(line) {
                last_line = Some(line);
                traffic.lines += 1;
                self.add_line(line);
            }
        }
        traffic.ideal_sectors = (distinct * u64::from(width.bytes())).div_ceil(SECTOR);
        traffic
    }

    #[inline]
    fn add_line(&mut self, line: u64) {
        let recent = &mut self.recent[line as usize % RECENT];
        if *recent != line + 1 {
            *recent = line + 1;
            self.lines.push(line);
            if self.lines.len() > MAX_COLLECTED {
                self.compact();
            }
        }
    }

    fn compact(&mut self) {
        self.lines.sort_unstable();
        self.lines.dedup();
    }

    /// Returns the touched lines, and their pages; forgets them.
    pub(super) fn take_footprint(&mut self) -> Footprint {
        self.compact();
        let mut pages: Vec<u64> = self.lines.iter().map(|line| line * LINE / PAGE).collect();
        pages.dedup();
        let footprint = Footprint { pages: set(pages), lines: set(self.lines.iter().copied()) };
        self.forget();
        footprint
    }

    /// Forgets the touched lines.
    pub(super) fn forget(&mut self) {
        for line in self.lines.drain(..) {
            self.recent[line as usize % RECENT] = 0;
        }
    }
}

/// Adds the sectors of lanes, each `stride` bytes after the one before.
fn touch_stride(slice: &mut TimeSlice, first: u64, last: u64, stride: u64, count: u64) {
    if stride > SECTOR {
        return (0..count).for_each(|i| slice.touch((first + i * stride) / LINE, 1));
    }
    const IN_LINE: u64 = LINE / SECTOR;
    let (start, last) = (first / SECTOR, last / SECTOR);
    for line in start / IN_LINE..=last / IN_LINE {
        let of_line = start.max(line * IN_LINE)..=last.min(line * IN_LINE + (IN_LINE - 1));
        slice.touch(line, of_line.end() - of_line.start() + 1);
    }
}

/// The greatest distance of addresses that are compared as 32-bit offsets.
const MAX_SPAN: u32 = i32::MAX as u32;
/// What comes before the first offset: differs from each by more than a line.
const BEFORE: u32 = !MAX_SPAN;

/// Returns how many lanes have an address, a sector and a line that no lane before has.
#[inline(always)]
fn count_new(nearest: &[u32; LANES]) -> [u32; 3] {
    let mut counts = [0; 3];
    for one in nearest {
        counts[0] += u32::from(*one > 0);
        counts[1] += u32::from(*one >= SECTOR as u32);
        counts[2] += u32::from(*one >= LINE as u32);
    }
    counts
}

/// Returns the set of ascending numbers.
fn set(ascending: impl IntoIterator<Item = u64>) -> RoaringTreemap {
    let set = RoaringTreemap::from_sorted_iter(ascending);
    debug_assert!(set.is_ok(), "the numbers ascend");
    set.unwrap_or_default()
}

/// Collected lines are deduplicated beyond this number; a block touches at most 131,072.
const MAX_COLLECTED: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn width(bytes: u32) -> Width {
        Width::from_bytes(bytes).unwrap()
    }

    /// Returns the sectors of each line.
    fn ascending(slice: &TimeSlice) -> BTreeMap<u64, u64> {
        let mut lines = BTreeMap::new();
        slice.groups().iter().for_each(|(line, n)| *lines.entry(*line).or_default() += n);
        lines
    }

    fn traffic(addresses: &[u64], bytes: u32) -> (u64, u64, u64) {
        let mut list = [0; LANES];
        list[..addresses.len()].copy_from_slice(addresses);
        let global = LaneMask::from_fn(|lane| lane < addresses.len());
        let mut counter = TrafficCounter::default();
        let mut slices = [TimeSlice::new(), TimeSlice::new()];
        let slice = Some(&mut slices[0]);
        let traffic = counter.each(&WarpAddresses::Each(list), global, width(bytes), slice);
        let mut other = TrafficCounter::default();
        let slice = Some(&mut slices[1]);
        assert_eq!(other.sorted(&mut addresses.to_vec(), width(bytes), slice), traffic);
        assert_eq!(slices[0].sectors(), traffic.sectors);
        assert_eq!(ascending(&slices[0]), ascending(&slices[1]));
        assert_eq!(other.take_footprint(), counter.take_footprint());
        (traffic.sectors, traffic.lines, traffic.ideal_sectors)
    }

    #[test]
    fn sectors_lines_and_the_ideal() {
        let all = |of: fn(u64) -> u64| -> Vec<u64> { (0..32).map(of).collect() };
        // 32 lanes of 4 bytes side by side: 128 bytes, 4 sectors, 1 line.
        assert_eq!(traffic(&all(|lane| 4 * lane), 4), (4, 1, 4));
        // The same, 16 bytes further: 5 sectors of 2 lines hold 128 bytes.
        assert_eq!(traffic(&all(|lane| 16 + 4 * lane), 4), (5, 2, 4));
        // One address for all: 4 bytes need one sector.
        assert_eq!(traffic(&[64; 32], 4), (1, 1, 1));
        // Backwards, a line apart: 32 sectors, 32 lines, 128 bytes.
        assert_eq!(traffic(&all(|lane| 128 * (31 - lane)), 4), (32, 32, 4));
        assert_eq!(traffic(&[], 4), (0, 0, 0));
        // 16 bytes each, two lanes in one sector.
        assert_eq!(traffic(&[0, 16, 32], 16), (2, 1, 2));
        // Far from each other.
        assert_eq!(traffic(&[0, 1 << 31, 1 << 40, (1 << 40) + 4], 4), (3, 3, 1));
        assert_eq!(traffic(&[u64::MAX - 3, 0, u64::MAX - 3], 4), (2, 2, 1));
    }

    #[test]
    fn a_stride_counts_as_its_lanes_do() {
        for bytes in [1, 2, 4, 8, 16, 32] {
            for stride in (0..=40).chain([63, 64, 65, 96, 127, 128, 129, 255, 256, 4096]) {
                for (first, count) in [(0, 32), (5, 32), (100, 31), (127, 2), (4095, 1)] {
                    let mut lanes: Vec<u64> = (0..count)
                        .map(|lane| (first + lane * stride) & !(u64::from(bytes) - 1))
                        .collect();
                    let (mut one, mut other) =
                        (TrafficCounter::default(), TrafficCounter::default());
                    let mut slices = [TimeSlice::new(), TimeSlice::new()];
                    let [slice, of_lanes] = &mut slices;
                    let traffic = one.stride(first, stride, count, width(bytes), Some(slice));
                    let expected = other.sorted(&mut lanes, width(bytes), Some(of_lanes));
                    assert_eq!(ascending(slice), ascending(of_lanes));
                    assert_eq!(traffic, Some(expected), "{first} {stride} {count} {bytes}");
                    assert_eq!(one.take_footprint(), other.take_footprint());
                }
            }
        }
        let mut counter = TrafficCounter::default();
        assert_eq!(counter.stride(8, u64::MAX, 2, Width::Bytes4, None), None);
        assert_eq!(counter.stride(u64::MAX - 3, 4, 2, Width::Bytes4, None), None);
        assert_eq!(counter.take_footprint(), Footprint::default());
    }

    proptest! {
        #[test]
        fn what_is_new_is_counted_the_same_by_vectors(nearest: [u32; LANES]) {
            prop_assert_eq!(vectorized!(count_new(&nearest)), count_new(&nearest));
        }

        #[test]
        fn lanes_count_as_if_they_were_sorted(
            list in prop::collection::vec(
                prop_oneof![0..4096u64, 0..0x2_0000_0000u64, any::<u64>()],
                0..=32,
            ),
            shift in 0..6u32,
        ) {
            let bytes = 1 << shift;
            let rounded: Vec<u64> = list.iter().map(|at| at & !(u64::from(bytes) - 1)).collect();
            traffic(&rounded, bytes);
        }
    }
}
