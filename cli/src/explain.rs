//! `explain`: what every bit of a word means.

use std::path::Path;

use anyhow::Context;
use warpload::encoding::{FieldReading, Instruction, describe, parse_line};
use warpload::explain::{effect, remarks};

use super::diagnostic::{self, Origin};
use super::encode::hexadecimal;
use super::io::{self, Output};
use super::options::{Format, Progress};
use super::status::Status;
use super::word::read_word;

/// Show what every bit of a word means
///
/// Draws the 64 bits as a ruler, names each field with its range, raw value and meaning, and
/// says what executing the instruction would do.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload explain 0x9c90000123470200
  warpload explain 'LD.U.128 R4, [R1], P1'
  warpload explain --format json @!P0 LD.64 R2, [R4+0x8]
  warpload explain 0x9c90000123470200 0x84e0000000070104
  cut -f1 words.tsv | warpload explain -")]
pub(crate) struct Arguments {
    /// A word (up to 16 hexadecimal digits, `0x` or not), several words, or an instruction, quoted
    /// or not; `-` reads a word or an instruction a line
    #[arg(required = true, value_name = "WORD|TEXT")]
    instruction: Vec<String>,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(serde::Serialize)]
struct ExplanationJson {
    word: String,
    text: String,
    fields: Vec<FieldJson>,
    remarks: Vec<String>,
    effect: String,
}

#[derive(serde::Serialize)]
struct FieldJson {
    bits: String,
    name: &'static str,
    raw: String,
    meaning: String,
    purpose: &'static str,
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let Arguments { instruction: given, format } = arguments;
    let mut batch = Batch { format, has_written: false, status: Status::Done };
    if given == ["-"] {
        let stdin = Path::new("-");
        let file = io::name(stdin);
        io::each_line(stdin, Progress::Never, |line, text| {
            let origin = Origin { file: &file, line: line as usize, column: 1 };
            batch.one(origin, text.with_context(|| file.clone())?, output)
        })?;
    } else if given.iter().all(|text| is_word(text)) {
        given.iter().try_for_each(|text| batch.one(ORIGIN, text, output))?;
    } else {
        // Words of an instruction that was not quoted come as separate arguments.
        batch.one(ORIGIN, &given.join(" "), output)?;
    }
    Ok(batch.status)
}

/// Explanations one after the other.
struct Batch {
    format: Format,
    has_written: bool,
    status: Status,
}

impl Batch {
    /// Reads a word or an instruction; reports what is wrong if it is neither.
    fn one(&mut self, origin: Origin<'_>, text: &str, output: &mut Output) -> anyhow::Result<()> {
        // What was explained so far comes first on a terminal that shows both streams.
        output.flush()?;
        let found = if is_word(text) { of_word(origin, text) } else { of_text(origin, text) };
        let Some(instruction) = found else {
            self.status = output.raise(Status::Failed);
            return Ok(());
        };
        if self.has_written && self.format == Format::Text {
            output.line("")?;
        }
        self.has_written = true;
        explain(&instruction, self.format, output)
    }
}

fn explain(instruction: &Instruction, format: Format, output: &mut Output) -> anyhow::Result<()> {
    let word = instruction.encode();
    let readings: Vec<FieldReading> = describe(word).into_iter().flatten().collect();
    let remarks = remarks(instruction);
    match format {
        Format::Json => output.json(&ExplanationJson {
            word: hexadecimal(word),
            text: instruction.to_string(),
            fields: readings.iter().map(field_json).collect(),
            remarks,
            effect: effect(instruction),
        })?,
        Format::Text => {
            output.line(format_args!("{}  {instruction}\n", hexadecimal(word)))?;
            output.bytes(ruler(&readings).as_bytes())?;
            output.line("")?;
            output.bytes(table(&readings).as_bytes())?;
            output.line("")?;
            for remark in remarks {
                output.line(format_args!("- {remark}"))?;
            }
            output.line("")?;
            output.line(effect(instruction))?;
        }
    }
    Ok(())
}

const ORIGIN: Origin<'_> = Origin { file: "<argument>", line: 1, column: 1 };

/// Returns the instruction of a word; reports what is wrong if there is none.
fn of_word(origin: Origin<'_>, text: &str) -> Option<Instruction> {
    let place = match origin.file {
        "<argument>" => String::new(),
        file => format!("{file}: line {}: ", origin.line),
    };
    let word = read_word(text).map_err(|error| format!("{place}{error}"));
    let word = word.map_err(diagnostic::error).ok()?;
    let instruction = Instruction::decode(word);
    if instruction.is_none() {
        diagnostic::error(format_args!(
            "{place}{} is not a known load; expected an opcode of {}",
            hexadecimal(word),
            Instruction::MNEMONICS.join(", ")
        ));
    }
    instruction
}

/// Returns the instruction of a text; reports what is wrong if there is none.
fn of_text(origin: Origin<'_>, text: &str) -> Option<Instruction> {
    let parsed =
        parse_line(text).map_err(|error| diagnostic::parse_error(origin, text, &error)).ok()?;
    if let Some(alias) = parsed.alias {
        diagnostic::alias_note(origin, text, &alias);
    }
    Some(parsed.instruction)
}

/// Whether a word is meant, a misspelt one included. Digits alone do not tell: a control notation
/// before an instruction can begin with one.
fn is_word(text: &str) -> bool {
    let text = text.trim();
    let digit_first = text.starts_with(|first: char| first.is_ascii_digit());
    read_word(text).is_ok()
        || text.starts_with("0x")
        || text.starts_with("0X")
        || digit_first && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn field_json(reading: &FieldReading) -> FieldJson {
    FieldJson {
        bits: reading.row.field.to_string(),
        name: reading.row.name,
        raw: format!("{:#x}", reading.raw),
        meaning: reading.to_string(),
        purpose: reading.row.purpose,
    }
}

/// The letters that tie the ruler to the table.
fn keys() -> impl Iterator<Item = char> {
    'a'..='z'
}

/// The bits in groups of fields, the fields' keys below their highest bits.
fn ruler(readings: &[FieldReading]) -> String {
    let (mut bits, mut below) = (String::new(), String::new());
    for (reading, key) in readings.iter().zip(keys()) {
        let width = reading.row.field.width() as usize;
        bits += &format!("{:0width$b} ", reading.raw);
        below += &format!("{key:<width$} ");
    }
    let bits = bits.trim_end();
    format!("63{:>1$}\n{bits}\n{2}\n", 0, bits.len().saturating_sub(2), below.trim_end())
}

fn table(readings: &[FieldReading]) -> String {
    let columns: Vec<[String; 5]> = readings
        .iter()
        .zip(keys())
        .map(|(reading, key)| {
            [
                format!("{key} {}", reading.row.field),
                format!("{:#x}", reading.raw),
                reading.row.name.to_owned(),
                reading.to_string(),
                reading.row.purpose.to_owned(),
            ]
        })
        .collect();
    let width = |i: usize| columns.iter().map(|row| row[i].len()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2), width(3)];
    columns
        .iter()
        .map(|[bits, raw, name, meaning, purpose]| {
            let [w0, w1, w2, w3] = widths;
            format!("{bits:<w0$}  {raw:>w1$}  {name:<w2$}  {meaning:<w3$}  {purpose}\n")
        })
        .collect()
}
