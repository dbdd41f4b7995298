//! The explanation of an instruction of SM 5.0 to 6.2 that is no load.

use std::cmp::Reverse;

use warpload::encoding::{Spa5Instruction, Spa5Value};

use super::{ExplanationJson, FieldJson};
use crate::io::Output;
use crate::options::Format;

/// Writes each field and operand with its bits, the highest first.
pub(super) fn explain(
    instruction: &Spa5Instruction,
    at: u64,
    format: Format,
    output: &mut Output,
) -> anyhow::Result<()> {
    let text = instruction.text_at(at).to_string();
    let text = text.trim_end();
    let (word, fields) = (format!("{:#018x}", instruction.word()), fields(instruction, at));
    if format == Format::Json {
        let (text, remarks) = (text.to_owned(), Vec::new());
        return Ok(output.json(&ExplanationJson { word, text, fields, remarks, effect: None })?);
    }
    output.line(format_args!("{word}  {text}\n"))?;
    let heading = ["bits", "value", "field", "meaning", "purpose"].map(str::to_owned);
    let cells = fields.into_iter().map(|field| {
        [field.bits, field.raw, field.name.to_owned(), field.meaning, field.purpose.to_owned()]
    });
    let rows: Vec<[String; 5]> = std::iter::once(heading).chain(cells).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    for [bits, value, name, meaning, purpose] in &rows {
        let [a, b, c, d] = widths;
        let line = format!("{bits:<a$}  {value:>b$}  {name:<c$}  {meaning:<d$}  {purpose}");
        output.line(line.trim_end())?;
    }
    Ok(())
}

fn fields(instruction: &Spa5Instruction, at: u64) -> Vec<FieldJson> {
    let word = instruction.word();
    let field = |mask: u64, name, meaning: String, purpose| {
        let raw = format!("{:#x}", gathered(word, mask));
        (mask, FieldJson { bits: ranges(mask), name, raw, meaning, purpose })
    };
    let opcode = instruction.mnemonic().to_owned();
    let mut found =
        vec![field(instruction.opcode_mask(), "opcode", opcode, "which instruction this is")];
    if instruction.guard_mask() != 0 {
        let guard = instruction.guard();
        let meaning = format!("@{}{}", if guard.negated { "!" } else { "" }, guard.pred);
        let purpose = "guard: lanes where it is false do nothing";
        found.push(field(instruction.guard_mask(), "Pg", meaning, purpose));
    }
    for known in instruction.fields() {
        let meaning = match known.shown().to_string() {
            shown if shown.is_empty() => "-".to_owned(),
            shown => format!(".{shown}"),
        };
        found.push(field(known.mask(), known.name(), meaning, known.purpose()));
    }
    for known in instruction.operand_fields_at(at).filter(|known| known.mask != 0) {
        let purpose = purpose(known.operand.value);
        let meaning = match (known.to_string(), known.is_left_out) {
            (shown, _) if shown.is_empty() => "-".to_owned(),
            (shown, true) => format!("{shown} (not shown)"),
            (shown, false) => shown,
        };
        found.push(field(known.mask, "operand", meaning, purpose));
    }
    let unread = instruction.unread_bits();
    let seen = found.iter().fold(unread, |seen, (mask, _)| seen | mask);
    if seen != u64::MAX {
        let purpose = "decides which words of this form are instructions, or have a field";
        found.push(field(!seen, "condition", "-".to_owned(), purpose));
    }
    if unread != 0 {
        found.push(field(unread, "unread", "-".to_owned(), "changes nothing in the text"));
    }
    found.sort_by_key(|(mask, _)| Reverse(*mask));
    found.into_iter().map(|(_, field)| field).collect()
}

fn purpose(value: Spa5Value) -> &'static str {
    match value {
        Spa5Value::Register(_) => "a register, or several from it on",
        Spa5Value::Predicate(_) => "a predicate",
        Spa5Value::Name(_) => "a name",
        Spa5Value::Number(_) => "a number",
        Spa5Value::Single(_) => "an f32, the highest bits of its pattern or all",
        Spa5Value::Double(_) => "an f64, the highest bits of its pattern",
        Spa5Value::Half(_) => "an f16",
        Spa5Value::Target(_) => "where to jump, in bytes from the next word",
        Spa5Value::Constant { .. } => "a constant: bank, register, and offset",
        Spa5Value::Address { .. } => "an address: register and offset in bytes",
        Spa5Value::Swap { .. } => "the registers of the old and the new value",
        Spa5Value::Set(_) => "a set of numbers, one for each bit",
        Spa5Value::Pairs(_) => "what each lane of four does, two bits for each",
        Spa5Value::Text(_) => "always the same text",
    }
}

/// The bits of a mask, moved together.
fn gathered(word: u64, mask: u64) -> u64 {
    let bits = (0..64).rev().filter(|bit| mask >> bit & 1 != 0);
    bits.fold(0, |number, bit| number << 1 | word >> bit & 1)
}

/// The bits of a mask: `63:51,48`.
fn ranges(mask: u64) -> String {
    let (mut ranges, mut rest) = (Vec::new(), mask);
    while rest != 0 {
        let high = 63 - rest.leading_zeros();
        let ones = (rest << (63 - high)).leading_ones();
        let low = high + 1 - ones;
        ranges.push(if high == low { format!("{high}") } else { format!("{high}:{low}") });
        rest &= (1_u64 << low) - 1;
    }
    ranges.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_named_and_gathered() {
        for (mask, name, number) in [
            (u64::MAX, "63:0", 0x8000_0000_0000_00f5),
            (1 << 63, "63", 1),
            (0x8000_0000_0000_0007, "63,2:0", 0xd),
            (0xf0, "7:4", 0xf),
            (0, "", 0),
        ] {
            assert_eq!(ranges(mask), name);
            assert_eq!(gathered(0x8000_0000_0000_00f5, mask), number, "{name}");
        }
    }
}
