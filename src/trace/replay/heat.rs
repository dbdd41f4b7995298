//! [`HeatMap`]: which addresses of global memory loads touched, over time, in a grid of bounded
//! size.

use std::ops::Range;

use roaring::RoaringTreemap;

use super::statistics::{LINE, PAGE};

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
}

/// The addresses of one row of a heat map. There may be gaps between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeatRow {
    /// The first address.
    pub first: u64,
    /// The last address.
    pub last: u64,
}

impl HeatMap {
    /// Creates an empty map of those instructions and pages, with at most `columns` and `rows`.
    pub(super) fn new(
        records: Range<u64>,
        pages: &RoaringTreemap,
        columns: usize,
        rows: usize,
    ) -> Self {
        let count = records.end.saturating_sub(records.start);
        let columns = usize::try_from(count).map_or(columns, |count| count.min(columns));
        let rows = heat_rows(pages, rows as u64);
        let sectors = vec![0; columns * rows.len()];
        Self { records, columns, rows, sectors }
    }

    /// Adds sectors that instruction `record` touches at `address`. Those outside the map are left
    /// out.
    #[inline]
    pub(super) fn touch(&mut self, record: u64, address: u64, sectors: u64) {
        let after = self.rows.partition_point(|row| row.first <= address);
        let count = self.records.end.saturating_sub(self.records.start);
        if after == 0 || !self.records.contains(&record) {
            return;
        }
        let passed = u128::from(record - self.records.start);
        let column = (passed * self.columns as u128 / u128::from(count)) as usize;
        self.sectors[(after - 1) * self.columns + column] += sectors;
    }

    /// Adds the counts of a map of the same instructions and pages.
    pub(super) fn add(&mut self, other: &Self) {
        for (to, from) in self.sectors.iter_mut().zip(&other.sectors) {
            *to += from;
        }
    }

    /// Returns the counts of a row, one per column; empty if there is no such row.
    #[must_use]
    pub fn row(&self, row: usize) -> &[u64] {
        let all = self.sectors.get(row.saturating_mul(self.columns)..).unwrap_or_default();
        all.get(..self.columns).unwrap_or_default()
    }
}

/// Returns at most `most` rows over the pages. Each has a power of two of lines, so that rows begin
/// at pages or at even parts of them.
fn heat_rows(pages: &RoaringTreemap, most: u64) -> Vec<HeatRow> {
    const LINES: u64 = PAGE / LINE;
    let lines = pages.len() * LINES;
    let mut lines_per_row = 1;
    while lines.div_ceil(lines_per_row) > most.max(1) {
        lines_per_row *= 2;
    }
    let address =
        |line: u64| pages.select(line / LINES).map(|page| page * PAGE + line % LINES * LINE);
    let row = |i: u64| {
        let last = ((i + 1) * lines_per_row).min(lines) - 1;
        Some(HeatRow { first: address(i * lines_per_row)?, last: address(last)? + (LINE - 1) })
    };
    (0..lines.div_ceil(lines_per_row)).filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut map = HeatMap::new(10..30, &pages, 10, 2);
        map.touch(10, 0x1000, 3);
        map.touch(11, 0x1fff, 1);
        map.touch(29, 1000 * 4096, 5);
        // Before the map, and after it.
        map.touch(9, 0x1000, 1);
        map.touch(30, 0x1000, 1);
        map.touch(10, 0, 1);
        assert_eq!(map.row(0), [4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(map.row(1), [0, 0, 0, 0, 0, 0, 0, 0, 0, 5]);
        assert_eq!(HeatMap::new(5..8, &pages, 10, 2).columns, 3);
    }
}
