//! Generic addresses already formed in registers, together with their Plg.

use std::collections::HashMap;

use super::value::{Root, Value};
use crate::syntax::load::Rounding::{Rm, Rn, Rp, Rz};
use crate::syntax::load::{PtxInstruction, QualifierKind};
use crate::syntax::{Opcode, ScalarType};

/// The formed addresses that a later access of the same block can reuse.
///
/// The first access of a block from some root forms its address, the anchor; later ones take a displacement from it.
/// The rules were found with ptxas 12.9: docs/ptx-lower.md.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    constants: HashMap<Root, i64>,
    /// The index of the current block.
    block: u32,
}

/// The range of constants that form or reuse an anchor: 24 signed bits, as in a displacement.
const NEAR: std::ops::Range<i64> = -0x80_0000..0x80_0000;

impl Anchors {
    /// The constant in the formed address that an access to `value` uses. The rest of the value's own constant is the
    /// displacement. `is_in_bank` tells whether a root is in a constant bank.
    pub(super) fn of(&mut self, value: Value, is_in_bank: impl Fn(Root) -> bool) -> i64 {
        let Some(root) = value.root.filter(|_| NEAR.contains(&value.constant)) else {
            return value.constant;
        };
        let anchor = *self.constants.entry(root).or_insert(value.constant);
        // The sum with a value in a constant bank is formed anew for each access.
        if anchor != 0 && is_in_bank(root) { value.constant } else { anchor }
    }

    /// Starts a new block.
    pub(super) fn forget(&mut self) {
        self.constants.clear();
        self.block += 1;
    }

    pub(super) fn block(&self) -> u32 {
        self.block
    }
}

/// Whether the assembler begins a new block at this instruction.
pub(super) fn ends_block(instruction: &PtxInstruction<'_>) -> bool {
    use Opcode as O;
    let has_guard = instruction.guard.is_some();
    let is_rounded = || {
        let is_mode = |kind| match kind {
            QualifierKind::Rounding(Rn | Rz | Rm | Rp) => Some(()),
            _ => None,
        };
        instruction.first(is_mode).is_some()
    };
    match instruction.opcode {
        // Blocks end here with or without a guard. An unguarded branch is followed by a label or the end anyway.
        O::Call | O::Fence | O::Membar => true,
        // These divisions and roots are subroutine calls.
        O::Div | O::Rem => {
            let is_long =
                instruction.form.has_type(&[ScalarType::F64, ScalarType::S64, ScalarType::U64]);
            is_long || is_rounded()
        }
        O::Sqrt | O::Rcp => is_rounded(),
        // With a guard, these are a branch or are branched around.
        O::Atom
        | O::Bar
        | O::Barrier
        | O::Bra
        | O::Brkpt
        | O::Brx
        | O::Exit
        | O::Ld
        | O::Ldu
        | O::Prefetch
        | O::Red
        | O::Ret
        | O::St
        | O::Suld
        | O::Sured
        | O::Sust
        | O::Tex
        | O::Tld4
        | O::Trap => has_guard,
        _ => false,
    }
}
