//! `tmem test`: checks test cases.

use std::path::PathBuf;

use warpload_ptx::tensor::Registers;
use warpload_ptx::tensor::cases::{Case, Confidence, PatternMemories};

use crate::io::Output;
use crate::options::{Format, Progress};
use crate::status::Status;
use crate::suite::{self, Kind, Tested};

/// Check test cases of loads from Tensor Memory
///
/// Executes each case and compares the result with what it expects: registers, a fault, or the rule
/// by which the assembler refuses it. Failures are shown as expected and got; the last line counts. A
/// line that is not a case fails, and a file that cannot be read counts as one failure; the rest is
/// still checked. The format of cases is described in docs/tensor-memory.md.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  warpload tmem test ptx/tests/tensor_memory/cases.jsonl")]
pub(crate) struct Arguments {
    /// Files of cases, one JSON object a line
    #[arg(required = true)]
    file: Vec<PathBuf>,

    /// Skip cases that were inferred, not stated by a source
    #[arg(long)]
    skip_inferred: bool,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Arguments { file, skip_inferred, format } = arguments;
    let memories = PatternMemories::default();
    let mut registers = Registers::new();
    let kind = Kind { one: "case", many: "cases", key: "id", shown: usize::MAX };
    suite::test_files(kind, &file, format, progress, output, |line| {
        let case = Case::from_json(line)?;
        if skip_inferred && case.confidence == Confidence::Inferred {
            return Ok(None);
        }
        let differences = case.check(&memories, &mut registers);
        let differences = match &case.expected {
            Some(_) => differences.iter().map(ToString::to_string).collect(),
            None => vec!["expect: missing key; expected the outcome".to_owned()],
        };
        Ok(Some(Tested { name: case.id, differences }))
    })
}
