//! The table, evaluated by the compiler for each form and each group of SMs: field positions, illegal words, and the
//! bits that tell alternatives of an operand apart. Decoding and writing read only this.

use crate::eight::HASHES;
use crate::instruction::Instruction;
use crate::pieces::{GUARDS, MAX_PIECES, Pieces, UNIFORM_GUARDS};
use crate::ready::Ready;
use crate::sm::Group;
use crate::table::forms::{
    Execution, FORMS, Form, FormDestination, FormSize, FormSpace, IllegalBits,
};
use crate::table::grammar::{Alternative, Condition, Modifier as FormModifier, Operand, Part};
use crate::table::row::{Kind, Row, Slot, TAH};
use crate::table::values::{Hashed, Modifier, Modifiers, Values};

const GROUPS: usize = Group::Blackwell120 as usize + 1;

/// In numeric order.
const ALL_GROUPS: [Group; GROUPS] = [
    Group::Spa5,
    Group::Volta,
    Group::Turing,
    Group::Ampere,
    Group::Ada,
    Group::Hopper,
    Group::Blackwell100,
    Group::Blackwell101,
    Group::Blackwell107,
    Group::Blackwell120,
];

/// The low and high half of a word. Most fields lie in one half, and a `u128` would align every type that contains one
/// to 16 bytes.
pub(crate) type Halves = [u64; 2];

pub(crate) const fn halves(word: u128) -> Halves {
    [word as u64, (word >> 64) as u64]
}

/// The position of a slot. The width is 0 if the form lacks it on these SMs.
#[derive(Clone, Copy)]
pub(crate) struct SlotPlace {
    low: u8,
    pub(crate) width: u8,
    /// The number of its row; if it has several, the last one's.
    row: u8,
    traits: u8,
}

/// The slot has several rows, or a row that crosses the halves of the word.
const SPLIT: u8 = 1 << 0;
/// A uniform register or predicate.
const UNIFORM: u8 = 1 << 1;
/// A predicate stored as 7 minus its number.
const INVERTED: u8 = 1 << 2;
/// A number in units of 32 bytes.
const BY_32: u8 = 1 << 3;

impl SlotPlace {
    pub(crate) const NOWHERE: Self = Self { low: 0, width: 0, row: 0, traits: 0 };

    pub(crate) const fn row(self, form: &Form) -> Option<&'static Row> {
        row_at(form, self.row)
    }

    #[inline(always)]
    pub(crate) const fn is_split(self) -> bool {
        self.traits & SPLIT != 0
    }

    #[inline(always)]
    pub(crate) const fn is_uniform(self) -> bool {
        self.traits & UNIFORM != 0
    }

    #[inline(always)]
    pub(crate) const fn is_inverted(self) -> bool {
        self.traits & INVERTED != 0
    }

    #[inline(always)]
    pub(crate) const fn is_by_32(self) -> bool {
        self.traits & BY_32 != 0
    }

    /// Appends `above` if it is the one bit directly above this place.
    pub(crate) const fn joined_with(self, above: Self) -> Option<Self> {
        if above.width == 1 && above.low == self.low + self.width {
            Some(Self { width: self.width + 1, ..self })
        } else {
            None
        }
    }

    /// All ones.
    pub(crate) const fn max(self) -> u64 {
        (1 << self.width) - 1
    }

    /// A slot that the form lacks accepts only 0.
    pub(crate) const fn fits(self, number: u64) -> bool {
        number >> self.width == 0
    }

    /// The slot must not be split, and the number must fit.
    #[inline(always)]
    pub(crate) const fn with(self, [low, high]: Halves, number: u64) -> Halves {
        let mask = ((1 << self.width) - 1) << (self.low & 63);
        let bits = number << (self.low & 63);
        if self.low < 64 { [low & !mask | bits, high] } else { [low, high & !mask | bits] }
    }

    /// The slot must not be split.
    #[inline(always)]
    pub(crate) const fn get(self, [low, high]: Halves) -> u64 {
        let half = if self.low < 64 { low } else { high };
        half >> (self.low & 63) & ((1 << self.width) - 1)
    }
}

impl SlotPlace {
    /// Sign-extends the number in a slot that is not split, and returns it in bytes.
    #[inline(always)]
    pub(crate) const fn get_signed(self, word: Halves) -> i64 {
        let unused = (64 - self.width as u32) & 63;
        let number = (self.get(word) << unused) as i64 >> unused;
        number << if self.is_by_32() { 5 } else { 0 }
    }
}

const fn traits(kind: Kind) -> u8 {
    match kind {
        Kind::UniformRegister | Kind::UniformPredicate => UNIFORM,
        Kind::InvertedPredicate => INVERTED,
        Kind::SignedBy32 => BY_32,
        _ => 0,
    }
}

