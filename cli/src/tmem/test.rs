//! `tmem test`: checks test cases.

use std::path::PathBuf;

use warpload::load::Executor;
use warpload_suite::families::{Answerer, tensor_memory};

use crate::io::Output;
use crate::options::{Format, Progress};
use crate::process::Status;
use crate::suite::{self, CaseKind};

/// Check test cases of loads from Tensor Memory
///
/// Executes each case and compares the result with the expected one: registers, a fault, or the rule for which the
/// assembler refuses it. Failures show both; the last line counts. A line that is not a case fails, and a file that
/// cannot be read counts as one failure; the rest is still checked. docs/tensor-memory.md describes the format of
/// cases.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  warpload tmem test ptx/tests/tensor_memory/cases.jsonl")]
pub(crate) struct Arguments {
    /// Files of cases, one JSON object a line
    #[arg(required = true)]
    file: Vec<PathBuf>,

    /// Skip cases that were inferred rather than stated by a source
    #[arg(long)]
    skip_inferred: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Arguments { file, skip_inferred, format } = arguments;
    let kind = CaseKind::tests("case", "id", usize::MAX);
    let mut answerer = Answerer::new(Executor::Fast);
    suite::test("tensor-memory", kind, &file, format, progress, output, |line| {
        tensor_memory::check(line, skip_inferred, &mut answerer)
    })
}
