//! Where each slot of each form is, worked out by the compiler from the rows.

use super::form::{FORMS, Form, Modifier as FormModifier};
use super::row::{Kind, LayoutRow128, Slot};
use super::values::{Modifier, Modifiers, Values};
use crate::ready::Ready;
use crate::sm::Group;

const GROUPS: usize = Group::Blackwell120 as usize + 1;

/// No form: the index after the last.
const NO_FORM: u8 = FORMS.len() as u8;

/// Where a slot is: its width is 0 if the form does not have it on these SMs.
#[derive(Clone, Copy)]
pub(super) struct SlotPlace {
    pub(super) low: u8,
    pub(super) width: u8,
    /// The row: its block times 32 plus its index. Of a slot of several rows, the last one.
    row: u8,
    traits: u8,
}

/// The slot has several rows.
const SPLIT: u8 = 1 << 0;
/// The register or predicate is one of the warp.
const UNIFORM: u8 = 1 << 1;
/// A predicate is stored as 7 minus its number.
const INVERTED: u8 = 1 << 2;
/// A number is in units of 32 bytes.
const BY_32: u8 = 1 << 3;

impl SlotPlace {
    pub(super) const NOWHERE: Self = Self { low: 0, width: 0, row: 0, traits: 0 };

    pub(super) fn row(self, form: &Form) -> Option<&'static LayoutRow128> {
        form.rows.get(usize::from(self.row / 32))?.get(usize::from(self.row % 32))
    }

    #[inline]
    pub(super) const fn is_split(self) -> bool {
        self.traits & SPLIT != 0
    }

    #[inline]
    pub(super) const fn is_uniform(self) -> bool {
        self.traits & UNIFORM != 0
    }

    #[inline]
    pub(super) const fn is_inverted(self) -> bool {
        self.traits & INVERTED != 0
    }

    #[inline]
    pub(super) const fn is_by_32(self) -> bool {
        self.traits & BY_32 != 0
    }

    /// Returns the bits of a slot of one row.
    #[inline]
    pub(super) const fn get(self, [low, high]: [u64; 2]) -> u64 {
        let above = self.low & 63;
        let bits =
            if self.low < 64 { low >> above | high << 1 << (63 - above) } else { high >> above };
        bits & ((1 << self.width) - 1)
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

/// No form has more modifiers.
const MAX_MODIFIERS: usize = 10;

/// A modifier of a form, found without its row.
#[derive(Clone, Copy)]
pub(super) struct PlannedModifier {
    place: SlotPlace,
    /// By number; `None` if it takes more than that to know the text.
    texts: Option<&'static Modifiers>,
}

static NO_TEXTS: Modifiers = [Ready::EMPTY; 16];

impl PlannedModifier {
    const NONE: Self = Self { place: SlotPlace::NOWHERE, texts: None };

    /// Returns the modifier of a word, if its field alone decides.
    #[inline]
    pub(super) fn text(&self, word: [u64; 2]) -> Option<&'static Modifier> {
        self.texts?.get(self.place.get(word) as usize & 15)
    }
}

/// A form on the SMs of a group.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    /// The bits that must have a certain value, without the opcode, the low half first.
    fixed_mask: [u64; 2],
    fixed_value: [u64; 2],
    /// The bits and values of words that are refused; never those of a word if there are fewer.
    refused_mask: [[u64; 2]; 2],
    refused_value: [[u64; 2]; 2],
    /// Bit n of entry b: whether batch b and the schedule n (yield flag and stall count) are refused.
    schedules: &'static [u32; 8],
    /// The size, if there are some that have no text, and these sizes as a mask.
    size: SlotPlace,
    without_text: u32,
    pub(super) places: [SlotPlace; Slot::COUNT],
    pub(super) modifiers: [PlannedModifier; MAX_MODIFIERS],
}

const EMPTY: Plan = Plan {
    fixed_mask: [0; 2],
    fixed_value: [0; 2],
    refused_mask: [[0; 2]; 2],
    refused_value: [[1; 2]; 2],
    schedules: &REFUSED_SCHEDULES,
    size: SlotPlace::NOWHERE,
    without_text: 0,
    places: [SlotPlace::NOWHERE; Slot::COUNT],
    modifiers: [PlannedModifier::NONE; MAX_MODIFIERS],
};

