//! `answer`: answers the questions of the conformance suite. Those of the family `traces` are replays of files, or
//! their refusal.

use std::num::NonZero;
use std::path::Path;

use serde::Deserialize;

use crate::io::{self, Output};
use crate::options::{ExecutorName, Progress};
use crate::process::Status;
use crate::trace::Input;
use warpload::json::{self, JsonError};
use warpload_replay::{ReplayRequest, replay};
use warpload_suite::families::{self, Answerer, CaseAnswer};
use warpload_trace::{ImportError, TraceError};

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

pub(crate) fn execute(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let mut answerer = Answerer::new(arguments.executor.into()).answering("traces", answer_trace);
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

#[derive(Deserialize)]
struct Question {
    file: String,
    #[serde(default)]
    options: ReplayRequest,
}

fn answer_trace(question: &str) -> Result<CaseAnswer, JsonError> {
    let Question { file, mut options } = json::from_str(question)?;
    // A question is about one file.
    if options.image.is_some() || !options.cubin.is_empty() {
        return Err(JsonError::at("options", "expected options without other files"));
    }
    options.threads = Some(NonZero::<usize>::MIN);
    // A case may expect a refusal, but not of a missing file. `-` would be the input that has the questions.
    if file == "-" || !Path::new(&file).is_file() {
        return Err(JsonError::at(
            "file",
            format!("no file {file:?}; expected the path of a file"),
        ));
    }
    Ok(match replayed(Path::new(&file), &options) {
        Ok(json) => CaseAnswer::Known(json.trim_end().to_owned()),
        Err(error)
            if error.chain().any(|one| one.is::<TraceError>() || one.is::<ImportError>()) =>
        {
            CaseAnswer::new(&serde_json::json!({ "refused": true }))
        }
        Err(error) => CaseAnswer::Error(format!("{error:#}")),
    })
}

/// Returns the summary of a replay as JSON.
fn replayed(file: &Path, request: &ReplayRequest) -> anyhow::Result<String> {
    let trace = Input::new(file)?.open(Progress::Never, 1)?;
    let selection = request.selection(trace.contents());
    let options = request.options(None, None, selection.as_ref());
    let replayed = request.on_threads(|| replay(&trace, &options))?;
    if let Some(nothing) = replayed.nothing_selected() {
        return Err(nothing.into());
    }
    let mut json = Vec::new();
    io::write_json(&mut json, &replayed.summary())?;
    Ok(String::from_utf8(json)?)
}
