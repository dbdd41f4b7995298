//! Section 4, clause 6: the whole access must be allocated.

use warpload::load::{FaultCause, LaneFaultKind};
use warpload::machine::Machine;
use warpload::memory::{AddressMap, MemoryBuilder, Space, Window};

use crate::rules::{Loaded, at, bytes, lane_bytes, load, machine, with, word};

/// Whether a load from this address finds all its bytes; otherwise that is the only fault.
fn holds(machine: &Machine, size: &str, address: u64) -> bool {
    let plg = !(0xfe00_0000..0xff00_0000).contains(&address);
    let warp = with(at(|_| address), 0, if plg { u32::MAX } else { 0 });
    let loaded = load(&format!("LD.E.{size} R4, [R2], P0"), machine, warp);
    if !loaded.is_clean() {
        assert_eq!(loaded.faulting(LaneFaultKind::OutsideAllocation), u32::MAX);
        assert_eq!(loaded.causes(0), [FaultCause::OutsideAllocation]);
        assert_eq!(loaded.register(4, 0), 0);
    }
    loaded.is_clean()
}

/// An allocation of 0x15 bytes from 0x1003 on, 0x1003..0x1018.
#[test]
fn a_global_access_must_lie_in_an_allocation() {
    let memory = MemoryBuilder::new(AddressMap::default()).global(0x1003, &bytes(3, 0x15));
    let machine = Machine::new(memory.build().unwrap());
    for (size, count) in [("U8", 1), ("S16", 2), ("32", 4), ("64", 8), ("128", 16)] {
        for address in (0xff0..0x1030).step_by(count) {
            let inside = address >= 0x1003 && address + count as u64 <= 0x1018;
            assert_eq!(holds(&machine, size, address), inside, "{size} {address:#x}");
        }
    }
}

/// 0x1120 is the last byte of the second allocation, 0x1121 the first after it.
#[test]
fn nothing_after_the_last_byte() {
    assert!(holds(&machine(), "U8", 0x1120));
    assert!(!holds(&machine(), "U8", 0x1121));
    assert!(!holds(&machine(), "U16", 0x1120));
    assert!(holds(&machine(), "128", 0x1110));
    assert!(!holds(&machine(), "128", 0x1120));
    assert!(!holds(&machine(), "U8", 0xfff));
    assert!(holds(&machine(), "U8", 0x1000));
}

/// 0x1000..0x1006 and 0x1006..0x1010 touch: 0x1004..0x1008 lies in both, and so in neither.
#[test]
fn an_access_does_not_continue_in_the_neighbour() {
    let memory = MemoryBuilder::new(AddressMap::default())
        .global(0x1006, &bytes(6, 10))
        .global(0x1000, &bytes(0, 6));
    let machine = Machine::new(memory.build().unwrap());
    assert!(!holds(&machine, "32", 0x1004));
    assert!(!holds(&machine, "64", 0x1000));
    assert!(!holds(&machine, "128", 0x1000));
    assert!(holds(&machine, "U16", 0x1004));
    assert!(holds(&machine, "U16", 0x1006));
    assert!(holds(&machine, "64", 0x1008));
    // One load can read both halves, though, because each lane has its own allocation.
    let loaded = load("LD.U16 R4, [R2]", &machine, at(|lane| 0x1004 + 2 * (lane as u64 % 2)));
    assert!(loaded.is_clean());
    assert_eq!([0, 1].map(|lane| loaded.register(4, lane)), [0x0504, 0x0706]);
}

#[test]
fn each_address_finds_its_allocation() {
    let loaded = load("LD R4, [R2]", &machine(), at(|lane| 0x10c0 + 4 * (lane as u64 % 24)));
    assert!(loaded.is_clean());
    assert_eq!(loaded.register(4, 15), word(0xfc));
    assert_eq!(loaded.register(4, 16), word(0xa0));
    assert_eq!(loaded.register(4, 23), word(0xbc));
}

/// Shared memory has 0x28 of the window's bytes.
#[test]
fn shared_memory_ends_before_its_window() {
    assert!(holds(&machine(), "64", 0xfe00_0020));
    assert!(!holds(&machine(), "128", 0xfe00_0020));
    assert!(holds(&machine(), "U8", 0xfe00_0027));
    assert!(!holds(&machine(), "U8", 0xfe00_0028));
    assert!(!holds(&machine(), "128", 0xfeff_fff0));
    assert!(holds(&machine(), "128", 0xfe00_0000));
}

#[test]
fn shared_memory_is_the_same_for_all_lanes() {
    let loaded = load("LD R4, [R2], P0", &machine(), at(|_| 0xfe00_0004));
    assert!((0..32).all(|lane| loaded.register(4, lane) == word(0x44)));
}

