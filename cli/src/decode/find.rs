//! What an instruction of an input is: a load, and by which of its word and its text.

use warpload::encoding::{Instruction, MachineWord, ParseError, later_syntax, parse_line};
use warpload::sass::{CodeUnit, SassInstruction, without_relocations};

/// What an instruction is.
pub(super) enum Found {
    /// A load, from its word or else from its text.
    Load(Instruction),
    /// A load without a word, whose displacement the linker fills in.
    Relocated,
    Other,
    /// Not a load by its word, but by its text.
    Contradictory,
    /// The text names a load and cannot be read.
    Unreadable(ParseError),
}

impl Found {
    pub(super) fn new(instruction: &SassInstruction) -> Self {
        // Loads of SM 7.0 and later are not decoded.
        if instruction.unit == Some(CodeUnit::Word) {
            return Self::Other;
        }
        let text = instruction.text.as_deref().unwrap_or_default();
        if let Some(word) = instruction.word.and_then(MachineWord::narrow) {
            return match Instruction::decode(word) {
                Some(load) => Self::Load(load),
                None if is_later_load(instruction) => Self::by_text(text),
                None if names_a_load(text) => Self::Contradictory,
                None => Self::Other,
            };
        }
        if !names_a_load(text) {
            return Self::Other;
        }
        match without_relocations(text) {
            // What is wrong elsewhere in the text is shown in the text as it is written.
            Some(relocated) if parse_line(&relocated).is_ok() => Self::Relocated,
            _ => Self::by_text(text),
        }
    }

    fn by_text(text: &str) -> Self {
        parse_line(text).map_or_else(Self::Unreadable, |parsed| Self::Load(parsed.instruction))
    }
}

/// Returns whether the text is that of a load of SM 7.0 or later, in a listing that does not name its SM:
/// of those words no load can be decoded.
pub(super) fn is_later_load(instruction: &SassInstruction) -> bool {
    let text = instruction.text.as_deref().unwrap_or_default();
    instruction.sm.is_none() && names_a_load(text) && later_syntax(text).is_some()
}

/// Returns whether the mnemonic, after a guard, is that of a load that is known here.
pub(super) fn names_a_load(text: &str) -> bool {
    let text = text.trim_start();
    let after_guard = match text.strip_prefix('@') {
        Some(guarded) => guarded.split_once(char::is_whitespace).map_or("", |(_, rest)| rest),
        None => text,
    };
    let named = after_guard.trim_start();
    let end = named.split_once(|c: char| c == '.' || c.is_whitespace());
    let mnemonic = end.map_or(named, |(mnemonic, _)| mnemonic);
    Instruction::MNEMONICS.iter().any(|known| known.eq_ignore_ascii_case(mnemonic))
}
