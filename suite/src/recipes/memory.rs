//! Settings of the machine, the memory of the lanes' addresses, and the place in it.

use warpload::memory::{GenericAddress, Space, Window};

use crate::draft::{Draft, Form, Stage, Step, align_up, default_address_bits};

pub(crate) fn own_address_bits(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Machine, |d| {
        let default = default_address_bits(d.family.sm);
        let widths: Vec<u32> =
            [32, 33, 40, 49, 63, 64].into_iter().filter(|bits| *bits != default).collect();
        d.state.address_bits = d.random.pick(&widths).unwrap_or(default);
    })
}

/// The memory that the windows select for a generic address. Other loads have one memory.
fn space_of(draft: &Draft<'_>, address: u64) -> Space {
    let is_in = |window: Window| window.offset_of(GenericAddress(address)).is_some();
    if !draft.form.is_generic() {
        return draft.layout.main;
    }
    if is_in(draft.state.shared_window) {
        Space::Shared
    } else if is_in(draft.state.local_window) {
        Space::Local
    } else {
        Space::Global
    }
}

/// An address outside the allocations, most of the time.
fn nowhere(draft: &mut Draft<'_>) -> u64 {
    let bytes = draft.form.bytes();
    let space = draft.layout.main;
    let near = align_up(draft.end_of(space), bytes).wrapping_add(bytes * draft.random.below(3));
    let far = match space {
        Space::Global => [near, 0xffff_ffe0, 0, 0x8000_0000],
        _ if draft.form.is_generic() => [near, near.wrapping_add(64 * bytes), near, near],
        Space::Constant { .. } => [near, 0x1_0000, 0xffff_ffe0, 0x8000],
        _ => [near, 0x100_0000, 0xffff_ffe0, 0xfe00_0000],
    };
    let is_near = draft.is_offset_alone() || draft.random.one_in(2);
    if is_near { near } else { far[draft.random.below(4) as usize] }
}

/// Gives some lanes an address, with the Plg that selects the address's memory.
pub(crate) fn claim_in_its_space(draft: &mut Draft<'_>, address: u64) -> bool {
    draft.claim_at(space_of(draft, address), address)
}

/// Gives some lanes the address of an allocated access in a memory. False if there is none, or no lane is free.
pub(crate) fn claim_slot(draft: &mut Draft<'_>, space: Space) -> bool {
    let slots = draft.slots(space);
    draft.random.pick(&slots).is_some_and(|address| draft.claim_at(space, address))
}

pub(crate) fn outside_allocation(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Lanes, |d| {
        let address = nowhere(d);
        claim_in_its_space(d, address);
    })
}

pub(crate) fn one_lane_outside(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| !form.fills_uniform())
        && draft.then(Stage::Lanes, |d| {
            let address = nowhere(d);
            if d.is_together && d.form.has("Plg") {
                d.then(Stage::Adjust, divide_predicate);
            } else if let Some(lane) = d.claim(1).first() {
                d.place(lane, space_of(d, address), address);
            }
        })
}

/// Gives all free lanes one address in a memory.
fn place_all(draft: &mut Draft<'_>, space: Space, address: u64) {
    for lane in draft.free.lanes() {
        draft.place(lane, space, address);
    }
}

pub(crate) fn all_outside(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Lanes, |d| {
        let address = nowhere(d);
        let space = space_of(d, address);
        place_all(d, space, address);
    })
}

/// Wants allocations of whole accesses that do not touch.
pub(crate) fn want_whole_accesses(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Machine, |d| {
        (d.layout.has_partial_ends, d.layout.has_adjacent) = (false, false);
    })
}

/// The first or the last access of the lanes' memory.
fn access_at_end(draft: &Draft<'_>, is_last: bool) -> Option<u64> {
    let slots = draft.slots(draft.layout.main);
    if is_last { slots.last().copied() } else { slots.first().copied() }
}

/// Gives all lanes an access at an end of an allocation.
pub(crate) fn load_at_end(draft: &mut Draft<'_>, is_last: bool) {
    if let Some(address) = access_at_end(draft, is_last) {
        let space = draft.layout.main;
        place_all(draft, space, address);
    }
}

/// Claims an access at an end of an allocation, by a misaligned address that rounds to it.
pub(crate) fn claim_within_end(draft: &mut Draft<'_>, is_last: bool) {
    let bytes = draft.form.bytes();
    if let Some(address) = access_at_end(draft, is_last) {
        let address = address + 1 + draft.random.below(bytes - 1);
        claim_in_its_space(draft, address);
    }
}

