//! The canonical text of a load: nvdisasm's, without the scheduling that version 12.8 appends (docs/ld.md section 2,
//! docs/load-sm70.md sections 4 and 5).

use crate::instruction::Instruction;
use crate::pieces::{PieceKind, UNIFORM_REGISTERS};
use crate::plan::{Plan, PlannedAlternative, PlannedModifier, PlannedOperand, plan_at};
use crate::ready::Ready;
use crate::table::grammar::{Bare, Modifier, Part};
use crate::table::row::Slot;
use crate::table::values::Modifier as Name;
use crate::text::Text;
use crate::text::format::Out;

/// The signs of an offset, with `0x`.
static OFFSET_SIGNS: [Ready<8>; 2] = [Ready::EMPTY.with("+0x"), Ready::EMPTY.with("+-0x")];

impl Instruction {
    /// Returns the canonical text: nvdisasm's, without the semicolon and without the scheduling that version 12.8
    /// appends from SM 8.6 on.
    #[inline(always)]
    #[must_use]
    pub fn text(&self) -> Text {
        Text::of(|out| self.write_to(out))
    }

    /// Replaces `text` by the canonical text, for callers that format many instructions. A quarter faster than
    /// [`text`](Self::text), because it neither clears nor copies a new `Text`.
    ///
    /// ```
    /// use warpload_encoding::{Instruction, Sm, Text};
    ///
    /// let (mut text, mut listing) = (Text::new(), String::new());
    /// for word in [0x9c90000123470200_u64, 0x9c90_0000_0007_0200] {
    ///     let Some(load) = Instruction::decode(word, Sm::SPA5).load() else { continue };
    ///     load.write_text(&mut text);
    ///     listing.push_str(&text);
    ///     listing.push('\n');
    /// }
    /// assert_eq!(listing, "LD.E R0, [R2+0x1234]\nLD.E R0, [R2]\n");
    /// ```
    #[inline(always)]
    pub fn write_text(&self, text: &mut Text) {
        text.write(|out| self.write_to(out));
    }

    #[inline(never)]
    fn write_to(&self, mut out: Out<'_>) -> usize {
        // Compiled for each of the five 64-bit plans, without loops, in half of the time.
        match self.plan_index() {
            0 => self.write_spa5(plan_at(0), out),
            1 => self.write_spa5(plan_at(1), out),
            2 => self.write_spa5(plan_at(2), out),
            3 => self.write_spa5(plan_at(3), out),
            4 => self.write_spa5(plan_at(4), out),
            plan => {
                let plan = plan_at(plan);
                self.write_head(plan, plan.modifiers(), &mut out);
                let mut left = plan.alternatives();
                while let [one, others @ ..] = left {
                    left = others;
                    if one.fits(self.halves()) {
                        self.write_alternative(plan, one, &mut out);
                        left = others.get(usize::from(one.others)..).unwrap_or_default();
                    }
                }
                // Without the last comma.
                out.length - 2
            }
        }
    }

    #[inline(always)]
    fn write_spa5(&self, plan: &'static Plan, mut out: Out<'_>) -> usize {
        self.write_head(plan, plan.modifiers(), &mut out);
        if let [first, second, others @ ..] = plan.operands() {
            self.write_spa5_operand(plan, first, &mut out);
            self.write_spa5_operand(plan, second, &mut out);
            if let [third] = others {
                self.write_spa5_operand(plan, third, &mut out);
            }
        }
        out.length - 2
    }

    #[inline(always)]
    fn write_spa5_operand(&self, plan: &'static Plan, operand: &PlannedOperand, out: &mut Out<'_>) {
        match operand.alternatives() {
            [one, ..] if one.fits(self.halves()) => self.write_alternative(plan, one, out),
            [_, one] if one.fits(self.halves()) => self.write_alternative(plan, one, out),
            _ => {}
        }
    }

    /// Writes the guard and the opcode.
    #[inline(always)]
    fn write_head(&self, plan: &Plan, modifiers: &[PlannedModifier], out: &mut Out<'_>) {
        out.push(plan.guard(self.halves()));
        self.write_opcode(plan, modifiers, out);
        out.push_byte(b' ');
    }

