//! `test`: checks test vectors.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use warpload_suite::families::execute as vectors;

use super::destination;
use super::io::{self, Output};
use super::options::{Format, Progress};
use super::suite::{self, CaseKind, Executors};
use crate::process::Status;

/// Check test vectors
///
/// Executes each vector and compares the result with the expected one. Failures show both; the last line counts. A line
/// that is not a vector fails, and a file that cannot be read counts as one failure; the rest is still checked.
///
/// Misaligned addresses are rounded down without a fault unless a vector's `initial` has
/// `"misaligned": "report"`; `replay` always reports them.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload test tests/data/ld-vectors.jsonl --executor both
  warpload test new.jsonl --fill-in -o new-with-final.jsonl")]
pub(crate) struct Arguments {
    /// Files of vectors, one JSON object a line
    #[arg(required = true)]
    file: Vec<PathBuf>,

    /// Executor to check; with `both`, the two must also agree
    #[arg(long, value_enum, default_value_t)]
    executor: Executors,

    /// Write the vectors with the literal executor's result as their `final`
    ///
    /// A vector passes if the fast executor agrees; its previous `final` is not compared. No file is written unless all
    /// vectors pass.
    #[arg(long, requires = "output", conflicts_with = "executor")]
    fill_in: bool,

    /// File to write with --fill-in
    #[arg(short, long, requires = "fill_in")]
    output: Option<PathBuf>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Arguments { file, executor, fill_in: _, output: filled, format } = arguments;
    let kind = CaseKind::tests("vector", "name", 8);
    let test = "execute";
    let Some(filled) = filled else {
        return suite::test(test, kind, &file, format, progress, output, |line| {
            vectors::check(line, executor.list()).map(Some)
        });
    };
    if io::is_stdin(&filled) {
        anyhow::bail!("vectors are written when all of them passed; expected a file, not `-`");
    }
    // Created first, so that an output that cannot be written is refused before the work.
    let filled = destination::target(&filled)?.create()?;
    let mut to = BufWriter::with_capacity(1 << 16, filled.file());
    let mut failed = None;
    let status = suite::test(test, kind, &file, format, progress, output, |line| {
        let (checked, line) = vectors::fill_in(line)?;
        // After an error the file is discarded anyway.
        if let (Some(line), None) = (line, &failed) {
            failed = writeln!(to, "{line}").err();
        }
        Ok(Some(checked))
    })?;
    let written = failed.map_or_else(|| to.flush(), Err);
    written.map_err(|error| filled.target().write_error(error))?;
    drop(to);
    if status == Status::Done {
        filled.persist()?;
    }
    Ok(status)
}
