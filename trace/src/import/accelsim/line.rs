//! [`Body`]: what reading a line after the header of an Accel-Sim trace depends on.

use std::path::Path;

use super::groups::Bounds;
use super::version::Version;
use crate::import::error::ImportError;

/// What the header and the first instruction say of all lines after it.
#[derive(Clone, Copy)]
pub(super) struct Body<'f> {
    pub(super) file: &'f Path,
    pub(super) version: Version,
    /// Whether instructions are in `#BEGIN_TB` groups; otherwise each names its thread block.
    pub(super) is_grouped: bool,
    /// Whether instructions begin with `sm smwarp`, after the fields that say whose they are.
    pub(super) has_core_ids: bool,
    /// Whether the number of a source line comes before the program counter.
    pub(super) has_line_numbers: bool,
    pub(super) bounds: Bounds,
    /// Whether the code is of SM 5.x or 6.x.
    pub(super) is_spa5: bool,
}

impl Body<'_> {
    /// Returns whether each instruction names its thread block and its warp.
    #[inline(always)]
    pub(super) fn has_ids(&self) -> bool {
        !self.is_grouped || self.version.has_grouped_ids
    }

    /// Returns whether each instruction names its cluster.
    #[inline(always)]
    pub(super) fn has_clusters(&self) -> bool {
        !self.is_grouped && self.version.has_clusters
    }

    /// Returns the number of fields before the program counter.
    pub(super) fn front(&self) -> usize {
        [
            (self.has_ids(), 4),
            (self.has_clusters(), 7),
            (self.has_core_ids, 2),
            (self.has_line_numbers, 1),
        ]
        .into_iter()
        .filter_map(|(has, count)| has.then_some(count))
        .sum()
    }

    /// Returns whether reading a line depends on the warp that a group names.
    pub(super) fn needs_warps(&self) -> bool {
        !self.has_ids() && self.version.needs_threads() && self.bounds.has_partial_warp()
    }
}

/// Reads a line of a body.
pub(super) struct LineReader<'b> {
    pub(super) body: &'b Body<'b>,
    /// The line's number, from 1.
    pub(super) line: u64,
    /// The warp that a group named last.
    pub(super) warp: u64,
}

impl LineReader<'_> {
    pub(super) fn error(&self, column: usize, message: impl Into<String>) -> ImportError {
        let (file, message) = (self.body.file.to_owned(), message.into());
        ImportError::Line { file, line: self.line, column: column + 1, message }
    }
}
