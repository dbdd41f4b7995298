//! LDG: addresses of global memory, without windows.

use warpload::encoding::Reg;
use warpload::lane::LANES;
use warpload::machine::Machine;
use warpload::memory::{AddressMap, MemoryBuilder, Window};

use super::{LDG, address};
use crate::rules::{at, bytes, limited, load, machine, word};

/// 0x1020 + 0x14 = 0x1034; 0x1020 - 0x1c = 0x1004.
#[test]
fn with_a_base_the_offset_is_signed() {
    for extended in ["", ".E"] {
        let up = load(&format!("LDG{extended} R4, [R2+0x14]"), &machine(), at(|_| 0x1020));
        assert!(up.is_clean());
        assert_eq!(up.register(4, 0), word(0x34));
        let down = load(&format!("LDG{extended} R4, [R2-0x1c]"), &machine(), at(|_| 0x1020));
        assert_eq!(down.register(4, 0), word(0x04));
    }
}

/// 0x801010 - 0x800000 = 0x1010; 0x801010 + 0x7ffff0 = 0x1001000, where 24 bits would leave 0x1000.
#[test]
fn the_offset_has_24_bits() {
    for extended in ["", ".E"] {
        let warp = || at(|_| 0x80_1010);
        let down = load(&format!("LDG{extended} R4, [R2-0x800000]"), &machine(), warp());
        assert!(down.is_clean());
        assert_eq!(down.register(4, 31), word(0x10));
        let up = load(&format!("LDG{extended} R4, [R2+0x7ffff0]"), &machine(), warp());
        assert_eq!(address(&up, 0), 0x100_1000);
    }
}

/// Read as signed, 0xfffff0 would be 0xfffffff0.
#[test]
fn without_a_base_the_offset_is_unsigned() {
    let memory = MemoryBuilder::new(AddressMap::default()).global(0xff_fff0, &bytes(0, 0x20));
    let machine = Machine::new(memory.build().unwrap());
    for text in ["LDG R4, [0xfffff4]", "LDG.E R4, [0xfffff4]", "LDG.E R4, [RZ+0xfffff4]"] {
        let loaded = load(text, &machine, at(|_| 0));
        assert!(loaded.is_clean(), "{text}");
        assert_eq!(loaded.register(4, 0), word(4));
    }
    let loaded = load("LDG.E R4, [0x800000]", &machine, at(|_| 0));
    assert_eq!(address(&loaded, 0), 0x80_0000);
}

/// With 16 registers per thread there is no R16: the text's -0x10 is the address 0xfffff0, with and without `.E`, and
/// needs no pair. R15 is a base: 0x1010 - 0x10 = 0x1000.
#[test]
fn a_register_at_or_above_the_limit_is_no_base() {
    for text in ["LDG R4, [R16-0x10]", "LDG.E R4, [R17-0x10]", "LDG.E R4, [R254-0x10]"] {
        let mut warp = at(|_| 0);
        warp.set_register(Reg::new(16), [0x1010; LANES]);
        let loaded = load(text, &limited(16), warp);
        assert_eq!(LDG.outside_lanes(&loaded), u32::MAX, "{text}");
        assert_eq!(address(&loaded, 0), 0xff_fff0, "{text}");
    }
    let mut warp = at(|_| 0);
    warp.set_register(Reg::new(15), [0x1010; LANES]);
    let loaded = load("LDG R4, [R15-0x10]", &limited(16), warp);
    assert_eq!(loaded.register(4, 0), word(0));
}

/// 0xfffff000 + 0x2004 = 0x1_00001004, modulo 2^32 0x1004; 0x10 - 0x20 = 0xfffffff0. R3, which only .E reads, is not 0.
#[test]
fn a_32_bit_address_wraps_at_2_to_the_32() {
    let loaded = load("LDG R4, [R2+0x2004]", &machine(), at(|_| 0x7_ffff_f000));
    assert!(loaded.is_clean());
    assert_eq!(loaded.register(4, 0), word(4));
    let loaded = load("LDG R4, [R2-0x20]", &machine(), at(|_| 0x7_0000_0010));
    assert_eq!(address(&loaded, 5), 0xffff_fff0);
}

/// {R3, R2} = 0x1_fffffff0; + 0x20 carries into the high word: 0x2_00000010. 0x1_00000000 - 4 =
/// 0xfffffffc: a zero-extended offset would not borrow.
#[test]
fn an_extended_address_has_64_bits() {
    let loaded = load("LDG.E R4, [R2+0x20]", &machine(), at(|_| 0x1_ffff_fff0));
    assert_eq!(address(&loaded, 9), 0x2_0000_0010);
    let loaded = load("LDG.E R4, [R2-0x4]", &machine(), at(|_| 0x1_0000_0000));
    assert_eq!(address(&loaded, 9), 0xffff_fffc);
    let loaded = load("LDG.E R4, [R2]", &machine(), at(|_| 0x1_0000_1000));
    assert_eq!(LDG.outside_lanes(&loaded), u32::MAX);
}

