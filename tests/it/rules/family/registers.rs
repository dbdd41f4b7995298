//! Section 3 of docs/ld.md for the four: register limits and alignment.

use warpload::encoding::{Reg, Size};
use warpload::load::WarpFault;

use super::{LDC, LDG, LDL, LDS, SIBLINGS};
use crate::rules::{at, limited, load};

fn misaligned(register: u8) -> Option<WarpFault> {
    Some(WarpFault::MisalignedRegister(Reg::new(register)))
}

fn out_of_range(register: u8) -> Option<WarpFault> {
    Some(WarpFault::OutOfRangeRegister(Reg::new(register)))
}

/// The fault of the warp with this register limit. Only some memories are allocated at address 0, but the warp's fault
/// comes before memory and changes no register.
fn fault(text: &str, register_limit: u64) -> Option<WarpFault> {
    let loaded = load(text, &limited(register_limit), at(|_| 0));
    assert_eq!(loaded.outcome.executing.bits(), u32::MAX);
    if loaded.outcome.warp_fault.is_some() {
        assert!(loaded.outcome.lane_faults.is_empty(), "{text}");
        assert_eq!(loaded.outcome.destination, None, "{text}");
        assert_eq!(loaded.outcome.uniform, None, "{text}");
        assert!(loaded.changed().is_empty(), "{text}");
    }
    loaded.outcome.warp_fault
}

/// 64 bits want an even register, 128 bits a multiple of four.
#[test]
fn a_wide_destination_must_be_aligned() {
    for sibling in SIBLINGS {
        for size in sibling.sizes() {
            let count = size.registers() as u8;
            for register in 4..12 {
                let text = sibling.text(*size, &format!("R{register}"), "[R2]");
                let expected = if register % count == 0 { None } else { misaligned(register) };
                assert_eq!(fault(&text, 255), expected, "{text}");
            }
        }
    }
}

/// Rd + count <= register_limit: at the limit, one less, and far beyond.
#[test]
fn the_whole_destination_must_be_below_the_limit() {
    for sibling in SIBLINGS {
        for size in sibling.sizes() {
            let text = sibling.text(*size, "R8", "[R2]");
            let end = 8 + u64::from(size.registers());
            assert_eq!(fault(&text, end), None, "{text}");
            assert_eq!(fault(&text, end - 1), out_of_range(8), "{text}");
            assert_eq!(fault(&text, 4), out_of_range(8), "{text}");
        }
        // R254 is the last register, so that 252 + 4 and 254 + 2 are one too many.
        assert_eq!(fault(&sibling.text(Size::B32, "R254", "[R2]"), 255), None);
        let last = if sibling.widest() == Size::B64 { 254 } else { 252 };
        let text = sibling.text(sibling.widest(), &format!("R{last}"), "[R2]");
        assert_eq!(fault(&text, 255), out_of_range(last));
    }
}

/// 255 is neither even nor below any limit, yet RZ may be the destination of all sizes.
#[test]
fn rz_is_exempt_from_the_destination_rules() {
    for sibling in SIBLINGS {
        for size in sibling.sizes() {
            assert_eq!(fault(&sibling.text(*size, "RZ", "[R2]"), 4), None);
        }
    }
}

/// R6 with R7 needs eight registers; without .E seven do.
#[test]
fn an_extended_base_is_a_pair() {
    assert_eq!(fault("LDG.E R4, [R3]", 255), misaligned(3));
    assert_eq!(fault("LDG.E R4, [R2]", 255), None);
    assert_eq!(fault("LDG.E R4, [R6]", 8), None);
    assert_eq!(fault("LDG.E R4, [R6]", 7), out_of_range(6));
    // R254 is a base, R255 no register.
    assert_eq!(fault("LDG.E R4, [R254]", 255), out_of_range(254));
}

#[test]
fn the_base_of_the_others_is_no_pair() {
    for sibling in [LDG, LDL, LDS, LDC] {
        for (base, limit) in [(3, 255), (6, 7), (254, 255)] {
            let text = sibling.text(Size::B32, "R4", &format!("[R{base}]"));
            assert_eq!(fault(&text, limit), None, "{text}");
        }
    }
}

/// A register that is not a base needs no pair and is not checked.
#[test]
fn no_base_is_exempt_from_the_base_rules() {
    assert_eq!(fault("LDG.E R4, [RZ+0x1000]", 5), None);
    for base in [5, 6, 7, 253, 254] {
        assert_eq!(fault(&format!("LDG.E R4, [R{base}+0x1000]"), 5), None);
        for sibling in [LDL, LDS, LDC] {
            let text = sibling.text(Size::B32, "R4", &format!("[R{base}+0x10]"));
            assert_eq!(fault(&text, 5), None, "{text}");
        }
    }
}

/// Rd alignment, Rd range, Ra alignment, Ra+1 range: the first broken rule is reported.
#[test]
fn the_checks_have_an_order() {
    for sibling in SIBLINGS {
        // R9 is odd, and beyond the limit.
        assert_eq!(fault(&sibling.text(Size::B64, "R9", "[R2]"), 8), misaligned(9));
    }
    // R5 is odd, and so is R3.
    assert_eq!(fault("LDG.E.64 R5, [R3]", 8), misaligned(5));
    // R8 is beyond the limit, R3 is odd.
    assert_eq!(fault("LDG.E R8, [R3]", 8), out_of_range(8));
    // R7 is odd, and R8 does not exist.
    assert_eq!(fault("LDG.E R4, [R7]", 8), misaligned(7));
}
