//! Instruction words by themselves: on the command line, or one a line.

use std::path::Path;

use warpload::encoding::Instruction;

use super::decode::row::LoadJson;
use super::encode::{ERROR, hexadecimal};
use super::io::{self, Output};
use super::options::{Format, Progress};
use super::status::Status;

/// Takes the place of a load.
#[derive(serde::Serialize)]
struct ErrorJson<'e> {
    error: &'e str,
}

/// Reads `0x…`, with or without the prefix, of at most 64 bits.
pub(crate) fn read_word(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    let is_word =
        (1..=16).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    match u64::from_str_radix(digits, 16) {
        Ok(word) if is_word => Ok(word),
        _ => Err(format!("{text:?} is not a word; expected 0x and up to 16 hexadecimal digits")),
    }
}

/// `decode --word`: one line each, whatever they are.
pub(crate) fn decode(
    words: &[String],
    format: Format,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let mut status = Status::Done;
    let mut show = |word: Result<u64, String>| -> anyhow::Result<()> {
        match word {
            Ok(word) => word_line(word, format, output)?,
            Err(message) => status = bad_word(&message, format, output)?,
        }
        Ok(())
    };
    if words == ["-"] {
        let stdin = Path::new("-");
        let file = io::name(stdin);
        io::each_line(stdin, Progress::Never, |line, text| {
            show(match text {
                Ok(text) => {
                    read_word(text).map_err(|error| format!("{file}: line {line}: {error}"))
                }
                Err(error) => Err(format!("{file}: {error}")),
            })
        })?;
    } else {
        words.iter().try_for_each(|text| show(read_word(text)))?;
    }
    Ok(status)
}

/// Reports what is wrong with a word, in its place.
fn bad_word(message: &str, format: Format, output: &mut Output) -> anyhow::Result<Status> {
    let status = output.fail(Status::Failed, message)?;
    match format {
        Format::Text => output.line(ERROR)?,
        Format::Json => output.json(&ErrorJson { error: message })?,
    }
    Ok(status)
}

fn word_line(word: u64, format: Format, output: &mut Output) -> std::io::Result<()> {
    match (Instruction::decode(word), format) {
        (Some(load), Format::Text) => output.line(load.text()),
        (None, Format::Text) => output.line("-"),
        (None, Format::Json) => output.line("null"),
        (Some(load), Format::Json) => output.json(&LoadJson {
            word: Some(hexadecimal(word)),
            text: Some(load.text().as_str()),
            ..LoadJson::default()
        }),
    }
}
