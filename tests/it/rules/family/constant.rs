//! LDC: offsets into a constant bank.

use warpload::encoding::Reg;
use warpload::lane::LANES;

use super::{LDC, address};
use crate::rules::{at, limited, load, machine, word};

/// The word at offset 4 of three banks; bank 31 has only 6 bytes.
#[test]
fn the_bank_chooses_the_bytes() {
    for (text, value) in [
        ("LDC R4, c[0x0][0x4]", word(0xc4)),
        ("LDC R4, c[0x3][0x4]", word(4)),
        ("LDC.U16 R4, c[0x1f][0x4]", 0x3534),
    ] {
        let loaded = load(text, &machine(), at(|_| 0));
        assert!(loaded.is_clean(), "{text}");
        assert!((0..LANES).all(|lane| loaded.register(4, lane) == value), "{text}");
    }
}

/// There is no bank 1, 2, 4 or 30, and bank 5 is empty.
#[test]
fn in_a_bank_that_is_not_there_nothing_is_allocated() {
    for bank in [1, 2, 4, 5, 30] {
        for address in ["0x0", "R2"] {
            for size in ["U8", "32", "64"] {
                let text = format!("LDC.{size} R4, c[{bank:#x}][{address}]");
                let loaded = load(&text, &machine(), at(|_| 0));
                assert_eq!(LDC.outside_lanes(&loaded), u32::MAX, "{text}");
            }
        }
    }
}

/// Bank 0 has 0x48 bytes, bank 31 has 6, bank 3 64 KiB.
#[test]
fn the_whole_access_lies_in_the_bank() {
    for (size, bank, offset, lanes) in [
        ("U8", 0, 0x47, 0),
        ("64", 0, 0x40, 0),
        ("U8", 0, 0x48, u32::MAX),
        ("64", 0, 0x48, u32::MAX),
        ("32", 31, 0, 0),
        ("32", 31, 4, u32::MAX),
        ("64", 31, 0, u32::MAX),
        ("U16", 31, 4, 0),
        ("64", 3, 0xfff8, 0),
        ("U8", 3, 0xffff, 0),
        ("U8", 3, 0x1_0000, u32::MAX),
        ("64", 3, 0x1_0000, u32::MAX),
    ] {
        let text = format!("LDC.{size} R4, c[{bank:#x}][R2]");
        let loaded = load(&text, &machine(), at(|_| offset));
        assert_eq!(LDC.outside_lanes(&loaded), lanes, "{text} {offset:#x}");
    }
}

/// 0xfff8..0x10000 are bytes 0xf8..0x100 of the pattern; an offset of 16 bits would wrap 0x10000 to 0.
#[test]
fn the_last_bytes_of_64_kib() {
    let loaded =
        load("LDC.64 R4, c[0x3][R2]", &machine(), at(|lane| 0xfff8 + 8 * (lane as u64 % 2)));
    assert_eq!(loaded.registers(4, 0), [word(0xf8), word(0xfc)]);
    assert_eq!(LDC.outside_lanes(&loaded), 0xaaaa_aaaa);
    // 0x8000 + 0x7ffc = 0xfffc, and 0x8004 + 0x7ffc = 0x10000.
    let warp = || at(|lane| 0x8000 + 4 * (lane as u64 % 2));
    let loaded = load("LDC R4, c[0x3][R2+0x7ffc]", &machine(), warp());
    assert_eq!(loaded.register(4, 0), word(0xfc));
    assert_eq!(LDC.outside_lanes(&loaded), 0xaaaa_aaaa);
    assert_eq!(address(&loaded, 1), 0x1_0000);
}

/// 0x18 - 0x10 = 8; 0x8008 - 0x8000 = 8; 0xfffffff4 + 0x14 = 8 modulo 2^32. R3 is not 0 and is not
/// read.
#[test]
fn the_sum_is_modulo_2_to_the_32() {
    for (offset, base) in
        [("-0x10", 0x18), ("+-0x8000", 0x8008), ("+0x14", 0xffff_fff4), ("+0x7fff", 0xffff_8009)]
    {
        let text = format!("LDC R4, c[0x3][R2{offset}]");
        let loaded = load(&text, &machine(), at(|_| 0x7_0000_0000 + base));
        assert!(loaded.is_clean(), "{text}");
        assert_eq!(loaded.register(4, 30), word(8), "{text}");
    }
    // 0x10 - 0x20 = 0xfffffff0; 16 bits would be 0xfff0, in the bank.
    let loaded = load("LDC R4, c[0x3][R2-0x20]", &machine(), at(|_| 0x10));
    assert_eq!(LDC.outside_lanes(&loaded), u32::MAX);
    assert_eq!(address(&loaded, 0), 0xffff_fff0);
}

/// -0x8 modulo 2^32 is 0xfffffff8, beyond every bank; 0x7ffc is the largest aligned offset.
#[test]
fn without_a_base_the_offset_is_signed_too() {
    for (text, from) in
        [("LDC R4, c[0x3][-0x8]", 0xffff_fff8), ("LDC R4, c[0x3][-0x8000]", 0xffff_8000)]
    {
        let loaded = load(text, &machine(), at(|_| 0));
        assert_eq!(LDC.outside_lanes(&loaded), u32::MAX, "{text}");
        assert_eq!(address(&loaded, 0), from, "{text}");
    }
    let loaded = load("LDC R4, c[0x3][0x7ffc]", &machine(), at(|_| 0));
    assert_eq!(loaded.register(4, 0), word(0xfc));
}

/// With 16 registers per thread there is no R16: only the offset counts, and -0x8 is 0xfffffff8.
/// R15 is a base: 0x18 - 0x8 = 0x10.
#[test]
fn a_register_at_or_above_the_limit_is_no_base() {
    let warp = || {
        let mut warp = at(|_| 0);
        warp.set_register(Reg::new(15), [0x18; LANES]);
        warp.set_register(Reg::new(16), [0x18; LANES]);
        warp
    };
    let loaded = load("LDC R4, c[0x3][R16+0x8]", &limited(16), warp());
    assert_eq!(loaded.register(4, 0), word(8));
    let loaded = load("LDC R4, c[0x3][R16-0x8]", &limited(16), warp());
    assert_eq!(LDC.outside_lanes(&loaded), u32::MAX);
    assert_eq!(address(&loaded, 0), 0xffff_fff8);
    let loaded = load("LDC R4, c[0x3][R15-0x8]", &limited(16), warp());
    assert_eq!(loaded.register(4, 0), word(0x10));
}

/// Lane n reads 4n: every lane has its own offset, and from lane 18 on it is past bank 0's 0x48 bytes.
#[test]
fn every_lane_has_an_offset_of_its_own() {
    let loaded = load("LDC R4, c[0x0][R2]", &machine(), at(|lane| 4 * lane as u64));
    assert_eq!(LDC.outside_lanes(&loaded), 0xfffc_0000);
    assert_eq!([0, 17].map(|lane| loaded.register(4, lane)), [word(0xc0), word(0x04)]);
    let loaded = load("LDC.64 R4, c[0x3][R2]", &machine(), at(|lane| 8 * (31 - lane as u64)));
    assert!(loaded.is_clean());
    assert_eq!(loaded.registers(4, 0), [word(0xf8), word(0xfc)]);
}
