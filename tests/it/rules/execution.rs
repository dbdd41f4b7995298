//! Section 4, clause 1: the executing lanes.

use warpload::encoding::Reg;
use warpload::lane::LaneMask;

use crate::rules::{BEFORE, active, at, limited, load, machine, reporting, with, word};

#[test]
fn lanes_that_are_not_active_keep_their_registers() {
    let loaded = load("LD R4, [R2]", &machine(), active(at(|lane| 0x1000 + 4 * lane as u64), 0xf0));
    assert_eq!(loaded.outcome.executing.bits(), 0xf0);
    for lane in 0..32 {
        let expected = if (4..8).contains(&lane) { word(4 * lane as u8) } else { BEFORE };
        assert_eq!(loaded.register(4, lane), expected, "lane {lane}");
    }
    assert_eq!(loaded.changed(), [4]);
}

#[test]
fn the_guard_lets_lanes_through_where_it_is_true() {
    let loaded = load("@P1 LD R4, [R2]", &machine(), with(at(|_| 0x1000), 1, 0x3));
    assert_eq!(loaded.outcome.executing.bits(), 0x3);
    assert_eq!([0, 1, 2].map(|lane| loaded.register(4, lane)), [word(0), word(0), BEFORE]);
}

#[test]
fn a_negated_guard_lets_lanes_through_where_it_is_false() {
    let loaded = load("@!P1 LD R4, [R2]", &machine(), with(at(|_| 0x1000), 1, 0x3));
    assert_eq!(loaded.outcome.executing.bits(), !0x3);
    assert_eq!([0, 1, 2].map(|lane| loaded.register(4, lane)), [BEFORE, BEFORE, word(0)]);
}

#[test]
fn a_lane_executes_where_it_is_active_and_let_through() {
    let loaded = load("@P1 LD R4, [R2]", &machine(), active(with(at(|_| 0x1000), 1, 0x6), 0x3));
    assert_eq!(loaded.outcome.executing.bits(), 0x2);
}

#[test]
fn lanes_that_do_not_execute_do_not_fault() {
    let loaded =
        load("LD R4, [R2]", &machine(), active(at(|lane| if lane < 4 { 0x1000 } else { 0 }), 0xf));
    assert!(loaded.is_clean());
    // The misalignment of such lanes is not reported either.
    let warp = at(|lane| if lane < 4 { 0x1000 } else { 0x1001 });
    let loaded = load("LD R4, [R2]", &reporting(), active(warp, 0xf));
    assert!(loaded.is_clean());
}

/// @!PT predicates all lanes off. R5 is misaligned for 128 bits, R9 for an address, and 0 is not allocated, but none of
/// it is a fault.
#[test]
fn nothing_faults_where_no_lane_executes() {
    let machine = limited(5);
    for text in ["@!PT LD.E.U.128 R5, [R9]", "@!PT LD.128 R8, [R2]", "@!PT LD R0, [RZ]"] {
        let loaded = load(text, &machine, at(|_| 0));
        assert!(loaded.is_clean(), "{text}");
        assert_eq!(loaded.outcome.executing, LaneMask::NONE);
        assert_eq!(loaded.outcome.destination, None);
        assert_eq!(loaded.outcome.uniform, None);
        assert!(loaded.changed().is_empty());
    }
    let loaded = load("LD.128 R5, [R2]", &machine, active(at(|_| 0), 0));
    assert!(loaded.is_clean());
}

#[test]
fn the_outcome_names_what_was_written() {
    let outcome = load("LD.64 R4, [R2]", &machine(), at(|_| 0x1000)).outcome;
    let destination = outcome.destination.unwrap();
    assert_eq!((destination.first, destination.count), (Reg::new(4), 2));
    let outcome = load("LD.64 RZ, [R2]", &machine(), at(|_| 0x1000)).outcome;
    assert_eq!(outcome.destination, None);
}
