//! [`HeatMap`]: the addresses of global memory that loads touch, over time, in a grid of bounded size. [`Cells`] count
//! sectors by time and address before the addresses of all loads are known.

use std::ops::Range;

use roaring::RoaringTreemap;

use warpload_replay::{LINE_BYTES, PAGE_BYTES};

const LINES_PER_PAGE: u64 = PAGE_BYTES / LINE_BYTES;

/// Sectors touched in global memory, by address and by time.
///
/// Time runs along the columns, in equal shares of the instructions. The rows divide the touched pages, placed side by
/// side, into equal parts, so that untouched pages take no room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeatMap {
    /// The instructions of all columns.
    pub records: Range<u64>,
    /// The number of columns.
    pub columns: usize,
    /// The rows, by ascending address; empty if no global memory was touched.
    pub rows: Vec<HeatRow>,
    /// The sectors of each cell, added up over loads; row by row.
    pub sectors: Vec<u64>,
    /// Whether each sector is counted in the row of its address. If the columns together touch more than 131,072 pages,
    /// neighbouring pages are counted in groups instead, and a group in several rows is divided evenly among them.
    pub is_exact: bool,
}

/// The addresses of one row of a heat map, possibly with gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeatRow {
    /// The first address.
    pub first: u64,
    /// The last address.
    pub last: u64,
}

/// The time axis of a heat map: instructions in equal shares.
#[derive(Clone, Debug)]
pub(crate) struct TimeAxis {
    pub(crate) records: Range<u64>,
    pub(crate) columns: usize,
}

impl TimeAxis {
    /// Creates an axis of at most `most` columns.
    pub(crate) fn new(records: Range<u64>, most: usize) -> Self {
        let count = records.end.saturating_sub(records.start);
        let columns = usize::try_from(count).map_or(most, |count| count.min(most));
        Self { records, columns }
    }

    /// The column of an instruction, and the first instruction after the column; `None` outside the axis.
    pub(crate) fn column(&self, record: u64) -> Option<(usize, u64)> {
        let passed = u128::from(record.checked_sub(self.records.start)?);
        let count = u128::from(self.records.end.checked_sub(self.records.start)?);
        let columns = self.columns as u128;
        if passed >= count {
            return None;
        }
        let column = passed * columns / count;
        let end = ((column + 1) * count).div_ceil(columns);
        Some((column as usize, self.records.start + end as u64))
    }
}

impl HeatMap {
    /// Creates a map of settled cells, with at most `rows` rows over the touched pages.
    pub(crate) fn new(time: &TimeAxis, cells: &Cells, pages: &RoaringTreemap, rows: usize) -> Self {
        let TimeAxis { records, columns } = time.clone();
        let lines_per_row = lines_per_row(pages, rows as u64);
        let rows = heat_rows(pages, lines_per_row);
        let mut sectors = vec![0; columns * rows.len()];
        let places = places(cells, pages);
        let mut is_exact = true;
        for (column, groups) in cells.columns().enumerate() {
            for (group, count) in groups {
                let Ok(found) = places.binary_search_by_key(group, |(group, _)| *group) else {
                    continue;
                };
                let Range { start, end } = places[found].1;
                let of_group = start / lines_per_row..end.div_ceil(lines_per_row);
                is_exact &= of_group.end - of_group.start <= 1;
                let mut before = 0;
                for row in of_group {
                    let passed = ((row + 1) * lines_per_row).min(end) - start;
                    let share = u128::from(*count) * u128::from(passed) / u128::from(end - start);
                    if let Some(cell) = sectors.get_mut(row as usize * columns + column) {
                        *cell += share as u64 - before;
                    }
                    before = share as u64;
                }
            }
        }
        Self { records, columns, rows, sectors, is_exact }
    }

    /// Returns the counts of a row, one per column; empty if there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[u64] {
        let all = self.sectors.get(row.saturating_mul(self.columns)..).unwrap_or_default();
        all.get(..self.columns).unwrap_or_default()
    }
}

/// The lines of a row, given the maximum number of rows. A power of two, so that a row begins at a page or at an even
/// fraction of one.
fn lines_per_row(pages: &RoaringTreemap, most: u64) -> u64 {
    let lines = pages.len() * LINES_PER_PAGE;
    let mut lines_per_row = 1;
    while lines.div_ceil(lines_per_row) > most.max(1) {
        lines_per_row *= 2;
    }
    lines_per_row
}

