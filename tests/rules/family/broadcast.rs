//! LDG.U.128, and LDS.U at every size: one fetch for all lanes, exactly where it is allowed.

use warpload::encoding::Size;
use warpload::load::UniformPath::{self, Broadcast, Divergent};

use super::{LDC, LDG, LDL, LDS, Sibling};
use crate::{Loaded, active, at, limited, load, machine, reporting, with};

fn path(loaded: &Loaded) -> UniformPath {
    loaded.outcome.uniform.unwrap()
}

/// The loads with the hint, `destination` and `[R2]`: LDG.U.128 and LDS.U of seven sizes.
fn uniform(destination: &str) -> Vec<(Sibling, Size, String)> {
    let wide = (LDG, Size::U128, format!("LDG.U.128 {destination}, [R2]"));
    let shared = LDS
        .sizes()
        .iter()
        .map(|size| (LDS, *size, format!("LDS.U.{} {destination}, [R2]", size.name())));
    [wide].into_iter().chain(shared).collect()
}

#[test]
fn one_address_is_broadcast() {
    for (sibling, size, text) in uniform("R4") {
        let loaded = load(&text, &machine(), at(|_| sibling.allocated));
        assert!(loaded.is_clean(), "{text}");
        assert_eq!(path(&loaded), Broadcast, "{text}");
        assert!(loaded.outcome.is_broadcast());
        let plain = match size {
            Size::U128 => Size::B128,
            size => size,
        };
        let plain = load(&sibling.text(plain, "R4", "[R2]"), &machine(), at(|_| sibling.allocated));
        assert_eq!(loaded.warp, plain.warp, "{text}");
        assert_eq!(plain.outcome.uniform, None);
    }
}

/// Lane n is n modulo the size behind it: one rounded address, and misalignment is no obstacle
/// where it is reported.
#[test]
fn addresses_are_compared_after_rounding() {
    for (sibling, size, text) in uniform("R4") {
        let warp = || at(|lane| sibling.allocated + lane as u64 % u64::from(size.bytes()));
        let forced = load(&text, &machine(), warp());
        assert!(forced.is_clean(), "{text}");
        assert_eq!(path(&forced), Broadcast, "{text}");
        let reported = load(&text, &reporting(), warp());
        assert_eq!(reported.outcome.lane_faults.is_empty(), size.bytes() == 1, "{text}");
        assert_eq!(path(&reported), Broadcast, "{text}");
    }
}

/// One lane is one access before the others, which is no error.
#[test]
fn two_addresses_diverge() {
    for (sibling, size, text) in uniform("R4") {
        for other in [0, 17, 31] {
            let before = sibling.allocated - u64::from(size.bytes());
            let from = |lane| if lane == other { before } else { sibling.allocated };
            let loaded = load(&text, &machine(), at(from));
            assert!(loaded.is_clean(), "{text}");
            assert_eq!(path(&loaded), Divergent, "{text}");
            assert!(!loaded.outcome.is_broadcast());
        }
    }
}

/// Of 32 * 1 bytes side by side all lie in shared memory, of 32 * 8 the first 0x28: lanes 5 and up
/// are behind the end.
#[test]
fn lanes_side_by_side_diverge() {
    let loaded = load("LDS.U.U8 R4, [R2]", &machine(), at(|lane| lane as u64));
    assert!(loaded.is_clean());
    assert_eq!(path(&loaded), Divergent);
    assert_eq!(loaded.register(4, 31), 0x5f);
    let loaded = load("LDS.U.64 R4, [R2]", &machine(), at(|lane| 8 * lane as u64));
    assert_eq!(path(&loaded), Divergent);
    assert_eq!(loaded.faulting("outside_allocation"), 0xffff_ffe0);
}

/// One address for all lanes, but nothing there.
#[test]
fn one_address_that_is_not_allocated_diverges() {
    for (sibling, _, text) in uniform("R4") {
        let loaded = load(&text, &machine(), at(|_| sibling.outside));
        assert_eq!(sibling.outside_lanes(&loaded), u32::MAX, "{text}");
        assert_eq!(path(&loaded), Divergent, "{text}");
    }
    // In the windows too, and above 2^40.
    for outside in [0xfe00_0010, 0xff00_0010, 1 << 40] {
        let loaded = load("LDG.E.U.128 R4, [R2]", &machine(), at(|_| outside));
        assert_eq!(path(&loaded), Divergent, "{outside:#x}");
    }
    // 0x20..0x30 has 8 of its 16 bytes.
    let loaded = load("LDS.U.128 R4, [R2]", &machine(), at(|_| 0x20));
    assert_eq!(path(&loaded), Divergent);
}

#[test]
fn one_lane_outside_diverges() {
    for (sibling, _, text) in uniform("R4") {
        let from = |lane| if lane == 4 { sibling.outside } else { sibling.allocated };
        let loaded = load(&text, &machine(), at(from));
        assert_eq!(sibling.outside_lanes(&loaded), 1 << 4, "{text}");
        assert_eq!(path(&loaded), Divergent, "{text}");
    }
}

/// Lane 3 alone, or those that P1 lets through; the others have other addresses.
#[test]
fn only_executing_lanes_count() {
    for (sibling, _, text) in uniform("R4") {
        let warp = || at(|lane| if lane == 3 { sibling.allocated } else { sibling.outside });
        let loaded = load(&text, &machine(), active(warp(), 1 << 3));
        assert_eq!(path(&loaded), Broadcast, "{text}");
        let loaded = load(&format!("@P1 {text}"), &machine(), with(warp(), 1, 1 << 3));
        assert_eq!(path(&loaded), Broadcast, "{text}");
        assert_eq!(loaded.outcome.executing.bits(), 1 << 3);
    }
}

#[test]
fn rz_does_not_prevent_it() {
    for (sibling, _, text) in uniform("RZ") {
        let loaded = load(&text, &machine(), at(|_| sibling.allocated));
        assert_eq!(path(&loaded), Broadcast, "{text}");
        assert!(loaded.changed().is_empty());
    }
}

#[test]
fn a_load_that_is_not_made_has_no_path() {
    for (sibling, _, text) in uniform("R8") {
        let loaded = load(&format!("@!PT {text}"), &machine(), at(|_| sibling.allocated));
        assert_eq!(loaded.outcome.uniform, None, "{text}");
        let loaded = load(&text, &limited(8), at(|_| sibling.allocated));
        assert_eq!(loaded.outcome.uniform, None, "{text}");
    }
}

/// LDL and LDC have no hint, the other sizes of LDG and LDS without .U neither.
#[test]
fn other_loads_have_no_path() {
    for sibling in [LDG, LDL, LDS, LDC] {
        for size in sibling.sizes().iter().filter(|size| **size != Size::U128) {
            let text = sibling.text(*size, "R4", "[R2]");
            let loaded = load(&text, &machine(), at(|_| sibling.allocated));
            assert!(loaded.is_clean(), "{text}");
            assert_eq!(loaded.outcome.uniform, None, "{text}");
            assert!(!loaded.outcome.is_broadcast());
        }
    }
}
