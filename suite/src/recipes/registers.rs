//! Registers, their limit, the base of an address, and other fields of the word.

use warpload_encoding::MemorySpace;

use crate::draft::{Draft, Form, Stage, Step};

/// Keeps global memory within reach of an offset alone.
pub(crate) fn within_offsets(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Machine, |d| {
        let (_, most) = d.offset_range();
        let most = most as u64;
        let most = if d.form.has_unsigned_offset() { 2 * most + 1 } else { most };
        d.layout.reach.1 = d.layout.reach.1.min(most);
    })
}

/// Chooses a limit above the destination, and an Ra at or above the limit.
pub(crate) fn put_base_beyond_limit(draft: &mut Draft<'_>) {
    let above = draft.rd.max(draft.other_rd).saturating_add(8).min(200);
    draft.state.register_limit = above + draft.random.below(8) as u8;
    let most = u64::from(254 - draft.state.register_limit).min(16);
    draft.ra = draft.state.register_limit + draft.random.below(most + 1) as u8;
}

pub(crate) fn uniform_alone(draft: &mut Draft<'_>) -> bool {
    let has_both = |form: &Form| form.uniform().is_some() && form.has("Ra");
    // Forms with addresses of 32 bits in Ra, if there are any.
    (draft.keep(|form| has_both(form) && !form.parts.address.extended) || draft.keep(has_both))
        && draft.then(Stage::Warp, |d| d.ra = 255)
}

pub(crate) fn offset_unsigned(draft: &mut Draft<'_>) -> bool {
    draft.keep(Form::has_unsigned_offset)
        && within_offsets(draft)
        && draft.then(Stage::Machine, |d| {
            let least = (d.offset_range().1 + 1) as u64;
            d.layout.reach.0 = d.layout.reach.0.max(least);
            if d.form.is_local() {
                d.layout.has_local[1] = true;
            }
        })
        && draft.then(Stage::Warp, |d| {
            if d.has_base() {
                if d.random.one_in(2) {
                    d.ra = 255;
                } else {
                    put_base_beyond_limit(d);
                }
            }
        })
        && draft.then(Stage::Lanes, |d| {
            let least = d.layout.reach.0;
            let is_low = d.addresses[0] < least;
            if is_low && (d.form.is_local() || d.form.parts.space == MemorySpace::Shared) {
                let high = d.state.local_window.size.wrapping_sub(d.form.bytes());
                let is_high = d.form.is_local() && high >= least;
                d.addresses = [if is_high { high } else { least }; 32];
            }
        })
}

pub(crate) fn overlap(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.has("Ra") || form.uniform().is_some())
        && draft.then(Stage::Warp, |d| {
            let base = if d.form.fills_uniform() { d.ur } else { d.ra };
            if base != 255 {
                d.rd = base - base % d.form.group();
                d.other_rd = d.rd.saturating_add(4);
            }
        })
}

pub(crate) fn last_register(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| !form.fills_uniform())
        && draft.then(Stage::Warp, |d| {
            let count = d.form.registers() as u8;
            let filled = [d.rd, d.other_rd]
                .map(|first| if first == 255 { 0 } else { first.saturating_add(count.min(4)) });
            let filled = if count == 8 { filled[0].max(filled[1]) } else { filled[0] };
            let base = if !d.has_base() {
                0
            } else {
                d.ra.saturating_add(1 + u8::from(d.form.parts.address.extended))
            };
            d.state.register_limit = filled.max(base).max(1);
        })
}

pub(crate) fn last_base(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.has("Ra"))
        && draft.then(Stage::Warp, |d| {
            if d.ra != 255 {
                d.state.register_limit =
                    d.ra.min(250) + 1 + u8::from(d.form.parts.address.extended);
            }
        })
}

/// Misaligns the first destination register.
pub(crate) fn misalign(draft: &mut Draft<'_>) {
    let count = draft.form.group().max(2);
    let residue = 1 + draft.random.below(u64::from(count) - 1) as u8;
    draft.rd = draft.rd / count * count + residue;
}

pub(crate) fn misaligned_register(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.registers() > 1 || form.is_wide())
        && draft.then(Stage::Warp, |d| {
            let is_filled = d.form.registers() > 1 && d.rd != 255;
            if is_filled && (!d.form.is_wide() || d.random.one_in(2)) {
                misalign(d);
            } else if d.form.parts.address.extended && d.has_base() {
                d.ra |= 1;
            } else if is_filled {
                misalign(d);
            } else {
                d.ur |= 1;
            }
        })
}