fn heat_rows(pages: &RoaringTreemap, lines_per_row: u64) -> Vec<HeatRow> {
    let lines = pages.len() * LINES_PER_PAGE;
    let address = |line: u64| {
        let page = pages.select(line / LINES_PER_PAGE)?;
        Some(page * PAGE_BYTES + line % LINES_PER_PAGE * LINE_BYTES)
    };
    let row = |i: u64| {
        let last = ((i + 1) * lines_per_row).min(lines) - 1;
        Some(HeatRow {
            first: address(i * lines_per_row)?,
            last: address(last)? + (LINE_BYTES - 1),
        })
    };
    (0..lines.div_ceil(lines_per_row)).filter_map(row).collect()
}

/// For each group of the cells, ascending: the range of its lines, counted over the touched pages alone.
fn places(cells: &Cells, pages: &RoaringTreemap) -> Vec<(u64, Range<u64>)> {
    let mut groups: Vec<u64> = cells.columns().flatten().map(|(group, _)| *group).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut pages = pages.iter().peekable();
    let mut passed = 0;
    let mut lines_before = |line: u64| {
        let page = line / LINES_PER_PAGE;
        while pages.next_if(|next| *next < page).is_some() {
            passed += LINES_PER_PAGE;
        }
        passed + if pages.peek() == Some(&page) { line % LINES_PER_PAGE } else { 0 }
    };
    let level = cells.level();
    let mut place = |group| lines_before(group << level)..lines_before((group + 1) << level);
    groups.into_iter().map(|group| (group, place(group))).collect()
}

/// The maximum number of settled cells, five times the cells of 128 rows and 200 columns. Up to as many more may be
/// unsorted.
const MAX_CELLS: usize = 1 << 17;
/// The maximum number of addresses in a time slice; a load adds up to 32 more.
const MAX_ADDRESSES: usize = 1 << 16;
/// The entries of a slice's cache, one for each line of 4 MiB, so that smaller working sets have no collisions.
const PLACES: usize = 1 << 15;

/// An aligned group of 2^level lines: its number and its sectors.
type Group = (u64, u64);

/// The sectors that loads touch within one column, by address. A column can have several slices.
#[derive(Debug)]
pub(crate) struct TimeSlice {
    level: u32,
    groups: Vec<Group>,
    /// A cache of positions in `groups`. An entry counts only if the group there matches, so that it never needs
    /// clearing.
    places: Box<[u32; PLACES]>,
}

impl TimeSlice {
    pub(crate) fn new() -> Self {
        Self { level: 0, groups: Vec::new(), places: Box::new([0; PLACES]) }
    }

    /// Adds sectors of a line.
    #[inline]
    pub(crate) fn touch(&mut self, line: u64, sectors: u64) {
        let group = line >> self.level;
        let place = &mut self.places[group as usize % PLACES];
        match self.groups.get_mut(*place as usize) {
            Some((known, count)) if *known == group => *count += sectors,
            _ => {
                *place = self.groups.len() as u32;
                self.groups.push((group, sectors));
            }
        }
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.groups.len() >= MAX_ADDRESSES
    }

    pub(crate) fn sectors(&self) -> u64 {
        self.groups.iter().map(|(_, sectors)| sectors).sum()
    }

    /// Adds a slice of the same or a finer level.
    pub(crate) fn add(&mut self, other: &Self) {
        other.groups.iter().for_each(|(group, sectors)| self.touch(group << other.level, *sectors));
    }

    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    /// Empties the slice for cells of that level.
    pub(crate) fn restart(&mut self, level: u32) {
        self.groups.clear();
        self.level = level;
    }
}

/// Sectors by column and address. Addresses are counted in groups of 2^level lines, at the lowest level at which the
/// cells fit. The level only ever grows, so the result does not depend on the order in which parts are added.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    level: u32,
    columns: Vec<Column>,
    /// The number of cells waiting to be sorted.
    unsorted: usize,
}

/// The cells of one column. The first `sorted` ones are sorted and distinct.
#[derive(Clone, Debug, Default)]
struct Column {
    groups: Vec<Group>,
    sorted: usize,
}

impl Cells {
    pub(crate) fn new(columns: usize) -> Self {
        Self { level: 0, columns: vec![Column::default(); columns], unsorted: 0 }
    }

