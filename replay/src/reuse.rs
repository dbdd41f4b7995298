//! [`Reuse`]: how many loads lie between two touches of a line.

use std::iter::Peekable;

use roaring::RoaringTreemap;
use rustc_hash::FxHashMap;

use super::summary::ReuseCounts;

/// The touches of lines of global memory by the loads of a kernel, or of a part of one. Parts are added
/// in the order of the trace, with the same result as if the whole had been counted at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reuse {
    /// The loads of global memory so far.
    loads: u64,
    /// The numbers, from 1, of the first and the last load that touches each line.
    lines: FxHashMap<u64, (u64, u64)>,
    distances: Distances,
}

impl Reuse {
    /// Adds the lines that one load touches, each once.
    pub(super) fn touch(&mut self, lines: &[u64]) {
        self.loads += 1;
        for line in lines {
            self.again(*line, self.loads, self.loads);
        }
    }

    /// Adds what was counted in the part that follows.
    pub(super) fn add(&mut self, later: &Self) {
        if self.loads == 0 {
            self.clone_from(later);
            return;
        }
        let after = self.loads;
        for (&line, &(first, last)) in &later.lines {
            self.again(line, after + first, after + last);
        }
        self.distances.add_all(&later.distances);
        self.loads += later.loads;
    }

    /// Adds touches of a line, of which the first and the last load are known.
    fn again(&mut self, line: u64, first: u64, last: u64) {
        let known = self.lines.entry(line).or_insert((first, 0));
        if known.1 > 0 {
            self.distances.add(first - known.1, 1);
        }
        known.1 = last;
    }

    pub(super) fn counts(&self) -> ReuseCounts {
        self.distances.counts(self.lines.len() as u64)
    }

    /// Returns the touches without their lines, which a footprint has.
    pub(super) fn touches(&self) -> Touches {
        let mut lines: Vec<_> = self.lines.iter().collect();
        lines.sort_unstable();
        Touches {
            loads: self.loads,
            lines: lines.into_iter().map(|(_, touches)| *touches).collect(),
        }
    }
}

/// The touches of lines of a part of a kernel; which lines these are is known elsewhere. Numbers come
/// from a file and can be any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Touches {
    /// The loads of global memory.
    pub(super) loads: u64,
    /// For each line, ascending, the numbers of the first and the last load that touches it, from 1.
    pub(super) lines: Vec<(u64, u64)>,
}

impl Touches {
    /// Returns the touches of a part and of the part that follows, with the distances between the two
    /// added to those inside them.
    pub(super) fn then(
        &self,
        lines: &RoaringTreemap,
        later: &Self,
        later_lines: &RoaringTreemap,
        distances: &mut Distances,
    ) -> Self {
        let after = |number| self.loads.saturating_add(number);
        let mut both = Vec::with_capacity(self.lines.len().max(later.lines.len()));
        let mut earlier = lines.iter().zip(&self.lines).peekable();
        for (line, &(first, last)) in later_lines.iter().zip(&later.lines) {
            both.extend(std::iter::from_fn(|| pop(&mut earlier, |before| before < line)));
            let (first, last) = (after(first), after(last));
            both.push(match pop(&mut earlier, |before| before == line) {
                Some((earliest, before)) => {
                    distances.add(first.saturating_sub(before), 1);
                    (earliest, last)
                }
                None => (first, last),
            });
        }
        both.extend(earlier.map(|(_, touches)| *touches));
        Self { loads: after(later.loads), lines: both }
    }
}

/// Returns the touches of the next line if that is the wanted one.
fn pop<'t>(
    lines: &mut Peekable<impl Iterator<Item = (u64, &'t (u64, u64))>>,
    is_wanted: impl Fn(u64) -> bool,
) -> Option<(u64, u64)> {
    lines.next_if(|(line, _)| is_wanted(*line)).map(|(_, touches)| *touches)
}

/// How many touches come more than 2^(i-1) loads after the one before, up to 2^i.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Distances(Vec<u64>);

impl Distances {
    /// Returns those of a summary.
    pub(super) fn of(counts: &ReuseCounts) -> Self {
        let mut distances = Self::default();
        counts.buckets.iter().for_each(|&(bound, touches)| distances.add(bound, touches));
        distances
    }

    pub(super) fn add(&mut self, distance: u64, touches: u64) {
        let i = u64::BITS - distance.saturating_sub(1).leading_zeros();
        // The last one takes what is beyond 2^63.
        let i = i.min(u64::BITS - 1) as usize;
        if self.0.len() <= i {
            self.0.resize(i + 1, 0);
        }
        self.0[i] = self.0[i].saturating_add(touches);
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        for (i, touches) in other.0.iter().enumerate() {
            self.add(1 << i, *touches);
        }
    }

    /// Returns the counts, with so many first touches.
    pub(super) fn counts(&self, cold: u64) -> ReuseCounts {
        let buckets = self.0.iter().enumerate().map(|(i, touches)| (1 << i, *touches));
        ReuseCounts { buckets: buckets.filter(|(_, touches)| *touches > 0).collect(), cold }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(loads: &[Vec<u64>]) -> Reuse {
        let mut reuse = Reuse::default();
        loads.iter().for_each(|lines| reuse.touch(lines));
        reuse
    }

    #[test]
    fn distances_are_counted_in_loads() {
        let reuse = whole(&[vec![1, 2], vec![1], vec![3], vec![3], vec![2], vec![7], vec![1]]);
        // 1: after 1 and 5; 2: after 4; 3: after 1.
        let buckets = vec![(1, 2), (4, 1), (8, 1)];
        assert_eq!(reuse.counts(), ReuseCounts { buckets, cold: 4 });
        assert_eq!(Reuse::default().counts(), ReuseCounts::default());
        let mut distances = Distances::default();
        distances.add(u64::MAX, u64::MAX);
        distances.add(u64::MAX, 1);
        assert_eq!((distances.0.len(), distances.0[63]), (64, u64::MAX));
    }

    proptest! {
        #[test]
        fn parts_add_up(
            loads in prop::collection::vec(
                prop::collection::btree_set(0..9u64, 1..4).prop_map(|set| set.into_iter().collect()),
                0..40,
            ),
            cuts in prop::collection::vec(0..40usize, 3),
        ) {
            let loads: Vec<Vec<u64>> = loads;
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(loads.len())).collect();
            cuts.extend([0, loads.len()]);
            cuts.sort_unstable();
            let mut sum = Reuse::default();
            let (mut touches, mut lines) = (Touches::default(), RoaringTreemap::new());
            let mut distances = Distances::default();
            for range in cuts.windows(2) {
                let part = whole(&loads[range[0]..range[1]]);
                sum.add(&part);
                let later = part.lines.keys().copied().collect();
                distances.add_all(&Distances::of(&part.counts()));
                touches = touches.then(&lines, &part.touches(), &later, &mut distances);
                lines |= later;
            }
            let whole = whole(&loads);
            prop_assert_eq!(&sum, &whole);
            prop_assert_eq!(touches, whole.touches());
            prop_assert_eq!(distances.counts(lines.len()), whole.counts());
        }
    }
}
