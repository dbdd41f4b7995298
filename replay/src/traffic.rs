//! [`Traffic`]: the sectors and lines of global memory that one access touches; a [`TouchSink`] receives the lines.

use super::compare::nearest_before;
use warpload::lane::{LANES, LaneMask};
use warpload::memory::{WarpAddresses, Width};
use warpload::simd::vectorized;

/// Bytes of a sector of global memory, the unit in which the second-level cache reads.
pub const SECTOR_BYTES: u64 = 32;
/// Bytes of a line of global memory, which has four sectors.
pub const LINE_BYTES: u64 = 128;

/// The sectors and lines of global memory that one access touches, and the ideal.
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

/// Receives the lines that accesses touch.
pub(super) trait TouchSink {
    /// Adds a line, by its number.
    #[inline]
    fn add_line(&mut self, _line: u64) {}

    /// Adds the lines `first` to `last`.
    #[inline]
    fn add_lines(&mut self, _first: u64, _last: u64) {}
}

/// For accesses that are only counted.
impl TouchSink for () {}

impl Traffic {
    /// Counts the distinct sectors and lines of an access by the lanes in `global`, rounded down to the width, and
    /// passes the lines to `sink`.
    ///
    /// All lanes access the same size, aligned to it, so that any two accesses are equal or disjoint: distinct
    /// addresses have distinct bytes, and none crosses a sector.
    #[inline]
    pub(super) fn of_lanes(
        addresses: &WarpAddresses,
        global: LaneMask,
        width: Width,
        sink: &mut impl TouchSink,
    ) -> Self {
        if let (WarpAddresses::Stride { stride, .. }, Some(range)) = (addresses, global.range()) {
            let (first, count) = (addresses.of(range.start), range.len() as u64);
            if let Some(traffic) = Self::of_stride(first, *stride, count, width, sink) {
                return traffic;
            }
        }
        Self::of_each(addresses, global, width, sink)
    }

    /// Counts an access by `count` lanes, each `stride` bytes after the previous one. Returns `None` and leaves the
    /// sink alone if an address passes 2^64.
    #[inline]
    fn of_stride(
        first: u64,
        stride: u64,
        count: u64,
        width: Width,
        sink: &mut impl TouchSink,
    ) -> Option<Self> {
        let end = first.checked_add(stride.checked_mul(count.checked_sub(1)?)?)?;
        let bytes = u64::from(width.bytes());
        let (start, last) = (first & !(bytes - 1), end & !(bytes - 1));
        // Rounding moves neighbours apart by less than their size. With a stride up to the size of a block, no block in
        // between is skipped; with a longer stride each lane has its own.
        let touched = |block: u64| {
            if stride <= block { last / block - start / block + 1 } else { count }
        };
        if stride <= LINE_BYTES {
            sink.add_lines(start / LINE_BYTES, last / LINE_BYTES);
        } else {
            (0..count).for_each(|i| sink.add_line((first + i * stride) / LINE_BYTES));
        }
        let distinct = if stride < bytes { (last - start) / bytes + 1 } else { count };
        Some(Self {
            sectors: touched(SECTOR_BYTES),
            lines: touched(LINE_BYTES),
            ideal_sectors: (distinct * bytes).div_ceil(SECTOR_BYTES),
        })
    }

    /// Counts an access lane by lane.
    #[inline]
    fn of_each(
        addresses: &WarpAddresses,
        global: LaneMask,
        width: Width,
        sink: &mut impl TouchSink,
    ) -> Self {
        let Some(first) = global.first() else { return Self::default() };
        let mut rounded = [addresses.of(first); LANES];
        let mut count = 0;
        match addresses {
            WarpAddresses::Each(list) if global == LaneMask::ALL => {
                rounded = *list;
                count = LANES;
            }
            _ => {
                for lane in global.lanes() {
                    rounded[count] = addresses.of(lane);
                    count += 1;
                }
            }
        }
        let mut offsets = [0; 2 * LANES];
        // Unused elements repeat the first lane, so that they count as duplicates.
        let are_near = vectorized!(offsets_of(&mut rounded, width, &mut offsets));
        let rounded = &mut rounded[..count];
        if !are_near {
            return Self::of_sorted(rounded, width, sink);
        }
        let mut nearest = [u32::MAX; LANES];
        nearest_before(&offsets, &mut nearest);
        let [distinct, sectors, lines] = vectorized!(count_new(&nearest));
        for (nearest, address) in nearest.iter().zip(rounded.iter()) {
            if *nearest >= LINE_BYTES as u32 {
                sink.add_line(address / LINE_BYTES);
            }
        }
        let ideal_sectors = (u64::from(distinct) * u64::from(width.bytes())).div_ceil(SECTOR_BYTES);
        Self { sectors: sectors.into(), lines: lines.into(), ideal_sectors }
    }

