//! `merge`: adds the summaries of replays.

use std::path::PathBuf;

use anyhow::anyhow;
use warpload_replay::{MergeError, Summary};

use super::compare;
use super::io::{self, Output};
use super::process::Status;
use super::replay::{OUTPUT, Shape};

/// Add the JSON summaries of the shards of a replay, or of several replays
///
/// The shards of a replay give the summary of the whole, with the same bytes as a replay of the whole trace; one that is
/// missing is an error. The launches of several replays follow each other in the order of the files.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload merge 0.json 1.json 2.json --format json -o app.json
  warpload merge monday.json tuesday.json --html both.html")]
pub(crate) struct Arguments {
    /// Summaries, each shard once, in any order
    #[arg(required = true)]
    summary: Vec<PathBuf>,

    /// File for the result, instead of standard output
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    output: Option<PathBuf>,

    #[command(flatten)]
    shape: Shape,
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let Arguments { summary: paths, output: to, shape } = arguments;
    let format = shape.format(to.as_deref())?;
    let targets = shape.targets(to.as_deref())?;
    let summaries = paths.iter().map(|path| compare::read(path));
    let summaries = summaries.collect::<anyhow::Result<_>>()?;
    let merged = Summary::merge(summaries).map_err(|error| anyhow!(named(&error, &paths)))?;
    // One shard may have none of the selected accesses. If the whole has none, it is an error, as in `replay`.
    if let Some(nothing) = merged.nothing_selected() {
        return Err(nothing.into());
    }
    let title = match &paths[..] {
        [path] => io::name(path).to_string(),
        paths => format!("{} summaries", paths.len()),
    };
    shape.write(&merged, format, (&title, ""), targets, output)
}

/// Prefixes the error with the name of the summary's file.
fn named(error: &MergeError, paths: &[PathBuf]) -> String {
    match error.index().and_then(|index| paths.get(index)) {
        Some(path) => format!("{}: the summary {}", io::name(path), error.reason()),
        None => error.to_string(),
    }
}
