//! Answers the questions of the family `traces`: replays of files, or their refusal.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Parser;
use serde::Deserialize;
use serde_json::Value;
use warpload::json::{self, JsonError};
use warpload_suite::families::CaseAnswer;
use warpload_trace::{ImportError, TraceError};

use crate::diagnostic::{self, Message};
use crate::io::Output;
use crate::options::Progress;
use crate::replay;
use crate::status::Status;

#[derive(Deserialize)]
struct Question {
    file: String,
    #[serde(default)]
    options: BTreeMap<String, Value>,
}

/// The options of `replay` that a question can have, with underscores for hyphens.
const OPTIONS: [&str; 9] = [
    "address_bits",
    "fill",
    "kernel",
    "local_window",
    "opcode",
    "pc",
    "reuse",
    "shared_window",
    "space",
];

pub(super) fn answer(question: &str) -> Result<CaseAnswer, JsonError> {
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
