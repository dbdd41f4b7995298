//! The generic addresses that have been formed in registers, together with their Plg.

use std::collections::HashMap;

use super::value::{Root, Value};
use crate::module::{InstructionStatement, Module};

/// The formed addresses that a further access can take a displacement from.
///
/// The first access of a block from some root forms its address, the anchor; later ones take a
/// displacement from it. The rules were found with ptxas 12.9: docs/ptx-lower.md.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    constants: HashMap<Root, i64>,
    /// How many blocks there have been.
    block: u32,
}

/// The constants that count: those of 24 signed bits.
const NEAR: std::ops::Range<i64> = -0x80_0000..0x80_0000;

impl Anchors {
    /// Returns the constant in the formed address that an access to `value` uses; the rest of the
    /// value's own constant is the displacement. `is_in_bank` says whether a root is in a constant
    /// bank.
    pub(super) fn of(&mut self, value: Value, is_in_bank: impl Fn(Root) -> bool) -> i64 {
        let Some(root) = value.root.filter(|_| NEAR.contains(&value.constant)) else {
            return value.constant;
        };
        let anchor = *self.constants.entry(root).or_insert(value.constant);
        // A value in a constant bank is added from there each time.
        if anchor != 0 && is_in_bank(root) { value.constant } else { anchor }
    }

    /// Starts a new block.
    pub(super) fn forget(&mut self) {
        self.constants.clear();
        self.block += 1;
    }

    /// The number of the block.
    pub(super) fn block(&self) -> u32 {
        self.block
    }
}

/// Instructions that are a branch, or that one goes around, if they have a guard.
const BRANCHED: [&str; 19] = [
    "atom", "bar", "barrier", "bra", "brkpt", "brx", "exit", "ld", "ldu", "prefetch", "red", "ret",
    "st", "suld", "sured", "sust", "tex", "tld4", "trap",
];

/// What ends a block with and without a guard. A label, or the end, follows other branches.
const ENDS: [&str; 3] = ["call", "fence", "membar"];

/// Whether the assembler begins a new block at this instruction.
pub(super) fn ends_block(module: &Module<'_>, instruction: &InstructionStatement) -> bool {
    let mnemonic = module.text(instruction.mnemonic);
    if ENDS.contains(&mnemonic) || instruction.guard.is_some() && BRANCHED.contains(&mnemonic) {
        return true;
    }
    // Divisions and roots that are subroutines.
    let has = |names: &[&str]| instruction.has(module.source(), names);
    match mnemonic {
        "div" | "rem" => has(&[".rn", ".rz", ".rm", ".rp", ".f64", ".s64", ".u64"]),
        "sqrt" | "rcp" => has(&[".rn", ".rz", ".rm", ".rp"]),
        _ => false,
    }
}
