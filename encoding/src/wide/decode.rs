//! [`Instruction128`]: decoding, what is refused, and the fields of a word.
//!
//! The bits that a text does not name (docs/load-sm70.md section 7).

use core::fmt;

use super::form::{FORMS, Form};
use super::plan::{NoForm, Plan, SlotPlace, form_of, halves, plan_of};
use super::reading::FieldReading128;
use super::row::{Kind, LayoutRow128, Slot};
use super::values::{Value, Values};
use crate::control::Control;
use crate::field::FieldValue;
use crate::impossible::OrImpossible;
use crate::operand::{Pred, Reg, UniformReg};
use crate::sm::Sm;

/// A load instruction of SM 7.0 to 12.x: its word, and whose it is.
///
/// Guarantees: [`encode`](Self::encode) returns the word that [`decode`](Self::decode) accepted, in
/// all 128 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction128 {
    // Two halves: a `u128` would align every type that has one to 16 bytes. And whole words only: one
    // that is read back right after its bytes were written has to wait for them.
    low: u64,
    high: u64,
    /// The index of the form, and below it the bits of the SM.
    form_and_sm: u64,
}

/// What a word of 128 bits is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded128 {
    /// A load.
    Load(Instruction128),
    /// A word with the opcode of a load that the disassembler refuses.
    Refused(Refusal),
    /// Another instruction, or none. Also a word of `LDSM` for which the disassembler prints
    /// nothing.
    Other,
}

/// Why a word with the opcode of a load is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// SMs of other groups have the instruction.
    OtherSm {
        /// The mnemonic.
        mnemonic: &'static str,
    },
    /// A field does not have the one value that it must have.
    Fixed {
        /// The field's name.
        name: &'static str,
        /// Its most significant bit.
        high: u8,
        /// Its least significant bit.
        low: u8,
        /// The value that it must have.
        expected: u64,
    },
    /// Fields exclude each other, or a field's value does not exist.
    Form(&'static str),
    /// The scheduling bits are those of no schedule.
    Schedule,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherSm { mnemonic } => write!(f, "{mnemonic} of other SMs"),
            Self::Fixed { name, high, low, expected } if high == low => {
                write!(f, "bit {high} ({name}) is not {expected}")
            }
            Self::Fixed { name, high, low, expected } => {
                write!(f, "bits {high}:{low} ({name}) are not {expected}")
            }
            Self::Form(reason) => f.write_str(reason),
            Self::Schedule => f.write_str("invalid scheduling (bits 124:122 and 109:105)"),
        }
    }
}

impl core::error::Error for Refusal {}

impl Instruction128 {
    /// Decodes a word of `sm`.
    ///
    /// ```
    /// use warpload_encoding::{Decoded128, Instruction128, Sm};
    ///
    /// let sm: Sm = "80".parse()?;
    /// let word = 0x000ea8000c1e1900_0000100404007981;
    /// let Decoded128::Load(load) = Instruction128::decode(word, sm) else { panic!("a load") };
    /// assert_eq!(load.text().as_str(), "LDG.E R0, [R4.64+0x10]");
    /// assert_eq!(load.encode(), word);
    /// assert_eq!(Instruction128::decode(0x7918, sm), Decoded128::Other);
    /// # Ok::<(), warpload_encoding::UnknownSm>(())
    /// ```
    // A load is then put together where it is used, in registers.
    #[inline(always)]
    #[must_use]
    pub fn decode(word: u128, sm: Sm) -> Decoded128 {
        match form_of(halves(word), sm.group()) {
            Ok(form) => Decoded128::Load(Self::of(form, word, sm)),
            Err(NoForm::Other) => Decoded128::Other,
            Err(NoForm::RefusedBy(form)) => Self::of(form, word, sm).refused(),
            Err(NoForm::OfOtherSms) => Decoded128::Refused(other_sm(word)),
        }
    }

    /// Returns the word, the inverse of [`decode`](Self::decode).
    #[inline]
    #[must_use]
    pub const fn encode(self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }

    /// Returns whose word it is.
    #[must_use]
    pub const fn sm(&self) -> Sm {
        Sm::from_bits(self.form_and_sm as u32)
    }

