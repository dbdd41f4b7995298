//! The limits of a whole trace, and the errors beyond them.

use std::path::PathBuf;

use super::error::ImportError;

/// The most kernels of a trace.
pub const MAX_KERNELS: usize = 1 << 20;

/// The most header lines of all kernels of a trace together.
pub(super) const MAX_HEADER_LINES: usize = 1 << 24;

/// The most instructions without a line in all exports of a trace, and how many more for each record: a few
/// bytes must not be a large amount of work, or of blocks without records.
const MAX_UNLISTED: u64 = 1 << 32;
const UNLISTED_FOR_RECORD: u64 = 1 << 22;

/// Returns why so many instructions without a line are refused beside so many records, if they are.
pub(super) fn check_unlisted(unlisted: u64, records: u64) -> Result<(), String> {
    let most = MAX_UNLISTED.saturating_add(UNLISTED_FOR_RECORD.saturating_mul(records));
    if unlisted <= most {
        return Ok(());
    }
    Err(format!(
        "more than {MAX_UNLISTED} instructions without a line in all files, and \
         {UNLISTED_FOR_RECORD} more for each record before"
    ))
}

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
