//! `test`: checks test vectors.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::ValueEnum;
use serde_json::value::RawValue;
use warpload::load::{ExecuteError, Executor};
use warpload_suite::vector::{Difference, Vector};

use super::io::{self, Output};
use super::options::{Format, Progress};
use super::output_file::Target;
use super::status::Status;
use super::suite::{self, Kind, Tested};

/// Check test vectors
///
/// Executes each vector and compares the result with what it expects. Failures are shown as
/// differences of expected and got; the last line counts. A line that is not a vector fails, and a
/// file that cannot be read counts as one failure; the rest is still checked.
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

    /// Which executor must produce what the vectors expect; both must also agree
    #[arg(long, value_enum, default_value_t)]
    executor: Executors,

    /// Write the vectors with the result of the literal executor as their `final`
    ///
    /// A vector passes if the fast executor agrees; what it expected before is not
    /// compared. Nothing is written unless all pass.
    #[arg(long, requires = "output", conflicts_with = "executor")]
    fill_in: bool,

    /// The file to write with --fill-in
    #[arg(short, long, requires = "fill_in")]
    output: Option<PathBuf>,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Executors {
    Fast,
    Reference,
    #[default]
    Both,
}

impl Executors {
    fn list(self) -> &'static [Executor] {
        match self {
            Self::Fast => &[Executor::Fast],
            Self::Reference => &[Executor::Reference],
            Self::Both => &[Executor::Reference, Executor::Fast],
        }
    }
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Arguments { file, executor, fill_in: _, output: filled, format } = arguments;
    let kind = Kind { one: "vector", many: "vectors", key: "name", shown: 8 };
    let Some(filled) = filled else {
        return suite::test_files(kind, &file, format, progress, output, |line| {
            let vector = Vector::from_json(line)?;
            let differences = differences(executor.list(), &vector);
            Ok(Some(Tested { name: vector.name, differences }))
        });
    };
    if io::is_stdin(&filled) {
        anyhow::bail!("vectors are written when all of them passed; expected a file, not `-`");
    }
    // What would be lost at the end is refused at once.
    let filled = Target::new(&filled)?.create()?;
    let mut to = BufWriter::with_capacity(1 << 16, filled.file());
    let mut failed = None;
    let status = suite::test_files(kind, &file, format, progress, output, |line| {
        let vector = Vector::from_json(line)?;
        let differences = match fill_in(line, &vector) {
            Ok(line) => {
                // After an error the file is not kept.
                if failed.is_none() {
                    failed = writeln!(to, "{line}").err();
                }
                Vec::new()
            }
            Err(difference) => vec![difference],
        };
        Ok(Some(Tested { name: vector.name, differences }))
    })?;
    let written = failed.map_or_else(|| to.flush(), Err);
    written.with_context(|| filled.target().error_context())?;
    drop(to);
    if status == Status::Done {
        filled.persist()?;
    }
    Ok(status)
}

/// The key that `--fill-in` replaces.
#[derive(serde::Deserialize)]
struct Replaced<'l> {
    #[serde(borrow, rename = "final")]
    expected: Option<&'l RawValue>,
}

/// Returns the vector of `line` with the result of the literal executor as its `final`; all else is
/// as it was written. An error says why there is no such vector.
fn fill_in(line: &str, vector: &Vector) -> Result<String, String> {
    let run = |executor| vector.run(executor).map_err(|error| error.to_string());
    let (after, outcome) = run(Executor::Reference)?;
    if run(Executor::Fast)? != (after.clone(), outcome.clone()) {
        return Err(EXECUTORS_DIFFER.to_owned());
    }
    let observed = serde_json::to_string(&vector.observed(&after, &outcome));
    let observed = observed.map_err(|error| error.to_string())?;
    let replaced: Replaced<'_> = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let filled = match replaced.expected.map(RawValue::get) {
        // The text of the old value lies in the line.
        Some(old) => old.as_ptr().addr().checked_sub(line.as_ptr().addr()).and_then(|start| {
            let (before, after) = (line.get(..start)?, line.get(start + old.len()..)?);
            Some(format!("{before}{observed}{after}"))
        }),
        // `instruction` is always there, so that a comma is needed.
        None => line
            .trim_end()
            .strip_suffix('}')
            .map(|open| format!("{}, \"final\": {observed}}}", open.trim_end())),
    };
    filled.ok_or_else(|| "expected one JSON object on the line".to_owned())
}

const EXECUTORS_DIFFER: &str = "the executors differ";

/// Returns how the vector's outcome differs from what it expects, and how two executors disagree.
fn differences(executors: &[Executor], vector: &Vector) -> Vec<String> {
    if vector.expected.is_none() {
        return vec!["final: missing key; expected the state after".to_owned()];
    }
    let named = |executor: &Executor| Ok((executor.name(), vector.check(*executor)?));
    let found: Result<Vec<(&str, Vec<Difference>)>, ExecuteError> =
        executors.iter().map(named).collect();
    let mut found = match found {
        Ok(found) => found,
        Err(error) => return vec![error.to_string()],
    };
    // A difference of both is reported once.
    if let [(_, first), (_, second)] = &mut found[..]
        && first == second
    {
        found = vec![("both", std::mem::take(first))];
    }
    let mut differences: Vec<String> = found
        .iter()
        .flat_map(|(name, found)| found.iter().map(move |found| format!("{name}: {found}")))
        .collect();
    if let [first, second] = executors
        && vector.run(*first) != vector.run(*second)
    {
        // First, since only the first ones are shown.
        differences.insert(0, EXECUTORS_DIFFER.to_owned());
    }
    differences
}
