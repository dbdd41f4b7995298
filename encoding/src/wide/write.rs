//! The canonical text of a load of 128 bits: that of nvdisasm, without the scheduling that version
//! 12.8 appends (docs/load-sm70.md sections 4 and 5).

use core::fmt;

use super::decode::Instruction128;
use super::form::{Modifier, Operand};
use super::row::{A, Groups, Slot, T};
use super::values::ORDER_RML2;
use super::write_address::{WIDE, WideText, write_register, write_uniform};
use crate::operand::Pred;
use crate::sm::Group;
use crate::text::Text;

/// What is to be written before an operand.
#[derive(Clone, Copy)]
enum Before {
    Space,
    /// The register before it has the comma.
    Nothing,
    Comma,
}

impl Instruction128 {
    /// Returns the canonical text, which is that of nvdisasm without the semicolon and without the
    /// scheduling that version 12.8 appends from SM 8.6 on.
    // With `write_text` apart, the result is made where the caller wants it: copying it would have to
    // wait for all that was just written.
    #[inline(always)]
    #[must_use]
    pub fn text(&self) -> Text<WIDE> {
        let mut out = WideText::new();
        self.write_text(&mut out);
        out
    }

    #[inline(never)]
    fn write_text(&self, out: &mut WideText) {
        self.write_guard(out);
        self.write_opcode(out);
        let mut before = Before::Space;
        for operand in self.form().operands {
            match (before, *operand) {
                // Most loads begin so, and an address follows.
                (Before::Space, Operand::Register(slot)) if !self.is_uniform(slot) => {
                    out.push_destination(self.register(slot));
                    before = Before::Nothing;
                }
                (_, operand) if self.is_shown(operand) => {
                    // Of a constant length each: copied without a call.
                    match before {
                        Before::Space => out.push_byte(b' '),
                        Before::Nothing => {}
                        Before::Comma => out.push_str(", "),
                    }
                    before = Before::Comma;
                    self.write_operand(operand, out);
                }
                _ => {}
            }
        }
    }

    /// Returns the mnemonic with its modifiers, `LDG.E.64`.
    #[must_use]
    pub fn opcode(&self) -> Text<WIDE> {
        let mut out = WideText::new();
        self.write_opcode(&mut out);
        out
    }

    /// Returns the modifiers that say something about caches, prefetching and the order of accesses, as
    /// they are in the text but without the leading dot: `STRONG.GPU`, `EF.LTC64B`. Empty if there are
    /// none.
    #[must_use]
    pub fn cache_modifiers(&self) -> Text<WIDE> {
        let mut out = WideText::new();
        for modifier in self.form().modifiers {
            if let Modifier::Slot(
                slot @ (Slot::Evict
                | Slot::Policy
                | Slot::Prefetch
                | Slot::Order
                | Slot::Scope
                | Slot::Private
                | Slot::Bypass),
            ) = *modifier
            {
                self.write_modifier(slot, &mut out);
            }
        }
        out.without_first()
    }

    fn write_guard(&self, out: &mut WideText) {
        let (guard, negated) = (self.predicate(Slot::Guard), self.get(Slot::GuardNegated) != 0);
        if !guard.is_true() || negated {
            out.push_str(if negated { "@!" } else { "@" });
            self.write_predicate(Slot::Guard, guard, out);
            out.push_byte(b' ');
        }
    }

    fn write_opcode(&self, out: &mut WideText) {
        let form = self.form();
        out.push(&form.text);
        for (modifier, planned) in form.modifiers.iter().zip(&self.plan().modifiers) {
            match (*modifier, planned.text(self.halves())) {
                (Modifier::Slot(Slot::Extended), _) if self.lacks_extended() => {
                    out.push_str(".???0");
                }
                (_, Some(text)) => out.push_unless_empty(text),
                (Modifier::Slot(slot), None) => self.write_modifier(slot, out),
                (Modifier::Always(name), None) => {
                    out.push_byte(b'.');
                    out.push_str(name);
                }
            }
        }
    }

