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

/// An instruction word of either width. Displays as `0x` and 16 or 32 hexadecimal digits.
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

/// A load instruction of any SM: its word, its form and the SM.
///
/// Guarantees:
/// - [`word`](Self::word) returns the word that [`decode`](Self::decode) took, bit for bit.
/// - [`parse_line`](crate::parse_line) reads [`text`](Self::text) back as an instruction with the same text. Bits that
///   no text shows, such as the [reserved bits](Self::reserved_bits), can differ;
///   [`parse_line_like`](crate::parse_line_like) keeps them.
/// - Meaningless numbers are the exception: their texts, `INVALIDSIZE7` or `???0`, cannot be assembled.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction {
    low: u64,
    high: u64,
    /// The index of the plan, above the bits of the SM. Stored as whole `u64`s, because reading a value just written in
    /// smaller pieces defeats store-to-load forwarding and stalls.
    plan_and_sm: u64,
}

/// The result of decoding a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A load.
    Load(Instruction),
    /// A word with a load's opcode that the disassembler calls illegal.
    Illegal(Illegal),
    /// Another instruction, or none. Also an `LDSM` for which the disassembler prints no text.
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

/// The reason why a word with a load's opcode is illegal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Illegal {
    /// Only SMs of other groups have the instruction.
    OtherSm {
        /// The mnemonic.
        mnemonic: &'static str,
    },
    /// A fixed field has another value, two fields exclude each other, or a field's value does not exist.
    Form(&'static str),
    /// The scheduling bits encode no valid schedule.
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
    /// Decodes a word of `sm`. A word of the wrong width is [`Decoded::Other`].
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
    // Always inlined, so that the caller assembles the load in registers.
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

    /// Returns the SM that the word belongs to.
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

    /// Returns the mnemonics of an SM's loads, each once, without modifiers.
    pub fn mnemonics(sm: Sm) -> impl Iterator<Item = &'static str> {
        FORMS.iter().zip(0..).filter_map(move |(form, n)| {
            // Forms of one mnemonic are adjacent.
            let mut before = FORMS.iter().take(n).rev().take_while(|b| b.name == form.name);
            let is_of_sm = |form: &Form| form.groups.contains(sm.group());
            let is_first = !before.any(is_of_sm);
            (is_of_sm(form) && is_first).then_some(form.name)
        })
    }

    /// Returns an instruction of each form of an SM, with default operands: registers are `RZ`, predicates `PT`.
    /// [Describing](Self::describe) each of them lists all fields of the SM's loads.
    pub fn forms(sm: Sm) -> impl Iterator<Item = Self> {
        let plans = (0..FORMS.len()).filter_map(move |form| plan_index(form, sm.group()));
        plans.map(move |plan| Self::template(plan, sm))
    }

    /// Creates an instruction without modifiers and with default operands: registers are `RZ`, predicates `PT`. A
    /// mnemonic with several forms gives the first one. `None` if `sm` has no such load.
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

    pub(crate) fn template(plan: u8, sm: Sm) -> Self {
        Self::of(plan, halves(plan_at(plan).template), sm)
    }

    /// The same form with default operands.
    pub(crate) fn blank(&self) -> Self {
        Self::template(self.plan_index(), self.sm())
    }

    /// The word must belong to the plan.
    #[inline(always)]
    const fn of(plan: u8, [low, high]: Halves, sm: Sm) -> Self {
        Self { low, high, plan_and_sm: (plan as u64) << 32 | sm.bits() as u64 }
    }

    /// Replaces the word; the form stays.
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

    /// Returns the scheduling of a 128-bit instruction; `None` for a 64-bit one, because a separate control word holds
    /// it. The reuse flags are 0: a load has none, and their bits are the [batch hint](Self::batch).
    #[must_use]
    pub fn control(&self) -> Option<Control> {
        self.sm().has_wide_words().then(|| Control::of_wide_word(self.bits()))
    }

    /// Returns the batch hint of a 128-bit word, 0..=5; 0 is none.
    #[must_use]
    pub fn batch(&self) -> u8 {
        self.get(Slot::Batch) as u8
    }

    /// Returns the PM field of a 128-bit word, 0..=3.
    #[must_use]
    pub fn pm(&self) -> u8 {
        self.get(Slot::Pm) as u8
    }

    /// Returns a mask of the bits that the disassembler does not read and the text does not show.
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

    /// Returns the number in a field; `None` if the form lacks the field.
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

    /// Returns the name of a field's value without its leading dot, even if the text omits it: `CA`, `STRONG.SYS`.
    /// Empty if this value has no name; `None` if the form lacks the field or its values have no names.
    #[must_use]
    pub fn modifier(&self, slot: Slot) -> Option<&'static str> {
        self.value(slot).map(|value| value.name)
    }

    /// Returns the instruction with another number in a field; signed numbers are in two's complement. `None` if the
    /// form lacks the field, the number does not fit or is meaningless, or the word would be illegal.
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

    /// Returns the instruction with this offset in bytes, which is the whole address if there is no base register.
    /// `None` if it does not fit. Set the base first, because it decides whether the number is signed.
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

    #[inline]
    pub(crate) fn has(&self, slot: Slot) -> bool {
        self.plan().place(slot).width > 0
    }

    /// The width in bits; 0 if the form lacks the field.
    pub(crate) fn width(&self, slot: Slot) -> u32 {
        self.width_at(self.plan().place(slot), slot)
    }

    /// Like [`width`](Self::width), without looking up the place.
    #[inline]
    pub(crate) fn width_at(&self, place: SlotPlace, slot: Slot) -> u32 {
        if !place.is_split() {
            return place.width.into();
        }
        let rows = self.rows().filter(|row| row.slot == slot);
        rows.map(|row| row.field.width()).sum()
    }

    /// The number in the field; 0 if the form lacks it.
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

    /// Sign-extends the field and returns it in bytes.
    #[inline(always)]
    pub(crate) fn get_signed_by(&self, plan: &Plan, slot: Slot) -> i64 {
        let place = plan.place(slot);
        // The only split signed field has 32 bits.
        if place.is_split() {
            self.get_split(slot) as i32 as i64
        } else {
            place.get_signed(self.halves())
        }
    }

    /// `None` if the form lacks the field.
    pub(crate) fn kind(&self, slot: Slot) -> Option<Kind> {
        let place = self.plan().place(slot);
        if place.width == 0 { None } else { place.row(self.form()).map(|row| row.kind) }
    }

    /// The names of a field's values. With [`Kind::NamedBeside`] they depend on another field.
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

    pub(crate) fn value(&self, slot: Slot) -> Option<&'static Value> {
        self.values(slot)?.get(self.get(slot))
    }

    #[inline]
    pub(crate) fn register(&self, slot: Slot) -> Reg {
        Reg::new(self.get(slot) as u8)
    }

    #[inline]
    pub(crate) fn uniform(&self, slot: Slot) -> UniformReg {
        self.uniform_by(self.plan(), slot)
    }

    #[inline(always)]
    pub(crate) fn uniform_by(&self, plan: &Plan, slot: Slot) -> UniformReg {
        let place = plan.place(slot);
        UniformReg::from_field(place.get(self.halves()), place.width.into())
    }

    #[inline(always)]
    pub(crate) fn predicate_by(&self, plan: &Plan, slot: Slot) -> Pred {
        let place = plan.place(slot);
        let bits = place.get(self.halves());
        Pred::from_bits(if place.is_inverted() { !bits } else { bits })
    }

    /// The word may become illegal. `None` if the number does not fit.
    pub(crate) fn put(mut self, slot: Slot, number: u64) -> Option<Self> {
        self.set(slot, number).then_some(self)
    }

    /// Stores a number in a field, even if the word becomes illegal; returns whether it fits. Changes nothing if the
    /// form lacks the field or the number does not fit.
    #[inline]
    pub(crate) fn set(&mut self, slot: Slot, number: u64) -> bool {
        self.set_at(self.plan().place(slot), slot, number)
    }

    /// Like [`set`](Self::set), without looking up the place.
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

    /// Finds the reason why the form rejects this word, although the opcode matches.
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
        // The only case left is a number without a text.
        excluded.map_or(NoLoad::Other, NoLoad::Excluded)
    }
}

/// Why a word is not a load. Small enough for two registers, because a call that returned it through memory would keep
/// all results of decoding there.
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
