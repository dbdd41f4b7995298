//! The bits that a text does not name (docs/load-sm70.md section 7).

use super::decode::Instruction128;
use super::row::{Kind, LayoutRow128, Slot};
use crate::sm::Sm;

/// `?trans1`, no barriers, no waits: bits 127:104 of a word whose text has no scheduling.
const UNSCHEDULED: u128 = 0x00_0fe2 << 104;

impl Instruction128 {
    /// Returns the instruction of a form without operands: registers are `RZ`, predicates `PT`.
    pub(super) fn template(form: u8, sm: Sm) -> Self {
        let blank = Self::of(form, 0, sm);
        let word = UNSCHEDULED | u128::from(blank.form().opcode);
        let rows = blank.rows().filter(|row| row.field.low() < 104);
        let word = rows.fold(word, |word, row| {
            word | blank.default_of(row).map_or(0, |bits| row.field.place(bits))
        });
        Self::of(form, word, sm)
    }

    /// Returns the instruction of the same form without operands.
    pub(super) fn blank(&self) -> Self {
        Self::template(self.form_index(), self.sm())
    }

    fn default_of(&self, row: &LayoutRow128) -> Option<u64> {
        if row.fixed.is_some() {
            return row.fixed;
        }
        let ones = Some(u64::MAX >> (64 - row.field.width()));
        match (row.slot, row.kind) {
            (_, Kind::Named(values)) => values.default,
            // 0 is PT.
            (_, Kind::InvertedPredicate) => None,
            // Of `LD` and `LDS` it is printed beside `.ZD` only.
            (Slot::PredicateOut, _) if self.mnemonic() != "LDG" => None,
            (_, Kind::Predicate | Kind::UniformPredicate) => ones,
            (_, Kind::Register | Kind::UniformRegister) => ones,
            (Slot::Mask, _) => ones,
            // The text of `LD` and `LDG` says it, the others have no other base.
            (Slot::Wide, _) if !self.has(Slot::Extended) => Some(1),
            _ => None,
        }
    }
}
