//! The canonical text of a load: that of nvdisasm, without the scheduling that version 12.8 appends
//! (docs/ld.md section 2, docs/load-sm70.md sections 4 and 5).

use crate::instruction::Instruction;
use crate::operand::{Pred, Reg, UniformReg};
use crate::plan::{Plan, plan_at};
use crate::ready::Ready;
use crate::table::grammar::{Bare, Modifier, Part};
use crate::table::row::Slot;
use crate::table::values::Modifier as Name;
use crate::text::Text;
use crate::text::format::{Out, registers};

/// `R0` to `RZ`, and `UR0` to `URZ`.
static REGISTERS: [Ready<7>; 256] = registers("", "");
static UNIFORM_REGISTERS: [Ready<7>; 256] = registers("U", "");

/// `@P0 ` to `@!PT `, negated ones last; empty for `@PT`.
static GUARDS: [Ready<7>; 16] = guards("P");
static UNIFORM_GUARDS: [Ready<7>; 16] = guards("UP");

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn guards(file: &str) -> [Ready<7>; 16] {
    let mut guards = [Ready::EMPTY; 16];
    let mut i = 0;
    while i < 16 {
        if i != Pred::PT.number() as usize {
            let text = Ready::EMPTY.with(if i < 8 { "@" } else { "@!" }).with(file);
            let number = i as u8 & 7;
            let is_last = number == Pred::PT.number();
            guards[i] = if is_last { text.with("T ") } else { text.with_digit(number).with(" ") };
        }
        i += 1;
    }
    guards
}

impl Instruction {
    /// Returns the canonical text, which is that of nvdisasm without the semicolon and without the scheduling that
    /// version 12.8 appends from SM 8.6 on.
    // With `write_text` apart, the result is made where the caller wants it: copying it would have to wait for all that
    // was just written.
    #[inline(always)]
    #[must_use]
    pub fn text(&self) -> Text {
        Text::of(|out| self.write_text(out))
    }

    #[inline(never)]
    fn write_text(&self, out: Out<'_>) -> usize {
        // The plans of the five forms of 64 bits are constants here, which their loops are unrolled for.
        match self.plan_index() {
            0 => self.write_by(plan_at(0), out),
            1 => self.write_by(plan_at(1), out),
            2 => self.write_by(plan_at(2), out),
            3 => self.write_by(plan_at(3), out),
            4 => self.write_by(plan_at(4), out),
            plan => self.write_by(plan_at(plan), out),
        }
    }

    #[inline(always)]
    fn write_by(&self, plan: &'static Plan, mut out: Out<'_>) -> usize {
        // The sign is the bit above the guard.
        let guard = plan.place(Slot::Guard);
        let table = if guard.is_uniform() { &UNIFORM_GUARDS } else { &GUARDS };
        let index = guard.get(self.halves()) | self.get_by(plan, Slot::GuardNegated) << 3;
        if let Some(text) = table.get(index as usize) {
            out.push(text);
        }
        self.write_opcode(plan, &mut out);
        let mut written = None;
        for alternative in plan.alternatives() {
            if written != Some(alternative.operand) && alternative.fits(self.halves()) {
                // Of a constant length each: copied without a call.
                match written {
                    None => out.push_byte(b' '),
                    Some(_) => out.push_str(", "),
                }
                written = Some(alternative.operand);
                for token in alternative.row.tokens {
                    let [before, after] = &token.ready;
                    out.push(before);
                    self.write_part(plan, &token.part, &mut out);
                    out.push(after);
                }
            }
        }
        out.length
    }

    /// Returns the mnemonic with its modifiers, `LDG.E.64`.
    #[must_use]
    pub fn opcode(&self) -> Text {
        Text::of(|mut out| {
            self.write_opcode(self.plan(), &mut out);
            out.length
        })
    }

    /// Returns the modifiers that say something about caches, prefetching and the order of accesses, as they are in the
    /// text but without the leading dot: `CG`, `STRONG.GPU`, `EF.LTC64B`. Empty if there are none.
    #[must_use]
    pub fn cache_modifiers(&self) -> Text {
        let is_of_caches = |slot: &Slot| {
            matches!(
                slot,
                Slot::Cache
                    | Slot::Evict
                    | Slot::Policy
                    | Slot::Prefetch
                    | Slot::Order
                    | Slot::Scope
                    | Slot::Private
                    | Slot::Bypass
            )
        };
        let fields = self.form().modifiers.iter().filter_map(|modifier| match modifier {
            Modifier::Field(slot) => Some(*slot).filter(is_of_caches),
            _ => None,
        });
        let text = Text::of(|mut out| {
            fields.for_each(|slot| out.push_unless_empty(self.name(slot)));
            out.length
        });
        text.without_first()
    }

