//! [`HeatMap`]: which addresses of global memory loads touched, over time, in a grid of bounded
//! size.

use std::ops::Range;

use roaring::RoaringTreemap;

use super::cells::Cells;
use super::traffic::{LINE, PAGE};

/// Sectors touched in global memory, by address and by time.
///
/// Time runs along the columns, in equal shares of the instructions. The rows divide the touched
/// pages, placed side by side, into equal parts: untouched pages take no room.
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
    /// Whether each sector is in its own row. Loads that touch more than 131,072 pages, each counted
    /// once in a column, are counted in groups of neighbouring pages; those of a group that is in
    /// several rows are shared out evenly.
    pub is_exact: bool,
}

/// The addresses of one row of a heat map. There may be gaps between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeatRow {
    /// The first address.
    pub first: u64,
    /// The last address.
    pub last: u64,
}

/// The time of a heat map: some instructions in equal shares.
#[derive(Clone, Debug)]
pub(super) struct TimeAxis {
    pub(super) records: Range<u64>,
    pub(super) columns: usize,
}

impl TimeAxis {
    /// Creates an axis of at most `most` columns.
    pub(super) fn new(records: Range<u64>, most: usize) -> Self {
        let count = records.end.saturating_sub(records.start);
        let columns = usize::try_from(count).map_or(most, |count| count.min(most));
        Self { records, columns }
    }

    /// Returns the column of an instruction and the first instruction after it; `None` outside the
    /// axis.
    pub(super) fn column(&self, record: u64) -> Option<(usize, u64)> {
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
    pub(super) fn new(time: &TimeAxis, cells: &Cells, pages: &RoaringTreemap, rows: usize) -> Self {
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

const LINES_PER_PAGE: u64 = PAGE / LINE;

/// Returns the lines of a row, of which there are to be at most `most`: a power of two, so that rows
/// begin at pages or at even parts of them.
fn lines_per_row(pages: &RoaringTreemap, most: u64) -> u64 {
    let lines = pages.len() * LINES_PER_PAGE;
    let mut lines_per_row = 1;
    while lines.div_ceil(lines_per_row) > most.max(1) {
        lines_per_row *= 2;
    }
    lines_per_row
}

/// Returns the rows over the pages.
fn heat_rows(pages: &RoaringTreemap, lines_per_row: u64) -> Vec<HeatRow> {
    let lines = pages.len() * LINES_PER_PAGE;
    let address = |line: u64| {
        let page = pages.select(line / LINES_PER_PAGE)?;
        Some(page * PAGE + line % LINES_PER_PAGE * LINE)
    };
    let row = |i: u64| {
        let last = ((i + 1) * lines_per_row).min(lines) - 1;
        Some(HeatRow { first: address(i * lines_per_row)?, last: address(last)? + (LINE - 1) })
    };
    (0..lines.div_ceil(lines_per_row)).filter_map(row).collect()
}

/// Returns for each group of the cells, which ascend, where its lines are among those of the pages
/// placed side by side.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::TimeSlice;

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
            [(10, 0x1000, 3), (11, 0x1fff, 1), (29, 1000 * PAGE, 5), (10, 0, 1)]
        {
            let mut slice = TimeSlice::new();
            slice.touch(address / LINE, sectors);
            cells.add_slice(time.column(record).unwrap().0, &slice);
        }
        cells.settle();
        let map = HeatMap::new(&time, &cells, &pages, 2);
        assert!(map.is_exact);
        // The first page is none of the map's.
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
            // Half of what both pages have.
            assert_eq!(map.row(row), [2 * (page & !(1 << 12)) + (1 << 12); 200]);
        }
    }
}
