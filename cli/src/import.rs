//! `import`: imports a text trace as a binary one.

use std::num::NonZero;
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::io::{self, Output};
use super::options::{Progress, number, positive};
use super::trace::{Input, Opening, import_error};
use super::{destination, mapped, split};
use crate::process::Status;
use warpload_binary::regular_file;
use warpload_trace::binary::TraceInput;
use warpload_trace::{
    BinaryTrace, Compression, ImportOptions, TraceList, import_source, usable_threads,
};

/// Turn a trace of another tool into a binary trace
///
/// Reads traces of Accel-Sim (.trace, .traceg, .tracez, or a kernelslist.g with all files that it lists), logs of
/// NVBit's mem_trace tool, CUTracer's NDJSON, and exports. Each may be compressed by gzip, xz or zstd. The output appears under its name when it is complete; if it replaces a file, it keeps that file's mode.
///
/// For a kernelslist.g, `--split` writes one binary trace for each listed trace, and a trace set that makes them one.
/// `--only` writes one of these, on any machine; `warpload set` then puts them together.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload import kernelslist.g -o app.wlt
  warpload import kernelslist.g --split -o parts
  warpload import kernelslist.g --only 0 -o part-0000.wlt")]
pub(crate) struct Arguments {
    /// The trace, or the list of traces
    input: PathBuf,

    /// Binary trace to write; with `--split`, the folder
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Write each trace of a list as a binary trace of its own, and their trace set
    #[arg(long)]
    split: bool,

    /// Import only trace N of a list, from 0
    #[arg(long, value_name = "N", value_parser = number::<usize>(0..=u64::MAX), conflicts_with = "split")]
    only: Option<usize>,

    /// Skip the import if the output is a complete binary trace already, of files with the same bytes
    #[arg(long)]
    resume: bool,

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
    let Arguments { input: from, output: to, split, only, resume, compression, threads } =
        arguments;
    let input = Input::new(&from)?;
    let threads = usable_threads(threads.and_then(NonZero::new));
    let options = ImportOptions::new(threads).compression(compression);
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
    let opening = Opening::new(&from, progress);
    if split {
        return split::split(&input.list()?, &to, &options, resume, &opening, output);
    }
    let Some(number) = only else {
        // Only a regular file can be read twice: to compare it with the output, and to import it.
        if resume && input.is_regular() && is_done(&from, &to) {
            destination::say_done(&to, output)?;
            return Ok(Status::Done);
        }
        let file = destination::target(&to)?.create()?;
        input.import_into(&file, &options, progress)?;
        destination::persist(file, "", output)?;
        return Ok(Status::Done);
    };
    // Read before the target is checked, because the target must not be one of the list's files.
    let list = input.list()?;
    if number >= list.len() {
        let (name, count) = (io::name(&from), list.len());
        let message = format_args!("{name}: no trace {number}; the list names {count}, from 0");
        return Ok(output.fail(Status::Failed, message)?);
    }
    if resume && is_part_done(&list, number, &to) {
        destination::say_done(&to, output)?;
        return Ok(Status::Done);
    }
    let file = destination::target(&to)?.create()?;
    opening.expect(list.file(number).into_iter());
    let imported = list.import_into(number, file.file(), &options, &opening);
    imported.map_err(|error| import_error(error, &file))?;
    opening.finish();
    destination::persist(file, "", output)?;
    Ok(Status::Done)
}

/// Whether the output is complete already: a whole binary trace of this file and of all files that it names, unchanged
/// since.
fn is_done(from: &Path, output: &Path) -> bool {
    let Some(inputs) = inputs_of(output, from) else { return false };
    let Some((first, files)) = inputs.split_first() else { return false };
    if input(from) != Some(*first) {
        return false;
    }
    // Only a list names other files.
    files.is_empty() || {
        let Ok(list) = Input::new(from).and_then(Input::list) else { return false };
        let named = list.files();
        named.len() == files.len()
            && named.zip(files).all(|(name, file)| input(&name) == Some(*file))
    }
}

/// Whether `output` is complete already: a whole binary trace of trace `number`, from 0, unchanged since.
pub(super) fn is_part_done(list: &TraceList, number: usize, output: &Path) -> bool {
    let (Some(itself), Some(file)) = (list.input(), list.file(number)) else { return false };
    inputs_of(output, list.name()).is_some_and(|inputs| match inputs[..] {
        [first, second] => first == itself && input(&file) == Some(second),
        _ => false,
    })
}

/// The inputs that a complete binary trace records, if it was imported from `from`.
fn inputs_of(output: &Path, from: &Path) -> Option<Vec<TraceInput>> {
    let (file, _) = regular_file::open(output).ok()?;
    let trace = BinaryTrace::new(mapped::map(output, &file).ok()?).ok()?;
    let is_whole = trace.contents().source == import_source(from)
        && trace.blocks().iter().all(|block| trace.block(block).is_ok());
    is_whole.then(|| trace.inputs().to_vec())
}

/// The record of a regular input file in a binary trace.
fn input(path: &Path) -> Option<TraceInput> {
    TraceInput::of(regular_file::open(path).ok()?.0).ok()
}
