//! Random decisions from a list of numbers, so that proptest can shrink a failing case: a smaller number decides for
//! something plainer, and past the end every number is 0.

/// The remaining decisions.
pub(crate) struct Choices<'n>(std::slice::Iter<'n, u64>);

impl<'n> Choices<'n> {
    pub(crate) fn new(numbers: &'n [u64]) -> Self {
        Self(numbers.iter())
    }

    pub(crate) fn word(&mut self) -> u64 {
        self.0.next().copied().unwrap_or(0)
    }

    /// 0..limit.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.word() % limit
    }

    /// True once in `times` calls, on average.
    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == times - 1
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// SplitMix64: the same numbers in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
