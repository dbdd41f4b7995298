//! `answer`: answers the questions of the conformance suite. Those of the family `traces` are replays of files, or
//! their refusal.

use std::collections::BTreeMap;
use std::path::Path;

use clap::{Parser, ValueEnum};
use serde::Deserialize;
use serde_json::Value;

use crate::diagnostic::{self, Message};
use crate::io::{self, Output};
use crate::options::Progress;
use crate::process::Status;
use crate::{ptx, replay};
use warpload::json::{self, JsonError};
use warpload::load::Executor;
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
        .answering("traces", answer_trace);
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
    options: BTreeMap<String, Value>,
}

/// The options of `replay` that a question can have, with underscores for hyphens.
const OPTIONS: [&str; 10] = [
    "address_bits",
    "fill",
    "kernel",
    "local_window",
    "merge_pairs",
    "opcode",
    "pc",
    "reuse",
    "shared_window",
    "space",
];

fn answer_trace(question: &str) -> Result<CaseAnswer, JsonError> {
    let Question { file, options } = json::from_str(question)?;
    let mut arguments: Vec<String> =
        ["replay", "--format=json", "--threads=1"].map(str::to_owned).into();
    for (name, value) in options {
        let key = || format!("options.{name}");
        if !OPTIONS.contains(&&*name) {
            let names = OPTIONS.join(", ");
            return Err(JsonError::at(key(), format!("unknown option; expected one of {names}")));
        }
        let flag = name.replace('_', "-");
        arguments.push(match value {
            Value::Bool(false) => continue,
            Value::Bool(true) => format!("--{flag}"),
            Value::String(text) => format!("--{flag}={text}"),
            Value::Number(number) => format!("--{flag}={number}"),
            _ => return Err(JsonError::at(key(), "expected a text, a number, true or false")),
        });
    }
    // A case may expect a refusal, but not of a missing file. `-` would be the input that has the questions.
    if file == "-" || !Path::new(&file).is_file() {
        return Err(JsonError::at(
            "file",
            format!("no file {file:?}; expected the path of a file"),
        ));
    }
    arguments.extend(["--".to_owned(), file]);
    let parsed = Replay::try_parse_from(arguments);
    let Replay { arguments } =
        parsed.map_err(|error| JsonError::at("options", Message::of_wrong_use(&error).title))?;
    let mut output = Output::captured();
    let replayed = || replay::execute(arguments, Progress::Never, &mut output);
    let (ran, _) = diagnostic::collect(replayed);
    let is_refused = match &ran {
        Ok(status) => *status >= Status::Unreadable,
        Err(error) => {
            error.chain().any(|cause| cause.is::<TraceError>() || cause.is::<ImportError>())
        }
    };
    if is_refused {
        return Ok(CaseAnswer::new(&serde_json::json!({ "refused": true })));
    }
    if let Err(error) = ran {
        return Ok(CaseAnswer::Error(format!("{error:#}")));
    }
    let text = String::from_utf8(output.into_captured()).unwrap_or_default();
    Ok(CaseAnswer::Known(text.trim_end().to_owned()))
}

/// The options of `replay`.
#[derive(clap::Parser)]
struct Replay {
    #[command(flatten)]
    arguments: replay::Arguments,
}
