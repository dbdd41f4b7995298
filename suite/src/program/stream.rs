//! The output of a program: lines of bounded length, and the end of its standard error.

use warpload_binary::lines::MAX_LINE_BYTES;

use crate::text::shown;

/// The response to a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// A line without its end.
    Line(Vec<u8>),
    /// The output has ended, perhaps in the middle of a line.
    End,
    /// No line came in time.
    Late,
    /// A line is longer than [`MAX_LINE_BYTES`].
    TooLong,
}

/// Output that was read and not taken yet.
#[derive(Default)]
pub(super) struct OutputLines {
    bytes: Vec<u8>,
    /// The bytes before this contain no line end.
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

    /// The place of the first line end.
    fn first_end(&mut self) -> Option<usize> {
        let found = memchr::memchr(b'\n', self.bytes.get(self.searched..)?);
        self.searched = found.map_or(self.bytes.len(), |at| self.searched + at);
        found.map(|_| self.searched)
    }

    /// Whether the first line is complete or too long.
    pub(super) fn has_line(&mut self) -> bool {
        self.is_full() || self.first_end().is_some()
    }

    /// The first line, which may be unfinished; `None` without output.
    pub(super) fn rest(&mut self) -> Option<&[u8]> {
        let end = self.first_end().unwrap_or(self.bytes.len());
        (!self.is_empty()).then(|| &self.bytes[..end])
    }

    /// Whether there are more bytes than a line may have.
    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() > MAX_LINE_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// The end of the output to standard error.
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

    /// The last lines, escaped and shortened.
    pub(super) fn lines(&self) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.0);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.iter().skip(lines.len().saturating_sub(Self::MAX_LINES));
        last.map(|line| shown(line.as_bytes())).collect()
    }
}
