//! The canonical text of a load of 128 bits: that of nvdisasm, without the scheduling that version
//! 12.8 appends (docs/load-sm70.md sections 4 and 5).

use core::fmt;

use super::decode::Instruction128;
use super::form::{Address, Bare, Modifier, Operand, Prefix};
use super::row::{Slot, TAH, TAHB};
use super::values::ORDER_RML2;
use crate::operand::{Pred, Reg, UniformReg};
use crate::ready::Ready;
use crate::sm::Group;
use crate::text::{Text, registers};

/// Room for the longest text of a word of 128 bits, a copy with all its modifiers.
const WIDE: usize = 192;

/// The text of a load of 128 bits.
type WideText = Text<WIDE>;

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
        let mut is_first = true;
        for operand in self.form().operands {
            if self.is_shown(*operand) {
                // Of a constant length each: copied without a call.
                if is_first {
                    out.push_byte(b' ');
                } else {
                    out.push_str(", ");
                }
                is_first = false;
                self.write_operand(*operand, out);
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

    fn write_modifier(&self, slot: Slot, out: &mut WideText) {
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
        is_plain && (TAH_BUT_H.contains(self.group()) || self.has(Slot::Mask))
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

    fn write_address(&self, address: Address, out: &mut WideText) {
        let offset = self.get_signed(Slot::Offset);
        match address {
            Address::Base(prefix, bare) => self.write_based(prefix, bare, out),
            Address::Indexed => {
                self.write_prefix(Prefix::Bank, out);
                out.push_byte(b'[');
                write_uniform(self.uniform(Slot::UniformBase), out);
                write_offset(offset, out);
            }
            Address::Global => self.write_global(offset, out),
            Address::Local => {
                let base = self.register(Slot::Base);
                if self.get(Slot::Descriptor) != 0 {
                    self.write_descriptor(self.uniform(Slot::UniformBase), out);
                    out.push_byte(b'[');
                    write_register(base, out);
                } else {
                    out.push_byte(b'[');
                    if !base.is_zero() {
                        write_register(base, out);
                        out.push_byte(b'+');
                    }
                    write_uniform(self.uniform(Slot::UniformBase), out);
                }
                write_offset(offset, out);
            }
            Address::Shared(bare) => {
                out.push_byte(b'[');
                let base = self.register(Slot::Base);
                let has_base = !base.is_zero() || self.get(Slot::Scale) != 0;
                if has_base {
                    write_register(base, out);
                    self.write_modifier(Slot::Scale, out);
                    out.push_byte(b'+');
                }
                write_uniform(self.uniform(Slot::UniformBase), out);
                if has_base || bare.signed.contains(self.group()) {
                    write_offset(offset, out);
                } else {
                    write_offset(self.get(Slot::Offset) as i64, out);
                }
            }
            Address::CopyTo { uniform } => self.write_copy_to(uniform, out),
            Address::CopyFrom { uniform } => self.write_copy_from(uniform, offset, out),
        }
    }

    fn write_prefix(&self, prefix: Prefix, out: &mut WideText) {
        match prefix {
            Prefix::Nothing => {}
            Prefix::Bank => {
                out.push_str("c[");
                out.push_hexadecimal(self.get(Slot::Bank) as u32);
                out.push_byte(b']');
            }
            Prefix::Handle => {
                out.push_str("cx[");
                write_uniform(self.uniform(Slot::Handle), out);
                out.push_byte(b']');
            }
            Prefix::Tensor => out.push_str("tmem"),
        }
    }

    /// Writes `[Ra.X4+off]` or `[UR+off]`, whichever register the form has.
    fn write_based(&self, prefix: Prefix, bare: Bare, out: &mut WideText) {
        self.write_prefix(prefix, out);
        out.push_byte(b'[');
        let (base, uniform) = (self.register(Slot::Base), self.uniform(Slot::UniformBase));
        let offset = self.get_signed(Slot::Offset);
        if self.has(Slot::Base) && !base.is_zero() {
            write_register(base, out);
            self.write_modifier(Slot::Scale, out);
            write_offset(offset, out);
        } else if self.has(Slot::UniformBase) && !uniform.is_zero() {
            if self.has_unknown_index() {
                out.push_str("???");
                out.push_decimal(uniform.number());
            } else {
                write_uniform(uniform, out);
            }
            write_offset(offset, out);
        } else {
            match bare.zero.filter(|_| offset == 0) {
                Some(zero) => out.push_str(zero),
                None if bare.signed.contains(self.group()) => write_number(offset, out),
                None => out.push_hexadecimal(self.get(Slot::Offset) as u32),
            }
            out.push_byte(b']');
        }
    }

    /// Returns whether the index of `LDCU cx[URa][URb]` is one that the SM does not have.
    pub(super) fn has_unknown_index(&self) -> bool {
        let is_10 = matches!(self.group(), Group::Blackwell100 | Group::Blackwell101);
        is_10 && self.form().opcode == 0xbac
    }

    /// Writes the address of an `LD` or `LDG` with a uniform register.
    fn write_global(&self, offset: i64, out: &mut WideText) {
        let (base, uniform) = (self.register(Slot::Base), self.uniform(Slot::UniformBase));
        let is_wide = self.get(Slot::Wide) != 0;
        if self.get(Slot::Descriptor) != 0 {
            self.write_descriptor(uniform, out);
            out.push_byte(b'[');
            write_register(base, out);
            out.push_str(".64");
        } else if self.is_uniform_alone() {
            out.push_byte(b'[');
            write_uniform(uniform, out);
        } else {
            out.push_byte(b'[');
            if base.is_zero() && is_wide {
                out.push_str("???255");
            } else {
                write_register(base, out);
            }
            out.push_str(if is_wide { ".64+" } else { ".U32+" });
            write_uniform(uniform, out);
        }
        write_offset(offset, out);
    }

    /// Writes `desc[UR]`, which the text of Ampere shows only if a bit says so.
    fn write_descriptor(&self, register: UniformReg, out: &mut WideText) {
        if !self.has(Slot::ShowDescriptor) || self.get(Slot::ShowDescriptor) != 0 {
            out.push_str("desc[");
            write_uniform(register, out);
            out.push_byte(b']');
        }
    }

    fn write_copy_to(&self, uniform: bool, out: &mut WideText) {
        let base = self.register(Slot::Destination);
        let offset = self.get_signed(Slot::SharedOffset);
        out.push_byte(b'[');
        if !base.is_zero() {
            write_register(base, out);
            if uniform {
                out.push_byte(b'+');
            }
        }
        if uniform {
            write_uniform(self.uniform(Slot::UniformBase), out);
        } else if base.is_zero() {
            if offset == 0 {
                out.push_str("RZ");
            } else {
                write_number(offset, out);
            }
            return out.push_byte(b']');
        }
        write_offset(offset, out);
    }

    fn write_copy_from(&self, uniform: bool, offset: i64, out: &mut WideText) {
        let register = self.uniform(Slot::UniformBase);
        let has_descriptor = self.get(Slot::Descriptor) != 0;
        if has_descriptor {
            self.write_descriptor(if uniform { register } else { self.next(register) }, out);
        }
        out.push_byte(b'[');
        write_register(self.register(Slot::Base), out);
        out.push_str(if self.get(Slot::Wide) != 0 { ".64" } else { ".U32" });
        if uniform && !has_descriptor && !register.is_zero() {
            out.push_byte(b'+');
            write_uniform(register, out);
        }
        write_offset(offset, out);
    }

    /// Returns the uniform register after `register`, `URZ` after the last one.
    pub(super) fn next(&self, register: UniformReg) -> UniformReg {
        let last =
            if TAHB.contains(self.group()) && !TAH.contains(self.group()) { 254 } else { 62 };
        if register.number() >= last {
            UniformReg::URZ
        } else {
            UniformReg::new(register.number() + 1)
        }
    }
}

/// Turing, Ampere and Ada print no base that is not there.
const TAH_BUT_H: super::row::Groups = super::row::T.and(super::row::A);

/// `R0` to `RZ`, and `UR0` to `URZ`.
static REGISTERS: [Ready<7>; 256] = registers("", "");
static UNIFORM_REGISTERS: [Ready<7>; 256] = registers("U", "");

fn write_register(register: Reg, out: &mut WideText) {
    out.push_nth(&REGISTERS, register.number());
}

fn write_uniform(register: UniformReg, out: &mut WideText) {
    out.push_nth(&UNIFORM_REGISTERS, register.number());
}

/// Writes `+0x10]`, `+-0x10]`, and `]` for 0.
fn write_offset(offset: i64, out: &mut WideText) {
    if offset != 0 {
        out.push_byte(b'+');
        write_number(offset, out);
    }
    out.push_byte(b']');
}

fn write_number(number: i64, out: &mut WideText) {
    if number < 0 {
        out.push_byte(b'-');
    }
    // No offset has more than 32 bits.
    out.push_hexadecimal(number.unsigned_abs() as u32);
}

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
