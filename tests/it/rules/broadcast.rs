//! Section 4, `.U.128`: one fetch for all lanes, exactly if it is allowed.

use warpload::load::LaneFaultKind;
use warpload::load::UniformPath::{self, Broadcast, Divergent};
use warpload::machine::{Machine, Misaligned};

use crate::rules::{Loaded, active, at, limited, load, machine, reporting, with, word};

fn path(loaded: &Loaded) -> UniformPath {
    loaded.outcome.uniform.unwrap()
}

const ROW: [u8; 4] = [0x10, 0x14, 0x18, 0x1c];

#[test]
fn one_global_address_is_broadcast() {
    let loaded = load("LD.U.128 R4, [R2]", &machine(), at(|_| 0x1010));
    assert_eq!(path(&loaded), Broadcast);
    assert!(loaded.outcome.is_broadcast());
    for lane in 0..32 {
        assert_eq!(loaded.registers(4, lane), ROW.map(word));
    }
}

#[test]
fn one_shared_address_is_broadcast() {
    let loaded = load("LD.U.128 R4, [R2], P0", &machine(), at(|_| 0xfe00_0010));
    assert_eq!(path(&loaded), Broadcast);
    assert_eq!(loaded.registers(4, 31), ROW.map(|byte| word(0x40 + byte)));
}

/// 0x1010, 0x1011, .. 0x101f are all rounded to 0x1010.
#[test]
fn addresses_are_compared_after_rounding() {
    let loaded = load("LD.U.128 R4, [R2]", &machine(), at(|lane| 0x1010 + lane as u64 % 16));
    assert!(loaded.is_clean());
    assert_eq!(path(&loaded), Broadcast);
    assert_eq!(loaded.registers(4, 3), ROW.map(word));
}

#[test]
fn a_misaligned_mark_does_not_prevent_it() {
    let loaded = load("LD.U.128 R4, [R2]", &reporting(), at(|lane| 0x1010 + lane as u64 % 16));
    assert_eq!(loaded.faulting(LaneFaultKind::MisalignedAddress), 0xfffe_fffe);
    assert_eq!(path(&loaded), Broadcast);
}

/// A misaligned lane gets zeroes then, and so the lanes are served one by one.
#[test]
fn a_misalignment_that_faults_prevents_it() {
    let machine = Machine { misaligned: Misaligned::Fault, ..machine() };
    let loaded = load("LD.U.128 R4, [R2]", &machine, at(|lane| 0x1010 + 4 * (lane as u64 % 2)));
    assert_eq!(loaded.faulting(LaneFaultKind::MisalignedAddress), 0xaaaa_aaaa);
    assert_eq!(loaded.registers(4, 2), ROW.map(word));
    assert_eq!(loaded.registers(4, 3), [0; 4]);
    assert_eq!(path(&loaded), Divergent);
}

#[test]
fn rz_does_not_prevent_it() {
    let loaded = load("LD.U.128 RZ, [R2]", &machine(), at(|_| 0x1010));
    assert_eq!(path(&loaded), Broadcast);
    assert!(loaded.changed().is_empty());
}

/// The other lanes would have another address, another Plg, or would be outside.
#[test]
fn only_executing_lanes_count() {
    let warp = || at(|lane| if lane == 3 { 0x1010 } else { 0x1020 * lane as u64 });
    let loaded = load("LD.U.128 R4, [R2]", &machine(), active(warp(), 1 << 3));
    assert_eq!(path(&loaded), Broadcast);
    let loaded = load("@P1 LD.U.128 R4, [R2], P1", &machine(), with(at(|_| 0x1010), 1, 0xff0));
    assert_eq!(path(&loaded), Broadcast);
    assert_eq!(loaded.registers(4, 4), ROW.map(word));
}

#[test]
fn two_addresses_diverge() {
    let warp = at(|lane| if lane == 31 { 0x1020 } else { 0x1010 });
    let loaded = load("LD.U.128 R4, [R2]", &machine(), warp);
    assert!(loaded.is_clean(), "divergence is no error");
    assert_eq!(path(&loaded), Divergent);
    assert!(!loaded.outcome.is_broadcast());
    assert_eq!(loaded.registers(4, 30), ROW.map(word));
    assert_eq!(loaded.registers(4, 31), ROW.map(|byte| word(0x10 + byte)));
}