/// Bits that a word is compared with.
#[derive(Clone, Copy)]
struct Pattern {
    mask: Halves,
    value: Halves,
}

impl Pattern {
    /// Matches every word.
    const ANY: Self = Self { mask: [0; 2], value: [0; 2] };
    /// Matches no word.
    const NEVER: Self = Self { mask: [0; 2], value: [1; 2] };

    const fn of(mask: u128, value: u128) -> Self {
        Self { mask: halves(mask), value: halves(value) }
    }

    #[inline(always)]
    const fn fits(&self, [low, high]: Halves) -> bool {
        (low & self.mask[0] ^ self.value[0]) | (high & self.mask[1] ^ self.value[1]) == 0
    }

    /// Changes the word so that it fits.
    #[inline(always)]
    const fn set_in(&self, [low, high]: Halves) -> Halves {
        [low & !self.mask[0] | self.value[0], high & !self.mask[1] | self.value[1]]
    }
}

/// The checks of a 128-bit word beyond the opcode and bit 91 of its form. Separate from the plan, so that decoding
/// touches few cache lines.
#[derive(Clone, Copy)]
struct Acceptance {
    no_schedules: &'static [u32; 8],
    /// Mask and value of the fixed bits, all in the high half.
    fixed: (u64, u64),
    /// Up to two illegal patterns, the first without bits in the low half. Unused ones match no word, which spares a
    /// count.
    illegal: (u64, u64),
    illegal_both: Pattern,
    /// Some numbers of a 3-bit field have no text. `textless` is the field's lowest bit, in the high half;
    /// `without_text` is a mask of these numbers.
    textless: u8,
    without_text: u8,
}

impl Acceptance {
    /// Whether the disassembler accepts and prints a word of this form.
    #[inline(always)]
    fn accepts(&self, word: Halves) -> bool {
        let [_, high] = word;
        let is_illegal = high & self.illegal.0 == self.illegal.1;
        let is_printed = self.without_text >> (high >> (self.textless & 63) & 7) & 1 == 0;
        let is_legal = !is_illegal & !self.illegal_both.fits(word);
        self.has_schedule(word) & (high & self.fixed.0 == self.fixed.1) & is_printed & is_legal
    }

    #[inline(always)]
    fn has_schedule(&self, [_, high]: Halves) -> bool {
        let missing = self.no_schedules.get((high >> 58) as usize & 7).copied();
        missing.unwrap_or(u32::MAX) >> (high >> 41 & 31) & 1 == 0
    }
}

const MAX_MODIFIERS: usize = 10;

/// A modifier of a form, resolved so that its row need not be read.
#[derive(Clone, Copy)]
pub(crate) struct PlannedModifier {
    pub(crate) place: SlotPlace,
    /// The texts by the field's number; `None` if other fields also affect the text.
    texts: Option<&'static Modifiers>,
    /// The names of the field's values, unless they depend on another field.
    values: Option<&'static Values>,
    pub(crate) modifier: &'static FormModifier,
}

const MAX_DOUBTFUL: usize = 6;

/// A field, and its numbers that make a load impossible to execute.
#[derive(Clone, Copy)]
struct Doubtful {
    place: SlotPlace,
    numbers: u16,
}

impl Doubtful {
    const NONE: Self = Self { place: SlotPlace::NOWHERE, numbers: 0 };

    #[inline(always)]
    const fn fits(&self, word: Halves) -> bool {
        self.numbers >> (self.place.get(word) & 15) & 1 != 0
    }
}

impl PlannedModifier {
    const fn of(modifier: &'static FormModifier) -> Self {
        Self { place: SlotPlace::NOWHERE, texts: None, values: None, modifier }
    }

    /// Names that depend on another field are looked up in the load.
    #[inline(always)]
    pub(crate) fn values(&self, load: &Instruction) -> Option<&'static Values> {
        match *self.modifier {
            FormModifier::Field(slot) | FormModifier::Shown { slot, .. } => {
                self.values.or_else(|| load.values(slot))
            }
            FormModifier::Always { .. } => None,
        }
    }

    /// The modifier's name in messages.
    pub(crate) fn kind(&self, load: &Instruction) -> &'static str {
        match *self.modifier {
            FormModifier::Always { kind, .. } => kind,
            _ => self.values(load).map_or("", |values| values.kind),
        }
    }

    /// The modifier's text, if its field alone decides it.
    #[inline(always)]
    pub(crate) fn text(&self, word: Halves) -> Option<&'static Modifier> {
        self.texts?.get(self.place.get(word) as usize & 15)
    }
}

