//! [`Program`]: instructions other than loads, which `--all` shows.

use warpload::encoding::{Sm, Spa5Instruction};
use warpload_binary::sass::{FoundInstruction, SassInstruction, sm_of};

use crate::word::FIRST;

/// An instruction of SM 5.0 to 6.2 whose text only its word says.
pub(super) enum Program {
    /// The text as nvdisasm prints it in a program.
    Text(String),
    /// Why nvdisasm prints none.
    Refused(String),
}

impl Program {
    /// `None` for loads, for instructions with a text in a listing, and for those of other SMs.
    pub(super) fn new(instruction: &SassInstruction, found: &FoundInstruction) -> Option<Self> {
        let is_other = matches!(found, FoundInstruction::Other) && instruction.text.is_none();
        let word = instruction.word?.narrow().filter(|_| is_other)?;
        let sm = sm_of(instruction)?;
        let Some(known) = Spa5Instruction::decode(word, sm) else {
            return Some(Self::Refused(format!("no instruction of SM {sm}")));
        };
        let reuse = instruction.control.unwrap_or_default().reuse;
        let Some(text) = known.text_with(instruction.offset.unwrap_or(FIRST), reuse) else {
            return Some(Self::Refused(format!("reuse flags {:#x}", reuse.get())));
        };
        Some(Self::Text(text.to_string().trim_end().to_owned()))
    }

    pub(super) fn is_refused(&self) -> bool {
        matches!(self, Self::Refused(_))
    }

    /// The text with the label that the instruction jumps to.
    pub(super) fn with_label(text: &str, instruction: &SassInstruction) -> String {
        let labelled = instruction.target.as_ref().and_then(|(target, label)| {
            Some(format!("{}`({label})", text.strip_suffix(&format!("{target:#x}"))?))
        });
        labelled.unwrap_or_else(|| text.to_owned())
    }
}

/// Says that code of another SM is not decoded whole.
pub(super) fn only(sm: Sm) -> String {
    format!("whole programs are decoded for SM 5.0 to 6.2 only, and this is of SM {sm}")
}
