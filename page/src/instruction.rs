//! [`Explained`]: a load with the meaning of its bits, as all tools show it. Also reads words and instructions.

use serde::Serialize;
use warpload::encoding::control::Notation;
use warpload::encoding::{
    Control, Decoded, FieldReading, Instruction, MachineWord, ParsedLine, Sm, parse_control_prefix,
    parse_line, parse_line_like,
};
use warpload::explain::Explanation;
use warpload_ptx::tensor;

use crate::problem::Problem;

/// The meaning of every bit of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// The word: `0x` and 16 or 32 digits.
    pub word: String,
    /// The instruction's text.
    pub text: String,
    /// The SM.
    pub sm: String,
    /// The fields of the word, the most significant first.
    pub fields: Vec<ExplainedField>,
    /// Remarks on registers and addresses.
    pub remarks: Vec<String>,
    /// The effect of executing the instruction, in one sentence.
    pub effect: String,
    /// The scheduling; `None` if it is unknown.
    pub control: Option<ControlCode>,
}

/// A field of a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedField {
    /// Its bits: `63:61`, or one number.
    pub bits: String,
    /// Its name.
    pub name: &'static str,
    /// The number in it: `0x` and digits.
    pub raw: String,
    /// The meaning of the number.
    pub meaning: String,
    /// The purpose of the field.
    pub purpose: &'static str,
}

/// The scheduling of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ControlCode {
    /// The 21 bits of its slot: `0x` and digits.
    pub slot: String,
    /// In the notation of CuAssembler.
    pub cuassembler: String,
    /// In the notation of maxas.
    pub maxas: String,
    /// In the notation of nvdisasm.
    pub nvidia: String,
    /// Its fields, the most significant first; empty for 128-bit words, because they are fields of the word.
    pub fields: Vec<ExplainedField>,
}

impl Explained {
    /// Explains a load. `control` is the scheduling of a 64-bit word, which is outside of the word.
    pub(crate) fn new(load: &Instruction, control: Option<Control>) -> Self {
        let mut explanation = Explanation::new(load);
        if let Some((remarks, effect)) = tensor::explanation(load) {
            explanation = Explanation { remarks, effect, ..explanation };
        }
        Self {
            word: explanation.word.to_string(),
            text: explanation.text,
            sm: load.sm().to_string(),
            fields: load.describe().map(ExplainedField::new).collect(),
            remarks: explanation.remarks,
            effect: explanation.effect,
            control: load.control().or(control).map(|control| {
                let is_apart = !load.sm().has_wide_words();
                ControlCode::new(control, is_apart)
            }),
        }
    }
}

impl ExplainedField {
    pub(crate) fn new(reading: FieldReading) -> Self {
        Self {
            bits: bits(&reading),
            name: reading.name(),
            raw: format!("{:#x}", reading.raw),
            meaning: reading.to_string(),
            purpose: reading.purpose(),
        }
    }
}

/// The bits of a field: `63:61`, or one number for a single bit.
pub(crate) fn bits(reading: &FieldReading) -> String {
    let (high, low) = (reading.field().high(), reading.field().low());
    if high == low { high.to_string() } else { format!("{high}:{low}") }
}

impl ControlCode {
    pub(crate) fn new(control: Control, is_apart: bool) -> Self {
        let notation = |notation| control.display(notation).to_string();
        Self {
            slot: format!("{:#08x}", control.pack()),
            cuassembler: notation(Notation::CuAssembler),
            maxas: notation(Notation::Maxas),
            nvidia: notation(Notation::Nvidia),
            fields: match is_apart {
                true => control.describe().map(ExplainedField::new).collect(),
                false => Vec::new(),
            },
        }
    }
}

/// Reads a hexadecimal word of the SM's width, with or without `0x`.
pub(crate) fn read_word(field: &'static str, text: &str, sm: Sm) -> Result<MachineWord, Problem> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    let most = if sm.has_wide_words() { 32 } else { 16 };
    let is_fitting = (1..=most).contains(&digits.len());
    let bits = u128::from_str_radix(digits, 16).ok();
    match bits.filter(|_| is_fitting && digits.bytes().all(|digit| digit.is_ascii_hexdigit())) {
        Some(bits) if sm.has_wide_words() => Ok(MachineWord::Bits128(bits)),
        Some(bits) => Ok(MachineWord::Bits64(bits as u64)),
        None => Err(Problem::new(
            field,
            format_args!(
                "not a word of SM {sm}: expected 0x and up to {most} hexadecimal digits, for {} bits",
                most * 4
            ),
        )),
    }
}

/// Decodes a word.
pub(crate) fn read_load(
    field: &'static str,
    word: MachineWord,
    sm: Sm,
) -> Result<Instruction, Problem> {
    match Instruction::decode(word, sm) {
        Decoded::Load(load) => Ok(load),
        Decoded::Illegal(refusal) => {
            let title = format_args!("{word} is refused, as nvdisasm does: {refusal}");
            Err(Problem::new(field, title))
        }
        Decoded::Other => {
            let known: Vec<&str> = Instruction::mnemonics(sm).collect();
            let known = known.join(", ");
            let title = format_args!("{word} is no load of SM {sm}; expected an opcode of {known}");
            Err(Problem::new(field, title))
        }
    }
}

/// Reads the text of an instruction. `like` provides the bits that the text does not show.
pub(crate) fn read_text(
    field: &'static str,
    text: &str,
    sm: Sm,
    like: Option<&Instruction>,
) -> Result<ParsedLine, Problem> {
    // Fails if `like` is of another form, because other forms have other hidden bits.
    let parsed = like.and_then(|like| parse_line_like(text, like).ok()).map(Ok);
    let parsed = parsed.unwrap_or_else(|| parse_line(text, sm));
    parsed.map_err(|error| Problem::of_instruction(field, text, &error, sm))
}

/// Reads a word or the text of an instruction.
pub(crate) fn read_either(
    field: &'static str,
    text: &str,
    sm: Sm,
) -> Result<(Instruction, Option<Control>), Problem> {
    if is_word(text) {
        return Ok((read_load(field, read_word(field, text, sm)?, sm)?, None));
    }
    let line = read_text(field, text, sm, None)?;
    Ok((line.instruction, line.control))
}

/// Whether a text is meant as a word, even a misspelt one. It is if it looks like a number, because no instruction
/// does. A single leading digit does not suffice, because a control notation before an instruction can begin with one.
pub(crate) fn is_word(text: &str) -> bool {
    let text = text.trim();
    let is_number = text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_number || text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a text is a load of the SM, possibly after a control notation.
pub(crate) fn names_a_load(text: &str, sm: Sm) -> bool {
    let start = parse_control_prefix(text).map_or(0, |(_, start)| start);
    warpload_binary::sass::names_a_load(&text[start..], sm)
}
