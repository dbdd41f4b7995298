//! What writes Parquet files, if the program that the command is part of has it: it would triple the build
//! of this one.

use std::error::Error;
use std::io::{self, Write};
use std::num::NonZero;
use std::sync::{Arc, OnceLock};

use anyhow::Context;
use warpload_trace::BinaryTrace;

/// A trace to be written as Parquet.
#[non_exhaustive]
pub struct ParquetExport<'a> {
    /// The trace.
    pub trace: Arc<BinaryTrace>,
    /// How many threads may be used.
    pub threads: NonZero<usize>,
    /// Takes the file.
    pub output: &'a mut (dyn Write + Send),
    /// To be called with the bytes of blocks that were read since the call before.
    pub progress: &'a dyn Fn(u64),
}

/// Writes a trace as Parquet. An [`io::Error`] is taken for one of the output, any other for one of the trace.
pub type WriteParquet = fn(ParquetExport<'_>) -> Result<(), Box<dyn Error + Send + Sync>>;

static WRITER: OnceLock<WriteParquet> = OnceLock::new();

/// Sets what `export --format parquet` calls; without it the command says that it cannot. Only the first call
/// has an effect.
pub fn set_parquet(write: WriteParquet) {
    // A second one is ignored.
    let _ = WRITER.set(write);
}

/// Returns what writes Parquet.
///
/// # Errors
/// Returns an error that says how to build a command that has it, if this one does not.
pub(crate) fn writer() -> anyhow::Result<WriteParquet> {
    WRITER.get().copied().context(
        "this build of warpload does not write Parquet; `cargo install --path arrow --features command` \
         in its sources builds one that does",
    )
}

/// Returns the error of the output that is the reason for another, if there is one.
pub(crate) fn output_error(
    error: Box<dyn Error + Send + Sync>,
) -> Result<io::Error, Box<dyn Error + Send + Sync>> {
    error.downcast::<io::Error>().map(|error| *error)
}