pub(crate) fn just_before(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.is_generic() || form.is_global() || form.is_local())
        && want_whole_accesses(draft)
        && draft.then(Stage::Machine, |d| {
            if d.form.is_local() {
                d.layout.has_local = [false, true];
            } else {
                d.layout.main = Space::Global;
            }
        })
        && draft.then(Stage::Lanes, |d| {
            if let Some(first) = access_at_end(d, false) {
                claim_in_its_space(d, first.wrapping_sub(d.form.bytes()));
            }
        })
}

/// Wants global memory that begins within an access.
pub(crate) fn want_partial_start(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.bytes() > 1 && (form.is_generic() || form.is_global()))
        && draft.then(Stage::Machine, |d| {
            d.layout.main = Space::Global;
            (d.layout.has_partial_starts, d.layout.has_adjacent) = (true, false);
        })
}

pub(crate) fn rounds_out(draft: &mut Draft<'_>) -> bool {
    want_partial_start(draft)
        && draft.then(Stage::Lanes, |d| {
            let base = d.state.memory.global.first().map_or(0, |(base, _)| *base);
            let left = align_up(base, d.form.bytes()) - base;
            let address = base + d.random.below(left);
            d.claim_at(Space::Global, address);
        })
}

/// Wants windows that do not touch, and lanes that load between them or above them.
pub(crate) fn claim_beside_windows(draft: &mut Draft<'_>, step: Step) -> bool {
    draft.keep(Form::is_generic)
        && draft.then(Stage::Machine, |d| {
            (d.layout.has_apart_windows, d.layout.is_at_top) = (true, false);
        })
        && draft.then(Stage::Lanes, step)
}

/// Wants lanes that load from an address of more than `BITS` bits.
pub(crate) fn beyond<const BITS: u32>(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.is_wide() && (form.is_generic() || form.is_global()))
        && draft.then(Stage::Machine, |d| d.layout.reach.0 = d.layout.reach.0.max(1 << BITS))
        && draft.then(Stage::Lanes, |d| {
            claim_slot(d, Space::Global);
        })
}

pub(crate) fn distinct_words(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Machine, |d| {
        d.layout.has_distinct_words = true;
        (d.layout.has_partial_ends, d.layout.has_adjacent) = (false, false);
        if d.form.is_local() {
            d.layout.has_local = [true, false];
        }
    }) && draft.then(Stage::Lanes, |d| {
        let slots = d.slots(d.layout.main);
        for (lane, address) in d.free.lanes().zip(slots.iter().cycle()) {
            d.place(lane, d.layout.main, *address);
        }
    })
}

pub(crate) fn within_word(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.bytes() < 4)
        && draft.then(Stage::Lanes, |d| {
            let mut slots = d.slots(d.layout.main);
            slots.retain(|address| address % 4 != 0);
            if let Some(address) = d.random.pick(&slots) {
                claim_in_its_space(d, address);
            }
        })
}

pub(crate) fn crosses_allocation(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.bytes() > 1)
        && draft.then(Stage::Machine, |d| d.layout.has_partial_ends = true)
        && draft.then(Stage::Lanes, |d| {
            let end = d.end_of(d.layout.main);
            claim_in_its_space(d, end - end % d.form.bytes());
        })
}

pub(crate) fn adjacent_allocations(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.bytes() > 1 && (form.is_generic() || form.is_global()))
        && draft.then(Stage::Machine, |d| {
            (d.layout.has_partial_ends, d.layout.has_adjacent) = (true, true);
        })
        && draft.then(Stage::Lanes, |d| {
            let first = d.state.memory.global.first();
            let end = first.map_or(0, |(base, held)| base.wrapping_add(held.len() as u64));
            d.claim_at(Space::Global, end - end % d.form.bytes());
        })
}

pub(crate) fn highest_address(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.is_generic() || form.is_global())
        && draft.then(Stage::Machine, |d| {
            d.layout.is_at_top = true;
            if !d.form.is_wide() {
                // Addresses of the form end at 2^32, where the default local window ends too.
                d.state.address_bits = 32;
                d.move_windows();
            }
        })
        && draft.then(Stage::Lanes, |d| {
            let last = u64::MAX >> (64 - d.state.address_bits);
            d.claim_at(Space::Global, last - (d.form.bytes() - 1));
        })
}

