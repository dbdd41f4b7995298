//! `explain`: the meaning of every bit of a word.

use anyhow::Context;
use warpload::encoding::{Instruction, Sm, parse_control_prefix};
use warpload::explain::{ExplainedField, Explanation};

use super::diagnostic::Origin;
use super::io::Output;
use super::options::Format;
use super::word::{ORIGIN, each_given, is_word, read_load};
use crate::process::Status;
use warpload_binary::sass::names_a_load;
use warpload_ptx::tensor::{self, SassTensorLoad};

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
    /// prints them, the low one first
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
    let is_whole = |text: &String| is_word(text, sm) || is_instruction(text, sm);
    let joined = given.join(" ");
    if let Some(words) = words(&joined, sm) {
        words.iter().try_for_each(|word| batch.one(ORIGIN, word, output))?;
    } else if given != ["-"] && !given.iter().all(is_whole) {
        // The words of an instruction without quotes come as separate arguments.
        batch.one(ORIGIN, &joined, output)?;
    } else {
        each_given(&given, |origin, text| {
            let text = text.with_context(|| origin.file.to_owned())?;
            match words(text, sm) {
                Some(words) => words.iter().try_for_each(|word| batch.one(origin, word, output)),
                None => batch.one(origin, text, output),
            }
        })?;
    }
    Ok(batch.status)
}

/// Splits a text that consists only of words; `None` for other texts. nvdisasm prints a word of 128 bits as two
/// comments, the low half first.
fn words(text: &str, sm: Option<Sm>) -> Option<Vec<String>> {
    let text = text.replace("/*", " ").replace("*/", " ");
    let given: Vec<&str> = text.split_whitespace().collect();
    if given.is_empty() || !given.iter().all(|word| is_word(word, sm)) {
        return None;
    }
    let half =
        |word: &str| word.strip_prefix("0x").filter(|half| half.len() == 16).map(str::to_owned);
    let (mut words, mut rest) = (Vec::new(), &given[..]);
    while let [first, others @ ..] = rest {
        let second = others.first().filter(|_| sm.is_some_and(Sm::has_wide_words));
        let halves = half(first).zip(second.and_then(|second| half(second)));
        rest = if halves.is_some() { &others[1..] } else { others };
        words.push(halves.map_or((*first).to_owned(), |(low, high)| format!("0x{high}{low}")));
    }
    Some(words)
}

/// Whether an argument is a whole instruction: the mnemonic of a load with operands after it.
fn is_instruction(text: &str, sm: Option<Sm>) -> bool {
    let start = parse_control_prefix(text).map_or(0, |(_, start)| start);
    let text = text[start..].trim();
    text.contains(char::is_whitespace) && names_a_load(text, sm.unwrap_or(Sm::SPA5))
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
        // Flushed, so that on a terminal the message follows the explanations before it.
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
