//! Clauses 4, 7, 8 and 9 of docs/ld.md section 4 for the four: alignment, zeroes, values.

use warpload::encoding::Size;
use warpload::lane::LANES;
use warpload::load::LaneFaultKind;
use warpload::machine::Machine;
use warpload::memory::{AddressMap, MemoryBuilder};

use super::{LDC, LDG, LDL, LDS, SIBLINGS, Sibling};
use crate::rules::{BEFORE, at, bytes, load, machine, reporting};

/// The registers from R4 on, as a load of the bytes f0 f1 .. ff at offset 0 leaves them.
fn loaded(sibling: Sibling, size: Size) -> [u32; 5] {
    let row = bytes(0xf0, 16);
    let memory = MemoryBuilder::new(AddressMap::default())
        .global(0, &row)
        .shared(&row)
        .local_low(16, &row.repeat(LANES))
        .constant(3, &row);
    let machine = Machine::new(memory.build().unwrap());
    let loaded = load(&sibling.text(size, "R4", "[R2]"), &machine, at(|_| 0));
    assert!(loaded.is_clean());
    loaded.registers(4, 17)
}

/// Little-endian, extended to 32 bits, upwards from Rd; the registers after them are unchanged.
#[test]
fn every_size_fills_its_registers() {
    let narrow = |value| [value, BEFORE, BEFORE, BEFORE, BEFORE];
    let words = [0xf3f2_f1f0, 0xf7f6_f5f4, 0xfbfa_f9f8, 0xfffe_fdfc, BEFORE];
    for sibling in SIBLINGS {
        for size in sibling.sizes() {
            let expected = match size {
                Size::U8 => narrow(0xf0),
                Size::S8 => narrow(0xffff_fff0),
                Size::U16 => narrow(0xf1f0),
                Size::S16 => narrow(0xffff_f1f0),
                Size::B32 => narrow(words[0]),
                Size::B64 => [words[0], words[1], BEFORE, BEFORE, BEFORE],
                Size::B128 | Size::U128 => words,
            };
            assert_eq!(loaded(sibling, *size), expected, "{sibling:?} {size:?}");
        }
    }
}

/// 15 bytes after a multiple of 16, rounded down to a multiple of 1, 2, 4, 8 and 16.
#[test]
fn addresses_are_rounded_down_to_the_access_size() {
    for sibling in SIBLINGS {
        for size in sibling.sizes() {
            let text = sibling.text(*size, "R4", "[R2]");
            let loaded = load(&text, &machine(), at(|_| sibling.allocated + 15));
            assert!(loaded.is_clean(), "{text}");
            let rounded = 16 - size.bytes() as u8;
            let low = sibling.word(20, rounded) & 0xff;
            assert_eq!(loaded.register(4, 20) & 0xff, low, "{text}");
        }
    }
}

/// Lane n is n bytes after a multiple of 16; lanes that are not at a multiple of the size are reported.
#[test]
fn rounding_is_reported_where_the_machine_is_set_so() {
    for sibling in SIBLINGS {
        for size in sibling.sizes() {
            let text = sibling.text(*size, "R4", "[R2]");
            let warp = || at(|lane| sibling.allocated + lane as u64 % 16);
            let reported = load(&text, &reporting(), warp());
            let expected = match size.bytes() {
                1 => 0,
                2 => 0xaaaa_aaaa,
                4 => 0xeeee_eeee,
                8 => 0xfefe_fefe,
                _ => 0xfffe_fffe,
            };
            assert_eq!(reported.faulting(LaneFaultKind::MisalignedAddress), expected, "{text}");
            assert!(reported.outcome.lane_faults.iter().all(|f| f.space == Some(sibling.space)));
            let forced = load(&text, &machine(), warp());
            assert!(forced.is_clean(), "{text}");
            assert_eq!(forced.warp, reported.warp, "{text}");
        }
    }
}

/// The sum is rounded rather than the base: 0x2 after a multiple, plus 0x2.
#[test]
fn the_offset_is_added_before_rounding() {
    for sibling in SIBLINGS {
        let text = sibling.text(Size::B32, "R4", "[R2+0x2]");
        let loaded = load(&text, &reporting(), at(|_| sibling.allocated + 2));
        assert!(loaded.is_clean(), "{text}");
        assert_eq!(loaded.register(4, 1), sibling.word(1, 4), "{text}");
    }
}