/// An alternative of an operand, resolved for a form and a group.
#[derive(Clone, Copy)]
pub(crate) struct PlannedAlternative {
    is: Pattern,
    is_not: Pattern,
    pub(crate) row: &'static Alternative,
    /// The number of alternatives of this operand that follow.
    pub(crate) others: u8,
    pub(crate) pieces: Pieces,
    /// The bits that the parser sets for this alternative.
    sets: Pattern,
    /// The bit that the parser sets to the value of `.E`.
    pub(crate) set_as_extended: SlotPlace,
    /// When the parser checks `is_not`.
    pub(crate) check: Check,
    /// Whether the parser can read it: all its registers must exist.
    pub(crate) is_read: bool,
    /// Whether its base has 64 bits.
    pub(crate) is_wide: bool,
}

/// When the parser checks that the word does not match [`PlannedAlternative::is_not`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Check {
    Never,
    Before,
    After,
}

impl PlannedAlternative {
    #[inline(always)]
    pub(crate) const fn fits(&self, word: Halves) -> bool {
        self.is.fits(word) & !self.is_not.fits(word)
    }

    /// Whether this check applies and rules the word out.
    #[inline(always)]
    pub(crate) fn is_refused(&self, check: Check, word: Halves) -> bool {
        self.check == check && self.is_not.fits(word)
    }

    #[inline(always)]
    pub(crate) const fn set_in(&self, word: Halves) -> Halves {
        self.sets.set_in(word)
    }
}

const MAX_OPERANDS: usize = 5;

/// An operand with its alternatives on the SMs of a group.
#[derive(Clone, Copy)]
pub(crate) struct PlannedOperand {
    /// A range of [`ALTERNATIVES`].
    start: u16,
    end: u16,
    pub(crate) is_optional: bool,
    /// Whether it begins with a number.
    pub(crate) is_number: bool,
}

impl PlannedOperand {
    const NONE: Self = Self { start: 0, end: 0, is_optional: false, is_number: false };

    #[inline(always)]
    pub(crate) fn alternatives(&self) -> &'static [PlannedAlternative] {
        let range = usize::from(self.start)..usize::from(self.end);
        ALTERNATIVES.get(range).unwrap_or_default()
    }
}

/// A form on the SMs of a group.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) form: &'static Form,
    /// Whether words have 64 bits. Each mnemonic then has one form, with one address.
    pub(crate) is_narrow: bool,
    /// Copied from the form, because a function compiled for one plan does not see values behind a reference as
    /// constants.
    pub(crate) space: FormSpace,
    pub(crate) destination: FormDestination,
    pub(crate) size: FormSize,
    pub(crate) is_executed: bool,
    pub(crate) uniform_registers: u8,
    pub(crate) places: [SlotPlace; Slot::COUNT],
    /// The modifiers on these SMs.
    modifiers: [PlannedModifier; MAX_MODIFIERS],
    modifier_count: u8,
    /// For each [hash](Eight::hash) of a name's first bytes, a mask of the modifiers with such a name.
    pub(crate) hashed: Hashed,
    /// A mask of the modifiers that every text has.
    pub(crate) required: u16,
    /// The guard joined with its negation bit, and its texts.
    guard: SlotPlace,
    guards: &'static [Ready<8>; 16],
    /// The mnemonic.
    pub(crate) name: Ready<8>,
    operands: [PlannedOperand; MAX_OPERANDS],
    operand_count: u8,
    /// The alternatives of all operands, a range of [`ALTERNATIVES`].
    alternatives: (u16, u16),
    /// The word with default operands.
    pub(crate) template: u128,
    /// The fields in which only one number has a public meaning, and these numbers.
    public: Pattern,
    doubtful: [Doubtful; MAX_DOUBTFUL],
    /// Whether an offset without a base register is unsigned.
    pub(crate) is_bare_unsigned: bool,
    /// Whether the address adds a uniform register.
    pub(crate) adds_uniform: bool,
}

impl Plan {
    #[inline(always)]
    pub(crate) fn operands(&self) -> &[PlannedOperand] {
        self.operands.get(..usize::from(self.operand_count)).unwrap_or_default()
    }

    #[inline(always)]
    pub(crate) fn alternatives(&self) -> &'static [PlannedAlternative] {
        let (start, end) = self.alternatives;
        ALTERNATIVES.get(usize::from(start)..usize::from(end)).unwrap_or_default()
    }

    #[inline(always)]
    pub(crate) fn modifiers(&self) -> &[PlannedModifier] {
        self.modifiers.get(..usize::from(self.modifier_count)).unwrap_or_default()
    }

    /// The guard with the space after it; empty for `@PT`.
    #[inline(always)]
    pub(crate) fn guard(&self, word: Halves) -> &'static Ready<8> {
        let [first, ..] = self.guards;
        self.guards.get(self.guard.get(word) as usize & 15).unwrap_or(first)
    }

    #[inline(always)]
    pub(crate) fn place(&self, slot: Slot) -> SlotPlace {
        self.places.get(slot as usize).copied().unwrap_or(SlotPlace::NOWHERE)
    }

    /// Whether the values of all fields allow execution.
    #[inline(always)]
    pub(crate) fn is_public(&self, word: Halves) -> bool {
        self.public.fits(word) & !self.doubtful.iter().fold(false, |any, of| any | of.fits(word))
    }
}

