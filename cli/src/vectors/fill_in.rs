//! `vectors fill-in`: writes the expected results of vectors.

use std::path::PathBuf;

use anyhow::{Context, anyhow, ensure};
use warpload_suite::families::execute;

use crate::destination::Destination;
use crate::io::{self, Output};
use crate::options::Progress;
use crate::process::Status;
use crate::terminal::Escapes;

/// Write vectors with the literal executor's result as their `final`
///
/// The fast executor must agree; a previous `final` is replaced, and the rest of a line stays as it is. No file is written
/// unless all lines are vectors.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  warpload vectors fill-in new.jsonl -o new-with-final.jsonl")]
pub(crate) struct Arguments {
    /// Files of vectors, one JSON object a line; `-` is standard input
    #[arg(required = true)]
    file: Vec<PathBuf>,

    /// File to write; standard output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let mut to = Destination::new(arguments.output.as_deref())?.pieces(Escapes::Json)?;
    for path in &arguments.file {
        let mut is_empty = true;
        io::each_line(path, Progress::Never, |number, line| {
            let place = || format!("{}:{number}", io::name(path));
            let line = execute::fill_in(line.with_context(place)?).map_err(|error| {
                let column =
                    error.position.map_or(String::new(), |(_, column)| format!(":{column}"));
                anyhow!("{}{column}: {error}", place())
            })?;
            is_empty = false;
            to.check()?;
            to.add(format!("{line}\n").as_bytes(), output)
        })?;
        ensure!(!is_empty, "{}: no vectors; expected one JSON object a line", io::name(path));
    }
    to.finish(output)?;
    Ok(Status::Done)
}
