//! [`Addresses`]: example addresses of a load, made from its grammar, for messages.

use core::fmt;

use super::Text;
use crate::instruction::Instruction;
use crate::sm::Sm;
use crate::table::grammar::{Alternative, Part};
use crate::table::row::Slot;

/// The forms of address that a load has on an SM. Displays as examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    pub(super) mnemonic: &'static str,
    pub(super) sm: Sm,
}

impl Addresses {
    /// Returns one example per form. An `LDGSTS` has two addresses.
    pub fn examples(self) -> impl Iterator<Item = Text> {
        let Self { mnemonic, sm } = self;
        let forms = Instruction::forms(sm).filter(move |form| form.mnemonic() == mnemonic);
        forms.flat_map(|form| {
            let alternatives = form.plan().alternatives().iter();
            let addresses = alternatives.filter(|one| one.row.is_address() && one.is_read);
            // An address without a register is shown only if there is no other.
            let has_register = |row: &Alternative| {
                row.tokens
                    .iter()
                    .any(|token| matches!(token.part, Part::Offset(_) | Part::BareOffset(..)))
            };
            let is_named = addresses.clone().any(|one| has_register(one.row));
            let named = addresses.filter(move |one| has_register(one.row) || !is_named);
            named.map(move |one| example(&form, one.row))
        })
    }
}

fn example(form: &Instruction, row: &Alternative) -> Text {
    Text::of(|mut out| {
        for token in row.tokens {
            out.push_str(token.before);
            match token.part {
                Part::Register(Slot::Bindless) => out.push_str("UR6"),
                Part::Register(slot) if form.is_uniform(slot) => out.push_str("UR4"),
                Part::Register(_) => out.push_str("R2"),
                Part::Next(_) => out.push_str("UR5"),
                Part::Number(_) => out.push_str("0x0"),
                // A multiple of every unit.
                Part::Offset(_) | Part::BareOffset(..) => {
                    out.push_str(if form.has(Slot::Mask) { "+0x20" } else { "+0x10" });
                }
                Part::Absolute(..) => out.push_str("0x10"),
                Part::Unknown(_) | Part::Scale(_) | Part::Not(_) | Part::Predicate(_) => {}
            }
            out.push_str(token.after);
        }
        out.length
    })
}

impl fmt::Display for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (i, example) in self.examples().enumerate() {
            // Forms with different opcodes can have the same addresses.
            if !self.examples().take(i).any(|before| before.as_str() == example.as_str()) {
                write!(f, "{separator}`{}`", example.as_str())?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::format;

    use super::*;
    use crate::text::parse_line;

    /// Each example is accepted in some load of this name.
    #[test]
    fn examples_can_be_assembled() {
        for sm in Sm::all() {
            for mnemonic in Instruction::mnemonics(sm).filter(|name| *name != "LDGSTS") {
                for example in (Addresses { mnemonic, sm }).examples() {
                    let is_accepted = |opcode: &str, before: &str| {
                        let text = format!("{mnemonic}{opcode} {before}, {}", example.as_str());
                        parse_line(&text, sm).is_ok()
                    };
                    let opcodes = ["", ".E", ".16.M88", ".E.ENL2.256", ".256", ".STAT.x2.MAX"];
                    let before = ["R0", "UR0", "R8, R0", "UR8, UR0"];
                    let found = opcodes
                        .into_iter()
                        .any(|opcode| before.iter().any(|before| is_accepted(opcode, before)));
                    assert!(found, "SM {sm} {mnemonic} {}", example.as_str());
                }
            }
        }
    }
}
