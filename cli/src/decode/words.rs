//! `decode --word`: bare words.

use warpload::encoding::control::Notation;
use warpload::encoding::{Decoded, Instruction, MachineWord, Sm};
use warpload_binary::sass::Scheduling;

use super::arguments::{Arguments, RowArguments};
use super::row::{self, LoadJson};
use crate::io::Output;
use crate::options::Format;
use crate::process::Status;
use crate::word::{ERROR, each_given, place, read_word};

/// The JSON output for a bad word.
#[derive(serde::Serialize)]
struct ErrorJson<'e> {
    error: &'e str,
}

/// Decodes words, and writes one line for each, even for bad ones.
pub(super) fn decode(
    words: &[String],
    arguments: &Arguments,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let mut status = Status::Done;
    each_given(words, |origin, text| {
        let word = match text {
            Ok(text) => read_word(text, arguments.code.choice.sm)
                .map_err(|error| format!("{}{error}", place(origin))),
            Err(error) => Err(format!("{}: {error}", origin.file)),
        };
        match word {
            Ok(word) => word_line(word, arguments, output)?,
            Err(message) => status = bad_word(&message, arguments.code.format, output)?,
        }
        Ok(())
    })?;
    Ok(status)
}

/// Reports a bad word, and writes a line in its place, so that the lines of output match the words.
fn bad_word(message: &str, format: Format, output: &mut Output) -> anyhow::Result<Status> {
    let status = output.fail(Status::Failed, message)?;
    match format {
        Format::Text => output.line(ERROR)?,
        Format::Json => output.json(&ErrorJson { error: message })?,
    }
    Ok(status)
}

fn word_line(word: MachineWord, arguments: &Arguments, output: &mut Output) -> std::io::Result<()> {
    let Arguments { code, rows: RowArguments { hidden, control, .. }, .. } = arguments;
    let (sm, format, notation) = (code.choice.sm, code.format, control.notation());
    let hidden = |load: &Instruction| row::hidden(load).filter(|_| *hidden);
    let json = || LoadJson {
        sm: sm.map(|sm| sm.to_string()),
        word: Some(word.to_string()),
        ..LoadJson::default()
    };
    match (Instruction::decode(word, sm.unwrap_or(Sm::SPA5)), format) {
        (Decoded::Load(load), Format::Text) => match hidden(&load) {
            Some(hidden) => output.line(format_args!("{} {hidden}", text(load, notation))),
            None => output.line(text(load, notation)),
        },
        (Decoded::Illegal(_), Format::Text) => output.line("illegal"),
        (Decoded::Other, Format::Text) => output.line("-"),
        (Decoded::Other, Format::Json) => output.json(&()),
        (Decoded::Illegal(refusal), Format::Json) => {
            let reason = Some(refusal.to_string());
            output.json(&LoadJson { illegal: true, reason, ..json() })
        }
        (Decoded::Load(load), Format::Json) => output.json(&LoadJson {
            text: Some(load.text().as_str()),
            control: load.control().map(|control| Scheduling::new(control, Some(word))),
            hidden: hidden(&load),
            ..json()
        }),
    }
}

/// The text of a load, with the scheduling of its word if `notation` asks for it.
fn text(load: Instruction, notation: Option<Notation>) -> String {
    match (load.control(), notation) {
        (Some(_), Some(notation)) if notation.is_trailing() => {
            format!("{load}{}", load.annotations())
        }
        (Some(control), Some(notation)) => format!("{}  {load}", control.display(notation)),
        _ => load.to_string(),
    }
}
