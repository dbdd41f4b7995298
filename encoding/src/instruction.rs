//! [`Instruction`]: decoding, the fields of a word, and why a word is illegal.

use core::fmt;

use crate::control::Control;
use crate::operand::{Pred, Reg, UniformReg};
use crate::plan::{
    Halves, NoForm, Plan, SlotPlace, first_form, halves, has_schedule, no_form, plan_at,
    plan_index, plan_of_64, plan_of_128,
};
use crate::reading::FieldReading;
use crate::sm::Sm;
use crate::table::forms::{FORMS, Form, IllegalBits};
use crate::table::row::{Kind, Row, Slot};
use crate::table::values::{Value, Values};

/// An instruction word as it is in memory. Displays as `0x` and 16 or 32 digits.
///
/// ```
/// use warpload_encoding::MachineWord;
///
/// assert_eq!(MachineWord::from(0x8580_u64).to_string(), "0x0000000000008580");
/// let wide = MachineWord::from(0x000ea8000c1e1900_0000100404007981_u128);
/// assert_eq!(wide.to_string(), "0x000ea8000c1e19000000100404007981");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum MachineWord {
    /// SM 5.x and 6.x.
    Bits64(u64),
    /// SM 7.0 and later. The low half is first in memory.
    Bits128(u128),
}

impl MachineWord {
    /// Returns the width of the word in bits, 64 or 128.
    #[must_use]
    pub const fn width(self) -> u32 {
        match self {
            Self::Bits64(_) => 64,
            Self::Bits128(_) => 128,
        }
    }

    /// Returns the word as a number of 128 bits.
    #[must_use]
    pub const fn bits(self) -> u128 {
        match self {
            Self::Bits64(word) => word as u128,
            Self::Bits128(word) => word,
        }
    }

    /// Returns the word if it has 64 bits.
    #[inline]
    #[must_use]
    pub const fn narrow(self) -> Option<u64> {
        match self {
            Self::Bits64(word) => Some(word),
            Self::Bits128(_) => None,
        }
    }

    /// Returns the word if it has 128 bits.
    #[inline]
    #[must_use]
    pub const fn wide(self) -> Option<u128> {
        match self {
            Self::Bits64(_) => None,
            Self::Bits128(word) => Some(word),
        }
    }
}

impl From<u64> for MachineWord {
    #[inline]
    fn from(word: u64) -> Self {
        Self::Bits64(word)
    }
}

impl From<u128> for MachineWord {
    #[inline]
    fn from(word: u128) -> Self {
        Self::Bits128(word)
    }
}

impl fmt::Display for MachineWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits64(word) => write!(f, "{word:#018x}"),
            Self::Bits128(word) => write!(f, "{word:#034x}"),
        }
    }
}

impl fmt::Debug for MachineWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A load instruction of any SM: its word, its form, and whose it is.
///
/// Guarantees:
/// - [`word`](Self::word) returns the word that [`decode`](Self::decode) took, in all of its bits.
/// - [`parse_line`](crate::parse_line) reads [`text`](Self::text) as an instruction with the same text. What no text
///   shows, such as the [reserved bits](Self::reserved_bits), can differ; [`parse_line_like`](crate::parse_line_like)
///   keeps it.
/// - The exception are numbers that mean nothing: their texts, `INVALIDSIZE7` or `???0`, cannot be assembled.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction {
    low: u64,
    high: u64,
    /// The number of the plan, and below it the bits of the SM. Whole words only: one that is read back right after
    /// its bytes were written has to wait for them.
    plan_and_sm: u64,
}

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A load.
    Load(Instruction),
    /// A word with the opcode of a load that the disassembler calls illegal.
    Illegal(Illegal),
    /// Another instruction, or none. Also a word of `LDSM` for which the disassembler prints nothing.
    Other,
}

impl Decoded {
    /// Returns the load, if it is one.
    #[inline]
    #[must_use]
    pub fn load(self) -> Option<Instruction> {
        match self {
            Self::Load(load) => Some(load),
            _ => None,
        }
    }
}

/// Why a word with the opcode of a load is illegal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Illegal {
    /// SMs of other groups have the instruction.
    OtherSm {
        /// The mnemonic.
        mnemonic: &'static str,
    },
    /// A field does not have the one value that it must have, fields exclude each other, or a field's value does not
    /// exist.
    Form(&'static str),
    /// The scheduling bits are those of no schedule.
    Schedule,
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherSm { mnemonic } => write!(f, "{mnemonic} of other SMs"),
            Self::Form(reason) => f.write_str(reason),
            Self::Schedule => f.write_str("invalid scheduling (bits 124:122 and 109:105)"),
        }
    }
}

