//! The limits of a whole trace, and the errors beyond them.

use std::path::PathBuf;

use super::error::ImportError;

/// The most kernels of a trace.
pub const MAX_KERNELS: usize = 1 << 20;

/// The most header lines of all kernels of a trace together.
pub(super) const MAX_HEADER_LINES: usize = 1 << 24;

/// The most program counters of all launches of a trace whose source lines are kept.
pub(super) const MAX_SOURCE_LINES: usize = 1 << 22;

/// The most different operations of a trace: their numbers have 16 bits.
const MAX_OPERATIONS: usize = 1 << 16;

/// Returns the error of one operation too many.
pub(super) fn too_many_operations() -> ImportError {
    too_many(MAX_OPERATIONS, "different memory instructions")
}

pub(super) fn too_many(most: usize, what: &str) -> ImportError {
    let message = format!("more than {most} {what} in all files");
    ImportError::File { file: PathBuf::from("the trace"), message }
}
