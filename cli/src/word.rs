//! Instruction words by themselves: on the command line, or one a line.

use std::path::Path;

use anyhow::{Context, bail};
use warpload::encoding::Instruction;
use warpload::lines::{LineError, Lines};

use super::decode::row::LoadJson;
use super::diagnostic;
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
pub(crate) fn read_word(text: &str) -> anyhow::Result<u64> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    let is_word =
        (1..=16).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    match u64::from_str_radix(digits, 16) {
        Ok(word) if is_word => Ok(word),
        _ => bail!("{text:?} is not a word; expected 0x and up to 16 hexadecimal digits"),
    }
}

/// `decode --word`: one line each, whatever they are.
pub(crate) fn decode(
    words: &[String],
    format: Format,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let mut status = Status::Done;
    if words != ["-"] {
        for text in words {
            match read_word(text) {
                Ok(word) => word_line(word, format, output)?,
                Err(error) => status = bad_word(&error.to_string(), format, output)?,
            }
        }
        return Ok(status);
    }
    let stdin = Path::new("-");
    let file = io::name(stdin);
    let mut lines =
        Lines::new(io::open_text(stdin, Progress::Never).with_context(|| file.clone())?);
    while let Some(line) = lines.next_line() {
        match line {
            Ok(line) if line.text.trim().is_empty() => {}
            Ok(line) => match read_word(line.text) {
                Ok(word) => word_line(word, format, output)?,
                Err(error) => {
                    let message = format!("{file}: line {}: {error}", line.number);
                    status = bad_word(&message, format, output)?;
                }
            },
            Err(error @ LineError::NotUtf8 { .. }) => {
                status = bad_word(&format!("{file}: {error}"), format, output)?;
            }
            Err(error) => return Err(error).context(file),
        }
    }
    Ok(status)
}

/// Reports what is wrong with a word, in its place.
fn bad_word(message: &str, format: Format, output: &mut Output) -> anyhow::Result<Status> {
    let status = output.raise(Status::Failed);
    output.flush()?;
    diagnostic::error(message);
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
            file: None,
            function: None,
            offset: None,
            word: Some(hexadecimal(word)),
            text: Some(load.text().as_str()),
            control: None,
            load: None,
            relocated: false,
        }),
    }
}
