//! `answer`: answers the questions of the conformance suite.

mod traces;

use std::path::Path;

use clap::ValueEnum;
use warpload::load::Executor;
use warpload_suite::families::{self, Answerer, CaseAnswer};

use super::io::{self, Output};
use super::options::Progress;
use super::ptx;
use super::status::Status;

/// Answer the questions of the conformance suite
///
/// Reads questions from standard input, one JSON object a line, and writes the answer to each at once, one
/// line: what `conform` expects of the program that it runs. A question is a case without what it expects
/// (`final` or `expect`). One that is not answered gets {"skip": "why"}, a line that is not a question
/// {"error": "why"}. docs/conformance.md has the families with their questions and answers.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  echo '{"family":"decode","sm":"50","word":"0x9c90000123470200"}' | warpload answer
  warpload conform --command 'warpload answer --executor reference' vectors/v1"#)]
pub(crate) struct Arguments {
    /// Which executor executes vectors
    #[arg(long, value_enum, default_value_t)]
    executor: ExecutorName,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum ExecutorName {
    #[default]
    Fast,
    /// The literal one, lane by lane
    Reference,
}

pub(crate) fn execute(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let executor = match arguments.executor {
        ExecutorName::Fast => Executor::Fast,
        ExecutorName::Reference => Executor::Reference,
    };
    // Both are answered with what a subcommand finds.
    let mut answerer = Answerer::new(executor)
        .answering("ptx-execute", ptx::answer::answer)
        .answering("traces", traces::answer);
    io::each_line(Path::new("-"), Progress::Never, |_, question| {
        let answer = match question {
            Ok(question) => families::answer(question, &mut answerer),
            Err(error) => CaseAnswer::Error(error.to_string()),
        };
        output.json_text(&answer.into_json())?;
        // Who asked waits for it.
        Ok(output.flush()?)
    })?;
    Ok(Status::Done)
}
