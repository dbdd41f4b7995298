//! LDS: offsets into the CTA's shared memory.

use warpload::encoding::Reg;
use warpload::lane::LANES;
use warpload::machine::Machine;
use warpload::memory::{AddressMap, MemoryBuilder, Window};

use super::{LDS, address};
use crate::rules::{at, bytes, limited, load, machine, word};

#[test]
fn all_lanes_have_the_same_bytes() {
    let loaded = load("LDS R4, [R2]", &machine(), at(|_| 4));
    assert!(loaded.is_clean());
    assert!((0..LANES).all(|lane| loaded.register(4, lane) == word(0x44)));
    let loaded = load("LDS.U8 R4, [R2]", &machine(), at(|lane| lane as u64));
    assert!((0..LANES).all(|lane| loaded.register(4, lane) == 0x40 + lane as u32));
}

/// 0x28 bytes from 0 on.
#[test]
fn the_whole_access_lies_in_shared_memory() {
    for (size, offset, lanes) in [
        ("U8", 0x27, 0),
        ("U8", 0x28, u32::MAX),
        ("64", 0x20, 0),
        ("128", 0x20, u32::MAX),
        ("32", 0xff_fffc, u32::MAX),
        ("32", 0x100_0000, u32::MAX),
    ] {
        let loaded = load(&format!("LDS.{size} R4, [R2]"), &machine(), at(|_| offset));
        assert_eq!(LDS.outside_lanes(&loaded), lanes, "{size} {offset:#x}");
    }
}

/// Lane n at 2n: 0x26 + 2 are the last bytes, lanes 20 and up are past them.
#[test]
fn some_lanes_may_be_after_the_end() {
    let loaded = load("LDS.U16 R4, [R2]", &machine(), at(|lane| 2 * lane as u64));
    assert_eq!(LDS.outside_lanes(&loaded), 0xfff0_0000);
    assert_eq!(loaded.register(4, 19), 0x6766);
}

/// The window's base 0xfe000000 has no effect, because an offset is not a generic address.
#[test]
fn a_generic_address_is_no_offset() {
    for address in [0xfe00_0000, 0xfe00_0010, 0xff00_0000, 0x1000] {
        let loaded = load("LDS R4, [R2]", &machine(), at(|_| address));
        assert_eq!(LDS.outside_lanes(&loaded), u32::MAX, "{address:#x}");
    }
}

/// At any place of the window, offset 0x10 is in the 0x20 bytes that fill it, and 0x20 is past them.
#[test]
fn the_window_does_not_move_the_offsets() {
    for base in [0, 0x10, 0x8000, 0xff_ffff_ffe0] {
        let shared = Window { base, size: 0x20 };
        let local = Window { base: 0x4000, size: 0x20 };
        let map = AddressMap::new(40, shared, local).unwrap();
        let memory = MemoryBuilder::new(map).shared(&bytes(0, 0x20));
        let machine = Machine::new(memory.build().unwrap());
        let loaded = load("LDS.128 R4, [R2]", &machine, at(|lane| 0x10 * (1 + lane as u64 % 2)));
        assert_eq!(LDS.outside_lanes(&loaded), 0xaaaa_aaaa, "{base:#x}");
        assert_eq!(loaded.registers(4, 0), [word(0x10), word(0x14), word(0x18), word(0x1c)]);
    }
}

/// 0x20 - 0x18 = 8; 0x800008 - 0x800000 = 8; 0xfffffff8 + 0x10 = 8 modulo 2^32; 0x10 - 0x20 =
/// 0xfffffff0. R3 is not 0 and is not read.
#[test]
fn the_sum_is_modulo_2_to_the_32() {
    for (text, base) in [
        ("LDS R4, [R2-0x18]", 0x20),
        ("LDS R4, [R2-0x800000]", 0x80_0008),
        ("LDS R4, [R2+0x10]", 0xffff_fff8),
    ] {
        let loaded = load(text, &machine(), at(|_| 0x7_0000_0000 + base));
        assert!(loaded.is_clean(), "{text}");
        assert_eq!(loaded.register(4, 2), word(0x48), "{text}");
    }
    let loaded = load("LDS R4, [R2-0x20]", &machine(), at(|_| 0x7_0000_0010));
    assert_eq!(LDS.outside_lanes(&loaded), u32::MAX);
    assert_eq!(address(&loaded, 0), 0xffff_fff0);
}

/// 0x10 is inside; read as signed, 0xfffff0 would be 0xfffffff0.
#[test]
fn without_a_base_the_offset_is_unsigned() {
    let loaded = load("LDS R4, [0x10]", &machine(), at(|_| 0));
    assert_eq!(loaded.register(4, 0), word(0x50));
    for (text, limit) in [("LDS R4, [0xfffff0]", 255), ("LDS R4, [R16-0x10]", 16)] {
        let mut warp = at(|_| 0);
        warp.set_register(Reg::new(16), [0x10; LANES]);
        let loaded = load(text, &limited(limit), warp);
        assert_eq!(LDS.outside_lanes(&loaded), u32::MAX, "{text}");
        assert_eq!(address(&loaded, 0), 0xff_fff0, "{text}");
    }
}
