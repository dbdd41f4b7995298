//! [`Pieces`]: a text in pieces of whole lines, which can be read in any order.

use std::io::{self, Read};

use super::groups::Mark;
use warpload_binary::lines::{LineError, MAX_LINE_BYTES};

/// How many bytes a piece has, unless it is one longer line. With the loads in it, it fits in a
/// processor's second cache, and its instructions in a segment.
const PIECE_BYTES: usize = 128 << 10;

/// The line ends after each piece, so that what reads eight bytes at once need not ask whether there
/// are as many.
const PADDING: [u8; 16] = [b'\n'; 16];

/// Whole lines of a text; the last line of the text may have no end.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// The number of the first line, from 1.
    pub(super) line: u64,
    /// The offset of the first line in the text.
    pub(super) offset: u64,
    /// The warp that a group named last before it, if the reader of pieces keeps track of that.
    pub(super) warp: u64,
    /// The lines, the padding, and room.
    buffer: Vec<u8>,
    length: usize,
}

impl Piece {
    /// Returns the piece of one line without its end, of a warp.
    pub(super) fn of_line(text: &[u8], line: u64, offset: u64, warp: u64) -> Self {
        let buffer = [text, &PADDING].concat();
        Self { line, offset, warp, buffer, length: text.len() + 1 }
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// Returns the text with line ends after it, at least one of them and eight bytes.
    pub(super) fn padded(&self) -> &[u8] {
        &self.buffer[..self.length + PADDING.len() - 1]
    }

    fn end_at(&mut self, length: usize) {
        self.length = length;
        self.buffer.resize(self.buffer.len().max(length + PADDING.len()), 0);
        self.buffer[length..length + PADDING.len()].copy_from_slice(&PADDING);
    }
}

/// Reads a text piece by piece.
pub(super) struct Pieces<R> {
    input: R,
    /// The number of the next line, from 1, and its offset.
    line: u64,
    offset: u64,
    /// The warp that a group named last; `None` if that does not matter.
    warp: Option<u64>,
    /// The begun line after the last piece.
    rest: Vec<u8>,
    ended: bool,
    is_cut: bool,
    failed: Option<LineError>,
}

impl<R: Read> Pieces<R> {
    /// Creates a reader of `input`, whose next line is number `line`, at `offset`. Keeps track of the
    /// warps that groups name if the last one is given.
    pub(super) fn new(input: R, line: u64, offset: u64, warp: Option<u64>) -> Self {
        let rest = Vec::new();
        Self { input, line, offset, warp, rest, ended: false, is_cut: false, failed: None }
    }

    /// Returns whether the last line of the text has no end, if the text was read.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns the number of the last line before the next piece.
    pub(super) fn last_line(&self) -> u64 {
        self.line - 1
    }

    /// Reads the next piece into `piece`; returns `false` at the end.
    ///
    /// # Errors
    /// Returns [`LineError`] if a line is too long or cannot be read, after the lines before it.
    pub(super) fn read(&mut self, piece: &mut Piece) -> Result<bool, LineError> {
        (piece.line, piece.offset, piece.warp) = (self.line, self.offset, self.warp.unwrap_or(0));
        let length = self.fill(&mut piece.buffer);
        piece.end_at(length);
        if length == 0 {
            return self.failed.take().map_or(Ok(false), Err);
        }
        let ends = memchr::memchr_iter(b'\n', piece.text()).count() as u64;
        self.is_cut = !piece.text().ends_with(b"\n");
        self.line += ends + u64::from(self.is_cut);
        self.offset += length as u64;
        self.warp = self.warp.map(|warp| last_warp(piece.text()).unwrap_or(warp));
        Ok(true)
    }

    /// Fills `buffer` with whole lines: many, or one that is longer than a piece. Returns their length,
    /// 0 at the end or before an error.
    fn fill(&mut self, buffer: &mut Vec<u8>) -> usize {
        let (mut length, mut room) = (self.rest.len(), PIECE_BYTES);
        buffer.resize(buffer.len().max(room), 0);
        buffer[..length].copy_from_slice(&self.rest);
        self.rest.clear();
        loop {
            while length < room && !self.ended {
                match self.input.read(&mut buffer[length..room]) {
                    Ok(0) => self.ended = true,
                    Ok(read) => length += read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(source) => {
                        let text = &buffer[..length];
                        let line = self.line + memchr::memchr_iter(b'\n', text).count() as u64;
                        self.failed = Some(LineError::Io { line, source });
                        self.ended = true;
                        // The line that was begun is not read.
                        return memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
                    }
                }
            }
            let (text, is_one_line) = (&buffer[..length], room > PIECE_BYTES);
            let find = if is_one_line { memchr::memchr } else { memchr::memrchr };
            let end = find(b'\n', text);
            if is_one_line && end.unwrap_or(length) > MAX_LINE_BYTES {
                let (line, offset) = (self.line, self.offset);
                self.failed = Some(LineError::TooLong { line, offset });
                self.ended = true;
                return 0;
            }
            if let Some(at) = end {
                self.rest.extend_from_slice(&text[at + 1..]);
                return at + 1;
            }
            if self.ended {
                return length;
            }
            room += PIECE_BYTES;
            buffer.resize(buffer.len().max(room), 0);
        }
    }
}

/// Returns the warp that a group of the text names last.
fn last_warp(text: &[u8]) -> Option<u64> {
    let mut before = text;
    while let Some(at) = memchr::memmem::rfind(before, b"warp") {
        let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
        let line = text[start..].split(|byte| *byte == b'\n').next().unwrap_or_default();
        if let Ok(Ok(Some(Mark::Warp(warp)))) = std::str::from_utf8(line).map(Mark::read) {
            return Some(warp);
        }
        before = &text[..start];
    }
    None
}