    #[inline(always)]
    fn write_alternative(&self, plan: &Plan, alternative: &PlannedAlternative, out: &mut Out<'_>) {
        let word = self.halves();
        for piece in alternative.pieces.iter() {
            out.push(&piece.before);
            match piece.kind {
                PieceKind::Text => {
                    if let Some(text) = piece.text(word) {
                        out.push(text);
                    }
                }
                PieceKind::Offset => write_offset(piece.place.get_signed(word), out),
                PieceKind::Number => out.push_hexadecimal(piece.place.get(word) as u32),
                PieceKind::Part => out.length = self.write_part(plan, piece.part, out.again()),
            }
        }
        out.push(&alternative.pieces.end);
    }

    /// Returns the mnemonic with its modifiers, `LDG.E.64`.
    #[must_use]
    pub fn opcode(&self) -> Text {
        Text::of(|mut out| {
            self.write_opcode(self.plan(), self.plan().modifiers(), &mut out);
            out.length
        })
    }

    /// Returns the modifiers for caches, prefetching and the order of accesses, as in the text but without the leading
    /// dot: `CG`, `STRONG.GPU`, `EF.LTC64B`. Empty if there are none.
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
            fields.for_each(|slot| out.push(self.name(slot)));
            out.length
        });
        text.without_first()
    }

    #[inline(always)]
    fn write_opcode(&self, plan: &Plan, modifiers: &[PlannedModifier], out: &mut Out<'_>) {
        out.push(&plan.name);
        for modifier in modifiers {
            match modifier.text(self.halves()) {
                Some(text) => out.push(text),
                None => out.length = self.write_modifier(modifier.modifier, out.again()),
            }
        }
    }

    /// Writes a modifier that needs more than its field; returns the new length.
    #[inline(never)]
    fn write_modifier(&self, modifier: &Modifier, mut out: Out<'_>) -> usize {
        match *modifier {
            Modifier::Field(Slot::Extended) if self.lacks_extended() => out.push_str(".???0"),
            Modifier::Field(slot) => out.push(self.name(slot)),
            Modifier::Shown { slot, beside } if self.get(beside) == 0 => {
                out.push(self.name(slot));
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

    /// Empty if the modifier is not printed.
    fn name(&self, slot: Slot) -> &'static Name {
        static NONE: Name = Name::EMPTY;
        let modifiers = self.values(slot).map(|values| values.modifiers);
        modifiers.and_then(|names| names.get(self.get(slot) as usize)).unwrap_or(&NONE)
    }

    /// Writes a part that needs more than a table; returns the new length.
    #[inline(never)]
    fn write_part(&self, plan: &Plan, part: &Part, mut out: Out<'_>) -> usize {
        match part {
            Part::Register(_) | Part::Predicate(_) | Part::Not(_) => {
                debug_assert!(false, "they are texts of a table");
            }
            Part::Next(slot) => {
                let register = self.next(self.uniform(*slot)).number();
                out.push_nth(&UNIFORM_REGISTERS, register.into());
            }
            Part::Unknown(slot) => {
                out.push_str("???");
                out.push_decimal(self.get(*slot) as u8);
            }
            Part::Number(slot) => out.push_hexadecimal(self.get(*slot) as u32),
            Part::Scale(slot) => out.push(self.name(*slot)),
            Part::Offset(slot) => write_offset(self.get_signed_by(plan, *slot), &mut out),
            Part::BareOffset(slot, bare) => write_offset(self.bare(*slot, bare), &mut out),
            Part::Absolute(slot, bare) => match self.bare(*slot, bare) {
                0 if bare.prints_zero => out.push_str(bare.zero),
                number => {
                    out.push_str(if number < 0 { "-0x" } else { "0x" });
                    out.push_digits(number.unsigned_abs() as u32);
                }
            },
        }
        out.length
    }

    /// An offset without a base register.
    fn bare(&self, slot: Slot, bare: &Bare) -> i64 {
        if bare.signed.contains(self.sm().group()) {
            self.get_signed_by(self.plan(), slot)
        } else {
            self.get(slot) as i64
        }
    }
}

/// Writes `+0x10` or `+-0x10`; omits 0. No offset has more than 32 bits.
#[inline(always)]
fn write_offset(offset: i64, out: &mut Out<'_>) {
    if offset != 0 {
        out.push_nth(&OFFSET_SIGNS, usize::from(offset < 0));
        out.push_digits(offset.unsigned_abs() as u32);
    }
}
