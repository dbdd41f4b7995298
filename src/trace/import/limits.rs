//! The limits of a whole trace, and the errors beyond them.

use std::path::PathBuf;

use super::error::ImportError;

/// The most kernels of a trace.
pub const MAX_KERNELS: usize = 1 << 20;

/// The most header lines of all kernels of a trace together.
pub(super) const MAX_HEADER_LINES: usize = 1 << 24;

/// How many items of one kind can have a number of 16 bits.
pub(super) const MAX_NUMBERED: usize = 1 << 16;

pub(super) const NOT_REPLAYED: &str = "different instructions that are not replayed";

/// Returns the number of the next item of a kind, of which there are `count`.
pub(super) fn next_number(count: usize, what: &str) -> Result<u16, ImportError> {
    u16::try_from(count).map_err(|_| too_many(MAX_NUMBERED, what))
}

pub(super) fn too_many(most: usize, what: &str) -> ImportError {
    let message = format!("more than {most} {what} in all files");
    ImportError::File { file: PathBuf::from("the trace"), message }
}