impl core::error::Error for Illegal {}

impl Instruction {
    /// Decodes a word of `sm`. A word of the width that `sm` does not have is no load.
    ///
    /// ```
    /// use warpload_encoding::{Decoded, Instruction, Sm};
    ///
    /// let Decoded::Load(load) = Instruction::decode(0x9c90000123470200_u64, Sm::SPA5) else { panic!("a load") };
    /// assert_eq!(load.text().as_str(), "LD.E R0, [R2+0x1234]");
    ///
    /// let (sm, word) = ("80".parse()?, 0x000ea8000c1e1900_0000100404007981_u128);
    /// let load = Instruction::decode(word, sm).load().expect("a load");
    /// assert_eq!(load.text().as_str(), "LDG.E R0, [R4.64+0x10]");
    /// assert_eq!(load.word(), word.into());
    /// assert_eq!(Instruction::decode(0x7918_u128, sm), Decoded::Other);
    /// # Ok::<(), warpload_encoding::UnknownSm>(())
    /// ```
    // A load is then put together where it is used, in registers.
    #[inline(always)]
    #[must_use]
    pub fn decode(word: impl Into<MachineWord>, sm: Sm) -> Decoded {
        match word.into() {
            MachineWord::Bits64(word) if !sm.has_wide_words() => match plan_of_64(word) {
                Some(plan) => Decoded::Load(Self::of(plan, [word, 0], sm)),
                None => Decoded::Other,
            },
            MachineWord::Bits128(word) if sm.has_wide_words() => {
                let word = halves(word);
                let [low, high] = word;
                match plan_of_128(low, high, sm.group_index()) {
                    Some(plan) => Decoded::Load(Self::of(plan, word, sm)),
                    None => no_load(low, high, sm).decoded(),
                }
            }
            _ => Decoded::Other,
        }
    }

    /// Returns the instruction word, the inverse of [`decode`](Self::decode).
    #[inline]
    #[must_use]
    pub const fn word(&self) -> MachineWord {
        if self.sm().has_wide_words() {
            MachineWord::Bits128(self.bits())
        } else {
            MachineWord::Bits64(self.low)
        }
    }

    /// Returns the word as a number of 128 bits.
    #[inline]
    #[must_use]
    pub const fn bits(&self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }

