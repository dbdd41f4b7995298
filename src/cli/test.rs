//! `test`: checks test vectors.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use warpload::lines::{LineError, Lines};
use warpload::load::{ExecuteError, Executor};
use warpload::vector::{Difference, Vector};

use super::diagnostic;
use super::io::{self, Output};
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

/// How many differences of one vector are listed as text; JSON has all.
const SHOWN: usize = 8;

#[derive(serde::Serialize)]
struct FailureJson<'f> {
    file: &'f str,
    line: u64,
    name: Option<&'f str>,
    differences: &'f [String],
}

#[derive(serde::Serialize)]
struct CountJson {
    passed: u64,
    failed: u64,
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let mut run = Run {
        executors: arguments.executor.list(),
        format: arguments.format,
        passed: 0,
        failed: 0,
    };
    let mut status = Status::Done;
    for path in &arguments.file {
        if let Err(error) = run.file(path, progress, output) {
            if io::is_output_error(&error) {
                return Err(error);
            }
            output.flush()?;
            diagnostic::error(format_args!("{}: {error:#}", io::name(path)));
            status = Status::Unreadable;
            // `0 failed` always means that all is well.
            run.failed += 1;
        }
    }
    let Run { passed, failed, .. } = run;
    match arguments.format {
        Format::Text => output.line(format_args!("{passed} passed, {failed} failed"))?,
        Format::Json => output.json(&CountJson { passed, failed })?,
    }
    Ok(status.max(if failed > 0 { Status::Failed } else { Status::Done }))
}

struct Run {
    executors: &'static [Executor],
    format: Format,
    passed: u64,
    failed: u64,
}

impl Run {
    fn file(&mut self, path: &Path, progress: Progress, output: &mut Output) -> anyhow::Result<()> {
        let file = io::name(path);
        let mut lines = Lines::new(io::open(path, progress)?);
        let mut is_empty = true;
        while let Some(line) = lines.next_line() {
            let line = match line {
                Ok(line) => line,
                // One bad line fails by itself; behind the others nothing can be read.
                Err(error @ LineError::NotUtf8 { line, .. }) => {
                    is_empty = false;
                    self.fail(&file, line, None, &[error.to_string()], output)?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            if line.text.trim().is_empty() {
                continue;
            }
            is_empty = false;
            let (name, differences) = match Vector::from_json(line.text) {
                Ok(vector) => {
                    let differences = self.differences(&vector);
                    (Some(vector.name), differences)
                }
                Err(error) => {
                    let column = error
                        .position
                        .map_or(String::new(), |(_, column)| format!("column {column}: "));
                    (None, vec![format!("{column}{error}")])
                }
            };
            if differences.is_empty() {
                self.passed += 1;
            } else {
                self.fail(&file, line.number, name.as_deref(), &differences, output)?;
            }
        }
        if is_empty {
            anyhow::bail!("no vectors; expected one JSON object a line");
        }
        Ok(())
    }

    /// Where the vector's outcome is not as expected, and where two executors disagree.
    fn differences(&self, vector: &Vector) -> Vec<String> {
        if vector.expected.is_none() {
            return vec!["final: missing key; expected the state after".to_owned()];
        }
        let named = |executor: &Executor| Ok((executor.name(), vector.check(*executor)?));
        let found: Result<Vec<(&str, Vec<Difference>)>, ExecuteError> =
            self.executors.iter().map(named).collect();
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
        if let [first, second] = self.executors
            && vector.run(*first) != vector.run(*second)
        {
            // First, since only the first ones are shown.
            differences.insert(0, "the executors differ".to_owned());
        }
        differences
    }

    fn fail(
        &mut self,
        file: &str,
        line: u64,
        name: Option<&str>,
        differences: &[String],
        output: &mut Output,
    ) -> std::io::Result<()> {
        self.failed += 1;
        if self.format == Format::Json {
            return output.json(&FailureJson { file, line, name, differences });
        }
        // A name may be left out or empty.
        let name = match name {
            Some("") => "a vector without a name",
            Some(name) => name,
            None => "not a vector",
        };
        output.line(format_args!("FAIL {file}:{line}: {name}"))?;
        for difference in differences.iter().take(SHOWN) {
            output.line(format_args!("  {difference}"))?;
        }
        if differences.len() > SHOWN {
            output.line(format_args!("  and {} more", differences.len() - SHOWN))?;
        }
        Ok(())
    }
}