    /// Counts an access with distant addresses, and sorts them in place.
    #[cold]
    fn of_sorted(addresses: &mut [u64], width: Width, sink: &mut impl TouchSink) -> Self {
        addresses.sort_unstable();
        let mut distinct = 0;
        let mut traffic = Self::default();
        let (mut last, mut last_sector, mut last_line) = (None, None, None);
        for &address in addresses.iter() {
            if last == Some(address) {
                continue;
            }
            last = Some(address);
            distinct += 1;
            let (sector, line) = (address / SECTOR_BYTES, address / LINE_BYTES);
            if last_sector != Some(sector) {
                last_sector = Some(sector);
                traffic.sectors += 1;
            }
            if last_line != Some(line) {
                last_line = Some(line);
                traffic.lines += 1;
                sink.add_line(line);
            }
        }
        traffic.ideal_sectors = (distinct * u64::from(width.bytes())).div_ceil(SECTOR_BYTES);
        traffic
    }
}

/// An offset that differs from every lane's by more than a line.
const BEFORE: i32 = i32::MIN;

/// Rounds the addresses down to the width, and sets the last 32 offsets to their distances from the first one's line.
/// Returns whether these distances fit. Negative ones wrap around, but still tell which addresses share a sector or a
/// line.
#[inline(always)]
fn offsets_of(addresses: &mut [u64; LANES], width: Width, offsets: &mut [u32; 2 * LANES]) -> bool {
    let low_bits = u64::from(width.bytes()) - 1;
    let base = addresses[0] & !(LINE_BYTES - 1);
    let (before, own) = offsets.split_at_mut(LANES);
    before.fill(BEFORE.cast_unsigned());
    let mut beyond = 0;
    for (address, offset) in addresses.iter_mut().zip(own) {
        *address &= !low_bits;
        let distance = address.wrapping_sub(base);
        // Half of the range, so that no distance is near `BEFORE`.
        beyond |= distance.wrapping_add(1 << 30) >> 31;
        *offset = distance as u32;
    }
    beyond == 0
}

/// The numbers of lanes with an address, a sector and a line that no earlier lane has.
#[inline(always)]
fn count_new(nearest: &[u32; LANES]) -> [u32; 3] {
    let mut counts = [0; 3];
    for one in nearest {
        counts[0] += u32::from(*one > 0);
        counts[1] += u32::from(*one >= SECTOR_BYTES as u32);
        counts[2] += u32::from(*one >= LINE_BYTES as u32);
    }
    counts
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn width(bytes: u32) -> Width {
        Width::from_bytes(bytes).unwrap()
    }

    #[derive(Debug, Default, PartialEq)]
    struct Touched(BTreeSet<u64>);

    impl TouchSink for Touched {
        fn add_line(&mut self, line: u64) {
            self.0.insert(line);
        }

        fn add_lines(&mut self, first: u64, last: u64) {
            self.0.extend(first..=last);
        }
    }

    fn traffic(addresses: &[u64], bytes: u32) -> (u64, u64, u64) {
        let mut list = [0; LANES];
        list[..addresses.len()].copy_from_slice(addresses);
        let global = LaneMask::from_fn(|lane| lane < addresses.len());
        let [mut touched, mut of_sorted] = [Touched::default(), Touched::default()];
        let list = &WarpAddresses::Each(list);
        let traffic = Traffic::of_each(list, global, width(bytes), &mut touched);
        let mut addresses = addresses.to_vec();
        assert_eq!(Traffic::of_sorted(&mut addresses, width(bytes), &mut of_sorted), traffic);
        assert_eq!(touched.0.len() as u64, traffic.lines);
        assert_eq!(touched, of_sorted);
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
                    let [mut touched, mut of_lanes] = [Touched::default(), Touched::default()];
                    let width = width(bytes);
                    let traffic = Traffic::of_stride(first, stride, count, width, &mut touched);
                    let expected = Traffic::of_sorted(&mut lanes, width, &mut of_lanes);
                    assert_eq!(traffic, Some(expected), "{first} {stride} {count} {bytes}");
                    assert_eq!(touched, of_lanes);
                }
            }
        }
        let mut touched = Touched::default();
        for (first, stride) in [(8, u64::MAX), (u64::MAX - 3, 4)] {
            assert_eq!(Traffic::of_stride(first, stride, 2, Width::Bytes4, &mut touched), None);
        }
        assert_eq!(touched, Touched::default());
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
