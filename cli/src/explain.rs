//! `explain`: what every bit of a word means.

use std::path::Path;

use anyhow::Context;
use warpload::encoding::{Instruction, Sm, parse_control_prefix};
use warpload::explain::{ExplainedField, Explanation};

use super::diagnostic::Origin;
use super::io::{self, Output};
use super::options::{Format, Progress};
use super::word_or_text::{ORIGIN, is_word, read_load};
use crate::process::Status;
use warpload_binary::sass::names_a_load;
use warpload_ptx::tensor::{self, SassTensorLoad};

/// Show what every bit of a word means
///
/// Draws the bits as a ruler, names each field with its range, raw value and meaning, and
/// says what executing the instruction would do.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload explain 0x9c90000123470200
  warpload explain 'LD.U.128 R4, [R1], P1'
  warpload explain --format json @!P0 LD.64 R2, [R4+0x8]
  warpload explain 0x9c90000123470200 0x84e0000000070104
  warpload explain 'LD.E R4, [R2], P1' 'LD.E.CG R4, [R2], P1'
  warpload explain --sm 90 0x000ea2000c1e19000000080402007981
  cut -f1 words.tsv | warpload explain -")]
pub(crate) struct Arguments {
    /// Words (hexadecimal, `0x` or not) and instructions, each quoted, or one instruction not quoted; `-` reads a word or an instruction a line
    #[arg(required = true, value_name = "WORD|TEXT")]
    instruction: Vec<String>,

    /// Whose word or text it is, such as 80 or 90a: of SM 7.0 and later, words have 128 bits
    #[arg(long, value_name = "SM")]
    sm: Option<Sm>,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(serde::Serialize)]
struct ExplanationJson<'f> {
    word: String,
    text: String,
    fields: Vec<FieldJson<'f>>,
    remarks: Vec<String>,
    effect: String,
}

#[derive(serde::Serialize)]
struct FieldJson<'f> {
    bits: String,
    name: &'static str,
    raw: String,
    meaning: &'f str,
    purpose: &'static str,
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let Arguments { instruction: given, sm, format } = arguments;
    let mut batch = Batch { sm, format, has_written: false, status: Status::Done };
    if given == ["-"] {
        let stdin = Path::new("-");
        let file = io::name(stdin);
        io::each_line(stdin, Progress::Never, |line, text| {
            let origin = Origin { file: &file, line: line as usize, column: 1 };
            batch.one(origin, text.with_context(|| file.clone())?, output)
        })?;
    } else if given.iter().all(|text| is_word(text, sm)) {
        given.iter().try_for_each(|text| batch.one(ORIGIN, text, output))?;
    } else if given.iter().all(|text| is_word(text, sm) || is_instruction(text, sm)) {
        for (number, text) in (1..).zip(&given) {
            let file = match given.len() {
                1 => ORIGIN.file.to_owned(),
                _ => format!("<argument {number}>"),
            };
            batch.one(Origin { file: &file, ..ORIGIN }, text, output)?;
        }
    } else {
        // Words of an instruction that was not quoted come as separate arguments.
        batch.one(ORIGIN, &given.join(" "), output)?;
    }
    Ok(batch.status)
}

/// Whether an argument is a whole instruction: a load's mnemonic, and operands after it.
fn is_instruction(text: &str, sm: Option<Sm>) -> bool {
    let start = parse_control_prefix(text).map_or(0, |(_, start)| start);
    let text = text[start..].trim();
    text.contains(char::is_whitespace) && names_a_load(text, sm.unwrap_or(Sm::SPA5))
}

/// Explanations one after the other.
struct Batch {
    sm: Option<Sm>,
    format: Format,
    has_written: bool,
    status: Status,
}

impl Batch {
    /// Reads a word or an instruction; reports what is wrong if it is neither.
    fn one(&mut self, origin: Origin<'_>, text: &str, output: &mut Output) -> anyhow::Result<()> {
        // What was explained so far comes first on a terminal that shows both streams.
        output.flush()?;
        let found = read_load(origin, text, self.sm);
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

fn explain(load: &Instruction, format: Format, output: &mut Output) -> anyhow::Result<()> {
    let mut explanation = Explanation::new(load);
    if let Some((mut remarks, effect)) = tensor::explanation(load) {
        if SassTensorLoad::new(load).is_ok() {
            remarks.push(format!(
                "`warpload tmem map --sm {} {}` shows which thread and register each cell goes to",
                load.sm(),
                load.word()
            ));
        }
        explanation = Explanation { remarks, effect, ..explanation };
    }
    match format {
        Format::Json => output.json(&ExplanationJson {
            word: explanation.word.to_string(),
            text: explanation.text,
            fields: explanation.fields.iter().map(field_json).collect(),
            remarks: explanation.remarks,
            effect: explanation.effect,
        })?,
        Format::Text => output.text(&explanation.to_string())?,
    }
    Ok(())
}

fn field_json(field: &ExplainedField) -> FieldJson<'_> {
    FieldJson {
        bits: field.bits(),
        name: field.name,
        raw: format!("{:#x}", field.raw),
        meaning: &field.meaning,
        purpose: field.purpose,
    }
}
