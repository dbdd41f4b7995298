//! LDL: offsets into the lane's own local memory.

use warpload::encoding::Reg;
use warpload::lane::LANES;
use warpload::machine::Machine;
use warpload::memory::{AddressMap, MemoryBuilder, Window};

use super::{LDL, SIBLINGS, address};
use crate::rules::{at, lane_bytes, limited, load, machine, word};

/// A byte of lane n is 7n more than lane 0's, in either part.
fn own(lane: usize, first: u8) -> u32 {
    word(first.wrapping_add(7 * lane as u8))
}

#[test]
fn one_offset_names_other_bytes_in_every_lane() {
    let low = load("LDL R4, [R2]", &machine(), at(|_| 8));
    let high = load("LDL R4, [R2]", &machine(), at(|_| 0xff_fff0));
    assert!(low.is_clean() && high.is_clean());
    for lane in 0..LANES {
        assert_eq!(low.register(4, lane), own(lane, 8));
        // 0xfffff0 - 0xffffec = 4.
        assert_eq!(high.register(4, lane), own(lane, 0x84));
    }
}

/// Lane n at n: its own byte there is 7n + n = 8n. Offsets side by side are not bytes side by side.
#[test]
fn offsets_side_by_side_are_each_lanes_own() {
    let loaded = load("LDL.U8 R4, [R2]", &machine(), at(|lane| lane as u64));
    assert!(loaded.is_clean());
    for lane in 0..LANES {
        assert_eq!(loaded.register(4, lane), 8 * lane as u32);
    }
}

/// Lanes may be in both parts at once; lane 2 is between them.
#[test]
fn lanes_find_their_parts() {
    let offsets = [0x8, 0xff_fff8, 0x80_0000, 0x18];
    let loaded = load("LDL.64 R4, [R2]", &machine(), at(|lane| offsets[lane % 4]));
    assert_eq!(LDL.outside_lanes(&loaded), 0x4444_4444);
    assert_eq!(loaded.registers(4, 4), [own(4, 8), own(4, 12)]);
    assert_eq!(loaded.registers(4, 5), [own(5, 0x8c), own(5, 0x90)]);
    assert_eq!(loaded.registers(4, 7), [own(7, 0x18), own(7, 0x1c)]);
}

/// 0x22 bytes from 0 on, 0x14 up to the window's end 0x1000000, and no bytes between or after them.
#[test]
fn the_whole_access_lies_in_a_part() {
    let outside = |size: &str, from: u64| {
        let loaded = load(&format!("LDL.{size} R4, [R2]"), &machine(), at(|_| from));
        match LDL.outside_lanes(&loaded) {
            0 => false,
            lanes => lanes == u32::MAX,
        }
    };
    assert!(!outside("U8", 0) && !outside("U8", 0x21) && !outside("U16", 0x20));
    assert!(outside("32", 0x20) && outside("U8", 0x22));
    assert!(outside("U8", 0xff_ffeb) && !outside("U8", 0xff_ffec));
    assert!(outside("64", 0xff_ffe8) && !outside("32", 0xff_ffec));
    assert!(!outside("128", 0xff_fff0) && !outside("U8", 0xff_ffff));
    assert!(outside("U8", 0x100_0000) && outside("128", 0x100_0000));
}

/// The window's base 0xff000000 has no effect, because an offset is not a generic address.
#[test]
fn a_generic_address_is_no_offset() {
    for address in [0xff00_0000, 0xff00_0010, 0xffff_fff0, 0xfe00_0000, 0x1000] {
        let loaded = load("LDL R4, [R2]", &machine(), at(|_| address));
        assert_eq!(LDL.outside_lanes(&loaded), u32::MAX, "{address:#x}");
    }
}

/// 0x20 - 0x18 = 8; 0x800008 - 0x800000 = 8; 0xfffffff8 + 0x10 = 8 modulo 2^32; 0x10 - 0x20 =
/// 0xfffffff0. R3 is not 0 and is not read.
#[test]
fn the_sum_is_modulo_2_to_the_32() {
    for (text, base) in [
        ("LDL R4, [R2-0x18]", 0x20),
        ("LDL R4, [R2-0x800000]", 0x80_0008),
        ("LDL R4, [R2+0x10]", 0xffff_fff8),
    ] {
        let loaded = load(text, &machine(), at(|_| 0x7_0000_0000 + base));
        assert!(loaded.is_clean(), "{text}");
        assert_eq!(loaded.register(4, 2), own(2, 8), "{text}");
    }
    let loaded = load("LDL R4, [R2-0x20]", &machine(), at(|_| 0x7_0000_0010));
    assert_eq!(LDL.outside_lanes(&loaded), u32::MAX);
    assert_eq!(address(&loaded, 0), 0xffff_fff0);
}