/// 0x22 bytes from the window's base on, 0x14 up to its end, and a gap between them.
#[test]
fn local_memory_has_a_low_and_a_high_part() {
    let machine = machine();
    assert!(holds(&machine, "128", 0xff00_0010));
    assert!(holds(&machine, "U16", 0xff00_0020));
    assert!(!holds(&machine, "32", 0xff00_0020));
    assert!(holds(&machine, "U8", 0xff00_0021));
    assert!(!holds(&machine, "U8", 0xff00_0022));
    assert!(!holds(&machine, "128", 0xff80_0000));
    assert!(!holds(&machine, "U8", 0xffff_ffeb));
    assert!(holds(&machine, "U8", 0xffff_ffec));
    assert!(holds(&machine, "32", 0xffff_ffec));
    assert!(!holds(&machine, "64", 0xffff_ffe8));
    assert!(holds(&machine, "128", 0xffff_fff0));
}

/// Lane n's bytes begin with 7n: one address, 32 values.
#[test]
fn local_memory_belongs_to_the_lane() {
    let low = load("LD R4, [R2]", &machine(), at(|_| 0xff00_0008));
    let high = load("LD.U8 R4, [R2]", &machine(), at(|_| 0xffff_ffff));
    for lane in 0..32u8 {
        assert_eq!(low.register(4, lane.into()), word(7 * lane + 8));
        let last = 0x80u8.wrapping_add(7 * lane).wrapping_add(0x13);
        assert_eq!(high.register(4, lane.into()), u32::from(last));
    }
}

/// Some lanes in the low part, some in the high one.
#[test]
fn lanes_find_their_parts() {
    let address = |lane| if lane % 2 == 0 { 0xff00_0000 } else { 0xffff_fff8 };
    let loaded = load("LD.64 R4, [R2]", &machine(), at(address));
    assert!(loaded.is_clean());
    assert_eq!(loaded.registers(4, 2), [word(14), word(18)]);
    let from = 0x80 + 21 + 12;
    assert_eq!(loaded.registers(4, 3), [word(from), word(from + 4)]);
}

/// The first part has 23 of the 48 bytes, the second 25; the access 16..32 has 7 of one and 9
/// of the other, all of them allocated.
#[test]
fn an_access_may_cross_local_parts_that_touch() {
    let local = Window { base: 0x4000, size: 48 };
    let map = AddressMap::new(40, Window::DEFAULT_SHARED, local).unwrap();
    let memory = |low: usize, high| {
        MemoryBuilder::new(map)
            .local_low(low, &lane_bytes(0, low))
            .local_high(high, &lane_bytes(low as u8, high))
            .build()
            .unwrap()
    };
    let cross = |low, high| -> Loaded {
        load("LD.128 R4, [R2]", &Machine::new(memory(low, high)), at(|_| 0x4010))
    };
    let loaded = cross(23, 25);
    assert!(loaded.is_clean());
    let first = 7 * 9 + 16;
    assert_eq!(loaded.registers(4, 9), [first, first + 4, first + 8, first + 12].map(word));
    // With one byte less in either part, one byte between them is missing.
    assert_eq!(cross(22, 25).faulting(LaneFaultKind::OutsideAllocation), u32::MAX);
    assert_eq!(cross(23, 24).faulting(LaneFaultKind::OutsideAllocation), u32::MAX);
    assert!(cross(48, 0).is_clean());
    assert!(cross(0, 48).is_clean());
}

#[test]
fn nothing_is_allocated_unless_it_is_said() {
    let machine = Machine::default();
    for address in [0, 0x1000, 0xfe00_0000, 0xff00_0000, 0xffff_fff0, 0xff_ffff_fff0] {
        assert!(!holds(&machine, "128", address));
    }
    // An empty allocation holds no bytes either.
    let memory = MemoryBuilder::new(AddressMap::default()).global(0x1000, &[]).build().unwrap();
    assert!(!holds(&Machine::new(memory), "U8", 0x1000));
}

/// Even if the lowest and the highest lane find their bytes, a lane between them may not.
#[test]
fn lanes_between_others_are_looked_up_too() {
    let memory = MemoryBuilder::new(AddressMap::default())
        .global(0x1000, &bytes(0, 8))
        .global(0x1010, &bytes(8, 8));
    let machine = Machine::new(memory.build().unwrap());
    let loaded = load("LD R4, [R2]", &machine, at(|lane| 0x1000 + 4 * (lane as u64 % 6)));
    assert_eq!(loaded.faulting(LaneFaultKind::OutsideAllocation) & 0x3f, 0b001100);
    assert_eq!(loaded.faults(2)[0].space, Some(Space::Global));
    assert_eq!(loaded.register(4, 5), word(12));
}
