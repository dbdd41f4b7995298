//! Values that are there whatever the input, in a way that types do not show. Public for the other
//! packages of this repository alone.

/// The way out for a value that the code before it guarantees.
pub trait OrImpossible<T> {
    /// The value. `why` says why there is one. If there is none after all, the program is wrong:
    /// builds with debug assertions, as tests and fuzzers use, panic; others go on with
    /// `fallback`, because a library must not end its process.
    ///
    /// For values that an input decides, `unwrap_or` and its like are right.
    fn or_impossible(self, fallback: T, why: &str) -> T;
}

impl<T> OrImpossible<T> for Option<T> {
    #[inline]
    #[track_caller]
    fn or_impossible(self, fallback: T, why: &str) -> T {
        debug_assert!(self.is_some(), "impossible, since {why}");
        self.unwrap_or(fallback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_returned() {
        assert_eq!(Some(1).or_impossible(2, "it is there"), 1);
    }

    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "impossible, since it is there"))]
    fn none_is_a_bug() {
        assert_eq!(None.or_impossible(2, "it is there"), 2);
    }
}
