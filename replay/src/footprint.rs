//! [`Footprint`]: the distinct lines and pages of global memory that loads touch. [`LineCollector`] gathers them access
//! by access.

use roaring::RoaringTreemap;

use super::counters::FootprintCounts;
use super::traffic::{LINE_BYTES, TouchSink};

/// Bytes of a page of global memory.
pub const PAGE_BYTES: u64 = 4096;
/// As many as a word has bits, so that one word holds the lines of a page.
const LINES_PER_PAGE: u64 = PAGE_BYTES / LINE_BYTES;

/// Distinct lines of global memory, from which the distinct pages follow.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Footprint {
    pub(super) lines: RoaringTreemap,
}

impl Footprint {
    pub(super) fn add(&mut self, other: Self) {
        self.lines |= other.lines;
    }

    pub(super) fn counts(&self) -> FootprintCounts {
        FootprintCounts { pages: self.pages().len(), lines: self.lines.len() }
    }

    /// The pages of the lines. Goes run by run, because a few bytes of a file can be billions of lines. Adds short runs
    /// page by page, which takes a tenth of the time of a range.
    pub(super) fn pages(&self) -> RoaringTreemap {
        const SHORT: u64 = 64;
        let mut pages = RoaringTreemap::new();
        let mut next = 0;
        for (high, bitmap) in self.lines.bitmaps() {
            let base = u64::from(high) << 32;
            let mut runs = bitmap.iter();
            while let Some(run) = runs.next_range() {
                let (first, last) = (base + u64::from(*run.start()), base + u64::from(*run.end()));
                // The first page may have lines of the previous run as well.
                let (first, last) = (next.max(first / LINES_PER_PAGE), last / LINES_PER_PAGE);
                if last >= first + SHORT {
                    pages.insert_range(first..=last);
                } else {
                    (first..=last).for_each(|page| _ = pages.try_push(page));
                }
                next = next.max(last + 1);
            }
        }
        pages
    }

    /// Pages must ascend and be distinct.
    fn of(pages: &[PageLines]) -> Self {
        let lines = pages.iter().flat_map(|of| {
            (0..LINES_PER_PAGE)
                .filter(|line| of.lines >> line & 1 != 0)
                .map(|line| of.page * LINES_PER_PAGE + line)
        });
        let lines = RoaringTreemap::from_sorted_iter(lines);
        debug_assert!(lines.is_ok(), "the pages ascend");
        Self { lines: lines.unwrap_or_default() }
    }
}

/// The touched lines of a page, one bit each, lowest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PageLines {
    page: u64,
    lines: u32,
}

/// Collects touched lines in bounded memory: pages that no longer fit move to a compressed set.
///
/// Stores pages rather than lines, because most programs walk through pages. A word then takes 32 lines, and only a
/// thirty-second is left to sort.
#[derive(Clone, Debug)]
pub(super) struct LineCollector {
    /// A direct-mapped cache: for each slot the page touched last. Empty if it has no lines.
    recent: Box<[PageLines; RECENT]>,
    /// Pages displaced from the cache. They can repeat.
    displaced: Vec<PageLines>,
    collected: Footprint,
}

/// The pages of 4 MiB.
const RECENT: usize = 1 << 10;
/// The maximum number of displaced pages, which take 1 MiB.
const MAX_DISPLACED: usize = 1 << 16;

impl Default for LineCollector {
    fn default() -> Self {
        let recent = Box::new([PageLines::default(); RECENT]);
        Self { recent, displaced: Vec::new(), collected: Footprint::default() }
    }
}

impl LineCollector {
    /// Adds a line, by its number.
    #[inline]
    pub(super) fn add(&mut self, line: u64) {
        self.add_lines(line / LINES_PER_PAGE, 1 << (line % LINES_PER_PAGE));
    }

