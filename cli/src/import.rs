//! `import`: imports a text trace as a binary one.

use std::num::NonZero;
use std::path::PathBuf;

use anyhow::bail;

use super::destination::{self, TRACE};
use super::io::{self, Output};
use super::options::{Progress, positive};
use super::trace::Input;
use crate::process::Status;
use warpload_trace::{Compression, ImportOptions, usable_threads};

/// Turn a trace of another tool into a binary trace
///
/// Reads traces of Accel-Sim (.trace, .traceg, .tracez, or a kernelslist.g with all files that it lists), logs of
/// NVBit's mem_trace tool, CUTracer's NDJSON, and exports. Each may be compressed by gzip, xz or zstd. The output
/// appears under its name when it is complete; if it replaces a file, it keeps that file's mode.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload import kernelslist.g -o app.wlt
  warpload import app.traceg.zst --compression none -o app.wlt")]
pub(crate) struct Arguments {
    /// The trace, or the list of traces
    input: PathBuf,

    /// Binary trace to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Compression of the binary trace: `none`, the fastest to replay, `zstd`, or `zstd:LEVEL`, from 1 to 19
    #[arg(long, value_name = "KIND", default_value_t)]
    compression: Compression,

    /// Number of threads to use; defaults to the available parallelism
    #[arg(long, value_name = "N", value_parser = positive)]
    threads: Option<usize>,
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Arguments { input: from, output: to, compression, threads } = arguments;
    let input = Input::new(&from)?;
    let threads = usable_threads(threads.and_then(NonZero::new));
    let options = ImportOptions::new(threads).compression(compression);
    if input.is_binary() {
        bail!("{}: is a binary trace already", io::name(&from));
    }
    if io::is_stdin(&to) {
        bail!("a binary trace is written from both ends; expected a file, not `-`");
    }
    let file = destination::target_as(&to, TRACE)?.create()?;
    input.import_into(&file, &options, progress)?;
    destination::persist(file, output)?;
    Ok(Status::Done)
}