    pub(crate) fn level(&self) -> u32 {
        self.level
    }

    /// The groups of each column, ascending. The cells must be settled.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &[Group]> {
        self.columns.iter().map(|column| &column.groups[..])
    }

    /// Adds a slice. Its level must not exceed that of the cells.
    pub(crate) fn add_slice(&mut self, column: usize, slice: &TimeSlice) {
        self.extend(column, &slice.groups, slice.level);
    }

    /// Adds cells with the same number of columns.
    pub(crate) fn add(&mut self, mut other: Self) {
        if self.level < other.level {
            std::mem::swap(self, &mut other);
        }
        for (i, column) in other.columns.iter().enumerate() {
            self.extend(i, &column.groups, other.level);
        }
    }

    fn extend(&mut self, column: usize, groups: &[Group], level: u32) {
        let Some(column) = self.columns.get_mut(column) else { return };
        let coarser = self.level - level;
        column.groups.extend(groups.iter().map(|(group, sectors)| (group >> coarser, *sectors)));
        self.unsorted += groups.len();
        if self.unsorted > MAX_CELLS {
            self.settle();
        }
    }

    /// Sorts the added cells, and raises the level until all fit.
    pub(crate) fn settle(&mut self) {
        for column in &mut self.columns {
            if column.sorted < column.groups.len() {
                // Fast, because this sort merges runs that ascend already.
                column.groups.sort_by_key(|(group, _)| *group);
                column.join();
            }
        }
        self.unsorted = 0;
        // One group in each column always fits, so the loop ends.
        let most = MAX_CELLS.max(self.columns.len());
        while self.columns.iter().map(|column| column.sorted).sum::<usize>() > most {
            self.level += 1;
            for column in &mut self.columns {
                column.groups.iter_mut().for_each(|(group, _)| *group >>= 1);
                column.join();
            }
        }
    }
}