/// `?trans1`, no barriers, no waits: bits 127:104 of a word assembled from text without scheduling.
const UNSCHEDULED: u128 = 0x00_0fe2 << 104;

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn plan(form: &'static Form, group: Group) -> (Plan, Acceptance) {
    let is_narrow = matches!(group, Group::Spa5);
    let mut plan = Plan {
        form,
        is_narrow,
        space: form.space,
        destination: form.destination,
        size: form.size,
        is_executed: matches!(form.execution, Execution::Executed),
        uniform_registers: match group {
            Group::Spa5 | Group::Volta => 0,
            group if TAH.contains(group) => 63,
            _ => 255,
        },
        places: [SlotPlace::NOWHERE; Slot::COUNT],
        modifiers: [PlannedModifier::of(&form.modifiers[0]); MAX_MODIFIERS],
        modifier_count: 0,
        hashed: [0; HASHES],
        required: 0,
        guard: SlotPlace::NOWHERE,
        guards: &GUARDS,
        name: Ready::EMPTY.with(form.name),
        operands: [PlannedOperand::NONE; MAX_OPERANDS],
        operand_count: form.operands.len() as u8,
        alternatives: (0, 0),
        template: if is_narrow { 0 } else { UNSCHEDULED },
        public: Pattern::ANY,
        doubtful: [Doubtful::NONE; MAX_DOUBTFUL],
        is_bare_unsigned: false,
        adds_uniform: false,
    };
    let (mut fixed_mask, mut fixed_value) = (0, 0);
    let (mut public_mask, mut public_value) = (0, 0);
    // The rows must cover each bit once, from the top down.
    let mut next = if is_narrow { 64 } else { 128 };
    let mut number = 0;
    while let Some(row) = row_at(form, number) {
        if row.groups.contains(group) {
            let field = row.field;
            assert!(field.high() + 1 == next, "the rows must cover each bit once");
            next = field.low();
            let place = &mut plan.places[row.slot as usize];
            let is_in_both_halves = field.high() / 64 > field.low() / 64;
            let split = if place.width > 0 || is_in_both_halves { SPLIT } else { 0 };
            *place = SlotPlace {
                low: field.low(),
                width: field.width() as u8,
                row: number,
                traits: traits(row.kind) | split,
            };
            if let Some(value) = row.fixed
                && field.low() != FORM_BIT
            {
                fixed_mask |= field.mask();
                fixed_value = field.with(fixed_value, value);
            }
            if let Some((number, _)) = row.text_only {
                public_mask |= field.mask();
                public_value = field.with(public_value, number);
            }
            if is_narrow || field.low() < 104 {
                plan.template = field.with(plan.template, default(row, form));
            }
        }
        number = row_after(form, number);
    }
    assert!(next == 0, "the rows must cover each bit once");
    plan.public = Pattern::of(public_mask, public_value);
    let guard = plan.places[Slot::Guard as usize];
    let both = guard.joined_with(plan.places[Slot::GuardNegated as usize]);
    assert!(both.is_some(), "the negation of a guard is the bit above it");
    plan.guard = if let Some(both) = both { both } else { guard };
    plan.guards = if guard.is_uniform() { &UNIFORM_GUARDS } else { &GUARDS };
    assert!(is_narrow || fixed_mask as u64 == 0, "fixed bits are in the high half");
    let mut acceptance = Acceptance {
        no_schedules: form.no_schedules,
        fixed: (halves(fixed_mask)[1], halves(fixed_value)[1]),
        illegal: (0, 1),
        illegal_both: Pattern::NEVER,
        textless: 0,
        without_text: 0,
    };
    let (mut n, mut has_first) = (0, false);
    while n < form.illegal.len() {
        let IllegalBits { groups, mask, value, .. } = form.illegal[n];
        let pattern = Pattern::of(mask, value);
        if !groups.contains(group) {
        } else if pattern.mask[0] == 0 && !has_first {
            acceptance.illegal = (pattern.mask[1], pattern.value[1]);
            has_first = true;
        } else {
            assert!(acceptance.illegal_both.mask[1] == 0, "there is room for two");
            acceptance.illegal_both = pattern;
        }
        n += 1;
    }
    plan = with_address(with_modifiers(plan), group);
    with_textless(plan, acceptance)
}