    /// Returns the mnemonic without modifiers.
    #[must_use]
    pub fn mnemonic(&self) -> &'static str {
        self.form().name
    }

    /// Returns the mnemonics of the loads of an SM, each once, without modifiers.
    pub fn mnemonics(sm: Sm) -> impl Iterator<Item = &'static str> {
        FORMS.iter().zip(0..).filter_map(move |(form, n)| {
            // Those of one name are neighbours.
            let mut before = FORMS.iter().take(n).rev().take_while(|b| b.name == form.name);
            let is_of_sm = |form: &Form| form.groups.contains(sm.group());
            let is_first = !before.any(is_of_sm);
            (is_of_sm(form) && is_first).then_some(form.name)
        })
    }

    /// Returns one instruction of each form that an SM has, without operands: registers are `RZ`,
    /// predicates `PT`. Their [fields](Self::describe) are the table of the SM's loads.
    pub fn forms(sm: Sm) -> impl Iterator<Item = Self> {
        let of_sm = FORMS.iter().zip(0..).filter(move |(form, _)| form.groups.contains(sm.group()));
        of_sm.map(move |(_, number)| Self::template(number, sm))
    }

    /// Returns the instruction of a form with that word, which must be one of it.
    pub(super) const fn of(form: u8, word: u128, sm: Sm) -> Self {
        let form_and_sm = (form as u64) << 32 | sm.bits() as u64;
        Self { low: word as u64, high: (word >> 64) as u64, form_and_sm }
    }

    /// Returns the instruction with another word of its form.
    pub(super) const fn with_word(self, word: u128) -> Self {
        Self { low: word as u64, high: (word >> 64) as u64, ..self }
    }

    const fn form_index(&self) -> u8 {
        (self.form_and_sm >> 32) as u8
    }

    /// Returns how the instruction is scheduled. The reuse flags, which a load does not have, are 0;
    /// their bits are the [batch hint](Self::batch).
    #[must_use]
    pub fn control(&self) -> Control {
        Control::of_wide_word(self.encode())
    }

    /// Returns the batch hint, 0..=5; 0 is none.
    #[must_use]
    pub fn batch(&self) -> u8 {
        self.get(Slot::Batch) as u8
    }

    /// Returns the PM field, 0..=3.
    #[must_use]
    pub fn pm(&self) -> u8 {
        self.get(Slot::Pm) as u8
    }

    /// Returns the bits of the word that neither the disassembler reads nor the text shows, as a
    /// mask.
    #[must_use]
    pub fn unread_bits(&self) -> u128 {
        let unread = self.rows().filter(|row| matches!(row.kind, Kind::Unread));
        unread.fold(0, |mask, row| mask | row.field.mask())
    }

    /// Returns the reading of every field, most significant first.
    pub fn describe(&self) -> impl Iterator<Item = FieldReading128> + use<> {
        let (load, mnemonic) = (*self, self.mnemonic());
        self.rows().map(move |row| FieldReading128 {
            row,
            mnemonic,
            named: load.get(row.slot),
            raw: row.field.get(load.encode()),
        })
    }

    pub(super) fn rows(&self) -> impl DoubleEndedIterator<Item = &'static LayoutRow128> + use<> {
        let group = self.sm().group();
        self.form().rows.iter().copied().flatten().filter(move |row| row.groups.contains(group))
    }

    #[inline]
    pub(super) fn form(&self) -> &'static Form {
        FORMS
            .get(usize::from(self.form_index()))
            .or_impossible(&FORMS[0], "an instruction has a form")
    }

    /// Returns whether a register or a predicate is one of the warp.
    #[inline]
    pub(super) fn is_uniform(&self, slot: Slot) -> bool {
        self.place(slot).is_uniform()
    }

    #[inline]
    pub(super) const fn halves(&self) -> [u64; 2] {
        [self.low, self.high]
    }

    #[inline]
    pub(super) fn plan(&self) -> &'static Plan {
        plan_of(self.form_index(), self.sm().group())
    }

    #[inline]
    fn place(&self, slot: Slot) -> SlotPlace {
        let place = self.plan().places.get(slot as usize).copied();
        place.or_impossible(SlotPlace::NOWHERE, "there is a place for each slot")
    }

    /// Returns whether the form has the field.
    #[inline]
    pub(super) fn has(&self, slot: Slot) -> bool {
        self.place(slot).width > 0
    }

    /// Returns the width of a field in bits; `None` if the form does not have it.
    pub(super) fn width(&self, slot: Slot) -> Option<u32> {
        if !self.has(slot) {
            return None;
        }
        let rows = self.rows().filter(|row| row.slot == slot);
        Some(rows.map(|row| row.field.width()).sum())
    }

    /// Returns the number in a field, 0 if the form does not have it.
    #[inline]
    pub(super) fn get(&self, slot: Slot) -> u64 {
        let place = self.place(slot);
        if place.is_split() { self.get_split(slot) } else { place.get(self.halves()) }
    }

    #[inline(never)]
    fn get_split(&self, slot: Slot) -> u64 {
        let rows = self.rows().filter(|row| row.slot == slot);
        rows.fold(0, |number, row| number << row.field.width() | row.field.get(self.encode()))
    }

    /// Returns the number in a field of which it is the two's complement, in bytes.
    #[inline]
    pub(super) fn get_signed(&self, slot: Slot) -> i64 {
        let place = self.place(slot);
        // The one split field of that kind has 32 bits.
        let unused = if place.is_split() { 32 } else { 64 - u32::from(place.width) };
        let number = (self.get(slot) << (unused & 63)) as i64 >> (unused & 63);
        if place.is_by_32() { 32 * number } else { number }
    }

    /// Returns the kind of a field; `None` if the form does not have it.
    pub(super) fn kind(&self, slot: Slot) -> Option<Kind> {
        let place = self.place(slot);
        if place.width == 0 { None } else { place.row(self.form()).map(|row| row.kind) }
    }

    /// Returns the values of a field that has names.
    pub(super) fn values(&self, slot: Slot) -> Option<&'static Values> {
        match self.kind(slot)? {
            Kind::Named(values) => Some(values),
            _ => None,
        }
    }

    /// Returns the value of a field that has names.
    #[inline]
    pub(super) fn value(&self, slot: Slot) -> Option<&'static Value> {
        self.values(slot)?.get(self.get(slot))
    }

    #[inline]
    pub(super) fn register(&self, slot: Slot) -> Reg {
        Reg::from_bits(self.get(slot))
    }

    /// Returns the uniform register in a field.
    #[inline]
    pub(super) fn uniform(&self, slot: Slot) -> UniformReg {
        UniformReg::from_field(self.get(slot), self.place(slot).width.into())
    }

    /// Returns the predicate in a field.
    #[inline]
    pub(super) fn predicate(&self, slot: Slot) -> Pred {
        let bits = self.get(slot);
        Pred::from_bits(if self.place(slot).is_inverted() { !bits } else { bits })
    }

    /// Returns the instruction with another number in a field; `None` if it does not fit.
    pub(super) fn put(mut self, slot: Slot, number: u64) -> Option<Self> {
        let mut word = self.encode();
        let mut left = number;
        for row in self.rows().rev().filter(|row| row.slot == slot) {
            let width = row.field.width();
            let mask = u64::MAX >> (64 - width);
            word = word & !row.field.mask() | row.field.place(left & mask);
            left = left.checked_shr(width).unwrap_or(0);
        }
        (self.low, self.high) = (word as u64, (word >> 64) as u64);
        (left == 0).then_some(self)
    }

    /// Returns what a word of the form is that its plan does not accept.
    #[cold]
    fn refused(&self) -> Decoded128 {
        let word = self.encode();
        let wrong = self.rows().find_map(|row| {
            let expected = row.fixed.filter(|fixed| row.field.get(word) != *fixed)?;
            let (high, low) = (row.field.high(), row.field.low());
            Some(Refusal::Fixed { name: row.name, high, low, expected })
        });
        let excluded = || {
            let mut refused = self.form().refused.iter();
            let reason = refused.find(|refused| {
                word & refused.mask == refused.value && refused.groups.contains(self.group())
            });
            reason.map(|refused| Refusal::Form(refused.reason))
        };
        let schedule = || (!self.plan().has_schedule(self.halves())).then_some(Refusal::Schedule);
        // A size without a text comes last.
        wrong.or_else(schedule).or_else(excluded).map_or(Decoded128::Other, Decoded128::Refused)
    }
}

/// Returns the refusal of a word whose opcode is that of a load which only other SMs have.
#[cold]
fn other_sm(word: u128) -> Refusal {
    let form = FORMS.iter().find(|form| u128::from(form.opcode) == word & 0xfff);
    Refusal::OtherSm { mnemonic: form.map_or("a load", |form| form.name) }
}

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
