//! [`FoundInstruction`]: an instruction of an input, classified by its word or, without one, by its text.

use warpload_encoding::{Control, Decoded, Illegal, Instruction, ParseError, Sm, later_syntax};

use super::code::{CodeUnit, SassInstruction};
use super::relocation::without_relocations;

/// An instruction of a cubin, a raw stream or a listing, classified.
#[derive(Clone, Debug)]
pub enum FoundInstruction {
    /// A load, from its word or else from its text.
    Load(Instruction),
    /// A load without a word, whose displacement the linker fills in.
    Relocated,
    /// A word with the opcode of a load that no SM has.
    Illegal(Illegal),
    /// Another instruction.
    Other,
    /// Not a load by its word, but by its text.
    Contradictory,
    /// The text names a load and cannot be read.
    Unreadable(ParseError),
    /// An instruction of SM 7.0 or later, in an input that does not say of which.
    OfUnknownSm,
}

impl FoundInstruction {
    /// Decides by the word or, without one, by the text.
    #[must_use]
    pub fn new(instruction: &SassInstruction) -> Self {
        let Some(sm) = sm_of(instruction) else { return Self::OfUnknownSm };
        let text = instruction.text.as_deref().unwrap_or_default();
        if let Some(word) = instruction.word {
            return match Instruction::decode(word, sm) {
                Decoded::Load(load) => Self::Load(load),
                Decoded::Illegal(reason) => Self::Illegal(reason),
                Decoded::Other if is_later_load(instruction) => Self::by_text(text, sm),
                Decoded::Other if names_a_load(text, sm) => Self::Contradictory,
                Decoded::Other => Self::Other,
            };
        }
        if !names_a_load(text, sm) {
            return Self::Other;
        }
        match without_relocations(text) {
            // What is wrong elsewhere in the text is shown in the text as it is written.
            Some(relocated) if Instruction::parse(&relocated, sm).is_ok() => Self::Relocated,
            _ => Self::by_text(text, sm),
        }
    }

    fn by_text(text: &str, sm: Sm) -> Self {
        Instruction::parse(text, sm).map_or_else(Self::Unreadable, Self::Load)
    }

    /// Returns the scheduling of the instruction that this is, if its input says it.
    #[must_use]
    pub fn control(&self, instruction: &SassInstruction) -> Option<Control> {
        instruction.control.or_else(|| match self {
            // A word of 128 bits that was assembled with the annotations of its text.
            Self::Load(load) if instruction.text.as_ref()?.contains(['&', '?']) => load.control(),
            _ => None,
        })
    }

    /// Returns whether the linker fills in a part of this load, by the text of `instruction`.
    #[must_use]
    pub fn is_relocated(&self, instruction: &SassInstruction) -> bool {
        match (self, instruction.text.as_deref()) {
            (Self::Relocated, _) => true,
            (Self::Load(load), Some(text)) => {
                names_a_load(text, load.sm()) && without_relocations(text).is_some()
            }
            _ => false,
        }
    }

    /// Returns whether this is a load.
    #[must_use]
    pub fn is_load(&self) -> bool {
        matches!(self, Self::Load(_) | Self::Relocated)
    }
}

/// Returns whose instruction this is; `None` if it is one of SM 7.0 or later, and nothing says of which.
#[must_use]
pub fn sm_of(instruction: &SassInstruction) -> Option<Sm> {
    let is_later = instruction.unit == Some(CodeUnit::Word);
    instruction.sm.or((!is_later).then_some(Sm::SPA5))
}

/// Returns whether the text is that of a load of SM 7.0 or later, in a listing that does not name its SM
/// and whose words are not those of such an SM.
#[must_use]
pub fn is_later_load(instruction: &SassInstruction) -> bool {
    let text = instruction.text.as_deref().unwrap_or_default();
    instruction.sm.is_none() && names_a_load(text, Sm::SPA5) && later_syntax(text).is_some()
}

/// Returns whether the mnemonic, after a guard, is that of a load of `sm`.
#[must_use]
pub fn names_a_load(text: &str, sm: Sm) -> bool {
    let text = text.trim_start();
    let after_guard = match text.strip_prefix('@') {
        Some(guarded) => guarded.split_once(char::is_whitespace).map_or("", |(_, rest)| rest),
        None => text,
    };
    let named = after_guard.trim_start();
    let end = named.split_once(|c: char| c == '.' || c.is_whitespace());
    let mnemonic = end.map_or(named, |(mnemonic, _)| mnemonic);
    // Raw code has no text at all.
    if mnemonic.is_empty() {
        return false;
    }
    Instruction::mnemonics(sm).any(|known| known.eq_ignore_ascii_case(mnemonic))
}
