//! Values that exist for every input, although the types do not show it. Public only for the other
//! packages of this repository.

/// The fallback for a value that the code before it guarantees.
pub trait OrImpossible<T> {
    /// Returns the value; `why` says why there is one. If there is none, the program has a bug:
    /// builds with debug assertions, such as those of tests and fuzzers, panic; others continue with
    /// `fallback`, because a library must not end its process.
    ///
    /// If the input decides whether there is a value, use `unwrap_or` or the like.
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
