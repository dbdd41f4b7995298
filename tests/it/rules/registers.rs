//! Section 3: register limits and alignment.

use warpload::encoding::Reg;
use warpload::load::WarpFault;

use crate::rules::{at, limited, load, machine, word};

fn misaligned(register: u8) -> Option<WarpFault> {
    Some(WarpFault::MisalignedRegister(Reg::new(register)))
}

fn out_of_range(register: u8) -> Option<WarpFault> {
    Some(WarpFault::OutOfRangeRegister(Reg::new(register)))
}

/// The fault of the warp with this register limit.
fn fault(text: &str, register_limit: u64) -> Option<WarpFault> {
    let loaded = load(text, &limited(register_limit), at(|_| 0x1000));
    assert_eq!(loaded.outcome.executing.bits(), u32::MAX);
    if loaded.outcome.warp_fault.is_some() {
        assert!(loaded.outcome.lane_faults.is_empty());
        assert_eq!(loaded.outcome.destination, None);
        assert_eq!(loaded.outcome.uniform, None);
        assert!(loaded.changed().is_empty());
    }
    loaded.outcome.warp_fault
}

/// 64 bits want an even register, 128 bits a multiple of four.
#[test]
fn a_wide_destination_must_be_aligned() {
    for size in ["U8", "S8", "U16", "S16", "32"] {
        assert_eq!(fault(&format!("LD.{size} R5, [R2]"), 255), None);
    }
    assert_eq!(fault("LD.64 R5, [R2]", 255), misaligned(5));
    assert_eq!(fault("LD.64 R6, [R2]", 255), None);
    for size in ["128", "U.128"] {
        for register in [5, 6, 7] {
            let text = format!("LD.{size} R{register}, [R2]");
            assert_eq!(fault(&text, 255), misaligned(register));
        }
        assert_eq!(fault(&format!("LD.{size} R4, [R2]"), 255), None);
    }
}

/// Rd + count <= register_limit, with one, two and four registers, at the limit and beyond.
#[test]
fn the_whole_destination_must_be_below_the_limit() {
    for (text, register, count) in
        [("LD.U8", 7, 1), ("LD.S16", 7, 1), ("LD", 7, 1), ("LD.64", 6, 2), ("LD.128", 8, 4)]
    {
        let text = format!("{text} R{register}, [R2]");
        let end = u64::from(register) + count;
        assert_eq!(fault(&text, end), None, "{text}");
        assert_eq!(fault(&text, end - 1), out_of_range(register), "{text}");
        assert_eq!(fault(&text, 4), out_of_range(register), "{text}");
    }
    // R254 is the last register, so that 252 + 4 registers are one too many.
    assert_eq!(fault("LD R254, [R2]", 255), None);
    assert_eq!(fault("LD.64 R254, [R2]", 255), out_of_range(254));
    assert_eq!(fault("LD.128 R252, [R2]", 255), out_of_range(252));
    assert_eq!(fault("LD.128 R248, [R2]", 255), None);
}

/// 255 is neither even nor below any limit, yet RZ may be the destination of all sizes.
#[test]
fn rz_is_exempt_from_the_destination_rules() {
    for size in ["U8", "32", "64", "128", "U.128"] {
        assert_eq!(fault(&format!("LD.{size} RZ, [R2]"), 4), None);
    }
}

#[test]
fn an_extended_base_must_be_even() {
    assert_eq!(fault("LD.E R4, [R3]", 255), misaligned(3));
    assert_eq!(fault("LD.E R4, [R2]", 255), None);
    assert_eq!(fault("LD R4, [R3]", 255), None);
}

/// R6 with R7 needs eight registers; without .E seven do.
#[test]
fn the_high_word_of_an_extended_base_must_be_below_the_limit() {
    assert_eq!(fault("LD.E R4, [R6]", 8), None);
    assert_eq!(fault("LD.E R4, [R6]", 7), out_of_range(6));
    assert_eq!(fault("LD R4, [R6]", 7), None);
    // R254 is a base, R255 no register.
    assert_eq!(fault("LD.E R4, [R254]", 255), out_of_range(254));
}

/// A register that is not a base needs no pair.
#[test]
fn no_base_is_exempt_from_the_base_rules() {
    assert_eq!(fault("LD.E R4, [RZ+0x1000]", 5), None);
    for base in [5, 6, 7, 253, 254] {
        assert_eq!(fault(&format!("LD.E R4, [R{base}+0x1000]"), 5), None);
    }
}

/// Rd alignment, Rd range, Ra alignment, Ra+1 range: the first broken rule is reported.
#[test]
fn the_checks_have_an_order() {
    // R9 is odd, and beyond the limit.
    assert_eq!(fault("LD.64 R9, [R2]", 8), misaligned(9));
    // R5 is odd, and so is R3.
    assert_eq!(fault("LD.E.64 R5, [R3]", 8), misaligned(5));
    // R8 is beyond the limit, R3 is odd.
    assert_eq!(fault("LD.E R8, [R3]", 8), out_of_range(8));
    // R8 is beyond the limit, and R6 has no R7.
    assert_eq!(fault("LD.E R8, [R6]", 7), out_of_range(8));
    // R7 is odd, and R8 does not exist.
    assert_eq!(fault("LD.E R4, [R7]", 8), misaligned(7));
}

/// Address 0 is not allocated, but the warp's fault comes first.
#[test]
fn a_warp_fault_comes_before_memory() {
    let loaded = load("LD.U.128 R6, [R2]", &machine(), at(|_| 0));
    assert_eq!(loaded.outcome.warp_fault, misaligned(6));
    assert!(loaded.outcome.lane_faults.is_empty());
    assert!(loaded.changed().is_empty());
}

#[test]
fn rz_reads_zero() {
    // With RZ as the base and the destination, no base is added and no value is kept.
    let loaded = load("LD RZ, [RZ+0x1000]", &machine(), at(|_| 0));
    assert!(loaded.is_clean() && loaded.changed().is_empty());
    let loaded = load("LD R4, [RZ+0x1000]", &machine(), loaded.warp);
    assert_eq!(loaded.register(4, 31), word(0));
}
