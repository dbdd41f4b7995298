//! `decode --check`: whether a listing's text and its words agree.

use warpload::encoding::{Instruction, parse_line};
use warpload::sass::{SassInstruction, without_relocations};

use super::find::{is_later_load, names_a_load};

/// What was compared so far.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) loads: u64,
    pub(super) differences: u64,
    /// Loads whose displacement the linker fills in, which are not among `loads`.
    pub(super) relocated: u64,
}

impl Checked {
    /// Compares one instruction; returns how its text and its word differ. Instructions that are
    /// not loads by text or by word are not compared, nor are those without a word.
    pub(super) fn instruction(&mut self, instruction: &SassInstruction) -> Option<String> {
        let word = instruction.word?;
        let text = instruction.text.as_deref()?;
        let decoded = Instruction::decode(word);
        if decoded.is_none() && !names_a_load(text) {
            return None;
        }
        if let (Some(load), Some(relocated)) = (decoded, without_relocations(text))
            && parse_line(&relocated)
                .is_ok_and(|parsed| is_equal_elsewhere(parsed.instruction, load))
        {
            self.relocated += 1;
            return None;
        }
        self.loads += 1;
        let is_equal = decoded.is_some_and(|load| {
            // The same word in another accepted spelling is not a difference.
            load.text().as_str() == text
                || parse_line(text).is_ok_and(|parsed| parsed.instruction == load)
        });
        if is_equal {
            return None;
        }
        self.differences += 1;
        let meant = decoded.map_or("no load".to_owned(), |load| format!("`{load}`"));
        let hint = if is_later_load(instruction) {
            parse_line(text).err().and_then(|error| error.hint_in(text))
        } else {
            None
        };
        let hint = hint.map_or(String::new(), |hint| format!("; {hint}"));
        Some(format!("the text says `{text}`, its word {word:#018x} is {meant}{hint}"))
    }
}

/// Whether two loads differ in nothing but what a relocation replaces: the displacement, and the
/// constant bank.
fn is_equal_elsewhere(a: Instruction, b: Instruction) -> bool {
    a.opcode().as_str() == b.opcode().as_str()
        && a.guard() == b.guard()
        && a.destination() == b.destination()
        && a.address().base == b.address().base
}
