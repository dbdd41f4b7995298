//! [`Reuse`]: how many loads lie between two touches of a line.

use rustc_hash::FxHashMap;

use super::summary::{PartialReuse, ReuseCounts};

/// The touches of lines of global memory by the loads of a kernel, or of a part of one. Parts are added
/// in the order of the trace, with the same result as if the whole had been counted at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reuse {
    /// The loads of global memory so far.
    loads: u64,
    /// The numbers, from 1, of the first and the last load that touches each line.
    lines: FxHashMap<u64, (u64, u64)>,
    /// How many touches come more than 2^(i-1) loads after the one before, up to 2^i.
    buckets: Vec<u64>,
}

impl Reuse {
    /// Returns what a summary holds of a part.
    pub(super) fn of(partial: &PartialReuse, counts: &ReuseCounts) -> Self {
        let lines = partial.lines.iter().map(|&(line, first, last)| (line, (first, last)));
        let mut buckets = Vec::new();
        for &(bound, touches) in &counts.buckets {
            *bucket(&mut buckets, bound) += touches;
        }
        Self { loads: partial.loads, lines: lines.collect(), buckets }
    }

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
            self.again(line, after.saturating_add(first), after.saturating_add(last));
        }
        for (i, touches) in later.buckets.iter().enumerate() {
            *bucket(&mut self.buckets, 1 << i) += touches;
        }
        self.loads = after.saturating_add(later.loads);
    }

    /// Adds touches of a line, of which the first and the last load are known.
    fn again(&mut self, line: u64, first: u64, last: u64) {
        let known = self.lines.entry(line).or_insert((first, 0));
        if known.1 > 0 {
            *bucket(&mut self.buckets, first.saturating_sub(known.1)) += 1;
        }
        known.1 = last;
    }

    pub(super) fn counts(&self) -> ReuseCounts {
        let buckets = self.buckets.iter().enumerate().map(|(i, touches)| (1 << i, *touches));
        ReuseCounts {
            buckets: buckets.filter(|(_, touches)| *touches > 0).collect(),
            cold: self.lines.len() as u64,
        }
    }

    pub(super) fn partial(&self) -> PartialReuse {
        let lines = self.lines.iter().map(|(&line, &(first, last))| (line, first, last));
        let mut lines: Vec<_> = lines.collect();
        lines.sort_unstable();
        PartialReuse { loads: self.loads, lines }
    }
}

/// Returns the bucket of a distance.
fn bucket(buckets: &mut Vec<u64>, distance: u64) -> &mut u64 {
    let i = u64::BITS - distance.saturating_sub(1).leading_zeros();
    // The last one takes what is beyond 2^63.
    let i = i.min(u64::BITS - 1) as usize;
    if buckets.len() <= i {
        buckets.resize(i + 1, 0);
    }
    &mut buckets[i]
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
        let mut buckets = Vec::new();
        *bucket(&mut buckets, u64::MAX) += 1;
        assert_eq!(buckets.len(), 64);
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
                sum.add(&Reuse::of(&part.partial(), &part.counts()));
            }
            prop_assert_eq!(sum.counts(), whole(&loads).counts());
            prop_assert_eq!(sum.partial(), whole(&loads).partial());
        }
    }
}
