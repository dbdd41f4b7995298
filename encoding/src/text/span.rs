//! [`LineSpan`]: a place in a line.

use core::ops::Range;

/// A range of bytes of the parsed line; `end` is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LineSpan {
    /// The first byte's offset.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
}

impl LineSpan {
    /// Returns the range, to slice the line with: `&line[span.range()]`.
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}