    pub(super) fn write_modifier(&self, slot: Slot, out: &mut WideText) {
        let values = if slot == Slot::Order && self.has_rml2() {
            Some(&ORDER_RML2)
        } else {
            self.values(slot)
        };
        let number = self.get(slot) as usize;
        if let Some(text) = values.and_then(|values| values.modifiers.get(number)) {
            out.push_unless_empty(text);
        }
    }

    /// Returns whether the L2 policy of a load of 256 bits is `RML2`, beside which the order has
    /// other names.
    fn has_rml2(&self) -> bool {
        self.value(Slot::Policy).is_some_and(|policy| policy.name == "RML2")
    }

    /// Returns whether the base of 64 bits would need an `.E` that the word does not have.
    pub(super) fn lacks_extended(&self) -> bool {
        // The two forms of `LD` and `LDG` that have both fields.
        self.get(Slot::Extended) == 0
            && self.has(Slot::Extended)
            && self.get(Slot::Wide) != 0
            && !self.is_uniform_alone()
    }

    /// Returns whether `[UR+off]` is all that the address of an `LD` or `LDG` shows.
    pub(super) fn is_uniform_alone(&self) -> bool {
        let is_plain = self.get(Slot::Descriptor) == 0 && self.register(Slot::Base).is_zero();
        // Later SMs print a base that is not there.
        is_plain && (TA.contains(self.group()) || self.has(Slot::Mask))
    }

    pub(super) fn group(&self) -> Group {
        self.sm().group()
    }

    /// Returns whether an operand is printed.
    fn is_shown(&self, operand: Operand) -> bool {
        let has_zd = self.get(Slot::Zd) != 0;
        let is_read = || self.has(Slot::PredicateIn);
        match operand {
            Operand::Register(_) | Operand::Address(_) | Operand::PredicateInAlways => true,
            Operand::PredicateOut => has_zd || !self.predicate(Slot::PredicateOut).is_true(),
            Operand::PredicateOutOfZd => has_zd,
            Operand::Mask => self.get(Slot::Mask) != 0xff,
            Operand::PredicateIn => {
                let is_true = self.predicate(Slot::PredicateIn).is_true();
                is_read() && (!is_true || self.get(Slot::PredicateInNegated) != 0)
            }
            Operand::PredicateInOfBase => !self.uniform(Slot::UniformBase).is_zero(),
        }
    }

    fn write_operand(&self, operand: Operand, out: &mut WideText) {
        match operand {
            Operand::PredicateOut | Operand::PredicateOutOfZd => {
                let slot = Slot::PredicateOut;
                self.write_predicate(slot, self.predicate(slot), out);
            }
            Operand::Register(slot) if self.is_uniform(slot) => {
                write_uniform(self.uniform(slot), out);
            }
            Operand::Register(slot) => write_register(self.register(slot), out),
            Operand::Mask => out.push_hexadecimal(self.get(Slot::Mask) as u32),
            Operand::PredicateIn | Operand::PredicateInAlways | Operand::PredicateInOfBase => {
                if self.get(Slot::PredicateInNegated) != 0 {
                    out.push_byte(b'!');
                }
                let slot = Slot::PredicateIn;
                self.write_predicate(slot, self.predicate(slot), out);
            }
            Operand::Address(address) => self.write_address(address, out),
        }
    }

    fn write_predicate(&self, slot: Slot, predicate: Pred, out: &mut WideText) {
        if self.is_uniform(slot) {
            out.push_byte(b'U');
        }
        out.push_byte(b'P');
        let number = predicate.number();
        out.push_byte(if predicate.is_true() { b'T' } else { b'0' + number });
    }
}

/// Turing, Ampere and Ada print no base that is not there.
const TA: Groups = T.and(A);

impl fmt::Display for Instruction128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text().as_str())
    }
}

impl fmt::Debug for Instruction128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:#034x}, {:?})", self.text().as_str(), self.encode(), self.sm())
    }
}