    /// Adds consecutive lines, including the last one.
    #[inline]
    pub(super) fn add_range(&mut self, first: u64, last: u64) {
        let (first_page, last_page) = (first / LINES_PER_PAGE, last / LINES_PER_PAGE);
        let from = u32::MAX << (first % LINES_PER_PAGE);
        let to = u32::MAX >> (LINES_PER_PAGE - 1 - last % LINES_PER_PAGE);
        if first_page == last_page {
            return self.add_lines(first_page, from & to);
        }
        self.add_lines(first_page, from);
        (first_page + 1..last_page).for_each(|page| self.add_lines(page, u32::MAX));
        self.add_lines(last_page, to);
    }

    #[inline]
    fn add_lines(&mut self, page: u64, lines: u32) {
        let recent = &mut self.recent[page as usize % RECENT];
        if recent.page == page {
            recent.lines |= lines;
            return;
        }
        let displaced = std::mem::replace(recent, PageLines { page, lines });
        if displaced.lines != 0 {
            self.displace(displaced);
        }
    }

    fn displace(&mut self, page: PageLines) {
        self.displaced.push(page);
        if self.displaced.len() >= MAX_DISPLACED {
            self.join();
            // If joining frees more than half, pages repeat, and collecting further ones pays off.
            if self.displaced.len() >= MAX_DISPLACED / 2 {
                self.collected.add(Footprint::of(&self.displaced));
                self.displaced.clear();
            }
        }
    }

    /// Sorts the displaced pages and joins repeated ones.
    fn join(&mut self) {
        self.displaced.sort_unstable_by_key(|of| of.page);
        self.displaced.dedup_by(|next, of| {
            let is_same = next.page == of.page;
            of.lines |= if is_same { next.lines } else { 0 };
            is_same
        });
    }

    /// Takes over the lines of another collector.
    #[cfg(feature = "kernels")]
    pub(super) fn add_all(&mut self, other: &mut Self) {
        self.collected.add(other.take());
    }

    /// Returns the collected lines and resets the collector.
    pub(super) fn take(&mut self) -> Footprint {
        let recent = self.recent.iter().filter(|of| of.lines != 0);
        self.displaced.extend(recent);
        self.join();
        let mut collected = std::mem::take(&mut self.collected);
        collected.add(Footprint::of(&self.displaced));
        self.recent.fill(PageLines::default());
        self.displaced.clear();
        collected
    }
}

impl TouchSink for LineCollector {
    #[inline]
    fn add_line(&mut self, line: u64) {
        self.add(line);
    }

    #[inline]
    fn add_lines(&mut self, first: u64, last: u64) {
        self.add_range(first, last);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use warpload::memory::mix;

    use super::*;

    #[test]
    fn lines_are_collected_once_however_many_there_are() {
        // Some repeat, in pages of one slot; most displace each other, and many more than fit.
        for (count, distinct) in [(0, 1), (100, 40), (300_000, 1 << 16), (300_000, 1 << 40)] {
            let mut collector = LineCollector::default();
            let mut lines = BTreeSet::new();
            for i in 0..count {
                let first = mix(i) % distinct;
                let last = first + mix(!i) % 70;
                if i % 16 == 0 {
                    collector.add_range(first, last);
                    lines.extend(first..=last);
                } else {
                    collector.add(first);
                    lines.insert(first);
                }
            }
            let pages: BTreeSet<u64> = lines.iter().map(|line| line / LINES_PER_PAGE).collect();
            let footprint = collector.take();
            assert!(footprint.lines.iter().eq(lines.iter().copied()), "{count} of {distinct}");
            assert!(footprint.pages().iter().eq(pages.iter().copied()), "{count} of {distinct}");
            assert_eq!(collector.take(), Footprint::default());
        }
        let mut collector = LineCollector::default();
        let last = u64::MAX / LINE_BYTES;
        collector.add(last);
        collector.add(0);
        assert!(collector.take().lines.iter().eq([0, last]));
    }
}
