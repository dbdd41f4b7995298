//! Section 4, clauses 7 to 9: the values in registers.

use warpload::load::LaneFaultKind;
use warpload::machine::Machine;
use warpload::memory::{AddressMap, MemoryBuilder};

use crate::rules::{BEFORE, at, load, machine, with, word};

/// The registers from R4 on after a load of the bytes f0 f1 .. ff.
fn loaded(size: &str) -> [u32; 5] {
    let memory =
        MemoryBuilder::new(AddressMap::default()).global(0x1000, &crate::rules::bytes(0xf0, 16));
    let machine = Machine::new(memory.build().unwrap());
    let loaded = load(&format!("LD.{size} R4, [R2]"), &machine, at(|_| 0x1000));
    assert!(loaded.is_clean());
    loaded.registers(4, 17)
}

#[test]
fn unsigned_values_are_zero_extended() {
    assert_eq!(loaded("U8"), [0xf0, BEFORE, BEFORE, BEFORE, BEFORE]);
    assert_eq!(loaded("U16"), [0xf1f0, BEFORE, BEFORE, BEFORE, BEFORE]);
}

#[test]
fn signed_values_are_sign_extended() {
    assert_eq!(loaded("S8"), [0xffff_fff0, BEFORE, BEFORE, BEFORE, BEFORE]);
    assert_eq!(loaded("S16"), [0xffff_f1f0, BEFORE, BEFORE, BEFORE, BEFORE]);
}

/// 0x7f and 0x7f7e have no sign; 0x807f has one, although its low byte has not.
#[test]
fn the_sign_is_the_highest_bit() {
    let memory =
        MemoryBuilder::new(AddressMap::default()).global(0x1000, &[0x7e, 0x7f, 0x7f, 0x80]);
    let machine = Machine::new(memory.build().unwrap());
    let byte = load("LD.S8 R4, [R2]", &machine, at(|lane| 0x1000 + lane as u64 % 4));
    assert_eq!(byte.register(4, 1), 0x7f);
    assert_eq!(byte.register(4, 3), 0xffff_ff80);
    let half = load("LD.S16 R4, [R2]", &machine, at(|lane| 0x1000 + 2 * (lane as u64 % 2)));
    assert_eq!(half.register(4, 0), 0x7f7e);
    assert_eq!(half.register(4, 1), 0xffff_807f);
}

#[test]
fn values_are_little_endian_and_fill_registers_upwards() {
    assert_eq!(loaded("32"), [0xf3f2_f1f0, BEFORE, BEFORE, BEFORE, BEFORE]);
    assert_eq!(loaded("64"), [0xf3f2_f1f0, 0xf7f6_f5f4, BEFORE, BEFORE, BEFORE]);
    let wide = [0xf3f2_f1f0, 0xf7f6_f5f4, 0xfbfa_f9f8, 0xfffe_fdfc, BEFORE];
    assert_eq!(loaded("128"), wide);
    assert_eq!(loaded("U.128"), wide);
}

/// Lane 1 is beyond the allocations, lane 2 outside of the window: both get zeroes in all
/// registers of the destination, and in no other.
#[test]
fn a_lane_outside_gets_zeroes_and_the_others_load() {
    for (size, count) in [("U8", 1), ("S16", 1), ("32", 1), ("64", 2), ("128", 4), ("U.128", 4)] {
        let address = |lane| [0x1000, 0x2000, 0xfe00_0000, 0x1010][lane % 4];
        let loaded = load(&format!("LD.{size} R4, [R2]"), &machine(), at(address));
        assert_eq!(loaded.faulting(LaneFaultKind::OutsideAllocation), 0x2222_2222);
        assert_eq!(loaded.faulting(LaneFaultKind::OutsideWindow), 0x4444_4444);
        for lane in 0..32 {
            for i in 0..5 {
                let got = loaded.register(4 + i, lane);
                if i >= count {
                    assert_eq!(got, BEFORE);
                } else if matches!(lane % 4, 1 | 2) {
                    assert_eq!(got, 0, "{size} R{} lane {lane}", 4 + i);
                } else if count > 1 {
                    assert_eq!(got, word(if lane % 4 == 0 { 0 } else { 0x10 } + 4 * i));
                }
            }
        }
    }
}

#[test]
fn a_lane_that_does_not_execute_is_not_zeroed() {
    let loaded = load("@P1 LD.64 R4, [R2]", &machine(), with(at(|_| 0), 1, 1));
    assert_eq!(loaded.registers(4, 0), [0, 0]);
    assert_eq!(loaded.registers(4, 1), [BEFORE, BEFORE]);
    assert_eq!(loaded.faulting(LaneFaultKind::OutsideAllocation), 1);
}

/// One lane's load, as large as possible, next to lanes that do not load.
#[test]
fn one_lane_loads_alone() {
    let loaded = load("@P1 LD.128 R4, [R2]", &machine(), with(at(|_| 0x10f0), 1, 1 << 13));
    assert_eq!(loaded.registers(4, 13), [word(0xf0), word(0xf4), word(0xf8), word(0xfc)]);
    assert_eq!(loaded.registers(4, 12), [BEFORE; 4]);
    assert_eq!(loaded.changed(), [4, 5, 6, 7]);
}

#[test]
fn only_the_destination_changes() {
    let loaded = load("LD.64 R8, [R2]", &machine(), at(|_| 0x1000));
    assert_eq!(loaded.changed(), [8, 9]);
    // The last registers.
    let loaded = load("LD.128 R248, [R2]", &machine(), at(|_| 0x1000));
    assert_eq!(loaded.changed(), [248, 249, 250, 251]);
    // A load never changes predicates or the active mask.
    assert_eq!(loaded.warp.active, loaded.before.active);
}

/// The load is made and its faults are reported, but its values are dropped.
#[test]
fn rz_swallows_the_values() {
    for size in ["U8", "64", "128", "U.128"] {
        let address = |lane| if lane == 7 { 0 } else { 0x1000 };
        let loaded = load(&format!("LD.{size} RZ, [R2]"), &machine(), at(address));
        assert!(loaded.changed().is_empty());
        assert_eq!(loaded.faulting(LaneFaultKind::OutsideAllocation), 1 << 7);
    }
}

#[test]
fn the_cache_operator_changes_nothing() {
    let warp = || at(|lane| 0x1000 + 8 * lane as u64);
    let plain = load("LD.64 R4, [R2]", &machine(), warp());
    for operator in ["CA", "CG", "CI", "CV"] {
        let other = load(&format!("LD.{operator}.64 R4, [R2]"), &machine(), warp());
        assert_eq!((other.warp, other.outcome), (plain.warp.clone(), plain.outcome.clone()));
    }
}
