//! Offsets and addresses, in any memory.

use crate::draft::{Draft, Stage, Step, default_address_bits};
use crate::recipes::memory;
use warpload::memory::Space;

pub(crate) fn above_address_bits(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.is_wide())
        && draft.then(Stage::Machine, |d| d.state.address_bits = d.state.address_bits.min(63))
        && draft.then(Stage::Lanes, |d| {
            // Another recipe may have chosen 64.
            let Some(most) = 63u64.checked_sub(d.state.address_bits.into()) else { return };
            let bit = 1 << (u64::from(d.state.address_bits) + d.random.below(most + 1));
            // The low bits come from an address that could be loaded from.
            let rest = d.addresses[0] & ((1 << d.state.address_bits) - 1);
            let address = bit | if d.random.one_in(2) { rest } else { 0 };
            d.claim_at(Space::Global, address);
        })
}

pub(crate) fn width_decides(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.is_wide())
        && memory::own_address_bits(draft)
        && draft.then(Stage::Lanes, |d| {
            let (own, default) = (d.state.address_bits, default_address_bits(d.family.sm));
            let (least, most) = (own.min(default), own.max(default));
            // Another recipe may have chosen the default.
            let Some(others) = u64::from(most - least).checked_sub(1) else { return };
            let bit = 1 << (u64::from(least) + d.random.below(others + 1));
            let address = bit | d.addresses[0] & (bit - 1);
            d.claim_at(Space::Global, address);
        })
}

pub(crate) fn address_wraps(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Machine, |d| {
        let (_, most) = d.offset_range();
        d.layout.reach.1 = d.layout.reach.1.min(most as u64);
    }) && draft.then(Stage::Adjust, |d| {
        let (least, most) = d.offset_range();
        let unit = d.form.offset_unit;
        if d.is_offset_alone() {
            if !d.form.has_unsigned_offset() {
                d.offset = Some(-unit * (1 + d.random.below(16) as i64));
            }
            return;
        }
        let near = unit * d.random.below(16) as i64;
        let first = d.executing().first().unwrap_or(0);
        d.offset = Some(if d.addresses[first] < most as u64 { most - near } else { least + near });
    })
}

/// An address at which the low word wraps, and the distance of allocations and offsets from it.
pub(crate) const WORD_ENDS: u64 = 0x2_0000_0000;
pub(crate) const BESIDE: i64 = 0x400;

/// Wants global memory beside [`WORD_ENDS`], and an offset that crosses it.
pub(crate) fn cross_word(draft: &mut Draft<'_>, layout: Step, offset: Step) -> bool {
    draft.keep(|form| form.is_wide() && (form.is_generic() || form.is_global()))
        && draft.then(Stage::Machine, layout)
        && draft.then(Stage::Lanes, |d| {
            memory::claim_slot(d, Space::Global);
        })
        && draft.then(Stage::Adjust, offset)
}

pub(crate) fn negative_offset(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Adjust, |d| {
        let unit = d.form.offset_unit;
        let is_signed = !d.is_offset_alone() || !d.form.has_unsigned_offset();
        if is_signed && d.offset.is_none_or(|offset| offset >= 0) {
            let most = if d.random.one_in(2) { 0x40 } else { 0x7fff };
            d.offset = Some(-unit * (1 + d.random.below(most) as i64));
        }
    })
}

pub(crate) fn misaligned(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.bytes() > 1)
        && draft.then(Stage::Adjust, |d| {
            let bytes = d.form.bytes();
            let lanes: Vec<usize> = d.executing().lanes().collect();
            if d.is_offset_alone() || d.form.fills_uniform() {
                let low = 1 + d.random.below(bytes - 1);
                d.addresses = d.addresses.map(|address| address - address % bytes + low);
                return;
            }
            for _ in 0..1 + d.random.below(4) {
                let Some(lane) = d.random.pick(&lanes) else { break };
                let address = d.addresses[lane];
                if address % bytes == 0 {
                    d.addresses[lane] = address + 1 + d.random.below(bytes - 1);
                }
            }
        })
}

pub(crate) fn rounds_to_one(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.bytes() > 1 && !form.fills_uniform())
        && draft.then(Stage::Machine, |d| d.is_together = true)
        && draft.then(Stage::Adjust, |d| {
            let bytes = d.form.bytes();
            for lane in 0..32 {
                let address = d.addresses[lane];
                d.addresses[lane] = address - address % bytes + d.random.below(bytes);
            }
        })
}

pub(crate) fn uniform(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.may_broadcast())
        && draft.then(Stage::Machine, |d| {
            d.is_together = true;
            if d.layout.main == Space::Local {
                d.layout.main = Space::Global;
            }
        })
}

/// Lets all lanes load from one address in a memory.
pub(crate) fn together_in(draft: &mut Draft<'_>, main: Step) -> bool {
    draft.keep(|form| form.may_broadcast() && form.is_generic())
        && draft.then(Stage::Machine, |d| d.is_together = true)
        && draft.then(Stage::Machine, main)
}

pub(crate) fn misaligned_broadcast(draft: &mut Draft<'_>) -> bool {
    uniform(draft)
        && draft.then(Stage::Adjust, |d| {
            let low = 1 + d.random.below(d.form.bytes() - 1);
            d.addresses = d.addresses.map(|address| address & !(d.form.bytes() - 1) | low);
        })
}