pub(crate) fn destination_range(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| !form.fills_uniform())
        && draft.then(Stage::Warp, |d| {
            put_limit_within(d);
            // The high half of a 256-bit load is below the limit.
            d.other_rd = 0;
            d.state.register_limit = d.rd + d.form.group() - 1;
        })
}

/// Changes a base that is a pair of registers.
pub(crate) fn change_base(draft: &mut Draft<'_>, step: Step) -> bool {
    draft.keep(|form| form.parts.address.extended) && draft.then(Stage::Warp, step)
}

pub(crate) fn base_alignment(draft: &mut Draft<'_>) -> bool {
    change_base(draft, |d| d.ra = d.ra.min(200) | 1)
}

pub(crate) fn order_destination(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.registers() > if form.fills_uniform() { 2 } else { 1 })
        && draft.then(Stage::Warp, |d| {
            if d.form.fills_uniform() {
                d.rd = beyond_uniform(d, d.form.group()) + 1;
            } else {
                misalign(d);
                put_limit_within(d);
            }
        })
}

pub(crate) fn order_operands(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.is_wide() && !form.fills_uniform())
        && draft.then(Stage::Warp, |d| {
            if d.form.parts.address.extended {
                d.ra = d.ra.min(200) | 1;
            } else {
                d.ur |= 1;
            }
            // Rd is aligned and at the limit. Ra and the register after it are below the limit.
            let ra = if d.has_base() { d.ra } else { 0 };
            d.rd = (ra / 4 + 2) * 4;
            d.state.register_limit = d.rd;
        })
}

pub(crate) fn high_register(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| !form.fills_uniform())
        && draft.then(Stage::Warp, |d| {
            for number in [&mut d.rd, &mut d.other_rd, &mut d.ra] {
                if *number < 128 {
                    *number += 128;
                }
            }
        })
}

fn has_uniform(form: &Form) -> bool {
    form.fills_uniform() || form.uniform().is_some()
}

/// Whether a form has uniform registers that must be aligned.
fn has_uniform_group(form: &Form) -> bool {
    form.fills_uniform() && form.registers() > 1 || form.has_uniform_pair()
}

fn misalign_uniform(draft: &mut Draft<'_>) {
    if draft.form.fills_uniform() {
        misalign(draft);
    } else {
        draft.ur |= 1;
    }
}

pub(crate) fn uniform_alignment(draft: &mut Draft<'_>) -> bool {
    draft.keep(has_uniform_group) && draft.then(Stage::Warp, misalign_uniform)
}

fn put_uniform_beyond_all(draft: &mut Draft<'_>) {
    if draft.form.fills_uniform() {
        draft.rd = beyond_uniform(draft, draft.form.group());
    } else {
        draft.ur = beyond_uniform(draft, 2);
    }
}

pub(crate) fn uniform_range(draft: &mut Draft<'_>) -> bool {
    draft.keep(has_uniform_group) && draft.then(Stage::Warp, put_uniform_beyond_all)
}

pub(crate) fn uniform_fault(draft: &mut Draft<'_>) -> bool {
    draft.keep(has_uniform_group)
        && draft.then(Stage::Warp, |d| {
            let is_misaligned = d.random.one_in(2);
            if is_misaligned { misalign_uniform(d) } else { put_uniform_beyond_all(d) }
        })
}

/// The first register of the last group of uniform registers.
fn last_group(draft: &Draft<'_>, count: u8) -> u8 {
    let all = draft.form.parts.uniform_registers;
    (all - count) / count * count
}

pub(crate) fn last_uniform(draft: &mut Draft<'_>) -> bool {
    draft.keep(has_uniform)
        && draft.then(Stage::Warp, |d| {
            if d.form.fills_uniform() {
                d.rd = last_group(d, d.form.group());
            } else {
                d.ur = last_group(d, 1 + u8::from(d.form.has_uniform_pair()));
            }
        })
}

pub(crate) fn high_uniform(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| has_uniform(form) && form.parts.uniform_registers > 63)
        && draft.then(Stage::Warp, |d| {
            let number = if d.form.fills_uniform() { &mut d.rd } else { &mut d.ur };
            if *number < 64 {
                *number += 128;
            }
        })
}