    /// Returns whose word it is.
    #[inline]
    #[must_use]
    pub const fn sm(&self) -> Sm {
        Sm::from_bits(self.plan_and_sm as u32)
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

    /// Returns one instruction of each form that an SM has, without operands: registers are `RZ`, predicates `PT`.
    /// Their [fields](Self::describe) are the table of the SM's loads.
    pub fn forms(sm: Sm) -> impl Iterator<Item = Self> {
        let plans = (0..FORMS.len()).filter_map(move |form| plan_index(form, sm.group()));
        plans.map(move |plan| Self::template(plan, sm))
    }

    /// Creates an instruction without modifiers and operands: registers are `RZ`, predicates `PT`. Of several forms, the
    /// first one. `None` if `mnemonic` is not that of a load of `sm`.
    ///
    /// ```
    /// use warpload_encoding::{Instruction, Slot, Sm};
    ///
    /// let load = Instruction::new("LDG", Sm::SPA5)
    ///     .and_then(|load| load.with(Slot::Destination, 4)?.with(Slot::Base, 2)?.with(Slot::Extended, 1))
    ///     .and_then(|load| load.with_offset(-8));
    /// assert_eq!(load.map(|load| load.to_string()).as_deref(), Some("LDG.E R4, [R2+-0x8]"));
    /// ```
    #[must_use]
    pub fn new(mnemonic: &str, sm: Sm) -> Option<Self> {
        Self::forms(sm).find(|form| form.mnemonic() == mnemonic)
    }

    /// Returns the instruction of a plan without operands.
    pub(crate) fn template(plan: u8, sm: Sm) -> Self {
        Self::of(plan, halves(plan_at(plan).template), sm)
    }

    /// Returns the instruction of the same form without operands.
    pub(crate) fn blank(&self) -> Self {
        Self::template(self.plan_index(), self.sm())
    }

    /// Returns the instruction of a plan with that word, which must be one of it.
    #[inline(always)]
    const fn of(plan: u8, [low, high]: Halves, sm: Sm) -> Self {
        Self { low, high, plan_and_sm: (plan as u64) << 32 | sm.bits() as u64 }
    }

    /// Returns the instruction with another word of its form.
    pub(crate) const fn with_word(self, word: u128) -> Self {
        self.with_halves(halves(word))
    }

    #[inline(always)]
    pub(crate) const fn with_halves(self, [low, high]: Halves) -> Self {
        Self { low, high, ..self }
    }

    #[inline(always)]
    pub(crate) const fn plan_index(&self) -> u8 {
        (self.plan_and_sm >> 32) as u8
    }

    /// Returns how an instruction of 128 bits is scheduled; `None` if it has 64, whose scheduling is in another word.
    /// The reuse flags, which a load does not have, are 0; their bits are the [batch hint](Self::batch).
    #[must_use]
    pub fn control(&self) -> Option<Control> {
        self.sm().has_wide_words().then(|| Control::of_wide_word(self.bits()))
    }

    /// Returns the batch hint of a word of 128 bits, 0..=5; 0 is none.
    #[must_use]
    pub fn batch(&self) -> u8 {
        self.get(Slot::Batch) as u8
    }

    /// Returns the PM field of a word of 128 bits, 0..=3.
    #[must_use]
    pub fn pm(&self) -> u8 {
        self.get(Slot::Pm) as u8
    }

    /// Returns the bits of the word that neither the disassembler reads nor the text shows, as a mask.
    ///
    /// ```
    /// use warpload_encoding::{Instruction, Sm, parse_line};
    ///
    /// let load = Instruction::decode(0xeed0_1000_0007_0001_u64, Sm::SPA5).load().expect("a load");
    /// assert_eq!(load.reserved_bits(), 1 << 44);
    /// let parsed = parse_line(&load.text(), Sm::SPA5)?.instruction;
    /// assert_eq!(parsed.bits(), 0xeed0_0000_0007_0001);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn reserved_bits(&self) -> u128 {
        let reserved = self.rows().filter(|row| row.slot == Slot::Reserved);
        reserved.fold(0, |mask, row| mask | row.field.mask())
    }

    /// Returns the reading of every field, most significant first.
    pub fn describe(&self) -> impl Iterator<Item = FieldReading> + use<> {
        let (load, mnemonic) = (*self, self.mnemonic());
        self.rows().map(move |row| FieldReading {
            row,
            mnemonic,
            named: load.get(row.slot),
            raw: row.field.get(load.bits()),
        })
    }

    /// Returns the number in a field; `None` if the form does not have it.
    ///
    /// ```
    /// use warpload_encoding::{Slot, Sm, parse_line};
    ///
    /// let load = parse_line("LD.E.64 R4, [R2+0x10]", Sm::SPA5)?.instruction;
    /// assert_eq!((load.field(Slot::Base), load.field(Slot::Bank)), (Some(2), None));
    /// let other = load.with(Slot::Base, 6).and_then(|load| load.with(Slot::Offset, 0)).expect("they fit");
    /// assert_eq!(other.text().as_str(), "LD.E.64 R4, [R6]");
    /// assert!(load.with(Slot::Base, 256).is_none());
    /// # Ok::<(), warpload_encoding::ParseError>(())
    /// ```
    #[must_use]
    pub fn field(&self, slot: Slot) -> Option<u64> {
        self.has(slot).then(|| self.get(slot))
    }

