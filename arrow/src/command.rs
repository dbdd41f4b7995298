//! The command `warpload` with Parquet export. Everything else is in the package `warpload-cli`.

use std::error::Error;
use std::process::ExitCode;

use parquet::errors::ParquetError;
use warpload_arrow::{AccessBatches, AccessOptions, write_parquet};
use warpload_cli::ParquetExport;
use warpload_replay::{ReplayData, ReplayOptions};

fn main() -> ExitCode {
    warpload_cli::set_parquet(write);
    warpload_cli::run(std::env::args_os()).into()
}

fn write(export: ParquetExport<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
    let ParquetExport { trace, threads, output, progress, .. } = export;
    let options = AccessOptions::new(ReplayOptions::new(ReplayData::Absent)).threads(threads);
    match write_parquet(AccessBatches::new(trace, options)?, output, progress) {
        // Unwrapped, because the command treats errors of the output differently from others.
        Err(warpload_arrow::BatchError::Parquet(ParquetError::External(source))) => Err(source),
        written => Ok(written?),
    }
}