pub(crate) fn uniform_beyond_limit(draft: &mut Draft<'_>) -> bool {
    draft.keep(has_uniform)
        && draft.then(Stage::Warp, |d| {
            if d.form.fills_uniform() {
                d.rd = 32;
                d.state.register_limit = 8;
            } else {
                (d.rd, d.other_rd, d.ur) = (0, 4, 40);
                if d.ra != 255 {
                    d.ra = 8;
                }
                d.state.register_limit = 16;
            }
        })
}

/// The first register of a group of uniform registers that extends beyond the last register.
fn beyond_uniform(draft: &Draft<'_>, count: u8) -> u8 {
    let all = draft.form.parts.uniform_registers;
    all - all % count.max(2)
}

pub(crate) fn register_limit(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| !form.fills_uniform() || form.registers() > 1)
        && draft.then(Stage::Warp, |d| {
            let count = d.form.group();
            if d.form.fills_uniform() {
                d.rd = beyond_uniform(d, count);
            } else if d.rd == 255
                || d.form.parts.address.extended && d.has_base() && d.random.one_in(3)
            {
                // Ra is below the limit, and Ra+1 is not.
                d.state.register_limit = d.ra.saturating_add(1);
            } else if d.has_base() && d.rd <= d.ra && d.ra < d.rd.saturating_add(count - 1) {
                // Destination and base overlap, so the limit is put just above Ra.
                d.state.register_limit = d.ra + 1;
            } else {
                put_limit_within(d);
            }
        })
}

/// Chooses a limit within the destination. Ra stays on its side of the limit.
fn put_limit_within(draft: &mut Draft<'_>) {
    let has_base = draft.has_base();
    draft.rd = draft.rd.min(200) + 20;
    draft.other_rd = draft.other_rd.min(200) + 20;
    draft.state.register_limit = draft.rd + draft.random.below(draft.form.group().into()) as u8;
    if has_base {
        draft.ra = (draft.ra & 1) | (2 * draft.random.below(8) as u8);
    } else if draft.ra != 255 {
        draft.ra = draft.state.register_limit + draft.random.below(8) as u8;
    }
}

pub(crate) fn straddles_limit(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.registers() > 1 && !form.fills_uniform())
        && draft.then(Stage::Warp, |d| {
            put_limit_within(d);
            let count = u64::from(d.form.group());
            d.state.register_limit = d.rd + 1 + d.random.below(count - 1) as u8;
        })
}

pub(crate) fn misaligned_or_out_of_range(draft: &mut Draft<'_>) -> bool {
    match draft.random.one_in(2) {
        true => misaligned_register(draft) || register_limit(draft),
        false => register_limit(draft) || misaligned_register(draft),
    }
}

pub(crate) fn two_register_faults(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| {
        // A misaligned pair of uniform registers cannot extend beyond the last one, so two faults need a larger group.
        let least = if form.fills_uniform() { 4 } else { 2 };
        form.registers() >= least || form.parts.address.extended
    }) && draft.then(Stage::Warp, |d| {
        let count = d.form.group();
        if d.form.fills_uniform() {
            d.rd = beyond_uniform(d, count) + 1;
        } else if count > 1 && d.rd != 255 {
            misalign(d);
            put_limit_within(d);
        } else {
            // Ra is odd and below the limit. Rd, unless it is RZ, is out of range.
            d.ra = d.ra.min(200) | 1;
            if d.rd != 255 {
                d.rd = d.ra + 1;
            }
            d.state.register_limit = d.ra + 1;
        }
    })
}

/// The fields for caches and for the order of accesses.
const CACHE_FIELDS: [&str; 6] = ["cop", "evict", "order", "scope", "prefetch", "policy"];

pub(crate) fn cache_operator(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| CACHE_FIELDS.iter().any(|name| form.has(name)))
        && draft.then(Stage::Warp, |d| {
            let names: Vec<&'static str> =
                CACHE_FIELDS.into_iter().filter(|name| d.form.has(name)).collect();
            if let Some(name) = d.random.pick(&names) {
                let default = d.form.get(d.form.word, name).unwrap_or(0);
                let values = 1 << d.form.width(name);
                let value = (default + 1 + d.random.below(values - 1)) % values;
                d.fields.push((name, value));
            }
        })
}

pub(crate) fn unread_bits(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.reserved_bits() != 0)
        && draft.then(Stage::Warp, |d| {
            let bits = u128::from(d.random.next()) << 64 | u128::from(d.random.next());
            let unread = d.form.reserved_bits();
            // At least one of them.
            d.unread = unread & bits | unread & unread.wrapping_neg();
        })
}
