//! [`Explained`]: a load with the meaning of its bits, as all tools show it. Also reads words and instructions.

use serde::Serialize;
use warpload::encoding::control::Notation;
use warpload::encoding::{
    Control, FieldReading, Instruction, ParsedLine, Sm, parse_line, parse_line_like,
};
use warpload_binary::word::{NotALoad, ReadLoad, read_load, read_load_word};
use warpload_ptx::tensor;

use crate::problem::Problem;

/// The meaning of every bit of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
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
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
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
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
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
        let explanation = tensor::explain(load);
        Self {
            word: explanation.word.to_string(),
            text: explanation.text,
            sm: load.sm().to_string(),
            fields: explanation.fields.into_iter().map(ExplainedField::new).collect(),
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
            bits: reading.field().to_string(),
            name: reading.name(),
            raw: format!("{:#x}", reading.raw),
            meaning: reading.to_string(),
            purpose: reading.purpose(),
        }
    }
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

/// The problem of a field that is not a load.
pub(crate) fn not_a_load(field: &'static str, text: &str, error: &NotALoad, sm: Sm) -> Problem {
    match error {
        NotALoad::Text(error) => Problem::of_instruction(field, text, error, sm),
        error => Problem::new(field, error),
    }
}

/// Decodes the word in a field.
pub(crate) fn read_word(field: &'static str, text: &str, sm: Sm) -> Result<Instruction, Problem> {
    read_load_word(text, Some(sm)).map_err(|error| not_a_load(field, text, &error, sm))
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
pub(crate) fn read_either(field: &'static str, text: &str, sm: Sm) -> Result<ReadLoad, Problem> {
    read_load(text, Some(sm)).map_err(|error| not_a_load(field, text, &error, sm))
}