/// Wants a part of local memory if there is none.
pub(crate) fn want_local(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Machine, |d| {
        if d.layout.has_local == [false; 2] {
            d.layout.has_local[d.random.below(2) as usize] = true;
        }
    })
}

pub(crate) fn local_high(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.is_generic() || form.is_local())
        && draft.then(Stage::Machine, |d| d.layout.has_local[1] = true)
        && draft.then(Stage::Lanes, |d| {
            let offset = d.state.local_window.size - d.form.bytes();
            d.claim_at(Space::Local, d.address_in(Space::Local, offset));
        })
}

pub(crate) fn crosses_local_parts(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.bytes() > 1 && (form.is_generic() || form.is_local()))
        && draft.then(Stage::Machine, |d| d.layout.has_touching_parts = true)
        && draft.then(Stage::Lanes, |d| {
            let end = d.end_of(Space::Local);
            d.claim_at(Space::Local, end - end % d.form.bytes());
        })
}

pub(crate) fn several_spaces(draft: &mut Draft<'_>) -> bool {
    draft.keep(Form::is_generic)
        && want_local(draft)
        && draft.then(Stage::Lanes, |d| {
            let spaces = [Space::Global, Space::Shared, Space::Local];
            let first = d.random.below(3) as usize;
            let second = (first + 1 + d.random.below(2) as usize) % 3;
            let _ = claim_slot(d, spaces[first]) && claim_slot(d, spaces[second]);
        })
}

pub(crate) fn divided_predicate(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.has("Plg"))
        && draft.then(Stage::Lanes, |d| {
            let _ = !d.is_together && claim_slot(d, Space::Shared) && claim_slot(d, Space::Global);
        })
        && draft.then(Stage::Adjust, |d| {
            if d.is_together {
                divide_predicate(d);
            }
        })
}

/// Inverts Plg in one executing lane.
fn divide_predicate(draft: &mut Draft<'_>) {
    let lanes: Vec<usize> = draft.executing().lanes().collect();
    if let Some(lane) = draft.random.pick(&lanes) {
        let plg = draft.plg.1 >> lane & 1 != 0;
        draft.set_plg(lane, !plg);
    }
}

/// Gives some lanes an address in `space`, and a Plg that selects another memory.
fn claim_with_plg(draft: &mut Draft<'_>, space: Space, plg: bool) {
    let slots = draft.slots(space);
    let Some(address) = draft.random.pick(&slots) else { return };
    for lane in draft.claim(6).lanes() {
        draft.addresses[lane] = address;
        draft.set_plg(lane, plg);
    }
}

pub(crate) fn predicate_false_outside(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.has("Plg"))
        && draft.then(Stage::Lanes, |d| {
            let space = if d.layout.main == Space::Local { Space::Local } else { Space::Global };
            claim_with_plg(d, space, false);
        })
}

pub(crate) fn predicate_true_in_shared(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.has("Plg"))
        && draft.then(Stage::Lanes, |d| claim_with_plg(d, Space::Shared, true))
}

pub(crate) fn outside_window(draft: &mut Draft<'_>) -> bool {
    if !draft.keep(Form::is_generic) {
        return false;
    }
    match draft.random.below(3) {
        0 if predicate_false_outside(draft) => true,
        1 if predicate_true_in_shared(draft) => true,
        _ => super::addresses::above_address_bits(draft) || predicate_false_outside(draft),
    }
}

/// An edge of a window, except 0.
fn some_edge(draft: &mut Draft<'_>) -> u64 {
    let (shared, local) = (draft.state.shared_window, draft.state.local_window);
    let edges = [shared.base, shared.base + shared.size, local.base, local.base + local.size];
    let edges: Vec<u64> = edges.into_iter().filter(|edge| *edge > 0).collect();
    draft.random.pick(&edges).unwrap_or(shared.base)
}

pub(crate) fn crosses_window(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.is_generic() && form.bytes() > 1)
        && draft.then(Stage::Lanes, |d| {
            let edge = some_edge(d);
            let bytes = d.form.bytes();
            let address = edge - 1 - d.random.below(bytes - 1);
            d.claim_at(space_of(d, edge - bytes), address);
        })
}

pub(crate) fn window_edge(draft: &mut Draft<'_>) -> bool {
    draft.keep(Form::is_generic)
        && draft.then(Stage::Lanes, |d| {
            let edge = some_edge(d);
            let before = edge - d.form.bytes();
            let _ = claim_in_its_space(d, before) && claim_in_its_space(d, edge);
        })
}
