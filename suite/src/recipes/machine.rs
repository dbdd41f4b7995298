//! Settings of the machine.

use crate::draft::{Draft, Stage, default_address_bits};

pub(crate) fn reporting(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Machine, |d| {
        d.state.is_reporting = true;
        true
    })
}

pub(crate) fn missing_bank(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Machine, |d| {
        d.layout.lacks_bank = true;
        true
    })
}

pub(crate) fn empty_bank(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Machine, |d| {
        d.layout.has_empty_bank = true;
        true
    })
}

pub(crate) fn own_windows(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Machine, |d| {
        d.move_windows();
        true
    })
}

pub(crate) fn own_address_bits(draft: &mut Draft<'_>) -> bool {
    draft.then(Stage::Machine, |d| {
        let default = default_address_bits(d.family.sm);
        let widths: Vec<u32> =
            [32, 33, 40, 49, 63, 64].into_iter().filter(|bits| *bits != default).collect();
        d.state.address_bits = d.random.pick(&widths).unwrap_or(default);
        true
    })
}
