//! `tmem test`: checks test cases.

use std::path::{Path, PathBuf};

use warpload::lines::{LineError, Lines};
use warpload::tensor_memory::Registers;
use warpload::tensor_memory::cases::{Case, Confidence, PatternMemories};

use crate::cli::io::{self, Output};
use crate::cli::{Format, Progress, Status, diagnostic};

/// Check test cases of loads from Tensor Memory
///
/// Executes each case and compares with what it expects: registers, a fault, or the rule that the
/// assembler refuses it by. Failures are shown as expected and got; the last line counts. A line
/// that is no case fails, a file that cannot be read counts as one failure; the others are checked
/// all the same. The format of cases is described in docs/tensor-memory.md.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  warpload tmem test tests/tensor_memory/cases.jsonl")]
pub(crate) struct Arguments {
    /// Files of cases, one JSON object a line
    #[arg(required = true)]
    file: Vec<PathBuf>,

    /// Leave out cases that no source states, but that were inferred
    #[arg(long)]
    skip_inferred: bool,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(serde::Serialize)]
struct FailureJson<'f> {
    file: &'f str,
    line: u64,
    id: Option<&'f str>,
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
        skip_inferred: arguments.skip_inferred,
        format: arguments.format,
        memories: PatternMemories::default(),
        registers: Registers::new(),
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
    skip_inferred: bool,
    format: Format,
    memories: PatternMemories,
    registers: Registers,
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
            let (id, differences) = match Case::from_json(line.text) {
                Ok(case) if self.skip_inferred && case.confidence == Confidence::Inferred => {
                    continue;
                }
                Ok(case) => {
                    let differences = case.check(&self.memories, &mut self.registers);
                    (Some(case.id), differences.iter().map(ToString::to_string).collect())
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
                self.fail(&file, line.number, id.as_deref(), &differences, output)?;
            }
        }
        if is_empty {
            anyhow::bail!("no cases; expected one JSON object a line");
        }
        Ok(())
    }

    fn fail(
        &mut self,
        file: &str,
        line: u64,
        id: Option<&str>,
        differences: &[String],
        output: &mut Output,
    ) -> std::io::Result<()> {
        self.failed += 1;
        if self.format == Format::Json {
            return output.json(&FailureJson { file, line, id, differences });
        }
        // A name may be left out or empty.
        let id = match id {
            Some("") => "a case without a name",
            Some(id) => id,
            None => "not a case",
        };
        output.line(format_args!("FAIL {file}:{line}: {id}"))?;
        for difference in differences {
            output.line(format_args!("  {difference}"))?;
        }
        Ok(())
    }
}
