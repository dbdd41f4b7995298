//! `explain`: what every bit of a word means.

use warpload::encoding::{FieldReading, Instruction, describe, parse_line};
use warpload::explain::{effect, remarks};

use super::diagnostic::{self, Origin};
use super::encode::hexadecimal;
use super::io::Output;
use super::word::read_word;
use super::{Format, Status};

/// Show what every bit of a word means
///
/// Draws the 64 bits as a ruler, names each field with its range, raw value and meaning, and
/// says what executing the instruction would do.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload explain 0x9c90000123470200
  warpload explain 'LD.U.128 R4, [R1], P1'
  warpload explain --format json @!P0 LD.64 R2, [R4+0x8]")]
pub(crate) struct Arguments {
    /// A word (up to 16 hexadecimal digits, `0x` or not) or an instruction, quoted or not
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
    // Words of an instruction that was not quoted come as separate arguments.
    let text = arguments.instruction.join(" ");
    let found = if is_word(&text) { of_word(&text) } else { of_text(&text) };
    let Some(instruction) = found else { return Ok(Status::Failed) };
    let word = instruction.encode();
    let readings: Vec<FieldReading> = describe(word).into_iter().flatten().collect();
    let remarks = remarks(&instruction);
    match arguments.format {
        Format::Json => output.json(&ExplanationJson {
            word: hexadecimal(word),
            text: instruction.to_string(),
            fields: readings.iter().map(field_json).collect(),
            remarks,
            effect: effect(&instruction),
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
            output.line(effect(&instruction))?;
        }
    }
    Ok(Status::Done)
}

const ORIGIN: Origin<'_> = Origin { file: "<argument>", line: 1, column: 1 };

/// The instruction of a word; says what is wrong where there is none.
fn of_word(text: &str) -> Option<Instruction> {
    let word = read_word(text).map_err(diagnostic::error).ok()?;
    let instruction = Instruction::decode(word);
    if instruction.is_none() {
        diagnostic::error(format_args!(
            "{} is no load that is known here; expected an opcode of {}",
            hexadecimal(word),
            Instruction::MNEMONICS.join(", ")
        ));
    }
    instruction
}

/// The instruction of a text; says what is wrong where there is none.
fn of_text(text: &str) -> Option<Instruction> {
    let parsed =
        parse_line(text).map_err(|error| diagnostic::parse_error(ORIGIN, text, &error)).ok()?;
    if let Some(alias) = parsed.alias {
        diagnostic::alias_note(ORIGIN, text, &alias);
    }
    Some(parsed.instruction)
}

/// Whether a word is meant, a misspelt one included. Digits alone do not tell: a control notation
/// in front of an instruction can begin with one.
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