/// 2^64 - 0x1000 + 0x2004 = 2^64 + 0x1004; 0x10 - 0x20 = 2^64 - 0x10.
#[test]
fn an_extended_address_wraps_at_2_to_the_64() {
    let loaded = load("LDG.E R4, [R2+0x2004]", &machine(), at(|_| 0xffff_ffff_ffff_f000));
    assert!(loaded.is_clean());
    assert_eq!(loaded.register(4, 0), word(4));
    let loaded = load("LDG.E R4, [R2-0x20]", &machine(), at(|_| 0x10));
    assert_eq!(LDG.outside_lanes(&loaded), u32::MAX);
    assert_eq!(address(&loaded, 0), 0xffff_ffff_ffff_fff0);
}

/// The bytes of shared and local memory have generic addresses in the windows, but LDG ignores windows, and global
/// memory is not allocated there. 0xfe000000 and 0xff000000 are the windows' bases, 0xfffffff0 lies in local memory's
/// high part.
#[test]
fn addresses_in_the_windows_are_global() {
    for inside in [0xfe00_0000, 0xfe00_0010, 0xff00_0000, 0xff00_0010, 0xffff_fff0] {
        let loaded = load("LDG.64 R4, [R2]", &machine(), at(|_| inside));
        assert_eq!(LDG.outside_lanes(&loaded), u32::MAX, "{inside:#x}");
    }
}

/// One lane in each window and two beside them.
#[test]
fn lanes_in_the_windows_do_not_disturb_the_others() {
    let addresses = [0x1004, 0xfe00_0004, 0xff00_0004, 0x1104];
    let loaded = load("LDG R4, [R2]", &machine(), at(|lane| addresses[lane % 4]));
    assert_eq!(LDG.outside_lanes(&loaded), 0x6666_6666);
    assert_eq!([4, 7].map(|lane| loaded.register(4, lane)), [word(4), word(0xa4)]);
}

/// An allocation may end with the address space. Addresses above it count as not allocated rather than as outside of a
/// window. 2^40 - 1 and, with 32 bits, 2^32 - 1 are the last addresses.
#[test]
fn at_or_above_address_bits_nothing_is_allocated() {
    for bits in [32, 33, 40, 49, 63] {
        let top = 1u64 << bits;
        let window = |base| Window { base, size: 0x20 };
        let map = AddressMap::new(bits, window(0x20), window(0x40)).unwrap();
        let memory = MemoryBuilder::new(map).global(top - 0x10, &bytes(0, 0x10));
        let machine = Machine::new(memory.build().unwrap());
        let last = load("LDG.E.U8 R4, [R2]", &machine, at(|_| top - 1));
        assert!(last.is_clean());
        assert_eq!(last.register(4, 8), 0xf);
        for above in [top, top + 0x10, top.wrapping_neg(), u64::MAX] {
            let loaded = load("LDG.E.U8 R4, [R2]", &machine, at(|_| above));
            assert_eq!(LDG.outside_lanes(&loaded), u32::MAX, "{above:#x}");
        }
        let loaded = load("LDG.E.U8 R4, [R2]", &machine, at(|lane| top - 1 + lane as u64 % 2));
        assert_eq!(LDG.outside_lanes(&loaded), 0xaaaa_aaaa);
    }
}

/// 2^64 - 1 rounded down to 16 is 2^64 - 0x10.
#[test]
fn with_64_address_bits_the_last_byte_is_an_address_too() {
    let map = AddressMap::new(64, Window::DEFAULT_SHARED, Window::DEFAULT_LOCAL).unwrap();
    let memory = MemoryBuilder::new(map).global(u64::MAX - 0xf, &bytes(0, 0x10));
    let machine = Machine::new(memory.build().unwrap());
    let loaded = load("LDG.E.128 R4, [R2]", &machine, at(|_| u64::MAX));
    assert!(loaded.is_clean());
    assert_eq!(loaded.registers(4, 0), [word(0), word(4), word(8), word(12)]);
}

/// 0x1100..0x1121 has one byte from 0x1120 on; 0x1006 is where two allocations touch.
#[test]
fn the_whole_access_lies_in_one_allocation() {
    let outside = |text: &str, from| LDG.outside_lanes(&load(text, &machine(), at(|_| from)));
    assert_eq!(outside("LDG.U8 R4, [R2]", 0x1120), 0);
    assert_eq!(outside("LDG.U8 R4, [R2]", 0x1121), u32::MAX);
    assert_eq!(outside("LDG.U16 R4, [R2]", 0x1120), u32::MAX);
    assert_eq!(outside("LDG.U8 R4, [R2]", 0xfff), u32::MAX);
    let memory = MemoryBuilder::new(AddressMap::default())
        .global(0x1006, &bytes(6, 10))
        .global(0x1000, &bytes(0, 6));
    let machine = Machine::new(memory.build().unwrap());
    let loaded = load("LDG.64 R4, [R2]", &machine, at(|lane| 0x1000 + 8 * (lane as u64 % 2)));
    assert_eq!(LDG.outside_lanes(&loaded), 0x5555_5555);
    assert_eq!(loaded.registers(4, 1), [word(8), word(12)]);
}

/// 0x10f0 + 4 * 4 = 0x1100: lanes 0..4 in the first allocation, the others in the second, and from
/// lane 12 on, 0x1120, past it.
#[test]
fn each_lane_finds_its_allocation() {
    let loaded = load("LDG R4, [R2]", &machine(), at(|lane| 0x10f0 + 4 * lane as u64));
    assert_eq!(LDG.outside_lanes(&loaded), 0xffff_f000);
    assert_eq!([3, 4].map(|lane| loaded.register(4, lane)), [word(0xfc), word(0xa0)]);
}
