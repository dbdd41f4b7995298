//! [`LineReader`]: what reading a line after the header of an Accel-Sim trace depends on.

use std::path::Path;

use super::groups::Bounds;
use crate::trace::import::error::ImportError;

/// The versions of the tracer whose lines are known.
#[derive(Clone, Copy)]
pub(super) enum Version {
    V3,
    V4,
    V5,
}

/// What the header says of all lines after it.
#[derive(Clone, Copy)]
pub(super) struct Body<'f> {
    pub(super) file: &'f Path,
    pub(super) version: Version,
    /// Whether instructions begin with the number of a source line.
    pub(super) has_line_numbers: bool,
    /// Whether instructions are in `#BEGIN_TB` groups; otherwise each names its thread block.
    pub(super) is_grouped: bool,
    pub(super) bounds: Bounds,
    /// Whether the code is of SM 5.x or 6.x.
    pub(super) is_spa5: bool,
}

/// Reads a line of a body.
pub(super) struct LineReader<'b> {
    pub(super) body: &'b Body<'b>,
    /// The line's number, from 1.
    pub(super) line: u64,
}

impl LineReader<'_> {
    pub(super) fn error(&self, column: usize, message: impl Into<String>) -> ImportError {
        let (file, message) = (self.body.file.to_owned(), message.into());
        ImportError::Line { file, line: self.line, column: column + 1, message }
    }
}
