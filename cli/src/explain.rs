//! `explain`: what every bit of a word means.

use anyhow::Context;
use warpload::encoding::{FieldReading, Instruction, Sm, parse_control_prefix};
use warpload::explain::{effect, remarks};

use super::decode::find::names_a_load;
use super::diagnostic::Origin;
use super::io::Output;
use super::options::Format;
use super::table::{self, Value};
use super::tmem::sass;
use super::word::{ORIGIN, each_given, is_word, read_load};
use crate::process::Status;

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
  warpload explain --sm 90 '/* 0x0000080402007981 */ /* 0x000ea2000c1e1900 */'
  cut -f1 words.tsv | warpload explain -")]
pub(crate) struct Arguments {
    /// Words (hexadecimal, `0x` or not) and instructions, each quoted, or one instruction not quoted; `-` reads words or
    /// an instruction a line. A word of 128 bits can be its two halves as nvdisasm prints them, the low one first
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

impl From<&FieldReading> for FieldJson {
    fn from(reading: &FieldReading) -> Self {
        Self {
            bits: bits(reading),
            name: reading.name(),
            raw: format!("{:#x}", reading.raw),
            meaning: reading.to_string(),
            purpose: reading.purpose(),
        }
    }
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let Arguments { instruction: given, sm, format } = arguments;
    let mut batch = Batch { sm, format, has_written: false, status: Status::Done };
    let is_whole = |text: &String| is_word(text, sm) || is_instruction(text, sm);
    let joined = given.join(" ");
    if let Some(words) = words(&joined, sm) {
        words.iter().try_for_each(|word| batch.one(ORIGIN, word, output))?;
    } else if given != ["-"] && !given.iter().all(is_whole) {
        // Words of an instruction that was not quoted come as separate arguments.
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

/// Returns the words of a text that has nothing else. nvdisasm prints a word of 128 bits as two comments, the low half
/// first.
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
    let word = load.word();
    // The most significant one first.
    let fields: Vec<FieldReading> = load.describe().collect();
    let (remarks, effect) = match sass::explanation(load) {
        Some(explanation) => explanation,
        None => (remarks(load), effect(load)),
    };
    match format {
        Format::Json => output.json(&ExplanationJson {
            word: word.to_string(),
            text: load.to_string(),
            fields: fields.iter().map(FieldJson::from).collect(),
            remarks,
            effect,
        })?,
        Format::Text => {
            output.line(format_args!("{word}  {load}\n"))?;
            output.text(&ruler(&fields, word.width()))?;
            output.line("")?;
            output.text(&table(&fields))?;
            output.line("")?;
            for remark in remarks {
                output.line(format_args!("- {remark}"))?;
            }
            output.line("")?;
            output.line(effect)?;
        }
    }
    Ok(())
}

/// `63:61`, or one number for one bit.
fn bits(reading: &FieldReading) -> String {
    let (high, low) = (reading.field().high(), reading.field().low());
    if high == low { high.to_string() } else { format!("{high}:{low}") }
}

/// The letters that tie the ruler to the table.
fn keys() -> impl Iterator<Item = char> {
    ('a'..='z').chain('A'..='Z')
}

/// The longest line of the ruler of a word of 128 bits. A word of 64 bits has one line.
const RULER: usize = 80;

/// The bits in groups of fields, the fields' keys below their highest bits.
fn ruler(fields: &[FieldReading], word_width: u32) -> String {
    let longest = if word_width == 64 { usize::MAX } else { RULER };
    let mut lines: Vec<(String, String, u8, u8)> = Vec::new();
    for (field, key) in fields.iter().zip(keys()) {
        let (high, lowest) = (field.field().high(), field.field().low());
        let width = usize::from(high - lowest) + 1;
        if lines.last().is_none_or(|(bits, ..)| bits.len() + width > longest) {
            lines.push((String::new(), String::new(), high, lowest));
        }
        if let Some((bits, below, _, low)) = lines.last_mut() {
            *bits += &format!("{:0width$b} ", field.raw);
            *below += &format!("{key:<width$} ");
            *low = lowest;
        }
    }
    let line = |(bits, below, high, low): &(String, String, u8, u8)| {
        let (bits, high) = (bits.trim_end(), high.to_string());
        let room = bits.len().saturating_sub(high.len());
        format!("{high}{low:>room$}\n{bits}\n{}\n", below.trim_end())
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn table(fields: &[FieldReading]) -> String {
    let column = |heading, value: fn(&FieldReading) -> String| {
        (heading, 0, fields.iter().map(|field| Value::Whole(value(field))).collect())
    };
    table::grid([
        ("", 0, keys().take(fields.len()).map(|key| Value::Whole(key.into())).collect()),
        column("bits", bits),
        ("value", 0, fields.iter().map(|field| Value::Hex(field.raw)).collect()),
        column("field", |field| field.name().to_owned()),
        column("meaning", ToString::to_string),
        column("purpose", |field| field.purpose().to_owned()),
    ])
}
