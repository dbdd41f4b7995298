//! [`FoundInstruction`]: an instruction classified by its word or, without one, by its text.

use warpload_encoding::{Control, Decoded, Illegal, Instruction, ParseError, Sm, later_syntax};

use super::code::{CodeUnit, SassInstruction};
use super::relocation::without_relocations;

/// An instruction of a cubin, a raw stream or a listing, classified.
#[derive(Clone, Debug)]
pub enum FoundInstruction {
    /// A load, from its word or, without one, from its text.
    Load(Instruction),
    /// A load without a word, with a displacement that the linker fills in.
    Relocated,
    /// A word with a load's opcode that the disassembler calls illegal.
    Illegal(Illegal),
    /// Another instruction.
    Other,
    /// Not a load by its word, but by its text.
    Contradictory,
    /// The text names a load, but cannot be parsed.
    Unreadable(ParseError),
    /// An instruction of SM 7.0 or later, in an input that does not name the SM.
    OfUnknownSm,
}

impl FoundInstruction {
    /// Classifies an instruction by its word or, without one, by its text.
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
            // If another part of the text is wrong, the original is parsed, so that the error points into it.
            Some(relocated) if Instruction::parse(&relocated, sm).is_ok() => Self::Relocated,
            _ => Self::by_text(text, sm),
        }
    }

    fn by_text(text: &str, sm: Sm) -> Self {
        Instruction::parse(text, sm).map_or_else(Self::Unreadable, Self::Load)
    }

    /// Returns the scheduling of `instruction`, from which this was made; `None` if the input has none.
    #[must_use]
    pub fn control(&self, instruction: &SassInstruction) -> Option<Control> {
        instruction.control.or_else(|| match self {
            // The parser has put the annotations of the text into the word of 128 bits.
            Self::Load(load) if instruction.text.as_ref()?.contains(['&', '?']) => load.control(),
            _ => None,
        })
    }

    /// Returns whether the text of `instruction` has a part of this load that the linker fills in.
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

/// Returns the SM of an instruction: the one that the input names, else [`Sm::SPA5`] for code that is not known to be
/// later. `None` for code of SM 7.0 or later in an input that does not name its SM.
#[must_use]
pub fn sm_of(instruction: &SassInstruction) -> Option<Sm> {
    let is_later = instruction.unit == Some(CodeUnit::Word);
    instruction.sm.or((!is_later).then_some(Sm::SPA5))
}

/// Returns whether the text has the syntax of a load of SM 7.0 or later, in a listing that does not name its SM.
#[must_use]
pub fn is_later_load(instruction: &SassInstruction) -> bool {
    let text = instruction.text.as_deref().unwrap_or_default();
    instruction.sm.is_none() && names_a_load(text, Sm::SPA5) && later_syntax(text).is_some()
}

/// Returns whether the mnemonic, after a guard if there is one, is a load of `sm`.
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