    #[inline(always)]
    fn write_opcode(&self, plan: &'static Plan, out: &mut Out<'_>) {
        out.push(&plan.form.text);
        for (modifier, planned) in plan.form.modifiers.iter().zip(&plan.modifiers) {
            match planned.text(self.halves()) {
                Some(text) => out.push_unless_empty(text),
                None => out.length = self.write_modifier(*modifier, out.again()),
            }
        }
    }

    /// Writes a modifier that takes more than its field; returns the new length.
    #[inline(never)]
    fn write_modifier(&self, modifier: Modifier, mut out: Out<'_>) -> usize {
        match modifier {
            Modifier::Field(Slot::Extended) if self.lacks_extended() => out.push_str(".???0"),
            Modifier::Field(slot) => out.push_unless_empty(self.name(slot)),
            Modifier::Shown { slot, beside } if self.get(beside) == 0 => {
                out.push_unless_empty(self.name(slot));
            }
            Modifier::Shown { slot, .. } => {
                if let Some(value) = self.value(slot) {
                    out.push_byte(b'.');
                    out.push_str(value.name);
                }
            }
            Modifier::Always { text, .. } => out.push(&text),
        }
        out.length
    }

    /// Returns the modifier that a field names; empty if it is not printed.
    fn name(&self, slot: Slot) -> &'static Name {
        static NONE: Name = Name::EMPTY;
        let modifiers = self.values(slot).map(|values| values.modifiers);
        modifiers.and_then(|names| names.get(self.get(slot) as usize)).unwrap_or(&NONE)
    }

    #[inline(always)]
    fn write_part(&self, plan: &Plan, part: &Part, out: &mut Out<'_>) {
        match part {
            Part::Register(slot) => {
                let place = plan.place(*slot);
                if place.is_uniform() {
                    write_uniform(self.uniform_by(plan, *slot), out);
                } else {
                    write_register(Reg::new(place.get(self.halves()) as u8), out);
                }
            }
            Part::Next(slot) => write_uniform(self.next(self.uniform_by(plan, *slot)), out),
            Part::Unknown(slot) => {
                out.push_str("???");
                out.push_decimal(self.get_by(plan, *slot) as u8);
            }
            Part::Predicate(slot) => self.write_predicate(plan, *slot, out),
            Part::Not(slot) => {
                if self.get_by(plan, *slot) != 0 {
                    out.push_byte(b'!');
                }
            }
            Part::Number(slot) => out.push_hexadecimal(self.get_by(plan, *slot) as u32),
            Part::Scale(slot) => out.push_unless_empty(self.name(*slot)),
            Part::Offset(slot) => write_offset(self.get_signed_by(plan, *slot), out),
            Part::BareOffset(slot, bare) => write_offset(self.bare(plan, *slot, bare), out),
            Part::Absolute(slot, bare) => match self.bare(plan, *slot, bare) {
                0 if bare.prints_zero => out.push_str(bare.zero),
                number => write_number(number, out),
            },
        }
    }

    /// Returns an offset without a base register.
    #[inline(always)]
    fn bare(&self, plan: &Plan, slot: Slot, bare: &Bare) -> i64 {
        if bare.signed.contains(self.sm().group()) {
            self.get_signed_by(plan, slot)
        } else {
            self.get_by(plan, slot) as i64
        }
    }

    #[inline(always)]
    fn write_predicate(&self, plan: &Plan, slot: Slot, out: &mut Out<'_>) {
        if plan.place(slot).is_uniform() {
            out.push_byte(b'U');
        }
        let predicate = self.predicate_by(plan, slot);
        out.push_byte(b'P');
        out.push_byte(if predicate.is_true() { b'T' } else { b'0' + predicate.number() });
    }
}

#[inline(always)]
fn write_register(register: Reg, out: &mut Out<'_>) {
    out.push_nth(&REGISTERS, register.number());
}

#[inline(always)]
fn write_uniform(register: UniformReg, out: &mut Out<'_>) {
    out.push_nth(&UNIFORM_REGISTERS, register.number());
}

/// Writes `+0x10`, `+-0x10`, and nothing for 0.
#[inline(always)]
fn write_offset(offset: i64, out: &mut Out<'_>) {
    if offset != 0 {
        out.push_byte(b'+');
        write_number(offset, out);
    }
}

#[inline(always)]
fn write_number(number: i64, out: &mut Out<'_>) {
    if number < 0 {
        out.push_byte(b'-');
    }
    // No offset has more than 32 bits.
    out.push_hexadecimal(number.unsigned_abs() as u32);
}
