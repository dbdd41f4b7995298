//! [`LineBatch`]: consecutive lines of a text. [`for_each_line`] reads them ahead.

use std::io::BufRead;
use std::path::Path;

use super::error::ImportError;
use super::text::Text;
use crate::ordered::{self, Chunk};
use warpload_binary::lines::{LineError, Lines};

/// The bytes of lines in a batch, unless it is one longer line.
const BATCH_BYTES: usize = 128 << 10;

/// Consecutive lines.
#[derive(Default)]
pub(super) struct LineBatch {
    /// The number of the first line, from 1.
    first: u64,
    text: String,
    /// The end of each line in `text`.
    ends: Vec<usize>,
}

/// The reason why no lines follow.
pub(super) enum End {
    Whole,
    /// The last line, with this number, has no line end.
    Cut(u64),
    Unreadable(LineError),
}

impl Chunk for LineBatch {
    /// Counts empty lines as well, because millions of them are a few bytes of a compressed file.
    fn len(&self) -> usize {
        self.text.len() + size_of_val(&self.ends[..])
    }
}

impl LineBatch {
    /// Replaces the lines. Returns the reason once no more follow.
    pub(super) fn fill(&mut self, lines: &mut Lines<impl BufRead>) -> Option<End> {
        self.text.clear();
        self.ends.clear();
        while Chunk::len(self) < BATCH_BYTES {
            let number = match lines.next_line() {
                None => return Some(End::Whole),
                Some(Err(error)) => return Some(End::Unreadable(error)),
                Some(Ok(line)) => {
                    self.text.push_str(line.text);
                    line.number
                }
            };
            if self.ends.is_empty() {
                self.first = number;
            }
            self.ends.push(self.text.len());
            if !lines.line_ended() {
                return Some(End::Cut(number));
            }
        }
        None
    }

    /// Replaces the lines, without a last line that has no line end.
    pub(super) fn fill_with_whole(&mut self, lines: &mut Lines<impl BufRead>) -> Option<End> {
        let end = self.fill(lines);
        if let Some(End::Cut(_)) = end {
            self.ends.pop();
        }
        end
    }

    /// The number of lines.
    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    /// The file's number of a line of the batch.
    pub(super) fn number(&self, line: usize) -> u64 {
        self.first + line as u64
    }

    pub(super) fn line(&self, line: usize) -> &str {
        let start = line.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let end = self.ends.get(line).copied().unwrap_or_default();
        self.text.get(start.unwrap_or_default()..end).unwrap_or_default()
    }
}

/// Passes each line to `each` with its number, in order. Another thread, if there may be one, decompresses and reads
/// ahead. Returns whether the last line has no line end.
pub(super) fn for_each_line(
    input: &mut Text<'_>,
    file: &Path,
    threads: usize,
    mut each: impl FnMut(u64, &str) -> Result<(), ImportError>,
) -> Result<bool, ImportError> {
    let mut lines = Lines::new(input);
    let end = ordered::map(
        &mut vec![(); threads.min(2)],
        |batch: &mut LineBatch| batch.fill(&mut lines),
        |(), _| (),
        |batch| (0..batch.count()).try_for_each(|line| each(batch.number(line), batch.line(line))),
    )?;
    match end {
        Some(End::Unreadable(error)) => Err(ImportError::in_lines(file, error)),
        end => Ok(matches!(end, Some(End::Cut(_)))),
    }
}
