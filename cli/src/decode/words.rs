//! `decode --word`: bare words.

use warpload::encoding::control::Notation;
use warpload::encoding::{Instruction, MachineWord, Sm, Spa5Instruction};
use warpload_binary::sass::Scheduling;
use warpload_binary::word::{NotALoad, read_load_word, read_word};

use super::arguments::{Arguments, RowArguments};
use super::program;
use super::row::{self, LoadJson};
use crate::io::Output;
use crate::options::Format;
use crate::process::Status;
use crate::word::{ERROR, each_given, place, refuse, with_option};

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
    let (sm, format) = (arguments.code.choice.sm, arguments.code.format);
    if let Some(sm) = sm.filter(|sm| arguments.rows.all && sm.has_wide_words()) {
        anyhow::bail!("--all: {}", program::only(sm));
    }
    each_given(words, |origin, text| {
        let text = match text {
            Ok(text) => text,
            Err(error) => {
                let message = format!("{}: {error}", origin.file);
                status = output.fail(Status::Unreadable, &message)?;
                return Ok(placeholder(&message, format, output)?);
            }
        };
        if arguments.rows.all {
            match read_word(text, sm) {
                Ok(word) => return Ok(any_line(word, arguments, output)?),
                Err(error) => {
                    let message = format!("{}{}", place(origin), with_option(&error));
                    status = status.max(refuse(&error, origin, text, sm, output)?);
                    return Ok(placeholder(&message, format, output)?);
                }
            }
        }
        let load = read_load_word(text, sm);
        match &load {
            Err(error @ NotALoad::Narrow { .. }) => {
                status = status.max(refuse(error, origin, text, sm, output)?);
            }
            Err(error) if error.is_malformed() => {
                let message = format!("{}{}", place(origin), with_option(error));
                status = status.max(refuse(error, origin, text, sm, output)?);
                return Ok(placeholder(&message, format, output)?);
            }
            _ => {}
        }
        Ok(word_line(&load, arguments, output)?)
    })?;
    Ok(status)
}

/// Writes a line in place of a bad word, so that the lines of output match the words.
fn placeholder(message: &str, format: Format, output: &mut Output) -> std::io::Result<()> {
    match format {
        Format::Text => output.line(ERROR),
        Format::Json => output.json(&ErrorJson { error: message }),
    }
}

fn word_line(
    load: &Result<Instruction, NotALoad>,
    arguments: &Arguments,
    output: &mut Output,
) -> std::io::Result<()> {
    let Arguments { code, rows: RowArguments { hidden, control, .. }, .. } = arguments;
    let (sm, format, notation) = (code.choice.sm, code.format, control.notation());
    let hidden = |load: &Instruction| row::hidden(load).filter(|_| *hidden);
    let json = |word: MachineWord| LoadJson {
        sm: sm.map(|sm| sm.to_string()),
        word: Some(word.to_string()),
        ..LoadJson::default()
    };
    match (load, format) {
        (Ok(load), Format::Text) => match hidden(load) {
            Some(hidden) => output.line(format_args!("{} {hidden}", text(load, notation))),
            None => output.line(text(load, notation)),
        },
        (Err(NotALoad::Refused { .. }), Format::Text) => output.line("illegal"),
        (Err(NotALoad::Refused { word, refusal }), Format::Json) => {
            let reason = Some(refusal.to_string());
            output.json(&LoadJson { illegal: true, reason, ..json(*word) })
        }
        (Err(_), Format::Text) => output.line("-"),
        (Err(_), Format::Json) => output.json(&()),
        (Ok(load), Format::Json) => output.json(&LoadJson {
            text: Some(load.text().as_str()),
            control: load.control().map(|control| Scheduling::new(control, Some(load.word()))),
            hidden: hidden(load),
            ..json(load.word())
        }),
    }
}

/// Writes the text of a word of any instruction of SM 5.0 to 6.2.
fn any_line(word: MachineWord, arguments: &Arguments, output: &mut Output) -> std::io::Result<()> {
    let sm = arguments.code.choice.sm;
    let decoded =
        word.narrow().and_then(|word| Spa5Instruction::decode(word, sm.unwrap_or(Sm::SPA5)));
    let text = decoded.map(|decoded| decoded.text_at(arguments.at).to_string());
    let text = text.as_deref().map(str::trim_end);
    match arguments.code.format {
        Format::Text => output.line(text.unwrap_or("illegal")),
        Format::Json => output.json(&LoadJson {
            sm: sm.map(|sm| sm.to_string()),
            word: Some(word.to_string()),
            text,
            illegal: text.is_none(),
            ..LoadJson::default()
        }),
    }
}

/// The text of a load, with the scheduling of its word if `notation` asks for it.
fn text(load: &Instruction, notation: Option<Notation>) -> String {
    match (load.control(), notation) {
        (Some(_), Some(notation)) if notation.is_trailing() => {
            format!("{load}{}", load.annotations())
        }
        (Some(control), Some(notation)) => format!("{}  {load}", control.display(notation)),
        _ => load.to_string(),
    }
}
