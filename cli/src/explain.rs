//! `explain`: the meaning of every bit of a word.

use anyhow::Context;
use warpload::encoding::{FieldReading, Sm};
use warpload_binary::word::{ReadLoad, words};
use warpload_ptx::tensor::{self, SassTensorLoad};

use super::diagnostic::Origin;
use super::io::Output;
use super::options::Format;
use super::word::{ORIGIN, each_given, read_load, unquoted};
use crate::process::Status;

/// Explain every bit of a word
///
/// Draws the bits as a ruler, names each field with its range, raw value and meaning, and describes the effect of
/// executing the instruction.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload explain 0x9c90000123470200
  warpload explain 'LD.U.128 R4, [R1], P1'
  warpload explain --format json @!P0 LD.64 R2, [R4+0x8]
  warpload explain 0x9c90000123470200 0x84e0000000070104
  warpload explain 'LD.E R4, [R2], P1' 'LD.E.CG R4, [R2], P1'
  warpload explain --sm 90 0x000ea2000c1e19000000080402007981
  warpload explain --sm 90 '/* 0x0000080402007981 */ /* 0x000ea2000c1e1900 */'
  cut -f1 words.tsv | warpload explain -")]
pub(crate) struct Arguments {
    /// Words (hexadecimal, `0x` or not) and instructions, each quoted, or one instruction without quotes; `-` reads a
    /// word or an instruction from each line of standard input. A word of 128 bits can be its two halves as nvdisasm
    /// prints them, the low one first. Of a line with a text and its word, the word is explained
    #[arg(required = true, value_name = "WORD|TEXT")]
    instruction: Vec<String>,

    /// SM of the word or text, such as 80 or 90a: words of SM 7.0 and later have 128 bits
    #[arg(long, value_name = "SM")]
    sm: Option<Sm>,

    /// Output format
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
    let Arguments { instruction: given, sm, format } = arguments;
    let mut batch = Batch { sm, format, has_written: false, status: Status::Done };
    if let Some(words) = words(&given.join(" "), sm) {
        words.iter().try_for_each(|word| batch.one(ORIGIN, word, output))?;
        return Ok(batch.status);
    }
    each_given(&unquoted(given), |origin, text| {
        let text = text.with_context(|| origin.file.to_owned())?;
        match words(text, sm) {
            Some(words) => words.iter().try_for_each(|word| batch.one(origin, word, output)),
            None => batch.one(origin, text, output),
        }
    })?;
    Ok(batch.status)
}

/// Writes explanations one after the other.
struct Batch {
    sm: Option<Sm>,
    format: Format,
    has_written: bool,
    status: Status,
}

impl Batch {
    /// Explains a word or an instruction, or reports why it is neither.
    fn one(&mut self, origin: Origin<'_>, text: &str, output: &mut Output) -> anyhow::Result<()> {
        let load = match read_load(origin, text, self.sm, output)? {
            Ok(load) => load,
            Err(status) => {
                self.status = self.status.max(status);
                return Ok(());
            }
        };
        if self.has_written && self.format == Format::Text {
            output.line("")?;
        }
        self.has_written = true;
        explain(&load, self.format, output)
    }
}

fn explain(load: &ReadLoad, format: Format, output: &mut Output) -> anyhow::Result<()> {
    let instruction = &load.instruction;
    let mut explanation = tensor::explain(instruction);
    if SassTensorLoad::new(instruction).is_ok() {
        explanation.remarks.push(format!(
            "`warpload tmem map --sm {} {}` shows which thread and register each cell goes to",
            instruction.sm(),
            instruction.word()
        ));
    }
    explanation.remarks.extend(load.disagreement.clone());
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

fn field_json(field: &FieldReading) -> FieldJson {
    FieldJson {
        bits: field.field().to_string(),
        name: field.name(),
        raw: format!("{:#x}", field.raw),
        meaning: field.to_string(),
        purpose: field.purpose(),
    }
}
