//! [`Batch`]: some lines of CUTracer's NDJSON, which are read apart from the lines before them.

use std::io::BufRead;

use super::json::Wrong;
use super::line::{AccessRecord, Fields, Line, Type};
use crate::import::in_parallel::Chunk;
use warpload::lane::LANES;
use warpload_binary::lines::{LineError, Lines};

/// How many bytes of lines a batch has, unless it is one longer line.
const BATCH_BYTES: usize = 128 << 10;

/// Lines, and what they say.
#[derive(Default)]
pub(super) struct Batch {
    /// The number of the first line, from 1.
    first: u64,
    text: String,
    /// Where each line ends in `text`.
    ends: Vec<usize>,
    pub(super) accesses: Vec<BatchAccess>,
    /// The lines about kernels, counted from 0.
    pub(super) kernels: Vec<usize>,
    /// The values of accesses, one after the other.
    pub(super) values: Vec<u32>,
    /// Lines of unknown types.
    pub(super) unknown: u64,
    /// The line at which reading stopped.
    pub(super) error: Option<(usize, Wrong)>,
}

/// A memory access.
pub(super) struct BatchAccess {
    /// Its line in the batch, counted from 0.
    pub(super) line: usize,
    pub(super) access: AccessRecord,
    pub(super) addresses: [u64; LANES],
    /// Where its values begin.
    pub(super) values: usize,
}

/// Why no lines follow.
pub(super) enum End {
    Whole,
    /// The last line, of that number, has no end.
    Cut(u64),
    Unreadable(LineError),
}

impl Chunk for Batch {
    fn len(&self) -> usize {
        self.text.len()
    }
}

impl Batch {
    /// Replaces the lines; returns why there are no more, if there are none.
    pub(super) fn fill(&mut self, lines: &mut Lines<impl BufRead>) -> Option<End> {
        self.text.clear();
        self.ends.clear();
        while self.text.len() < BATCH_BYTES {
            let number = match lines.next_line() {
                None => return Some(End::Whole),
                Some(Err(error)) => return Some(End::Unreadable(error)),
                Some(Ok(line)) => {
                    self.text.push_str(line.text);
                    line.number
                }
            };
            if !lines.line_ended() {
                return Some(End::Cut(number));
            }
            if self.ends.is_empty() {
                self.first = number;
            }
            self.ends.push(self.text.len());
        }
        None
    }

    /// Returns the number of a line of the file, by that in the batch.
    pub(super) fn number(&self, line: usize) -> u64 {
        self.first + line as u64
    }

    /// Returns a line.
    pub(super) fn line(&self, line: usize) -> &str {
        let start = line.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let end = self.ends.get(line).copied().unwrap_or_default();
        self.text.get(start.unwrap_or_default()..end).unwrap_or_default()
    }

    /// Reads the lines, up to the first wrong one.
    pub(super) fn read(&mut self, fields: &mut Fields) {
        self.accesses.clear();
        self.kernels.clear();
        self.values.clear();
        (self.unknown, self.error) = (0, None);
        for line in 0..self.ends.len() {
            match fields.read(self.line(line)) {
                Ok(Line::Memory(access)) => {
                    let (addresses, values) = (fields.addresses, self.values.len());
                    if access.size.is_some() {
                        self.values.extend_from_slice(fields.values());
                    }
                    self.accesses.push(BatchAccess { line, access, addresses, values });
                }
                Ok(Line::Kernel) => self.kernels.push(line),
                Ok(Line::Other(name)) => self.unknown += u64::from(name == Type::Unknown),
                Err(wrong) => {
                    self.error = Some((line, wrong));
                    return;
                }
            }
        }
    }
}
