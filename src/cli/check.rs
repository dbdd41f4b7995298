//! `decode --check`: whether a listing's text and its words agree.

use warpload::encoding::{Instruction, parse_line};
use warpload::sass::SassInstruction;

/// What was compared so far.
#[derive(Default)]
pub(crate) struct Checked {
    pub(crate) loads: u64,
    pub(crate) differences: u64,
}

impl Checked {
    /// Compares one instruction; says how its text and its word differ. Instructions that are
    /// loads neither by text nor by word are not looked at, nor are those without a word.
    pub(crate) fn instruction(&mut self, instruction: &SassInstruction) -> Option<String> {
        let word = instruction.word?;
        let text = instruction.text.as_deref()?;
        let decoded = Instruction::decode(word);
        if decoded.is_none() && !names_a_load(text) {
            return None;
        }
        self.loads += 1;
        let is_equal = decoded.is_some_and(|load| {
            // The same word in another accepted spelling is no difference.
            load.text().as_str() == text
                || parse_line(text).is_ok_and(|parsed| parsed.instruction == load)
        });
        if is_equal {
            return None;
        }
        self.differences += 1;
        let meant = decoded.map_or("no load".to_owned(), |load| format!("`{load}`"));
        Some(format!("the text says `{text}`, its word {word:#018x} is {meant}"))
    }
}

/// Whether the mnemonic, behind a guard, is that of a load that is known here.
pub(crate) fn names_a_load(text: &str) -> bool {
    let text = text.trim_start();
    let behind_guard = match text.strip_prefix('@') {
        Some(guarded) => guarded.split_once(char::is_whitespace).map_or("", |(_, rest)| rest),
        None => text,
    };
    let mnemonic = behind_guard
        .trim_start()
        .split(|c: char| c == '.' || c.is_whitespace())
        .next()
        .unwrap_or_default();
    Instruction::MNEMONICS.iter().any(|known| known.eq_ignore_ascii_case(mnemonic))
}