/// Read as signed, 0xfffff0 would be 0xfffffff0; unsigned it is 4 bytes into the high part.
#[test]
fn without_a_base_the_offset_is_unsigned() {
    for (text, limit) in [("LDL R4, [0xfffff0]", 255), ("LDL R4, [R16-0x10]", 16)] {
        let mut warp = at(|_| 0);
        warp.set_register(Reg::new(16), [0x10; LANES]);
        let loaded = load(text, &limited(limit), warp);
        assert!(loaded.is_clean(), "{text}");
        assert_eq!(loaded.register(4, 5), own(5, 0x84));
    }
}

/// The first part has 23 of the 48 bytes, the second 25; the access 16..32 has 7 of one and 9 of
/// the other. The first 16 bytes lie in the low part, the last 16 in the high one.
#[test]
fn an_access_may_cross_parts_that_touch() {
    let local = Window { base: 0x4000, size: 48 };
    let map = AddressMap::new(40, Window::DEFAULT_SHARED, local).unwrap();
    let cross = |low: usize, high: usize, from: u64| {
        let memory = MemoryBuilder::new(map)
            .local_low(low, &lane_bytes(0, low))
            .local_high(high, &lane_bytes(low as u8, high));
        let machine = Machine::new(memory.build().unwrap());
        load("LDL.128 R4, [R2]", &machine, at(|_| from))
    };
    for from in [0u8, 16, 32] {
        for (low, high) in [(23, 25), (48, 0), (0, 48)] {
            let loaded = cross(low, high, from.into());
            assert!(loaded.is_clean(), "{low} {high} {from}");
            let words = [0, 4, 8, 12].map(|i| own(9, from + i));
            assert_eq!(loaded.registers(4, 9), words, "{low} {high} {from}");
        }
    }
    // With one byte less in either part, one byte between them is missing.
    assert_eq!(LDL.outside_lanes(&cross(22, 25, 16)), u32::MAX);
    assert_eq!(LDL.outside_lanes(&cross(23, 24, 16)), u32::MAX);
    // The last offset of the window is 47; its generic address is not an offset.
    assert_eq!(LDL.outside_lanes(&cross(23, 25, 48)), u32::MAX);
    assert_eq!(LDL.outside_lanes(&cross(23, 25, 0x4010)), u32::MAX);
    // 0x10010 and 0x80000010 are 16 in their low bits.
    assert_eq!(LDL.outside_lanes(&cross(23, 25, 0x1_0010)), u32::MAX);
    assert_eq!(LDL.outside_lanes(&cross(23, 25, 0x8000_0010)), u32::MAX);
}

/// Lane 3 crosses, lanes 0 and 1 do not, lane 2 is past the window.
#[test]
fn one_lane_may_cross_and_others_not() {
    let local = Window { base: 0, size: 48 };
    let map = AddressMap::new(40, Window::DEFAULT_SHARED, local).unwrap();
    let memory = MemoryBuilder::new(map)
        .local_low(23, &lane_bytes(0, 23))
        .local_high(25, &lane_bytes(23, 25));
    let machine = Machine::new(memory.build().unwrap());
    let loaded = load("LDL.128 R4, [R2]", &machine, at(|lane| [0, 0x20, 0x30, 0x10][lane % 4]));
    assert_eq!(LDL.outside_lanes(&loaded), 0x4444_4444);
    assert_eq!(
        [0, 1, 3].map(|lane| loaded.register(4, lane)),
        [own(0, 0), own(1, 0x20), own(3, 0x10)]
    );
}

/// Local memory that fills its window has bytes at every offset below 48; the other memories have none there.
#[test]
fn other_loads_do_not_find_local_memory() {
    let local = Window { base: 0, size: 48 };
    let map = AddressMap::new(40, Window::DEFAULT_SHARED, local).unwrap();
    let memory = MemoryBuilder::new(map)
        .local_low(24, &lane_bytes(0, 24))
        .local_high(24, &lane_bytes(24, 24));
    let machine = Machine::new(memory.build().unwrap());
    for sibling in SIBLINGS {
        for offset in [0, 0x10, 0x20] {
            let text = sibling.text(sibling.widest(), "R4", "[R2]");
            let loaded = load(&text, &machine, at(|_| offset));
            let lanes = if sibling.mnemonic == LDL.mnemonic { 0 } else { u32::MAX };
            assert_eq!(sibling.outside_lanes(&loaded), lanes, "{text}");
        }
    }
}

#[test]
fn nothing_is_allocated_unless_it_is_said() {
    for offset in [0, 0x10, 0xff_fff0] {
        let loaded = load("LDL R4, [R2]", &Machine::default(), at(|_| offset));
        assert_eq!(LDL.outside_lanes(&loaded), u32::MAX);
    }
}
