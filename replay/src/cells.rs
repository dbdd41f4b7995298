//! [`Cells`]: sectors by time and address, counted before the addresses of all loads are known, in
//! bounded memory.

/// The most cells that are kept, five times those of 128 rows and 200 columns; as many again may be
/// waiting to be sorted.
const MAX_CELLS: usize = 1 << 17;
/// The most addresses of a slice of time; a load adds up to 32 more.
const MAX_ADDRESSES: usize = 1 << 16;
/// As many lines as 4 MiB has.
const PLACES: usize = 1 << 15;

/// The sectors of some aligned lines of 2^level, by the number of the group.
pub(super) type Group = (u64, u64);

/// The sectors that loads touch between two borders of columns, by address.
#[derive(Debug)]
pub(super) struct TimeSlice {
    level: u32,
    groups: Vec<Group>,
    /// Where in `groups` one of those that share a place may be: what is there decides, so that
    /// nothing needs to be cleared.
    places: Box<[u32; PLACES]>,
}

impl TimeSlice {
    pub(super) fn new() -> Self {
        Self { level: 0, groups: Vec::new(), places: Box::new([0; PLACES]) }
    }

    /// Adds sectors of a line.
    #[inline]
    pub(super) fn touch(&mut self, line: u64, sectors: u64) {
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
    pub(super) fn is_full(&self) -> bool {
        self.groups.len() >= MAX_ADDRESSES
    }

    /// Returns the groups and their sectors. A group may occur again.
    #[cfg(test)]
    pub(super) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Returns all sectors of the slice.
    pub(super) fn sectors(&self) -> u64 {
        self.groups.iter().map(|(_, sectors)| sectors).sum()
    }

    /// Adds a slice of the same level or a finer one.
    pub(super) fn add(&mut self, other: &Self) {
        other.groups.iter().for_each(|(group, sectors)| self.touch(group << other.level, *sectors));
    }

    pub(super) fn level(&self) -> u32 {
        self.level
    }

    /// Empties the slice, for cells of that level.
    pub(super) fn restart(&mut self, level: u32) {
        self.groups.clear();
        self.level = level;
    }
}

/// Sectors by column and address. Addresses are counted in groups of 2^level lines; the level is the
/// least with which the cells fit, whatever the order in which they come: what a part of a trace
/// needs the whole needs, too.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    level: u32,
    columns: Vec<Column>,
    /// The number of cells that wait to be sorted.
    unsorted: usize,
}

/// The cells of one column: first those that are sorted and distinct.
#[derive(Clone, Debug, Default)]
struct Column {
    groups: Vec<Group>,
    sorted: usize,
}

impl Cells {
    pub(super) fn new(columns: usize) -> Self {
        Self { level: 0, columns: vec![Column::default(); columns], unsorted: 0 }
    }

    pub(super) fn level(&self) -> u32 {
        self.level
    }

    /// Returns the groups of each column, which ascend. The cells must be settled.
    pub(super) fn columns(&self) -> impl Iterator<Item = &[Group]> {
        self.columns.iter().map(|column| &column.groups[..])
    }

    /// Adds a slice whose level is at most that of the cells.
    pub(super) fn add_slice(&mut self, column: usize, slice: &TimeSlice) {
        self.extend(column, &slice.groups, slice.level);
    }

    /// Adds cells of as many columns.
    pub(super) fn add(&mut self, mut other: Self) {
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

    /// Sorts what was added, and raises the level until the cells fit.
    pub(super) fn settle(&mut self) {
        for column in &mut self.columns {
            if column.sorted < column.groups.len() {
                // Takes runs that ascend as they are.
                column.groups.sort_by_key(|(group, _)| *group);
                column.join();
            }
        }
        self.unsorted = 0;
        // With one group in each column they fit.
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
    /// Adds up groups that are the same. They must ascend.
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

    /// As the definition says: the least level with which they fit.
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
