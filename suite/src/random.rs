//! [`Random`]: reproducible random numbers, the same on every platform.

use warpload::memory::mix;

/// Random numbers from a seed: splitmix64.
///
/// ```
/// use warpload_suite::random::Random;
///
/// let numbers = |number| -> Vec<u64> {
///     let mut random = Random::new(7, &[number]);
///     (0..3).map(|_| random.next()).collect()
/// };
/// assert_eq!(numbers(1), numbers(1));
/// assert_ne!(numbers(1), numbers(2));
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates the sequence for `seed` and the further numbers that identify a draw.
    #[must_use]
    pub fn new(seed: u64, others: &[u64]) -> Self {
        let mut random = Self(seed);
        for other in others {
            random.0 = random.next() ^ other;
        }
        random
    }

    /// Returns the next number.
    #[expect(
        clippy::should_implement_trait,
        reason = "it never ends, so that there is no `Option`"
    )]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Returns a number below `limit`; 0 if `limit` is 0. The modulo is slightly biased, which does not matter for
    /// tests.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// Returns true with probability 1/`count`.
    pub fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    /// Returns a random element; `None` if `of` is empty.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        of.get(self.below(of.len() as u64) as usize).copied()
    }
}