/// The field's number if the text omits the field.
const fn default(row: &Row, form: &Form) -> u64 {
    let ones = row.field.max();
    match (row.fixed, row.text_only, row.kind) {
        (Some(fixed), ..) => fixed,
        (None, _, Kind::Named(values) | Kind::NamedBeside(values, ..)) => match values.default {
            Some(number) => number,
            None => 0,
        },
        (None, Some((number, _)), _) => number,
        (None, None, Kind::Opcode) => form.opcode as u64,
        // `LD` and `LDS` print it only beside `.ZD`.
        (None, None, _) if matches!(row.slot, Slot::PredicateOut) => 0,
        (None, None, Kind::Predicate | Kind::UniformPredicate) => ones,
        (None, None, Kind::Register | Kind::UniformRegister) => ones,
        // The text of `LD` and `LDG` shows the width; the other forms default to 64 bits.
        (None, None, _) if matches!(row.slot, Slot::Wide) && !has(form, Slot::Extended) => 1,
        _ => 0,
    }
}

/// The number of a row is its block times 32 plus its index.
#[expect(clippy::indexing_slicing, reason = "compared with the lengths")]
const fn row_at(form: &Form, number: u8) -> Option<&'static Row> {
    let (block, index) = (number as usize / 32, number as usize % 32);
    let is_there = block < form.rows.len() && index < form.rows[block].len();
    if is_there { Some(&form.rows[block][index]) } else { None }
}

const fn row_after(form: &Form, number: u8) -> u8 {
    if row_at(form, number + 1).is_some() { number + 1 } else { (number / 32 + 1) * 32 }
}

