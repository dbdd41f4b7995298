//! [`Coverage`]: how often vectors show each flag, and which pairs of flags.

use crate::flags::{self, Flag, FlagSet};

/// Counts of flags, and of pairs of flags that one vector shows.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// The numbers of the flags that are counted.
    possible: Vec<usize>,
    cases: u64,
    /// How many vectors show each flag, by its number.
    counts: Vec<u64>,
    /// Of each flag, the flags that a vector shows together with it.
    together: Vec<FlagSet>,
}

/// Returns the pairs of the numbers.
pub(super) fn pairs(numbers: &[usize]) -> impl Iterator<Item = [usize; 2]> {
    let after = |at: usize| numbers.get(at + 1..).unwrap_or_default();
    (0..).zip(numbers).flat_map(move |(at, one)| after(at).iter().map(|other| [*one, *other]))
}

impl Coverage {
    pub(super) fn new(possible: &[usize]) -> Self {
        let count = flags::all().len();
        Self {
            possible: possible.to_vec(),
            cases: 0,
            counts: vec![0; count],
            together: vec![FlagSet::default(); count],
        }
    }

    /// Counts a vector with these flags.
    pub fn add(&mut self, flags: FlagSet) {
        self.cases += 1;
        for one in flags.numbers() {
            if let Some(count) = self.counts.get_mut(one) {
                *count += 1;
            }
            for other in flags.numbers() {
                if let Some(together) = self.together.get_mut(one) {
                    together.insert(other);
                }
            }
        }
    }

    /// Returns the number of vectors.
    #[must_use]
    pub fn cases(&self) -> u64 {
        self.cases
    }

    /// Returns the flags that the instruction can show, with how many vectors show each.
    pub fn flags(&self) -> impl Iterator<Item = (&'static Flag, u64)> {
        self.possible.iter().filter_map(|number| {
            Some((flags::all().get(*number)?, self.counts.get(*number).copied()?))
        })
    }

    /// Returns the number of pairs of the flags that the instruction can show.
    #[must_use]
    pub fn pairs(&self) -> usize {
        pairs(&self.possible).count()
    }

    /// Returns the pairs that no vector shows.
    pub fn missing(&self) -> impl Iterator<Item = [&'static Flag; 2]> {
        let is_missing = |[one, other]: &[usize; 2]| {
            self.together.get(*one).is_none_or(|together| !together.contains(*other))
        };
        pairs(&self.possible)
            .filter(is_missing)
            .filter_map(|[one, other]| Some([flags::all().get(one)?, flags::all().get(other)?]))
    }
}
