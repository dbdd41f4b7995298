//! `merge`: merges the summaries of shards.

use std::path::PathBuf;

use anyhow::{anyhow, bail};
use serde::Serialize;
use warpload_replay::{MergeError, PartialHead, PartialSummary, Summary};

use super::destination::Destination;
use super::io::{self, Output};
use super::process::Status;
use super::{compare, replay};

/// Merge the JSON summaries of the shards of a replay
///
/// Prints the same bytes as a replay of the whole trace with `--format json`. With `--partial` it takes the summaries
/// of neighbouring shards and prints one that takes their place. Merging is associative: neighbouring shards can be
/// merged first, in any order, on any machine.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload merge 0.json 1.json 2.json
  warpload merge --partial 0.json 1.json -o 0-1.json
  warpload merge 0-1.json 2.json -o app.json")]
pub(crate) struct Arguments {
    /// Summaries, each shard once, in any order
    #[arg(required = true)]
    summary: Vec<PathBuf>,

    /// Merge neighbouring shards into a larger one, instead of all
    #[arg(long)]
    partial: bool,

    /// Output format; only JSON
    #[arg(long = "format", value_name = "FORMAT", value_parser = ["json"], default_value = "json")]
    _format: String,

    /// File for the result, or `-` for standard output, the default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Skip the merge if the output is complete already. With `--partial`, the shards of the summaries decide that; a
    /// whole summary does not name its shards, so they are merged and compared
    #[arg(long, requires = "output")]
    resume: bool,
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let Arguments { summary: paths, partial, output: to, resume: is_resumed, .. } = arguments;
    if is_resumed && to.as_deref().is_some_and(io::is_stdin) {
        bail!("`--resume` reads the output; expected a file, not `-`");
    }
    let to = Destination::new(to.as_deref())?;
    if is_resumed
        && partial
        && let Some(done) = to.partial()
        && is_range(&done, &paths)?
    {
        return to.say_done(replay::status(done.mismatches(), output), output);
    }
    let shards = paths.iter().map(|path| compare::read_partial(path));
    let shards = shards.collect::<anyhow::Result<_>>()?;
    let named = |error| anyhow!(named(&error, &paths));
    if partial {
        let merged = PartialSummary::merge(shards).map_err(named)?;
        let status = replay::status(merged.mismatches(), output);
        return finish(&merged, to, is_resumed, status, output);
    }
    let merged = Summary::merge(shards).map_err(named)?;
    // One shard may have none of the selected loads. If the whole has none, it is an error, as in `replay`.
    if let Some(nothing) = merged.nothing_selected() {
        return Ok(output.fail(Status::Failed, nothing)?);
    }
    let status = replay::status(merged.counts.mismatches, output);
    finish(&merged, to, is_resumed, status, output)
}

/// Writes the merged summary, unless the output is complete already.
fn finish(
    merged: &impl Serialize,
    to: Destination,
    is_resumed: bool,
    status: Status,
    output: &mut Output,
) -> anyhow::Result<Status> {
    if is_resumed && let Some(existing) = to.existing() {
        let mut bytes = Vec::new();
        io::write_json(&mut bytes, merged)?;
        if bytes == existing {
            return to.say_done(status, output);
        }
    }
    to.json(merged, output)?;
    Ok(status)
}

/// Prefixes the error with the name of the summary's file.
fn named(error: &MergeError, paths: &[PathBuf]) -> String {
    match error.index().and_then(|index| paths.get(index)) {
        Some(path) => format!("{}: the summary is {}", io::name(path), error.reason()),
        None => error.to_string(),
    }
}

/// Whether a partial summary covers exactly the shards of these files.
fn is_range(done: &PartialSummary, paths: &[PathBuf]) -> anyhow::Result<bool> {
    // A pipe can be read only once, and its summary may be needed for the merge.
    if paths.iter().any(|path| !path.is_file()) {
        return Ok(false);
    }
    let heads = paths.iter().map(|path| compare::read_head(path));
    let heads = heads.collect::<anyhow::Result<Vec<PartialHead>>>()?;
    Ok(PartialHead::join(heads).is_some_and(|head| head == PartialHead::of(done)))
}
