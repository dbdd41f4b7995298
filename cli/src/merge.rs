//! `merge`: merges the summaries of shards.

use std::path::PathBuf;

use anyhow::anyhow;
use warpload_replay::{MergeError, PartialSummary, Summary};

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
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let Arguments { summary: paths, partial, output: to, .. } = arguments;
    let to = Destination::new(to.as_deref())?;
    let shards = paths.iter().map(|path| compare::read_partial(path));
    let shards = shards.collect::<anyhow::Result<_>>()?;
    let named = |error| anyhow!(named(&error, &paths));
    if partial {
        let merged = PartialSummary::merge(shards).map_err(named)?;
        let status = replay::status(merged.mismatches(), output);
        to.json(&merged, output)?;
        return Ok(status);
    }
    let merged = Summary::merge(shards).map_err(named)?;
    // One shard may have none of the selected loads. If the whole has none, it is an error, as in `replay`.
    if let Some(nothing) = merged.nothing_selected() {
        return Ok(output.fail(Status::Failed, nothing)?);
    }
    let status = replay::status(merged.counts.mismatches, output);
    to.json(&merged, output)?;
    Ok(status)
}

/// Prefixes the error with the name of the summary's file.
fn named(error: &MergeError, paths: &[PathBuf]) -> String {
    match error.index().and_then(|index| paths.get(index)) {
        Some(path) => format!("{}: the summary is {}", io::name(path), error.reason()),
        None => error.to_string(),
    }
}