    /// Returns the name of the number in a field without its leading dot, printed or not: `CA`, `STRONG.SYS`; empty if it
    /// has none. `None` if the form does not have the field, or its numbers have no names.
    #[must_use]
    pub fn modifier(&self, slot: Slot) -> Option<&'static str> {
        self.value(slot).map(|value| value.name)
    }

    /// Returns the instruction with another number in a field, signed ones in two's complement; `None` if the form
    /// does not have the field, the number does not fit or means nothing, or the word would be illegal.
    #[must_use]
    pub fn with(self, slot: Slot, number: u64) -> Option<Self> {
        let load = self.put(slot, number)?;
        let is_legal = match self.sm() {
            sm if !sm.has_wide_words() => true,
            sm => plan_of_128(load.low, load.high, sm.group_index()) == Some(self.plan_index()),
        };
        let is_invalid = load.value(slot).is_some_and(Value::is_invalid);
        (self.has(slot) && slot != Slot::Opcode && is_legal && !is_invalid).then_some(load)
    }

    /// Returns the instruction with that displacement in bytes, or without a base register with that address; `None` if it
    /// does not fit. The base comes first: it decides whether the number is signed.
    #[must_use]
    pub fn with_offset(self, bytes: i64) -> Option<Self> {
        let place = self.plan().place(Slot::Offset);
        let unit = if place.is_by_32() { 32 } else { 1 };
        let width = self.width(Slot::Offset).max(1);
        let is_unsigned = self.plan().is_bare_unsigned && self.register(Slot::Base).is_zero();
        let range = match is_unsigned {
            true => 0..1i64 << width,
            false => -(1i64 << (width - 1))..1i64 << (width - 1),
        };
        let is_fitting = bytes % unit == 0 && range.contains(&(bytes / unit));
        let bits = (bytes / unit) as u64 & (u64::MAX >> (64 - width));
        if is_fitting { self.with(Slot::Offset, bits) } else { None }
    }

    pub(crate) fn rows(&self) -> impl DoubleEndedIterator<Item = &'static Row> + use<> {
        let group = self.sm().group();
        self.form().rows.iter().copied().flatten().filter(move |row| row.groups.contains(group))
    }

    #[inline]
    pub(crate) fn form(&self) -> &'static Form {
        self.plan().form
    }

    /// Returns whether a register or a predicate is one of the warp.
    #[inline]
    pub(crate) fn is_uniform(&self, slot: Slot) -> bool {
        self.plan().place(slot).is_uniform()
    }

    #[inline(always)]
    pub(crate) const fn halves(&self) -> Halves {
        [self.low, self.high]
    }

    #[inline(always)]
    pub(crate) fn plan(&self) -> &'static Plan {
        plan_at(self.plan_index())
    }

    /// Returns whether the form has the field.
    #[inline]
    pub(crate) fn has(&self, slot: Slot) -> bool {
        self.plan().place(slot).width > 0
    }

    /// Returns the width of a field in bits; 0 if the form does not have it.
    pub(crate) fn width(&self, slot: Slot) -> u32 {
        self.width_at(self.plan().place(slot), slot)
    }

    /// The same for a slot whose place is known.
    #[inline]
    pub(crate) fn width_at(&self, place: SlotPlace, slot: Slot) -> u32 {
        if !place.is_split() {
            return place.width.into();
        }
        let rows = self.rows().filter(|row| row.slot == slot);
        rows.map(|row| row.field.width()).sum()
    }

    /// Returns the number in a field, 0 if the form does not have it.
    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> u64 {
        self.get_by(self.plan(), slot)
    }

    #[inline(always)]
    pub(crate) fn get_by(&self, plan: &Plan, slot: Slot) -> u64 {
        let place = plan.place(slot);
        if place.is_split() { self.get_split(slot) } else { place.get(self.halves()) }
    }

    #[inline(never)]
    fn get_split(&self, slot: Slot) -> u64 {
        let rows = self.rows().filter(|row| row.slot == slot);
        rows.fold(0, |number, row| number << row.field.width() | row.field.get(self.bits()))
    }

    /// Returns the number in a field of which it is the two's complement, in bytes.
    #[inline(always)]
    pub(crate) fn get_signed_by(&self, plan: &Plan, slot: Slot) -> i64 {
        let place = plan.place(slot);
        // The one split field of that kind has 32 bits.
        if place.is_split() {
            self.get_split(slot) as i32 as i64
        } else {
            place.get_signed(self.halves())
        }
    }

    /// Returns the kind of a field; `None` if the form does not have it.
    pub(crate) fn kind(&self, slot: Slot) -> Option<Kind> {
        let place = self.plan().place(slot);
        if place.width == 0 { None } else { place.row(self.form()).map(|row| row.kind) }
    }

    /// Returns the names of a field's numbers, if they have names.
    pub(crate) fn values(&self, slot: Slot) -> Option<&'static Values> {
        match self.kind(slot)? {
            Kind::Named(values) => Some(values),
            Kind::NamedBeside(_, other, number, values) if self.get(other) == number => {
                Some(values)
            }
            Kind::NamedBeside(values, ..) => Some(values),
            _ => None,
        }
    }

    /// Returns the value of a field whose numbers have names.
    pub(crate) fn value(&self, slot: Slot) -> Option<&'static Value> {
        self.values(slot)?.get(self.get(slot))
    }

    #[inline]
    pub(crate) fn register(&self, slot: Slot) -> Reg {
        Reg::new(self.get(slot) as u8)
    }

    /// Returns the uniform register in a field.
    #[inline]
    pub(crate) fn uniform(&self, slot: Slot) -> UniformReg {
        self.uniform_by(self.plan(), slot)
    }

    #[inline(always)]
    pub(crate) fn uniform_by(&self, plan: &Plan, slot: Slot) -> UniformReg {
        let place = plan.place(slot);
        UniformReg::from_field(place.get(self.halves()), place.width.into())
    }

    /// Returns the predicate in a field.
    #[inline(always)]
    pub(crate) fn predicate_by(&self, plan: &Plan, slot: Slot) -> Pred {
        let place = plan.place(slot);
        let bits = place.get(self.halves());
        Pred::from_bits(if place.is_inverted() { !bits } else { bits })
    }

    /// Returns the instruction with another number in a field, legal or not; `None` if it does not fit.
    pub(crate) fn put(mut self, slot: Slot, number: u64) -> Option<Self> {
        self.set(slot, number).then_some(self)
    }

    /// Puts a number into a field, legal or not; returns whether it fits. Nothing changes if the form does not have the
    /// field, or the number does not fit.
    #[inline]
    pub(crate) fn set(&mut self, slot: Slot, number: u64) -> bool {
        self.set_at(self.plan().place(slot), slot, number)
    }

    /// The same for a slot whose place is known.
    #[inline(always)]
    pub(crate) fn set_at(&mut self, place: SlotPlace, slot: Slot, number: u64) -> bool {
        if place.is_split() {
            return self.set_split(slot, number);
        }
        if place.fits(number) {
            [self.low, self.high] = place.with(self.halves(), number);
        }
        place.fits(number)
    }

    #[inline(never)]
    fn set_split(&mut self, slot: Slot, number: u64) -> bool {
        let (mut word, mut left) = (self.bits(), number);
        for row in self.rows().rev().filter(|row| row.slot == slot) {
            word = row.field.with(word, left);
            left = left.checked_shr(row.field.width()).unwrap_or(0);
        }
        if left == 0 {
            *self = self.with_word(word);
        }
        left == 0
    }

    /// Returns what a word with the opcode of a form is that the form does not have.
    fn illegal(self) -> NoLoad {
        let word = self.bits();
        let is_wrong = |row: &Row| row.fixed.is_some_and(|fixed| row.field.get(word) != fixed);
        if let Some(row) = self.rows().find(|row| is_wrong(row)) {
            return NoLoad::Fixed(row);
        }
        if !has_schedule(self.plan_index(), self.halves()) {
            return NoLoad::Schedule;
        }
        let group = self.sm().group();
        let mut illegal = self.form().illegal.iter();
        let excluded =
            illegal.find(|bits| word & bits.mask == bits.value && bits.groups.contains(group));
        // A number without a text comes last.
        excluded.map_or(NoLoad::Other, NoLoad::Excluded)
    }
}