/// No two lanes have one address in two spaces, because with one Plg it is inside and with the other one outside.
#[test]
fn a_lane_outside_by_plg_diverges() {
    let loaded = load("LD.U.128 R4, [R2], P0", &machine(), with(at(|_| 0x1010), 0, !1));
    assert_eq!(path(&loaded), Divergent);
    assert_eq!(loaded.faulting(LaneFaultKind::OutsideWindow), 1);
    assert_eq!(loaded.registers(4, 0), [0; 4]);
    assert_eq!(loaded.registers(4, 1), ROW.map(word));
    let loaded = load("LD.U.128 R4, [R2], P0", &machine(), with(at(|_| 0xfe00_0010), 0, 1 << 31));
    assert_eq!(path(&loaded), Divergent);
    assert_eq!(loaded.faulting(LaneFaultKind::OutsideWindow), 1 << 31);
    assert_eq!(loaded.registers(4, 30), ROW.map(|byte| word(0x40 + byte)));
}

/// 0x1120 has one byte of 16, 0xfe000020 eight; 0x2000 has none.
#[test]
fn one_address_that_is_not_allocated_diverges() {
    for (text, address) in [
        ("LD.U.128 R4, [R2]", 0x1120),
        ("LD.U.128 R4, [R2]", 0x2000),
        ("LD.U.128 R4, [R2], P0", 0xfe00_0020),
    ] {
        let loaded = load(text, &machine(), at(|_| address));
        assert_eq!(path(&loaded), Divergent);
        assert_eq!(loaded.faulting(LaneFaultKind::OutsideAllocation), u32::MAX);
        assert_eq!(loaded.registers(4, 0), [0; 4]);
    }
    let loaded = load("LD.E.U.128 R4, [R2]", &machine(), at(|_| 1 << 40));
    assert_eq!(path(&loaded), Divergent);
}

/// Not even for a single lane.
#[test]
fn local_memory_is_never_broadcast() {
    for (address, first) in [(0xff00_0010, 0x10), (0xffff_fff0, 0x84)] {
        let loaded = load("LD.U.128 R4, [R2]", &machine(), at(|_| address));
        assert!(loaded.is_clean());
        assert_eq!(path(&loaded), Divergent);
        for lane in 0..32u8 {
            let first = 7u8.wrapping_mul(lane).wrapping_add(first);
            let words = [0, 4, 8, 12].map(|i| word(first.wrapping_add(i)));
            assert_eq!(loaded.registers(4, lane.into()), words);
        }
        let loaded = load("LD.U.128 R4, [R2]", &machine(), active(at(|_| address), 1 << 9));
        assert_eq!(path(&loaded), Divergent);
    }
}

#[test]
fn other_sizes_have_no_path() {
    for size in ["128", "64", "32", "U8"] {
        let loaded = load(&format!("LD.{size} R4, [R2]"), &machine(), at(|_| 0x1010));
        assert_eq!(loaded.outcome.uniform, None);
        assert!(!loaded.outcome.is_broadcast());
    }
}

#[test]
fn a_load_that_is_not_made_has_no_path() {
    let loaded = load("@!PT LD.U.128 R4, [R2]", &machine(), at(|_| 0x1010));
    assert_eq!(loaded.outcome.uniform, None);
    let loaded = load("LD.U.128 R8, [R2]", &limited(8), at(|_| 0x1010));
    assert_eq!(loaded.outcome.uniform, None);
}

#[test]
fn the_value_is_that_of_a_plain_load() {
    for address in [0x1010, 0x1018, 0xff00_0010, 0x1120, 0] {
        let [uniform, plain] = ["U.128", "128"]
            .map(|size| format!("LD.{size} R4, [R2]"))
            .map(|text| load(&text, &reporting(), at(|lane| address + 16 * (lane as u64 / 31))));
        assert_eq!(uniform.warp, plain.warp);
        assert_eq!(uniform.outcome.lane_faults, plain.outcome.lane_faults);
    }
}
