//! LDG.U.128: one fetch for all lanes, exactly if that is allowed. No other sibling has a uniform form;
//! the `.U` of LDS has no observable effect.

use warpload::encoding::Size;
use warpload::load::UniformPath::{self, Broadcast, Divergent};

use super::{LDC, LDG, LDL, LDS};
use crate::rules::{Loaded, active, at, limited, load, machine, reporting, with};

const TEXT: &str = "LDG.U.128 R4, [R2]";

fn path(loaded: &Loaded) -> UniformPath {
    loaded.outcome.uniform.unwrap()
}

#[test]
fn one_address_is_broadcast() {
    let loaded = load(TEXT, &machine(), at(|_| LDG.allocated));
    assert!(loaded.is_clean());
    assert_eq!(path(&loaded), Broadcast);
    assert!(loaded.outcome.is_broadcast());
    let plain = LDG.text(Size::B128, "R4", "[R2]");
    let plain = load(&plain, &machine(), at(|_| LDG.allocated));
    assert_eq!(loaded.warp, plain.warp);
    assert_eq!(plain.outcome.uniform, None);
}

/// Lane n is n modulo 16 bytes further on, which is the same address after rounding. Misalignment is allowed, even if
/// it is reported.
#[test]
fn addresses_are_compared_after_rounding() {
    let warp = || at(|lane| LDG.allocated + lane as u64 % 16);
    let forced = load(TEXT, &machine(), warp());
    assert!(forced.is_clean());
    assert_eq!(path(&forced), Broadcast);
    let reported = load(TEXT, &reporting(), warp());
    assert!(!reported.outcome.lane_faults.is_empty());
    assert_eq!(path(&reported), Broadcast);
}

/// One lane is one access before the others, which is not an error.
#[test]
fn two_addresses_diverge() {
    for other in [0, 17, 31] {
        let from = |lane| if lane == other { LDG.allocated - 16 } else { LDG.allocated };
        let loaded = load(TEXT, &machine(), at(from));
        assert!(loaded.is_clean(), "{other}");
        assert_eq!(path(&loaded), Divergent, "{other}");
        assert!(!loaded.outcome.is_broadcast());
    }
}

/// One address for all lanes, but not allocated, in the windows and above 2^40 too.
#[test]
fn one_address_that_is_not_allocated_diverges() {
    let loaded = load(TEXT, &machine(), at(|_| LDG.outside));
    assert_eq!(LDG.outside_lanes(&loaded), u32::MAX);
    assert_eq!(path(&loaded), Divergent);
    for outside in [0xfe00_0010, 0xff00_0010, 1 << 40] {
        let loaded = load("LDG.E.U.128 R4, [R2]", &machine(), at(|_| outside));
        assert_eq!(path(&loaded), Divergent, "{outside:#x}");
    }
}

#[test]
fn one_lane_outside_diverges() {
    let from = |lane| if lane == 4 { LDG.outside } else { LDG.allocated };
    let loaded = load(TEXT, &machine(), at(from));
    assert_eq!(LDG.outside_lanes(&loaded), 1 << 4);
    assert_eq!(path(&loaded), Divergent);
}

/// Lane 3 alone, or the lanes that P1 predicates on; the others have other addresses.
#[test]
fn only_executing_lanes_count() {
    let warp = || at(|lane| if lane == 3 { LDG.allocated } else { LDG.outside });
    let loaded = load(TEXT, &machine(), active(warp(), 1 << 3));
    assert_eq!(path(&loaded), Broadcast);
    let loaded = load(&format!("@P1 {TEXT}"), &machine(), with(warp(), 1, 1 << 3));
    assert_eq!(path(&loaded), Broadcast);
    assert_eq!(loaded.outcome.executing.bits(), 1 << 3);
}

#[test]
fn rz_does_not_prevent_it() {
    let loaded = load("LDG.U.128 RZ, [R2]", &machine(), at(|_| LDG.allocated));
    assert_eq!(path(&loaded), Broadcast);
    assert!(loaded.changed().is_empty());
}

#[test]
fn a_load_that_is_not_made_has_no_path() {
    let text = "LDG.U.128 R8, [R2]";
    let loaded = load(&format!("@!PT {text}"), &machine(), at(|_| LDG.allocated));
    assert_eq!(loaded.outcome.uniform, None);
    let loaded = load(text, &limited(8), at(|_| LDG.allocated));
    assert_eq!(loaded.outcome.uniform, None);
}

/// At every size, for one address as for addresses that differ by lane.
#[test]
fn lds_u_is_lds() {
    for size in LDS.sizes() {
        let plain = LDS.text(*size, "R4", "[R2]");
        let hinted = format!("LDS.U.{} R4, [R2]", size.name());
        for stride in [0, u64::from(size.bytes())] {
            let warp = || at(|lane| LDS.allocated + stride * lane as u64 % 16);
            let plain = load(&plain, &machine(), warp());
            let hinted = load(&hinted, &machine(), warp());
            assert_eq!(hinted.warp, plain.warp, "{size:?}");
            assert_eq!(hinted.outcome, plain.outcome, "{size:?}");
            assert_eq!(hinted.outcome.uniform, None, "{size:?}");
        }
    }
}

/// LDL and LDC have no hint, nor do LDS and the other sizes of LDG.
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
