//! The output of a program: lines of bounded length, and the end of its standard error.

use warpload_binary::lines::MAX_LINE_BYTES;

use crate::text::shown;

/// What comes back for a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// A line without its end.
    Line(Vec<u8>),
    /// The output has ended, in the middle of a line or not.
    End,
    /// It did not come in time.
    Late,
    /// A line is longer than [`MAX_LINE_BYTES`].
    TooLong,
}

/// Output that was read and not taken yet.
#[derive(Default)]
pub(super) struct OutputLines {
    bytes: Vec<u8>,
    /// No line ends before this.
    searched: usize,
}

impl OutputLines {
    pub(super) fn extend(&mut self, read: &[u8]) {
        self.bytes.extend_from_slice(read);
    }

    /// Takes the first line, if it is whole.
    pub(super) fn take(&mut self) -> Option<Received> {
        let at = self.first_end()?;
        if at > MAX_LINE_BYTES {
            return Some(Received::TooLong);
        }
        self.searched = 0;
        let mut line: Vec<u8> = self.bytes.drain(..=at).collect();
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Some(Received::Line(line))
    }

    /// Returns where the first line ends.
    fn first_end(&mut self) -> Option<usize> {
        let found = memchr::memchr(b'\n', self.bytes.get(self.searched..)?);
        self.searched = found.map_or(self.bytes.len(), |at| self.searched + at);
        found.map(|_| self.searched)
    }

    /// Whether a line is whole, or too long to become one.
    pub(super) fn has_line(&mut self) -> bool {
        self.is_full() || self.first_end().is_some()
    }

    /// Returns what there is of the first line; `None` if there is nothing.
    pub(super) fn rest(&mut self) -> Option<&[u8]> {
        let end = self.first_end().unwrap_or(self.bytes.len());
        (!self.is_empty()).then(|| &self.bytes[..end])
    }

    /// Whether more is held than a line may have.
    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() > MAX_LINE_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// The end of what was written to standard error.
#[derive(Default)]
pub(super) struct Tail(Vec<u8>);

impl Tail {
    const MAX_BYTES: usize = 1 << 14;
    const MAX_LINES: usize = 10;

    pub(super) fn extend(&mut self, read: &[u8]) {
        self.0.extend_from_slice(read);
        let excess = self.0.len().saturating_sub(Self::MAX_BYTES);
        self.0.drain(..excess);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the last lines, each made visible and its end left out if it is long.
    pub(super) fn lines(&self) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.0);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.iter().skip(lines.len().saturating_sub(Self::MAX_LINES));
        last.map(|line| shown(line.as_bytes())).collect()
    }
}