/// From 0x111f on 2 bytes would cross 0x1120, but are read from 0x111e; 8 bytes from 0x27 are read
/// from 0x20. 0x1123 is rounded to 0x1120, where one byte is allocated, 5 to 0, where 6 of 8 are.
#[test]
fn the_allocation_is_looked_up_with_the_rounded_address() {
    for (text, from) in
        [("LDG.U16 R4, [R2]", 0x111f), ("LDL.U16 R4, [R2]", 0x21), ("LDS.64 R4, [R2]", 0x27)]
    {
        let loaded = load(text, &machine(), at(|_| from));
        assert!(loaded.is_clean(), "{text}");
    }
    let loaded = load("LDG.64 R4, [R2]", &machine(), at(|_| 0x1123));
    assert_eq!(LDG.outside_lanes(&loaded), u32::MAX);
    let loaded = load("LDC.64 R4, c[0x1f][R2]", &machine(), at(|_| 5));
    assert_eq!(LDC.outside_lanes(&loaded), u32::MAX);
    let loaded = load("LDL.U16 R4, [R2]", &machine(), at(|_| 0x23));
    assert_eq!(LDL.outside_lanes(&loaded), u32::MAX);
    let loaded = load("LDS.64 R4, [R2]", &machine(), at(|_| 0x2f));
    assert_eq!(LDS.outside_lanes(&loaded), u32::MAX);
}

/// Lanes 1, 5, .. find no memory: zeroes in all registers of the destination and in no other.
#[test]
fn a_lane_outside_gets_zeroes_and_the_others_load() {
    for sibling in SIBLINGS {
        for size in sibling.sizes() {
            let text = sibling.text(*size, "R4", "[R2]");
            let from = |lane| if lane % 4 == 1 { sibling.outside } else { sibling.allocated };
            let loaded = load(&text, &machine(), at(from));
            assert_eq!(sibling.outside_lanes(&loaded), 0x2222_2222, "{text}");
            let count = size.registers() as u8;
            for lane in 0..LANES {
                for i in 0..5 {
                    let got = loaded.register(4 + i, lane);
                    if i >= count {
                        assert_eq!(got, BEFORE, "{text}");
                    } else if lane % 4 == 1 {
                        assert_eq!(got, 0, "{text} lane {lane}");
                    } else if size.bytes() >= 4 {
                        assert_eq!(got, sibling.word(lane, 4 * i), "{text} lane {lane}");
                    }
                }
            }
        }
    }
}

/// The load is made and its faults are reported, but its values are dropped.
#[test]
fn rz_swallows_the_values() {
    for sibling in SIBLINGS {
        for size in sibling.sizes() {
            let from = |lane| if lane == 7 { sibling.outside } else { sibling.allocated };
            let loaded = load(&sibling.text(*size, "RZ", "[R2]"), &machine(), at(from));
            assert!(loaded.changed().is_empty());
            assert_eq!(loaded.faulting(LaneFaultKind::OutsideAllocation), 1 << 7);
            assert_eq!(loaded.outcome.destination, None);
        }
    }
}

/// R2 is the base and also the destination, or one of its registers, so all addresses must be formed first.
#[test]
fn the_destination_may_overlap_the_base() {
    for sibling in SIBLINGS {
        let warp = || at(|lane| sibling.allocated + 4 * (lane as u64 % 2));
        let loaded = load(&sibling.text(Size::B32, "R2", "[R2]"), &machine(), warp());
        assert_eq!(
            [0, 1].map(|lane| loaded.register(2, lane)),
            [sibling.word(0, 0), sibling.word(1, 4)]
        );
        let widest = sibling.widest();
        let first = if widest == Size::B64 { "R2" } else { "R0" };
        let loaded = load(&sibling.text(widest, first, "[R2]"), &machine(), warp());
        assert!(loaded.is_clean());
        assert_eq!(loaded.changed().len(), widest.registers() as usize);
    }
    // R3 is the pair's high word.
    let loaded = load("LDG.E R3, [R2]", &machine(), at(|lane| 0x1000 + 4 * lane as u64));
    assert_eq!(loaded.register(3, 31), crate::rules::word(0x7c));
}

#[test]
fn the_cache_operator_changes_nothing() {
    for (sibling, operators) in [(LDG, ["CA", "CG", "CI", "CV"]), (LDL, ["CA", "LU", "CI", "CV"])] {
        let name = sibling.mnemonic;
        let warp = || at(|lane| sibling.allocated + 8 * (lane as u64 % 2));
        let plain = load(&format!("{name}.64 R4, [R2]"), &machine(), warp());
        for operator in operators {
            let other = load(&format!("{name}.{operator}.64 R4, [R2]"), &machine(), warp());
            assert_eq!(other.warp, plain.warp, "{operator}");
            assert_eq!(other.outcome, plain.outcome, "{operator}");
        }
    }
}
