//! [`Grouped`]: a `.tracez` as the text that groups instructions by thread block, and back: which of
//! its bytes a line of that text comes from.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use super::bytes::Fault;
use super::walk::{Walk, WalkStep};

/// Why a text ends early, for the one who asks after it was read.
#[derive(Clone, Default)]
pub(super) struct Failure(Arc<Mutex<Option<Fault>>>);

impl Failure {
    pub(super) fn take(&self) -> Option<Fault> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The text, as it is read.
pub(super) struct Grouped {
    walk: Walk,
    text: Vec<u8>,
    /// How much of `text` was read.
    at: usize,
    failure: Failure,
}

impl Grouped {
    /// Creates the text of a walk, after a header.
    pub(super) fn new(header: Vec<u8>, walk: Walk, failure: Failure) -> Self {
        Self { walk, text: header, at: 0, failure }
    }

    /// Replaces the text by what comes next; returns `false` at the end.
    fn fill(&mut self) -> Result<bool, Fault> {
        self.text.clear();
        self.at = 0;
        let Some(step) = self.walk.next()? else { return Ok(false) };
        if let WalkStep::Chunk(_, _, text) = step {
            self.text.extend_from_slice(text);
            self.text.push(b'\n');
        } else {
            self.text.extend_from_slice(group_lines(&step).as_bytes());
        }
        Ok(true)
    }
}

impl Read for Grouped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            match self.fill() {
                Ok(true) => {}
                Ok(false) => return Ok(0),
                Err(fault) => {
                    *self.failure.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
                    return Err(io::Error::from(io::ErrorKind::InvalidData));
                }
            }
        }
        let mut rest = &self.text[self.at..];
        let count = rest.read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

/// Returns the lines of a step that is not a chunk.
fn group_lines(step: &WalkStep<'_>) -> String {
    let mut text = String::new();
    let written = match step {
        WalkStep::Block([x, y, z], [i, j, k], [u, v, w], rank) => write!(
            text,
            "#BEGIN_TB\nthread block = {x},{y},{z}\ncluster id = {i},{j},{k}\n\
             cluster cta = {u},{v},{w}\ncluster rank = {rank}\n"
        ),
        WalkStep::Warp(warp, lines) => write!(text, "warp = {warp}\ninsts = {lines}\n"),
        WalkStep::BlockEnd => writeln!(text, "#END_TB"),
        WalkStep::Chunk(..) => Ok(()),
    };
    debug_assert!(written.is_ok(), "writing to a string does not fail");
    text
}

/// Where a line of the text comes from.
pub(super) enum Origin {
    /// An entry of the index at an offset.
    Index(u64),
    /// A line, from 1, of the text of the frame at an offset.
    Frame(u64, u64),
}

/// Returns where line `line`, from 1, after the header comes from; `None` if there is no such line.
pub(super) fn origin(mut walk: Walk, line: u64) -> Result<Option<Origin>, Fault> {
    let mut before = 0;
    loop {
        let Some(step) = walk.next()? else { return Ok(None) };
        let (lines, frame) = match step {
            WalkStep::Chunk(offset, lines, _) => (u64::from(lines), Some(offset)),
            other => (group_lines(&other).lines().count() as u64, None),
        };
        if line <= before + lines {
            return Ok(Some(match frame {
                Some(offset) => Origin::Frame(offset, line - before),
                None => Origin::Index(walk.at),
            }));
        }
        before += lines;
    }
}
