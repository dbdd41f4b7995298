//! [`Reuse`]: the number of loads between two touches of a line.

use roaring::RoaringTreemap;
use rustc_hash::FxHashMap;

use crate::counters::ReuseCounts;

/// The touches of lines of global memory by the loads of a kernel, or of a part of one. Adding parts in trace order has
/// the same result as counting the whole at once.
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

    /// Adds the touches of the next part.
    pub(super) fn add(&mut self, later: Self) {
        if self.loads == 0 {
            *self = later;
            return;
        }
        // Saturates, because a file can contain any numbers.
        let after = |number| self.loads.saturating_add(number);
        let loads = after(later.loads);
        let lines = later.lines.into_iter();
        let touches: Vec<_> =
            lines.map(|(line, (first, last))| (line, after(first), after(last))).collect();
        touches.into_iter().for_each(|(line, first, last)| self.again(line, first, last));
        self.distances.add_all(&later.distances);
        self.loads = loads;
    }

    /// Adds touches of a line, given the first and the last load among them.
    fn again(&mut self, line: u64, first: u64, last: u64) {
        let known = self.lines.entry(line).or_insert((first, 0));
        if known.1 > 0 {
            self.distances.add(first.saturating_sub(known.1), 1);
        }
        known.1 = last;
    }

    pub(super) fn counts(&self) -> ReuseCounts {
        self.distances.counts(self.lines.len() as u64)
    }

    /// The loads of global memory; the first and last load that touched each line, in ascending order of lines; and the
    /// touches by distance.
    pub(super) fn parts(&self) -> (u64, Vec<(u64, u64)>, Vec<u64>) {
        let mut lines: Vec<_> = self.lines.iter().collect();
        lines.sort_unstable();
        let touches = lines.into_iter().map(|(_, touches)| *touches).collect();
        (self.loads, touches, self.distances.0.clone())
    }

    /// The reuse with these [parts](Self::parts) and a footprint's lines; `None` if they do not match.
    pub(super) fn of(
        loads: u64,
        lines: &RoaringTreemap,
        touches: &[(u64, u64)],
        distances: Vec<u64>,
    ) -> Option<Self> {
        let is_distances = distances.len() <= u64::BITS as usize && distances.last() != Some(&0);
        if lines.len() != touches.len() as u64 || !is_distances {
            return None;
        }
        let lines = lines.iter().zip(touches.iter().copied()).collect();
        Some(Self { loads, lines, distances: Distances(distances) })
    }
}

/// The number of touches that come more than 2^(i-1) and up to 2^i loads after the previous one, for each i.
#[derive(Clone, Debug, Default, PartialEq)]
struct Distances(Vec<u64>);

impl Distances {
    fn add(&mut self, distance: u64, touches: u64) {
        let i = u64::BITS - distance.saturating_sub(1).leading_zeros();
        // The last element includes distances beyond 2^63.
        let i = i.min(u64::BITS - 1) as usize;
        if self.0.len() <= i {
            self.0.resize(i + 1, 0);
        }
        self.0[i] = self.0[i].saturating_add(touches);
    }

    fn add_all(&mut self, other: &Self) {
        for (i, touches) in other.0.iter().enumerate() {
            self.add(1 << i, *touches);
        }
    }

    /// The counts, given the number of first touches.
    fn counts(&self, cold: u64) -> ReuseCounts {
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
            for range in cuts.windows(2) {
                let part = whole(&loads[range[0]..range[1]]);
                let (loads, touches, distances) = part.parts();
                let lines: RoaringTreemap = part.lines.keys().copied().collect();
                let read = Reuse::of(loads, &lines, &touches, distances);
                prop_assert_eq!(read.as_ref(), Some(&part));
                sum.add(part);
            }
            let whole = whole(&loads);
            prop_assert_eq!(&sum, &whole);
        }
    }
}
