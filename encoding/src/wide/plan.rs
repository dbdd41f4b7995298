//! Where each slot of each form is, worked out by the compiler from the rows.

use super::form::{FORMS, Form};
use super::row::{Row, Slot};
use crate::sm::Group;

const GROUPS: usize = Group::Blackwell120 as usize + 1;

/// No form: the index after the last.
const NO_FORM: u8 = FORMS.len() as u8;

/// Where a slot is: its width is 0 if the form does not have it on these SMs.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) low: u8,
    pub(super) width: u8,
    /// The row: its block times 32 plus its index. Of a slot of several rows, the last one.
    row: u8,
    /// Whether the slot has several rows.
    pub(super) is_split: bool,
}

impl Place {
    pub(super) const NOWHERE: Self = Self { low: 0, width: 0, row: 0, is_split: false };

    pub(super) fn row(self, form: &Form) -> Option<&'static Row> {
        form.rows.get(usize::from(self.row / 32))?.get(usize::from(self.row % 32))
    }
}

/// A form on the SMs of a group.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    pub(super) places: [Place; Slot::COUNT],
    /// The bits that must have a certain value, without the opcode.
    pub(super) fixed_mask: u128,
    pub(super) fixed_value: u128,
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn plan(form: &Form, group: Group) -> Plan {
    let mut plan = Plan { places: [Place::NOWHERE; Slot::COUNT], fixed_mask: 0, fixed_value: 0 };
    let mut block = 0;
    while block < form.rows.len() {
        let mut index = 0;
        while index < form.rows[block].len() {
            let row = form.rows[block][index];
            if row.groups.contains(group) {
                let (low, width) = (row.field.low(), row.field.width() as u8);
                let place = &mut plan.places[row.slot as usize];
                let is_split = place.width > 0;
                *place = Place { low, width, row: (block * 32 + index) as u8, is_split };
                if let Some(value) = row.fixed {
                    plan.fixed_mask |= ((u64::MAX >> (64 - width)) as u128) << low;
                    plan.fixed_value |= (value as u128) << low;
                }
            }
            assert!(block < 8 && index < 32);
            index += 1;
        }
        block += 1;
    }
    plan
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
static PLANS: [[Plan; GROUPS]; FORMS.len()] = {
    const EMPTY: Plan =
        Plan { places: [Place::NOWHERE; Slot::COUNT], fixed_mask: 0, fixed_value: 0 };
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
    (plan(form, group).fixed_value >> 91 & 1) as u64
}

/// Returns the index of the form of a word, or what its opcode is instead.
#[inline]
pub(super) fn form_of(word: u128, group: Group) -> Opcode {
    let Some(first) = OPCODES.get(word as usize & 0xfff).and_then(|entry| entry.checked_sub(1))
    else {
        return Opcode::Other;
    };
    let choices = CHOICES.get(usize::from(first)).and_then(|groups| groups.get(group as usize));
    let chosen = choices.and_then(|bits| bits.get((word >> 91) as usize & 1)).copied();
    match chosen.filter(|form| *form != NO_FORM) {
        Some(form) => Opcode::Form(form),
        None => Opcode::OfOtherSms,
    }
}

/// What the opcode of a word is.
pub(super) enum Opcode {
    /// That of a form.
    Form(u8),
    /// That of a load which other SMs have.
    OfOtherSms,
    Other,
}

/// Returns the plan of a form on the SMs of a group, which has it.
#[inline]
pub(super) fn plan_of(form: u8, group: Group) -> &'static Plan {
    static EMPTY: Plan =
        Plan { places: [Place::NOWHERE; Slot::COUNT], fixed_mask: 0, fixed_value: 0 };
    let plan = PLANS.get(usize::from(form)).and_then(|groups| groups.get(group as usize));
    plan.unwrap_or(&EMPTY)
}
