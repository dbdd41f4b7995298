//! [`Launch`]: the message of a kernel's launch, which derived tools write over several lines.

use super::TOOL;
use crate::binary::{Kernel, NameError};
use crate::import::launches::LaunchId;
use crate::import::numbers::{context, decimal, dimensions};
use crate::import::sink::Sink;

/// The most lines of a launch.
const MAX_LINES: u32 = 4;

/// The most parts that are kept after the launch's id; the tool writes five.
const MAX_PARTS: usize = 32;

/// How parts after the launch's id begin, which can be on a line of their own.
const KEYS: [&str; 5] = ["grid size ", "block size ", "nregs ", "shmem ", "cuda stream id "];

/// What comes after the kernel's name.
pub(super) const ID: &str = " - grid launch id ";

/// A launch of a kernel.
pub(super) struct Launch<'t> {
    pub(super) id: LaunchId,
    name: &'t str,
    /// Keys and values, separated by ` - `.
    rest: &'t str,
}

impl<'t> Launch<'t> {
    pub(super) fn read(text: &'t str) -> Option<Self> {
        // A name can contain the separator: it ends before the last id.
        let (head, tail) = text.rsplit_once(ID)?;
        let name = head.split_once(" - Kernel name ")?.1;
        let (id, rest) = tail.split_once(" - ").unwrap_or((tail, ""));
        let number = decimal(id.trim_end_matches([' ', '-']).trim())?;
        let launch = Self { id: LaunchId { context: context(text), number }, name, rest };
        let is_shaped = |key| launch.part(key).is_none_or(|value| dimensions(value).is_some());
        (is_shaped("grid size ") && is_shaped("block size ")).then_some(launch)
    }

    /// Returns the value of a key; `None` if the tool does not write it.
    fn part(&self, key: &str) -> Option<&'t str> {
        self.rest.split(" - ").find_map(|part| part.trim().strip_prefix(key))
    }

    /// Returns the kernel, with texts that `sink` holds. Dimensions that are unknown are zeros.
    pub(super) fn kernel(&self, sink: &mut Sink<'_>) -> Result<Kernel, NameError> {
        let shape = |key| self.part(key).and_then(dimensions).unwrap_or_default();
        let mut kernel = Kernel {
            name: sink.name(self.name)?,
            grid: shape("grid size "),
            block: shape("block size "),
            ..Kernel::default()
        };
        let parts = self.rest.split(" - ").map(|part| part.trim_matches([' ', '-']));
        for part in parts.filter(|part| !part.is_empty()).take(MAX_PARTS) {
            let (key, value) = part.rsplit_once(' ').unwrap_or((part, ""));
            kernel.header.push((sink.name(key)?, sink.name(value)?));
        }
        Ok(kernel)
    }
}

/// A launch that may go on in the next line.
pub(super) struct Begun {
    /// The place of its first byte: line and column, from 1.
    pub(super) line: u64,
    pub(super) column: usize,
    pub(super) text: String,
    lines: u32,
}

impl Begun {
    pub(super) fn new(line: u64, column: usize, text: &str) -> Self {
        Self { line, column, text: text.trim_end().to_owned(), lines: 1 }
    }

    /// Adds a line that belongs to the launch; returns whether it does.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        let (part, has_id) = (line.trim(), self.text.contains(ID));
        let has_key = KEYS.iter().any(|key| part.trim_start_matches("- ").starts_with(key));
        let is_one = (has_key || !has_id) && self.lines < MAX_LINES && !line.contains(TOOL);
        if is_one {
            let has_joint = !has_id || self.text.ends_with(" -") || part.starts_with("- ");
            self.text.push_str(if has_joint { " " } else { " - " });
            self.text.push_str(part);
            self.lines += 1;
        }
        is_one
    }
}