static REFUSED_SCHEDULES: [u32; 8] = {
    let never = 1 << 16 | 0xf << 28;
    // With a batch, also the schedule 0.
    [never, never | 1, never | 1, never | 1, never | 1, never | 1, u32::MAX, u32::MAX]
};

/// Those of `ULDC`, which has no batch 3 and no batch beside a schedule above 15.
static REFUSED_SCHEDULES_OF_ULDC: [u32; 8] = {
    let never = 1 << 16 | 0xf << 28;
    let batch = never | 1 | 0xffff_0000;
    [never, batch, batch, u32::MAX, batch, batch, u32::MAX, u32::MAX]
};

/// Returns the low half of a word, and the high one.
pub(super) const fn halves(word: u128) -> [u64; 2] {
    [word as u64, (word >> 64) as u64]
}

impl Plan {
    /// Returns whether the disassembler takes a word of the form and prints it.
    #[inline]
    pub(super) fn accepts(&self, word: [u64; 2]) -> bool {
        let [low, high] = word;
        let is = |mask: [u64; 2], value: [u64; 2]| {
            (low & mask[0] ^ value[0]) | (high & mask[1] ^ value[1]) == 0
        };
        let is_refused = is(self.refused_mask[0], self.refused_value[0])
            | is(self.refused_mask[1], self.refused_value[1])
            | (self.without_text >> (self.size.get(word) & 31) & 1 != 0);
        is(self.fixed_mask, self.fixed_value) & self.has_schedule(word) & !is_refused
    }

