//! `test`: checks test vectors.

use std::path::PathBuf;

use clap::ValueEnum;
use warpload::load::{ExecuteError, Executor};
use warpload::vector::{Difference, Vector};

use super::io::Output;
use super::suite::{self, Kind, Tested};
use super::{Format, Progress, Status};

/// Check test vectors
///
/// Executes each vector and compares with what it expects. Failures are shown as differences of
/// expected and got; the last line counts. A line that is no vector fails, a file that cannot be
/// read counts as one failure; the others are checked all the same.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  warpload test tests/data/ld-vectors.jsonl --executor both")]
pub(crate) struct Arguments {
    /// Files of vectors, one JSON object a line
    #[arg(required = true)]
    file: Vec<PathBuf>,

    /// Which executor must give what the vectors expect; both must also agree
    #[arg(long, value_enum, default_value_t)]
    executor: Executors,

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
    let Arguments { file, executor, format } = arguments;
    let kind = Kind { one: "vector", many: "vectors", key: "name", shown: 8 };
    suite::test_files(kind, &file, format, progress, output, |line| {
        let vector = Vector::from_json(line)?;
        let differences = differences(executor.list(), &vector);
        Ok(Some(Tested { name: vector.name, differences }))
    })
}

/// Where the vector's outcome is not as expected, and where two executors disagree.
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
    // What both give needs to be said once.
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
        differences.insert(0, "the executors differ".to_owned());
    }
    differences
}
