//! `explain`: the meaning of every bit of a word; `other` explains instructions that are no loads.

mod other;

use anyhow::Context;
use warpload::encoding::{FieldReading, MachineWord, Sm, Spa5Instruction};
use warpload_binary::word::{self, NotALoad, ReadLoad, words};
use warpload_ptx::tensor::{self, SassTensorLoad};

use crate::diagnostic;
use crate::diagnostic::Origin;
use crate::io::Output;
use crate::options::{Format, number};
use crate::process::Status;
use crate::word::{FIRST, ORIGIN, each_given, may_be_other, place, refuse, refuse_other, unquoted};

/// Explain every bit of a word
///
/// Draws the bits as a ruler, names each field with its range, raw value and meaning, and describes the effect of
/// executing the instruction. Of SM 5.0 to 6.2 every instruction is explained: those that are no loads field by field,
/// operand by operand, with the bits that are not read.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload explain 0x9c90000123470200
  warpload explain 'LD.U.128 R4, [R1], P1'
  warpload explain --format json @!P0 LD.64 R2, [R4+0x8]
  warpload explain 0x9c90000123470200 0x84e0000000070104
  warpload explain 'LD.E R4, [R2], P1' 'LD.E.CG R4, [R2], P1'
  warpload explain --sm 61 'IADD R0, R1, R2'
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

    /// Address of each instruction of SM 5.0 to 6.2, from which jumps go; 0x8 by default
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value_t = FIRST,
        hide_default_value = true,
        value_parser = number::<u64>(0..=u64::MAX)
    )]
    at: u64,

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
    /// Only of a load.
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<String>,
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
    let Arguments { instruction: given, sm, at, format } = arguments;
    let mut batch = Batch { sm, at, format, has_written: false, status: Status::Done };
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
    /// The address of each instruction.
    at: u64,
    format: Format,
    has_written: bool,
    status: Status,
}

impl Batch {
    /// Explains a word or an instruction, or reports why it is neither.
    fn one(&mut self, origin: Origin<'_>, text: &str, output: &mut Output) -> anyhow::Result<()> {
        // Flushed, so that on a terminal the message follows the output before it.
        output.flush()?;
        let found = match word::read_load(text, self.sm) {
            Ok(load) => Ok(Explained::Load(Box::new(load))),
            Err(error) => self.other(error, origin, text, output)?,
        };
        let found = match found {
            Ok(found) => found,
            Err(status) => {
                self.status = self.status.max(status);
                return Ok(());
            }
        };
        if let Explained::Load(load) = &found
            && let Some(alias) = &load.alias
        {
            diagnostic::alias_note(origin, text, alias);
        }
        if self.has_written && self.format == Format::Text {
            output.line("")?;
        }
        self.has_written = true;
        match found {
            Explained::Load(load) => explain(&load, self.format, output),
            Explained::Other(other) => other::explain(&other, self.at, self.format, output),
        }
    }

    /// Reads an instruction that is no load, or reports why it is none.
    fn other(
        &self,
        error: NotALoad,
        origin: Origin<'_>,
        text: &str,
        output: &mut Output,
    ) -> anyhow::Result<Result<Explained, Status>> {
        let sm = self.sm.unwrap_or(Sm::SPA5);
        if let NotALoad::Other { word: MachineWord::Bits64(word), sm } = error {
            if let Some(other) = Spa5Instruction::decode(word, sm) {
                return Ok(Ok(Explained::Other(other)));
            }
            let message =
                format!("{word:#018x} is refused, as by nvdisasm: no instruction of SM {sm}");
            let message = format!("{}{message}", place(origin));
            return Ok(Err(output.fail(Status::Failed, message)?));
        }
        if may_be_other(&error, text, sm) {
            return match Spa5Instruction::parse_line(text, sm, self.at) {
                Ok(line) => Ok(Ok(Explained::Other(line.instruction))),
                Err(other) => Ok(Err(refuse_other(&other, &error, origin, text, sm, output)?)),
            };
        }
        Ok(Err(refuse(&error, origin, text, self.sm, output)?))
    }
}

/// What is explained.
enum Explained {
    Load(Box<ReadLoad>),
    Other(Spa5Instruction),
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
            effect: Some(explanation.effect),
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
