//! The lanes that execute, and the predicates that select them.

use crate::draft::{Draft, Stage};

/// Chooses a guard if there is none.
pub(crate) fn choose_guard(draft: &mut Draft<'_>) {
    if draft.guard.0 == 7 {
        // P4 to P6 are left for Plg.
        let count = if draft.form.has("Plg") { 4 } else { 7 };
        draft.guard.0 = draft.random.below(count) as u8;
    }
}

/// A random mask of lanes, never empty.
fn some_lanes(draft: &mut Draft<'_>) -> u32 {
    let many = draft.random.next() as u32 | draft.random.next() as u32;
    let mask = if draft.random.one_in(2) { many } else { !many };
    mask | 1 << draft.random.below(32)
}

pub(crate) fn guarded_off(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| form.is_by_lane())
        && draft.then(Stage::Warp, |d| {
            choose_guard(d);
            // One active lane executes, another does not.
            let active = d.state.active;
            if active.count_ones() > 1 && d.guarded & active != 0 {
                let kept = d.guarded & some_lanes(d);
                let first = 1 << (d.guarded & active).trailing_zeros();
                let last = 1 << (31 - active.leading_zeros());
                d.guarded = (kept | first) & !last;
            }
        })
}

pub(crate) fn negated_guard(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Warp, |d| {
        d.guard.1 = true;
        if d.guard.0 == 7 && d.random.one_in(8) {
            // `@!PT`
            d.guarded = 0;
        } else {
            choose_guard(d);
        }
    })
}

pub(crate) fn inactive_lanes(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| !form.is_matrix())
        && draft.then(Stage::Warp, |d| {
            let lanes = some_lanes(d);
            if d.state.active == u32::MAX {
                d.state.active = lanes & !(1 << (31 - lanes.leading_zeros()));
            }
        })
}

pub(crate) fn no_lane(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Warp, |d| {
        if d.guard != (7, false) || d.random.one_in(2) {
            choose_guard(d);
            d.guarded = 0;
        } else {
            d.state.active = 0;
        }
    })
}

pub(crate) fn single_lane(draft: &mut Draft<'_>) -> bool {
    draft.keep(|form| !form.is_matrix())
        && draft.then(Stage::Warp, |d| {
            let lane = 1 << d.random.below(32);
            if d.form.is_by_lane() && d.guard.0 != 7 && d.guarded != 0 && d.random.one_in(2) {
                d.guarded = lane;
                d.state.active |= lane;
            } else {
                d.state.active = lane;
                if d.guarded != 0 {
                    d.guarded |= lane;
                }
            }
        })
}