const fn has(form: &Form, slot: Slot) -> bool {
    let mut number = 0;
    while let Some(row) = row_at(form, number) {
        if row.slot as u8 == slot as u8 {
            return true;
        }
        number = row_after(form, number);
    }
    false
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn with_modifiers(mut plan: Plan) -> Plan {
    let (mut n, mut count, mut doubtful) = (0, 0, 0);
    while n < plan.form.modifiers.len() {
        let mut planned = PlannedModifier::of(&plan.form.modifiers[n]);
        let mut is_there = true;
        if let FormModifier::Always { first, .. } = plan.form.modifiers[n] {
            plan.required |= 1 << count;
            plan.hashed[first.hash()] |= 1 << count;
        }
        if let FormModifier::Field(slot) | FormModifier::Shown { slot, .. } = plan.form.modifiers[n]
        {
            planned.place = plan.places[slot as usize];
            is_there = planned.place.width > 0;
            if is_there && let Some((values, beside)) = values_of(&plan, planned.place) {
                let is_beside = beside.is_some();
                let mut hash = 0;
                while hash < HASHES {
                    let other = if let Some(other) = beside { other.hashed[hash] } else { 0 };
                    plan.hashed[hash] |= ((values.hashed[hash] | other != 0) as u16) << count;
                    hash += 1;
                }
                let is_simple = !planned.place.is_split() && planned.place.width <= 4;
                if !is_beside {
                    planned.values = Some(values);
                }
                if values.default.is_none() {
                    plan.required |= 1 << count;
                }
                // A 64-bit base without `.E` has a text of its own, so the field alone does not decide.
                let is_plain = is_simple
                    && !is_beside
                    && matches!(plan.form.modifiers[n], FormModifier::Field(_))
                    && (!matches!(slot, Slot::Extended)
                        || plan.places[Slot::Wide as usize].width == 0);
                if is_plain {
                    planned.texts = Some(values.modifiers);
                }
                assert!(is_simple || values.doubtful == 0 || values.rows.len() <= 16);
                if is_simple && values.doubtful != 0 {
                    plan.doubtful[doubtful] =
                        Doubtful { place: planned.place, numbers: values.doubtful };
                    doubtful += 1;
                }
            }
        }
        if is_there {
            plan.modifiers[count] = planned;
            count += 1;
        }
        n += 1;
    }
    plan.modifier_count = count as u8;
    plan
}

/// The names of a slot's values, and the names that replace them if another field has a certain number.
const fn values_of(
    plan: &Plan,
    place: SlotPlace,
) -> Option<(&'static Values, Option<&'static Values>)> {
    match place.row(plan.form) {
        Some(Row { kind: Kind::Named(values), .. }) => Some((values, None)),
        Some(Row { kind: Kind::NamedBeside(values, .., beside), .. }) => {
            Some((values, Some(beside)))
        }
        _ => None,
    }
}

/// Returns `number` in its slot, and the mask of the slot. A split slot is compared only with 0 and all ones.
const fn bits_of(form: &Form, group: Group, slot: Slot, number: u64) -> (u128, u128) {
    let (mut value, mut mask) = (0, 0);
    let mut at = 0;
    while let Some(row) = row_at(form, at) {
        if row.groups.contains(group) && row.slot as u8 == slot as u8 {
            assert!(mask == 0 || matches!(number, 0 | 0xff | u64::MAX));
            let number = match row.kind {
                Kind::InvertedPredicate => 7 - (number & 7),
                _ => number,
            };
            value = row.field.with(value, number);
            mask |= row.field.mask();
        }
        at = row_after(form, at);
    }
    (value, mask)
}

/// Finds whether a bare offset is unsigned and whether the address adds a uniform register.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn with_address(mut plan: Plan, group: Group) -> Plan {
    let mut is_unsigned = false;
    let mut operand = 0;
    while operand < plan.form.operands.len() {
        let mut rows = plan.form.operands[operand].alternatives;
        while let [row, others @ ..] = rows {
            rows = others;
            let (mut is_address, mut has_uniform) = (false, false);
            let mut tokens = row.tokens;
            while let [token, rest @ ..] = tokens {
                tokens = rest;
                match token.part {
                    Part::Offset(Slot::Offset) => is_address = true,
                    Part::Absolute(Slot::Offset, bare) => {
                        is_address = true;
                        is_unsigned = !bare.signed.contains(group);
                    }
                    Part::BareOffset(Slot::Offset, bare) => {
                        is_address = true;
                        plan.is_bare_unsigned = !bare.signed.contains(group);
                    }
                    Part::Register(Slot::UniformBase) | Part::Unknown(Slot::UniformBase) => {
                        has_uniform = true;
                    }
                    _ => {}
                }
            }
            plan.adds_uniform |= is_address && has_uniform;
        }
        operand += 1;
    }
    // Beside a uniform register the offset is signed.
    plan.is_bare_unsigned |= is_unsigned && !plan.adds_uniform;
    plan
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn alternative(plan: &Plan, group: Group, row: &'static Alternative) -> PlannedAlternative {
    let mut places = [SlotPlace::NOWHERE; MAX_PIECES + 1];
    let mut n = 0;
    while n < row.tokens.len() {
        places[n] = plan.places[row.tokens[n].part.slot() as usize];
        n += 1;
    }
    let pieces = Pieces::of(row, &places);
    let (mut mask, mut value) = (0, 0);
    let (mut set_mask, mut set_value) = (0, 0);
    let mut planned = PlannedAlternative {
        is: Pattern::ANY,
        is_not: Pattern::NEVER,
        row,
        others: 0,
        pieces,
        sets: Pattern::ANY,
        set_as_extended: SlotPlace::NOWHERE,
        check: Check::Never,
        is_read: row.is_read(),
        is_wide: false,
    };
    let mut conditions = row.when;
    while let [condition, rest @ ..] = conditions {
        conditions = rest;
        planned.is_wide |= matches!(condition, Condition::Is(Slot::Wide, 1));
        let (slot, number) = match *condition {
            Condition::Is(slot, number)
            | Condition::Unless(slot, number)
            | Condition::Needs(slot, number)
            | Condition::Set(slot, number) => (slot, number),
            Condition::Zero(slot) | Condition::Nonzero(slot) => (slot, u64::MAX),
            Condition::SetAsExtended(slot) => {
                planned.set_as_extended = plan.places[slot as usize];
                continue;
            }
        };
        let (bits, of) = bits_of(plan.form, group, slot, number);
        match condition {
            Condition::Is(..) | Condition::Zero(_) => {
                mask |= of;
                value |= bits;
            }
            Condition::Set(..) => {
                set_mask |= of;
                set_value |= bits;
            }
            // The SM lacks the field, so the alternative never fits.
            _ if of == 0 => planned.is_not = Pattern::ANY,
            _ => planned.is_not = Pattern::of(of, bits),
        }
        match condition {
            Condition::Needs(..) => planned.check = Check::Before,
            Condition::Nonzero(_) => {
                assert!(of != 0, "a form without the register has no such alternative");
                planned.check = Check::After;
            }
            _ => {}
        }
    }
    planned.is = Pattern::of(mask, value);
    planned.sets = Pattern::of(mask | set_mask, value | set_value);
    planned
}

/// Finds the numbers in modifier fields of `LDSM` that have no text.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn with_textless(plan: Plan, mut acceptance: Acceptance) -> (Plan, Acceptance) {
    let mut n = 0;
    while n < plan.form.modifiers.len() {
        if let FormModifier::Field(slot) = plan.form.modifiers[n] {
            let place = plan.places[slot as usize];
            if place.width > 0
                && let Some((values, None)) = values_of(&plan, place)
                && values.default.is_none()
            {
                let mut number = 0;
                while number < values.rows.len() {
                    if values.rows[number].name.is_empty() {
                        assert!(place.width == 3 && place.low >= 64);
                        acceptance.textless = place.low - 64;
                        acceptance.without_text |= 1 << number;
                    }
                    number += 1;
                }
            }
        }
        n += 1;
    }
    (plan, acceptance)
}