/// Why a word is no load, in two registers: what a call writes to memory would keep all results of decoding there.
#[derive(Clone, Copy)]
enum NoLoad {
    Other,
    Schedule,
    OtherSm(&'static Form),
    Fixed(&'static Row),
    Excluded(&'static IllegalBits),
}

impl NoLoad {
    #[inline]
    fn decoded(self) -> Decoded {
        Decoded::Illegal(match self {
            Self::Other => return Decoded::Other,
            Self::Schedule => Illegal::Schedule,
            Self::OtherSm(form) => Illegal::OtherSm { mnemonic: form.name },
            Self::Fixed(row) => Illegal::Form(row.otherwise),
            Self::Excluded(bits) => Illegal::Form(bits.reason),
        })
    }
}

/// Returns why a word of 128 bits is no load.
#[cold]
#[inline(never)]
fn no_load(low: u64, high: u64, sm: Sm) -> NoLoad {
    match no_form(low, high, sm.group_index()) {
        NoForm::Other => NoLoad::Other,
        NoForm::IllegalIn(plan) => Instruction::of(plan, [low, high], sm).illegal(),
        NoForm::OfOtherSms => first_form(low.into()).map_or(NoLoad::Other, NoLoad::OtherSm),
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text().as_str())
    }
}

impl fmt::Debug for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {:?})", self.text().as_str(), self.word(), self.sm())
    }
}
