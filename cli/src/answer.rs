//! `answer`: answers the questions of the conformance suite.

use std::path::Path;

use clap::ValueEnum;

use crate::io::{self, Output};
use crate::options::Progress;
use crate::process::Status;
use crate::trace::Input;
use warpload::load::Executor;
use warpload_suite::families::traces::is_refusal;
use warpload_suite::families::{self, Answerer, CaseAnswer, UnopenedTrace};

/// Answer the questions of the conformance suite
///
/// Reads questions from standard input, one JSON object a line, and writes each answer at once, one line, as `conform`
/// expects of a program. A question is a case without its expected answer (`final` or `expect`). The answer is {"skip":
/// "why"} for an unsupported question, and {"error": "why"} for a line that is not a question. docs/conformance.md has
/// the families with their questions and answers.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  echo '{"family":"decode","sm":"50","word":"0x9c90000123470200"}' | warpload answer
  warpload conform --command 'warpload answer --executor reference' vectors/v1"#)]
pub(crate) struct Arguments {
    /// Executor for vectors
    #[arg(long, value_enum, default_value_t)]
    executor: ExecutorName,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum ExecutorName {
    #[default]
    Fast,
    /// The literal executor, lane by lane
    Reference,
}

pub(crate) fn execute(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let executor = match arguments.executor {
        ExecutorName::Fast => Executor::Fast,
        ExecutorName::Reference => Executor::Reference,
    };
    let mut answerer = answerer(executor);
    io::each_line(Path::new("-"), Progress::Never, |_, question| {
        let answer = match question {
            Ok(question) => families::answer(question, &mut answerer),
            Err(error) => CaseAnswer::Error(error.to_string()),
        };
        output.json_text(&answer.into_json())?;
        // Flushed after each answer, because the asking program waits for it.
        Ok(output.flush()?)
    })?;
    Ok(Status::Done)
}

/// Our own executors, with `executor` for vectors.
pub(crate) fn answerer(executor: Executor) -> Answerer {
    Answerer::new(executor).opening(|file| {
        let opened = Input::new(file).and_then(|input| input.open(Progress::Never, 1));
        opened.map_err(|error| match is_refusal(error.as_ref()) {
            true => UnopenedTrace::Refused,
            false => UnopenedTrace::Failed(format!("{error:#}")),
        })
    })
}