/// One plan for each form and each group that has it.
const COUNT: usize = {
    let (mut count, mut forms) = (0, FORMS);
    while let [form, rest @ ..] = forms {
        forms = rest;
        count += form.groups.count();
    }
    assert!(count < NO_PLAN as usize);
    count
};

const NO_PLAN: u8 = u8::MAX;

/// The form and group of each plan. [`SPA5`] relies on SM 5.x coming first.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const PLANNED: [(usize, Group); COUNT] = {
    let mut planned = [(0, Group::Spa5); COUNT];
    let (mut count, mut form, mut group) = (0, 0, 0);
    while form < FORMS.len() {
        if FORMS[form].groups.contains(ALL_GROUPS[group]) {
            planned[count] = (form, ALL_GROUPS[group]);
            count += 1;
        }
        group = (group + 1) % GROUPS;
        form += (group == 0) as usize;
    }
    planned
};

/// The plan of each form and group.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
static INDICES: [[u8; GROUPS]; FORMS.len()] = {
    let mut indices = [[NO_PLAN; GROUPS]; FORMS.len()];
    let mut plan = 0;
    while plan < COUNT {
        let (form, group) = PLANNED[plan];
        indices[form][group as usize] = plan as u8;
        plan += 1;
    }
    indices
};

/// The number of alternatives of all plans.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const TOTAL: usize = {
    let (mut total, mut plan) = (0, 0);
    while plan < COUNT {
        let (form, group) = PLANNED[plan];
        let mut operands = FORMS[form].operands;
        while let [operand, rest @ ..] = operands {
            operands = rest;
            let mut rows = operand.alternatives;
            while let [row, rest @ ..] = rows {
                rows = rest;
                total += row.groups.contains(group) as usize;
            }
        }
        plan += 1;
    }
    total
};

