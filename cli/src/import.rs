//! `import`: a text trace into a binary one.

use std::path::PathBuf;

use anyhow::bail;

use super::importing::{Importing, List};
use super::io::{self, Output};
use super::options::{Progress, number, positive};
use super::trace::{self, Input};
use super::{destination, split};
use crate::process::Status;
use warpload_trace::Compression;

/// Turn a trace of another tool into a binary trace
///
/// Reads Accel-Sim's traces (.trace, .traceg, .tracez, or a kernelslist.g with all files that it lists),
/// the traces of NVBit's mem_trace tool, as a log or as JSON, and those of CUTracer, as NDJSON or as
/// a text log. Each may be compressed by gzip, xz or zstd. The output appears under its name when it is
/// complete; a file that it replaces passes on its mode.
///
/// Of a kernelslist.g, `--split` writes one binary trace for each trace that it lists, and a trace set,
/// which is the one trace of all of them. `--only` writes one of these, on any machine; `warpload set`
/// then puts them together.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload import kernelslist.g -o app.wlt
  warpload import kernelslist.g --split -o parts
  warpload import kernelslist.g --only 0 -o part-0000.wlt")]
pub(crate) struct Arguments {
    /// The trace, or the list of traces
    input: PathBuf,

    /// The binary trace to write; the folder, with `--split`
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Write each trace of a list as a binary trace of its own, and the trace set of them
    #[arg(long)]
    split: bool,

    /// Import trace N, from 0, of a list
    #[arg(long, value_name = "N", value_parser = number::<usize>(0..=u64::MAX), conflicts_with = "split")]
    only: Option<usize>,

    /// Do nothing if the output is a whole binary trace already, of files with the same bytes
    #[arg(long)]
    resume: bool,

    /// How the binary trace is compressed: `none`, the fastest to replay, `zstd`, or `zstd:LEVEL`, from 1 to 19
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
    let Arguments { input: from, output: to, split, only, resume, compression, threads } =
        arguments;
    let (input, threads) = (Input::new(&from)?, trace::threads(threads));
    if input.is_binary() {
        bail!("{}: is a binary trace already", io::name(&from));
    }
    if input.is_set() {
        bail!("{}: is a trace set already", io::name(&from));
    }
    if io::is_stdin(&to) {
        let expected = if split { "a folder" } else { "a file" };
        bail!("a binary trace is written from both ends; expected {expected}, not `-`");
    }
    if split {
        let list = input.list(progress)?.compressed_by(compression);
        return split::split(list, &to, threads, resume, output);
    }
    let is_regular = input.is_regular();
    // Before the target, which must not be one of the files of the list.
    let source = match only {
        Some(number) => Source::Part(input.list(progress)?.compressed_by(compression), number),
        None => Source::Whole(Box::new(input)),
    };
    if let Source::Part(list, number) = &source
        && *number >= list.len()
    {
        let (name, count) = (io::name(&from), list.len());
        let message = format_args!("{name}: no trace {number}; it names {count}, from 0");
        return Ok(output.fail(Status::Failed, message)?);
    }
    let is_done = || match &source {
        Source::Part(list, number) => list.is_done(*number, &to),
        // What is not a regular file can be read once.
        Source::Whole(_) => is_regular && Importing::new(&from, Progress::Never).is_done(&to),
    };
    if resume && is_done() {
        destination::say_done(&to, output)?;
        return Ok(Status::Done);
    }
    let file = destination::target(&to)?.create()?;
    let failed = |error| file.target().write_error(error).into();
    match source {
        Source::Part(list, number) => {
            list.expect(list.file(number).into_iter());
            list.import_into(number, file.file(), &failed, threads)?;
            list.finish();
        }
        Source::Whole(input) => {
            input.import_into(file.file(), &failed, compression, progress, threads)?;
        }
    }
    destination::persist(file, "", output)?;
    Ok(Status::Done)
}

/// What is imported.
enum Source<'p> {
    Whole(Box<Input<'p>>),
    /// One trace of a list.
    Part(List, usize),
}