    /// Returns whether the scheduling bits are those of a schedule.
    #[inline]
    pub(super) fn has_schedule(&self, [_, high]: [u64; 2]) -> bool {
        let refused = self.schedules.get((high >> 58) as usize & 7).copied().unwrap_or(u32::MAX);
        refused >> (high >> 41 & 31) & 1 == 0
    }
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn plan(form: &Form, group: Group) -> Plan {
    let mut plan = EMPTY;
    let (mut fixed_mask, mut fixed_value) = (0, 0);
    let mut block = 0;
    while block < form.rows.len() {
        let mut index = 0;
        while index < form.rows[block].len() {
            let row = form.rows[block][index];
            if row.groups.contains(group) {
                let (low, width) = (row.field.low(), row.field.width() as u8);
                let place = &mut plan.places[row.slot as usize];
                let split = if place.width > 0 { SPLIT } else { 0 };
                let traits = traits(row.kind) | split;
                *place = SlotPlace { low, width, row: (block * 32 + index) as u8, traits };
                if let Some(value) = row.fixed {
                    fixed_mask |= ((u64::MAX >> (64 - width)) as u128) << low;
                    fixed_value |= (value as u128) << low;
                }
            }
            assert!(block < 8 && index < 32);
            index += 1;
        }
        block += 1;
    }
    (plan.fixed_mask, plan.fixed_value) = (halves(fixed_mask), halves(fixed_value));
    with_refused(with_modifiers(plan, form), form, group)
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn with_modifiers(mut plan: Plan, form: &Form) -> Plan {
    let mut n = 0;
    while n < form.modifiers.len() {
        plan.modifiers[n] = match form.modifiers[n] {
            // Beside a policy the order may have other names.
            FormModifier::Slot(Slot::Order) if plan.places[Slot::Policy as usize].width > 0 => {
                PlannedModifier::NONE
            }
            FormModifier::Slot(slot) => {
                let place = plan.places[slot as usize];
                let texts = match values_of(form, place) {
                    _ if place.width == 0 => Some(&NO_TEXTS),
                    Some(values) if !place.is_split() && place.width <= 4 => Some(values.modifiers),
                    _ => None,
                };
                PlannedModifier { place, texts }
            }
            FormModifier::Always(_) => PlannedModifier::NONE,
        };
        n += 1;
    }
    plan
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn values_of(form: &Form, place: SlotPlace) -> Option<&'static Values> {
    match form.rows[place.row as usize / 32][place.row as usize % 32].kind {
        Kind::Named(values) => Some(values),
        _ => None,
    }
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn with_refused(mut plan: Plan, form: &Form, group: Group) -> Plan {
    let (mut n, mut count) = (0, 0);
    while n < form.refused.len() {
        let refused = form.refused[n];
        if refused.groups.contains(group) {
            plan.refused_mask[count] = halves(refused.mask);
            plan.refused_value[count] = halves(refused.value);
            count += 1;
        }
        n += 1;
    }
    if matches!(form.name.as_bytes(), b"ULDC") {
        plan.schedules = &REFUSED_SCHEDULES_OF_ULDC;
    }
    let size = plan.places[Slot::Size as usize];
    if matches!(form.name.as_bytes(), b"LDSM")
        && let Some(values) = values_of(form, size)
    {
        plan.size = size;
        let mut number = 0;
        while number < 8 {
            if values.modifiers[number].length == 0 {
                plan.without_text |= 1 << number;
            }
            number += 1;
        }
    }
    plan
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
static PLANS: [[Plan; GROUPS]; FORMS.len()] = {
    let mut plans = [[EMPTY; GROUPS]; FORMS.len()];
    let mut form = 0;
    while form < FORMS.len() {
        let mut group = 1;
        while group < GROUPS {
            let of = ALL_GROUPS[group];
            if FORMS[form].groups.contains(of) {
                plans[form][group] = plan(&FORMS[form], of);
            }
            group += 1;
        }
        form += 1;
    }
    plans
};

/// The groups in the order of their numbers.
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

/// One more than the number of an opcode in [`CHOICES`], 0 for an opcode that no form has.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
static OPCODES: [u8; 4096] = {
    let mut opcodes = [0; 4096];
    let mut form = FORMS.len();
    while form > 0 {
        form -= 1;
        opcodes[FORMS[form].opcode as usize] = form as u8 + 1;
    }
    opcodes
};

/// The form of a word: by the first form of its opcode, the group, and bit 91.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
static CHOICES: [[[u8; 2]; GROUPS]; FORMS.len()] = {
    let mut choices = [[[NO_FORM; 2]; GROUPS]; FORMS.len()];
    let mut first = 0;
    while first < FORMS.len() {
        let mut group = 1;
        while group < GROUPS {
            let mut bit = 0;
            while bit < 2 {
                choices[first][group][bit] = choice(first, ALL_GROUPS[group], bit as u64);
                bit += 1;
            }
            group += 1;
        }
        first += 1;
    }
    choices
};

/// Returns the form of that opcode and bit 91; if there is only one form for the group, whatever
/// bit 91 is.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn choice(first: usize, group: Group, bit: u64) -> u8 {
    let mut found = NO_FORM;
    let mut form = first;
    while form < FORMS.len() && FORMS[form].opcode == FORMS[first].opcode {
        if FORMS[form].groups.contains(group) {
            let place = plan(&FORMS[form], group).places[Slot::Form as usize];
            let is_of_bit = place.width > 0 && form_bit(&FORMS[form], group) == bit;
            if is_of_bit || found == NO_FORM {
                found = form as u8;
            }
        }
        form += 1;
    }
    found
}

/// Returns the value of bit 91 that words of the form have.
const fn form_bit(form: &Form, group: Group) -> u64 {
    plan(form, group).fixed_value[1] >> (91 - 64) & 1
}

/// Returns the index of the form that a word is of.
#[inline]
pub(super) fn form_of(word: [u64; 2], group: Group) -> Result<u8, NoForm> {
    let [low, high] = word;
    let Some(first) = OPCODES.get(low as usize & 0xfff).and_then(|entry| entry.checked_sub(1))
    else {
        return Err(NoForm::Other);
    };
    let choices = CHOICES.get(usize::from(first)).and_then(|groups| groups.get(group as usize));
    let chosen = choices.and_then(|bits| bits.get((high >> (91 - 64)) as usize & 1)).copied();
    match chosen.filter(|form| *form != NO_FORM) {
        Some(form) if plan_of(form, group).accepts(word) => Ok(form),
        Some(form) => Err(NoForm::RefusedBy(form)),
        None => Err(NoForm::OfOtherSms),
    }
}

/// Why a word is of no form.
#[derive(Clone, Copy)]
pub(super) enum NoForm {
    /// The form of its opcode refuses it.
    RefusedBy(u8),
    /// Its opcode is that of a load which other SMs have.
    OfOtherSms,
    Other,
}

/// Returns the plan of a form on the SMs of a group, which has it.
#[inline]
pub(super) fn plan_of(form: u8, group: Group) -> &'static Plan {
    static NONE: Plan = EMPTY;
    let plan = PLANS.get(usize::from(form)).and_then(|groups| groups.get(group as usize));
    plan.unwrap_or(&NONE)
}