impl Column {
    /// Adds up equal groups. They must ascend.
    fn join(&mut self) {
        self.groups.dedup_by(|(next, more), (group, sectors)| {
            let is_same = next == group;
            *sectors += if is_same { *more } else { 0 };
            is_same
        });
        self.sorted = self.groups.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpload::memory::mix;

    fn heat_rows(pages: &RoaringTreemap, most: u64) -> Vec<HeatRow> {
        super::heat_rows(pages, lines_per_row(pages, most))
    }

    #[test]
    fn rows_leave_gaps_out() {
        let pages: RoaringTreemap = [1, 2, 1000].into_iter().collect();
        let rows = heat_rows(&pages, 12);
        assert_eq!(rows.len(), 12);
        assert_eq!(rows[0], HeatRow { first: 0x1000, last: 0x13ff });
        assert_eq!(rows[8], HeatRow { first: 1000 * 4096, last: 1000 * 4096 + 0x3ff });
        // Three pages in rows of two: the last row has one.
        let rows = heat_rows(&pages, 2);
        assert_eq!(rows[0], HeatRow { first: 0x1000, last: 0x2fff });
        assert_eq!(rows[1], HeatRow { first: 1000 * 4096, last: 1000 * 4096 + 0xfff });
        assert_eq!(heat_rows(&RoaringTreemap::new(), 8), []);
    }

    #[test]
    fn counts_by_address_and_time() {
        let pages: RoaringTreemap = [1, 1000].into_iter().collect();
        let time = TimeAxis::new(10..30, 10);
        let mut cells = Cells::new(time.columns);
        for (record, address, sectors) in
            [(10, 0x1000, 3), (11, 0x1fff, 1), (29, 1000 * PAGE_BYTES, 5), (10, 0, 1)]
        {
            let mut slice = TimeSlice::new();
            slice.touch(address / LINE_BYTES, sectors);
            cells.add_slice(time.column(record).unwrap().0, &slice);
        }
        cells.settle();
        let map = HeatMap::new(&time, &cells, &pages, 2);
        assert!(map.is_exact);
        // The first page is not in the map.
        assert_eq!(map.row(0), [4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(map.row(1), [0, 0, 0, 0, 0, 0, 0, 0, 0, 5]);
    }

    #[test]
    fn columns_share_the_instructions() {
        let time = TimeAxis::new(10..33, 10);
        let columns: Vec<_> = (10..33).map(|record| time.column(record).unwrap()).collect();
        assert_eq!((columns[0], columns[22]), ((0, 13), (9, 33)));
        for (record, &(column, end)) in (10..).zip(&columns) {
            assert_eq!(column as u64, (record - 10) * 10 / 23);
            assert_eq!(time.column(end).map_or(10, |(next, _)| next), column + 1);
        }
        assert_eq!((time.column(9), time.column(33)), (None, None));
        assert_eq!(TimeAxis::new(5..8, 10).columns, 3);
    }

    /// Pages 16 MiB apart, a row for each, in groups of 32 MiB.
    #[test]
    fn coarse_cells_are_shared_out() {
        let pages: RoaringTreemap = (0..1024).map(|page| page << 12).collect();
        let time = TimeAxis::new(0..200, 200);
        let mut cells = Cells::new(time.columns);
        let mut slice = TimeSlice::new();
        for page in &pages {
            slice.touch(page * LINES_PER_PAGE, 2 * page);
        }
        for column in 0..time.columns {
            cells.add_slice(column, &slice);
        }
        cells.settle();
        // 200 columns of 1,024 pages are too many.
        assert_eq!(cells.level(), 18);
        let map = HeatMap::new(&time, &cells, &pages, 1024);
        assert_eq!((map.rows.len(), map.is_exact), (1024, false));
        for (row, page) in pages.iter().enumerate() {
            // Half of the sectors of both pages.
            assert_eq!(map.row(row), [2 * (page & !(1 << 12)) + (1 << 12); 200]);
        }
    }

    const COLUMNS: usize = 200;

    /// Touches lines, each at its column.
    fn counted(touches: &[(usize, u64)]) -> Cells {
        let (mut cells, mut slice) = (Cells::new(COLUMNS), TimeSlice::new());
        for same in touches.chunk_by(|(one, _), (next, _)| one == next) {
            for (i, &(column, line)) in same.iter().enumerate() {
                slice.touch(line, 1);
                if slice.is_full() || i + 1 == same.len() {
                    cells.add_slice(column, &slice);
                    slice.restart(cells.level());
                }
            }
        }
        cells.settle();
        cells
    }

    fn contents(cells: &Cells) -> (u32, Vec<Vec<(u64, u64)>>) {
        (cells.level(), cells.columns().map(<[_]>::to_vec).collect())
    }

    /// The definition: the lowest level at which the cells fit.
    fn expected(touches: &[(usize, u64)]) -> (u32, Vec<Vec<(u64, u64)>>) {
        let mut cells: Vec<(usize, u64)> = touches.to_vec();
        cells.sort_unstable();
        let mut level = 0;
        while cells.chunk_by(|one, next| one == next).count() > MAX_CELLS {
            level += 1;
            cells.iter_mut().for_each(|(_, group)| *group >>= 1);
        }
        let mut columns = vec![Vec::new(); COLUMNS];
        for same in cells.chunk_by(|one, next| one == next) {
            columns[same[0].0].push((same[0].1, same.len() as u64));
        }
        (level, columns)
    }

    #[test]
    fn the_level_is_the_least_that_fits() {
        for (lines, level) in [(1 << 9, 0), (1 << 16, 7), (u64::MAX >> 7, 48)] {
            let touches: Vec<(usize, u64)> = (0..300_000)
                .map(|i| ((i * COLUMNS as u64 / 300_000) as usize, mix(i) % lines))
                .collect();
            let expected = expected(&touches);
            assert_eq!(expected.0, level);
            assert!(contents(&counted(&touches)) == expected, "{lines}");
        }
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        // Dense lines first, then lines far apart.
        let touches: Vec<(usize, u64)> = (0..500_000)
            .map(|i| {
                let column = (i * COLUMNS as u64 / 500_000) as usize;
                (column, if i < 100_000 { i / 3 } else { mix(i) % (1 << (i / 16_000)) })
            })
            .collect();
        let whole = contents(&counted(&touches));
        assert!(whole == expected(&touches));
        for cuts in [vec![250_000], vec![1, 2, 99_000], vec![123_456, 300_000, 499_999]] {
            let mut rest = &touches[..];
            let mut parts = Vec::new();
            for cut in cuts.iter().rev() {
                let (before, part) = rest.split_at(*cut);
                parts.insert(0, counted(part));
                rest = before;
            }
            let mut all = counted(rest);
            for part in parts {
                all.add(part);
            }
            all.settle();
            assert!(contents(&all) == whole, "{cuts:?}");
        }
    }
}
