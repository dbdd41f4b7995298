//! Places in a module's text.

use std::ops::Range;

/// A range of bytes in the module's text. Only the lexer makes spans, so they are always inside the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte, from 0.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

impl Span {
    /// Returns the range of the bytes, to index with.
    #[inline]
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the text of the span; empty if the span is for another text and does not fit `source`.
    #[inline]
    #[must_use]
    pub fn text(self, source: &str) -> &str {
        source.get(self.range()).unwrap_or_default()
    }

    /// Returns the span from the start of this one to the end of `last`.
    #[inline]
    #[must_use]
    pub fn to(self, last: Self) -> Self {
        Self { start: self.start, end: last.end.max(self.start) }
    }

    /// The span relative to `start`, an offset before it.
    pub(crate) fn relative_to(self, start: u32) -> Self {
        Self { start: self.start - start, end: self.end - start }
    }

    /// The absolute span of one relative to `start`.
    #[inline]
    pub(crate) fn counted_from(self, start: u32) -> Self {
        Self { start: self.start + start, end: self.end + start }
    }

    pub(crate) fn empty_at(byte: u32) -> Self {
        Self { start: byte, end: byte }
    }

    /// Whether the span is empty, as at the end of the text.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// A line and a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1.
    pub column: u32,
}

/// The starts of the lines in a text, for finding the positions of many offsets.
#[derive(Clone, Debug)]
pub struct LineIndex {
    /// The offset of every line but the first.
    starts: Vec<u32>,
}

impl LineIndex {
    /// Finds the lines of a text. Lines beyond 4 GiB are not recorded.
    #[must_use]
    pub fn new(source: &str) -> Self {
        let newlines = memchr::memchr_iter(b'\n', source.as_bytes());
        Self { starts: newlines.map_while(|at| u32::try_from(at + 1).ok()).collect() }
    }

    /// Returns the line and column of an offset.
    #[must_use]
    pub fn position(&self, byte: u32) -> Position {
        let before = self.starts.partition_point(|start| *start <= byte);
        // `before` is at most `starts.len()`.
        let start = before.checked_sub(1).map_or(0, |line| self.starts[line]);
        Position { line: before as u32 + 1, column: byte - start + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_from_one() {
        let lines = LineIndex::new("ab\n\nc");
        let at = |byte| {
            let Position { line, column } = lines.position(byte);
            (line, column)
        };
        assert_eq!([at(0), at(2), at(3), at(4), at(5)], [(1, 1), (1, 3), (2, 1), (3, 1), (3, 2)]);
    }
}