struct Plans {
    plans: [Plan; COUNT],
    acceptances: [Acceptance; COUNT],
    /// In the order of the plans.
    alternatives: [PlannedAlternative; TOTAL],
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const ALL: Plans = {
    let (first, acceptance) = plan(&FORMS[0], Group::Spa5);
    let none = alternative(&first, Group::Spa5, &FORMS[0].operands[0].alternatives[0]);
    let mut all = Plans {
        plans: [first; COUNT],
        acceptances: [acceptance; COUNT],
        alternatives: [none; TOTAL],
    };
    let (mut index, mut end) = (0, 0);
    while index < COUNT {
        let (form, group) = PLANNED[index];
        (all.plans[index], all.acceptances[index]) = plan(&FORMS[form], group);
        all.plans[index].alternatives.0 = end as u16;
        let mut n = 0;
        while n < FORMS[form].operands.len() {
            let Operand { mut alternatives, is_optional } = FORMS[form].operands[n];
            let is_number = matches!(alternatives[0].tokens[0].part, Part::Number(_));
            let start = end as u16;
            while let [row, rest @ ..] = alternatives {
                alternatives = rest;
                if row.groups.contains(group) {
                    all.alternatives[end] = alternative(&all.plans[index], group, row);
                    end += 1;
                }
            }
            let mut others = 0;
            while others < end - start as usize {
                all.alternatives[end - 1 - others].others = others as u8;
                others += 1;
            }
            all.plans[index].operands[n] =
                PlannedOperand { start, end: end as u16, is_optional, is_number };
            n += 1;
        }
        all.plans[index].alternatives.1 = end as u16;
        index += 1;
    }
    all
};

static PLANS: [Plan; COUNT] = ALL.plans;
static ACCEPTANCES: [Acceptance; COUNT] = ALL.acceptances;
static ALTERNATIVES: [PlannedAlternative; TOTAL] = ALL.alternatives;

/// The bit of a 128-bit word that chooses among the forms of an opcode.
const FORM_BIT: u8 = 91;

/// By 128-bit opcode: one more than the index of its first form, or 0 if no form has it.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
static OPCODES: [u8; 4096] = {
    let mut opcodes = [0; 4096];
    let mut form = FORMS.len();
    while form > 0 {
        form -= 1;
        if !FORMS[form].groups.contains(Group::Spa5) {
            opcodes[FORMS[form].opcode as usize] = form as u8 + 1;
        }
    }
    opcodes
};

/// The plan by the highest 13 bits of a 64-bit word.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
static OPCODES_64: [u8; 1 << 13] = {
    let mut opcodes = [NO_PLAN; 1 << 13];
    let mut form = 0;
    while form < FORMS.len() {
        if FORMS[form].groups.contains(Group::Spa5) {
            let free = 13 - FORMS[form].rows[0][0].field.width();
            let mut n = 0;
            while n < 1 << free {
                opcodes[(FORMS[form].opcode as usize) << free | n] =
                    INDICES[form][Group::Spa5 as usize];
                n += 1;
            }
        }
        form += 1;
    }
    opcodes
};

/// The plan by the opcode's entry, the group and [`FORM_BIT`], combined by [`choice_of`].
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
static CHOICES: [u8; 1 << 11] = {
    assert!(FORMS.len() < 64 && GROUPS <= 16);
    let mut choices = [NO_PLAN; 1 << 11];
    let mut n = 0;
    while n < FORMS.len() * GROUPS {
        let (form, group) = (n / GROUPS, n % GROUPS);
        let mut first = form;
        while first > 0 && FORMS[first - 1].opcode == FORMS[form].opcode {
            first -= 1;
        }
        let choice = choice_of(first as u8 + 1, group as u8, 0);
        if INDICES[form][group] != NO_PLAN {
            match form_bit(&FORMS[form], ALL_GROUPS[group]) {
                Some(bit) => choices[choice | bit as usize] = INDICES[form][group],
                None => {
                    choices[choice] = INDICES[form][group];
                    choices[choice | 1] = INDICES[form][group];
                }
            }
        }
        n += 1;
    }
    choices
};

#[inline(always)]
const fn choice_of(entry: u8, group: u8, bit: u64) -> usize {
    (entry as usize & 63) << 5 | (group as usize & 15) << 1 | bit as usize & 1
}

/// The number in [`Slot::Form`] of the form's words.
const fn form_bit(form: &Form, group: Group) -> Option<u64> {
    let mut number = 0;
    while let Some(row) = row_at(form, number) {
        if row.field.low() == FORM_BIT && row.groups.contains(group) {
            return row.fixed;
        }
        number = row_after(form, number);
    }
    None
}

/// Why a word has no form.
#[derive(Clone, Copy)]
pub(crate) enum NoForm {
    /// The form of its opcode rejects it; holds the plan.
    IllegalIn(u8),
    /// Only other SMs have a load with this opcode.
    OfOtherSms,
    Other,
}

#[cold]
#[inline(never)]
pub(crate) fn no_form(low: u64, high: u64, group: u8) -> NoForm {
    let entry = OPCODES.get(low as usize & 0xfff).copied().unwrap_or_default();
    let bit = high >> (FORM_BIT - 64);
    let choices = [bit, bit ^ 1].map(|bit| CHOICES.get(choice_of(entry, group, bit)).copied());
    match choices.into_iter().flatten().find(|plan| *plan != NO_PLAN) {
        Some(plan) => NoForm::IllegalIn(plan),
        None if entry > 0 => NoForm::OfOtherSms,
        None => NoForm::Other,
    }
}

#[inline(always)]
pub(crate) fn plan_of_64(word: u64) -> Option<u8> {
    OPCODES_64.get((word >> 51) as usize).copied().filter(|plan| *plan != NO_PLAN)
}

#[inline(always)]
pub(crate) fn plan_of_128(low: u64, high: u64, group: u8) -> Option<u8> {
    let entry = OPCODES.get(low as usize & 0xfff).copied()?;
    let plan = CHOICES.get(choice_of(entry, group, high >> (FORM_BIT - 64))).copied()?;
    ACCEPTANCES.get(usize::from(plan))?.accepts([low, high]).then_some(plan)
}

pub(crate) fn has_schedule(plan: u8, word: Halves) -> bool {
    ACCEPTANCES.get(usize::from(plan)).is_some_and(|acceptance| acceptance.has_schedule(word))
}

pub(crate) fn plan_index(form: usize, group: Group) -> Option<u8> {
    let index = INDICES.get(form)?.get(group as usize).copied()?;
    (index != NO_PLAN).then_some(index)
}

pub(crate) fn first_form(opcode: u128) -> Option<&'static Form> {
    let entry = OPCODES.get(opcode as usize & 0xfff)?.checked_sub(1)?;
    FORMS.get(usize::from(entry))
}

/// The plans of 64-bit words, as constants, so that a function can be compiled for each of them.
pub(crate) const SPA5: [Plan; 5] = {
    assert!(!ALL.plans[5].is_narrow);
    [ALL.plans[0], ALL.plans[1], ALL.plans[2], ALL.plans[3], ALL.plans[4]]
};

#[inline(always)]
pub(crate) fn plan_at(index: u8) -> &'static Plan {
    let [first, ..] = &PLANS;
    PLANS.get(usize::from(index)).unwrap_or(first)
}
