//! [`Addresses128`]: examples of the addresses of a load, for messages.

use core::fmt;

use super::form::{Address, FORMS, Operand, Prefix};
use super::row::{A, AHB, T};
use crate::sm::Sm;

/// The forms of address that a load has on an SM. Displays as examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses128 {
    pub(super) mnemonic: &'static str,
    pub(super) sm: Sm,
}

impl Addresses128 {
    /// Returns one example of each form. An `LDGSTS` has two addresses.
    pub fn examples(self) -> impl Iterator<Item = &'static str> {
        let Self { mnemonic, sm } = self;
        let forms = FORMS
            .iter()
            .filter(move |form| form.name == mnemonic && form.groups.contains(sm.group()));
        let addresses = forms.flat_map(|form| {
            let has_base = form.rows.iter().copied().flatten().any(|row| row.name == "Ra");
            form.operands.iter().filter_map(move |operand| match *operand {
                Operand::Address(address) => Some((address, has_base)),
                _ => None,
            })
        });
        addresses.flat_map(move |(address, has_base)| examples(address, has_base, sm)).copied()
    }
}

fn examples(address: Address, has_base: bool, sm: Sm) -> &'static [&'static str] {
    let (has_descriptors, hides) = (AHB.contains(sm.group()), A.contains(sm.group()));
    match address {
        Address::Base(Prefix::Nothing, _) if has_base => &["[R2+0x10]"],
        Address::Base(Prefix::Nothing, _) => &["[UR4+0x10]"],
        Address::Base(Prefix::Bank, _) if has_base => &["c[0x0][R2+0x10]"],
        Address::Base(Prefix::Bank, _) if T.and(super::row::AH).contains(sm.group()) => {
            &["c[0x0][0x10]"]
        }
        Address::Base(Prefix::Bank, _) | Address::Indexed => &["c[0x0][UR4+0x10]"],
        Address::Base(Prefix::Handle, _) => &["cx[UR4][0x10]"],
        Address::Base(Prefix::Tensor, _) => &["tmem[UR4+0x10]"],
        Address::Global if hides => &[
            "[R2.64+0x10]",
            "desc[UR4][R2.64+0x10]",
            "[R2.64+UR4+0x10]",
            "[R2.U32+UR4+0x10]",
            "[UR4+0x10]",
        ],
        Address::Global if has_descriptors => {
            &["desc[UR4][R2.64+0x10]", "[R2.64+UR4+0x10]", "[R2.U32+UR4+0x10]"]
        }
        Address::Global => &["[R2.64+UR4+0x10]", "[R2.U32+UR4+0x10]", "[UR4+0x10]"],
        Address::Local if has_descriptors => &["[R2+UR4+0x10]", "desc[UR4][R2+0x10]"],
        Address::Local => &["[R2+UR4+0x10]"],
        Address::Shared(_) => &["[R2+UR4+0x10]", "[UR4+0x10]"],
        Address::CopyTo { uniform: false } => &["[R2+0x10]"],
        Address::CopyTo { uniform: true } => &["[R2+UR4+0x10]"],
        Address::CopyFrom { uniform: false } => &["[R2.64+0x10]", "desc[UR5][R2.64+0x10]"],
        Address::CopyFrom { uniform: true } => {
            &["desc[UR4][R2.64+0x10]", "[R2.64+UR4+0x10]", "[R2.U32+UR4+0x10]"]
        }
    }
}

impl fmt::Display for Addresses128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (i, example) in self.examples().enumerate() {
            // Forms of several opcodes can have the same addresses.
            if !self.examples().take(i).any(|before| before == example) {
                write!(f, "{separator}`{example}`")?;
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
    use crate::wide::{Instruction128, parse_line_128};

    /// Each example is accepted in some load of that name.
    #[test]
    fn examples_can_be_assembled() {
        for sm in Sm::all().filter(|sm| sm.has_wide_words()) {
            for mnemonic in Instruction128::mnemonics(sm).filter(|name| *name != "LDGSTS") {
                for example in (Addresses128 { mnemonic, sm }).examples() {
                    let is_accepted = |opcode: &str, before: &str| {
                        let text = format!("{mnemonic}{opcode} {before}, {example}");
                        parse_line_128(&text, sm).is_ok()
                    };
                    let opcodes = ["", ".E", ".16.M88"];
                    let found = opcodes
                        .into_iter()
                        .any(|opcode| is_accepted(opcode, "R0") || is_accepted(opcode, "UR0"));
                    assert!(found, "SM {sm} {mnemonic} {example}");
                }
            }
        }
    }
}
