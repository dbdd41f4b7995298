//! [`encode`]: the text, the word and the fields of an instruction. A change of one updates the others.

use serde::{Deserialize, Serialize};
use warpload::encoding::{Control, Decoded, FieldReading, Instruction, MachineWord, Sm};
use warpload::explain::certain_fault;
use warpload::text::parse_number;
use warpload_binary::word::decode;

use crate::instruction::{Explained, not_a_load, read_text, read_word};
use crate::problem::{Problem, read_sm};

/// The form. The text takes precedence over the word, which then only provides bits that the text does not show.
/// Without a text, the word is decoded.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
#[serde(default)]
pub struct EncodeFields {
    /// The SM.
    pub sm: String,
    /// The text of the instruction.
    pub text: String,
    /// The word of the instruction.
    pub word: String,
    /// The 21-bit slot of the control word, for an instruction with a 64-bit word.
    pub control: String,
    /// The field to change, by its bits, such as `63:61`. The prefix `control ` selects a field of the slot.
    pub bits: String,
    /// The new number in that field.
    pub value: String,
}

/// An instruction, with its fields to edit.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
pub struct Encoded {
    /// The instruction; empty if there is a problem.
    pub load: Explained,
    /// The fields of the word, the most significant first.
    pub fields: Vec<EditableField>,
    /// The fields of the control slot, for an instruction with a 64-bit word.
    pub control: Vec<EditableField>,
    /// Notes on aliases, hidden descriptors and certain faults, which a user might not expect.
    pub remarks: Vec<String>,
    /// Errors in the form.
    pub problems: Vec<Problem>,
}

/// A field of a word, to edit.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
pub struct EditableField {
    /// The bits of the field, for [`EncodeFields::bits`].
    pub bits: String,
    /// Its name.
    pub name: &'static str,
    /// The number in it.
    pub raw: String,
    /// The meaning of that number.
    pub meaning: String,
    /// The purpose of the field.
    pub purpose: &'static str,
    /// The largest number that fits.
    pub max: String,
    /// All numbers that fit, if there are few.
    pub choices: Vec<Choice>,
    /// Whether the field cannot be edited, because every word of the instruction has this number, or the disassembler
    /// ignores it.
    pub is_fixed: bool,
}

/// A number of a field.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
pub struct Choice {
    /// The number.
    pub value: String,
    /// Its meaning.
    pub meaning: String,
    /// Whether the word is still a load with this number.
    pub is_legal: bool,
}

/// The widest field with a list of choices, in bits. A longer list is slower to use than typing.
const MAX_LISTED: u32 = 5;

/// Encodes a text or decodes a word, and applies a change of a field.
#[must_use]
pub fn encode(fields: &EncodeFields) -> Encoded {
    encoded(fields)
        .unwrap_or_else(|problem| Encoded { problems: vec![problem], ..Encoded::default() })
}

fn encoded(fields: &EncodeFields) -> Result<Encoded, Problem> {
    let sm = read_sm(&fields.sm)?;
    let mut remarks = Vec::new();
    let mut control = match fields.control.trim() {
        _ if sm.has_wide_words() => None,
        "" => None,
        text => {
            let slot = parse_number(text).filter(|slot| *slot < 1 << 21);
            let slot = slot.ok_or_else(|| Problem::new("control", "expected at most 21 bits"))?;
            Some(Control::unpack(slot))
        }
    };
    let word = match fields.word.trim() {
        "" => None,
        text => Some(read_word("word", text, sm)),
    };
    let mut load = if fields.text.trim().is_empty() {
        match word {
            Some(word) => word?,
            None => return Ok(Encoded::default()),
        }
    } else {
        // An invalid word is ignored, because it has no hidden bits to keep.
        let like = word.and_then(Result::ok);
        let line = read_text("text", &fields.text, sm, like.as_ref())?;
        control = line.control.or(control);
        remarks.extend(line.alias.map(|alias| {
            format!("the modifier was written under another name: it becomes {}", alias.becomes)
        }));
        remarks.extend(line.chosen.map(|chosen| {
            format!("the text hides the descriptor; this has `{}`", chosen.to_string().trim_start())
        }));
        line.instruction
    };
    let control = (!sm.has_wide_words()).then(|| control.unwrap_or_default());
    let control = match fields.bits.trim() {
        "" => control,
        place => {
            let value = parse_number(fields.value.trim());
            let value = value.ok_or_else(|| Problem::new("value", "expected a number"))?;
            match (place.strip_prefix("control "), control) {
                (Some(place), Some(control)) => {
                    let reading =
                        control.describe().find(|reading| reading.field().to_string() == place);
                    let slot = changed(reading, control.pack().into(), value)?;
                    Some(Control::unpack(slot as u64))
                }
                _ => {
                    let reading =
                        load.describe().find(|reading| reading.field().to_string() == place);
                    let bits = changed(reading, load.bits(), value)?;
                    load = decode(machine_word(bits, sm), sm)
                        .map_err(|error| not_a_load("value", "", &error, sm))?;
                    control
                }
            }
        }
    };
    remarks
        .extend(certain_fault(&load).map(|fault| {
            format!("executing this raises {}: {}", fault.name(), fault.warp_error())
        }));
    let slot = control.map(|control| {
        let field = |reading| EditableField::new(reading, |_| true);
        control.describe().map(field).collect()
    });
    let is_legal =
        |bits: u128| matches!(Instruction::decode(machine_word(bits, sm), sm), Decoded::Load(_));
    let field = |reading: FieldReading| {
        EditableField::new(reading, |value| is_legal(reading.field().with(load.bits(), value)))
    };
    Ok(Encoded {
        load: Explained::new(&load, control),
        fields: load.describe().map(field).collect(),
        control: slot.unwrap_or_default(),
        remarks,
        problems: Vec::new(),
    })
}

/// Changes the number in a field.
fn changed(reading: Option<FieldReading>, word: u128, value: u64) -> Result<u128, Problem> {
    let reading = reading.ok_or_else(|| Problem::new("bits", "the word has no such field"))?;
    let field = reading.field();
    if value > field.max() {
        let title = format_args!(
            "{} has {} bits: at most {:#x}",
            reading.name(),
            field.width(),
            field.max()
        );
        return Err(Problem::new("value", title));
    }
    Ok(field.with(word, value))
}

fn machine_word(bits: u128, sm: Sm) -> MachineWord {
    match sm.has_wide_words() {
        true => MachineWord::Bits128(bits),
        false => MachineWord::Bits64(bits as u64),
    }
}

impl EditableField {
    fn new(reading: FieldReading, is_legal: impl Fn(u64) -> bool) -> Self {
        let field = reading.field();
        let choice = |value| Choice {
            value: format!("{value:#x}"),
            meaning: reading.of_value(value).to_string(),
            is_legal: value == reading.raw || is_legal(value),
        };
        let is_fixed = reading.fixed().is_some() || reading.is_reserved();
        let is_listed = field.width() <= MAX_LISTED && !is_fixed;
        Self {
            bits: reading.field().to_string(),
            name: reading.name(),
            raw: format!("{:#x}", reading.raw),
            meaning: reading.to_string(),
            purpose: reading.purpose(),
            max: format!("{:#x}", field.max()),
            choices: if is_listed { (0..=field.max()).map(choice).collect() } else { Vec::new() },
            is_fixed,
        }
    }
}
