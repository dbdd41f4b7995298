//! Section 4, clauses 3 and 4: effective addresses and their alignment.

use warpload::encoding::Reg;
use warpload::lane::LANES;
use warpload::load::{FaultCause, LaneFaultKind};
use warpload::machine::Machine;
use warpload::memory::{AddressMap, MemoryBuilder};

use crate::rules::{Loaded, at, limited, load, machine, reporting, word};

/// A lane's effective address, taken from the fault of a load from an address that is not allocated.
fn address(loaded: &Loaded, lane: usize) -> u64 {
    loaded.faults(lane)[0].address.0
}

/// Read as signed, 0xfffffff0 would be 0xfffffffffffffff0; unsigned it lies in the high part of
/// local memory, at its offset 4 (0xfffffff0 - 0xffffffec).
#[test]
fn without_a_base_the_immediate_is_unsigned() {
    for text in ["LD R4, [0xfffffff0]", "LD.E R4, [0xfffffff0]"] {
        let loaded = load(text, &machine(), at(|_| 0));
        assert!(loaded.is_clean(), "{text}");
        assert_eq!(loaded.register(4, 0), word(0x84));
        assert_eq!(loaded.register(4, 5), word(0x84 + 35));
    }
    let loaded = load("LD.E R4, [0x80000000]", &machine(), at(|_| 0));
    assert_eq!(address(&loaded, 0), 0x8000_0000);
}

/// With 16 registers per thread there is no R16: the text's -0x10 is the address 0xfffffff0.
#[test]
fn a_register_at_or_above_the_limit_is_no_base() {
    for text in ["LD R4, [R16-0x10]", "LD.E R4, [R16-0x10]", "LD R4, [R254-0x10]"] {
        let mut warp = at(|_| 0);
        warp.set_register(Reg::new(16), [0x1000; LANES]);
        warp.set_register(Reg::new(17), [0; LANES]);
        let loaded = load(text, &limited(16), warp);
        assert!(loaded.is_clean(), "{text}");
        assert_eq!(loaded.register(4, 0), word(0x84));
    }
}

/// 0x1010 - 0x10 = 0x1000.
#[test]
fn the_last_register_below_the_limit_is_a_base() {
    let mut warp = at(|_| 0);
    warp.set_register(Reg::new(15), [0x1010; LANES]);
    let loaded = load("LD R4, [R15-0x10]", &limited(16), warp);
    assert_eq!(loaded.register(4, 0), word(0));
}

/// 0x1020 + 0x14 = 0x1034; 0x1020 - 0x1c = 0x1004.
#[test]
fn with_a_base_the_immediate_is_signed() {
    for extended in ["", ".E"] {
        let text = |offset| format!("LD{extended} R4, [R2{offset}]");
        let up = load(&text("+0x14"), &machine(), at(|_| 0x1020));
        assert_eq!(up.register(4, 0), word(0x34));
        let down = load(&text("-0x1c"), &machine(), at(|_| 0x1020));
        assert_eq!(down.register(4, 0), word(0x04));
    }
}

/// 0xfffff000 + 0x2004 = 0x1_00001004, modulo 2^32 0x1004; 0x10 - 0x20 = 0xfffffff0. R3, which only .E reads, is not 0.
#[test]
fn a_32_bit_address_wraps_at_2_to_the_32() {
    let loaded = load("LD R4, [R2+0x2004]", &machine(), at(|_| 0x7_ffff_f000));
    assert!(loaded.is_clean());
    assert_eq!(loaded.register(4, 0), word(4));
    let loaded = load("LD R4, [R2-0x20]", &machine(), at(|_| 0x7_0000_0010));
    assert_eq!(loaded.register(4, 0), word(0x84));
}

/// Sign-extended, 0x80000000 would be beyond 2^40.
#[test]
fn a_32_bit_address_is_zero_extended() {
    let loaded = load("LD R4, [R2]", &machine(), at(|_| 0x8000_0000));
    assert_eq!(loaded.causes(0), [FaultCause::OutsideAllocation]);
    assert_eq!(address(&loaded, 0), 0x8000_0000);
}

/// {R3, R2} = 0x1_fffffff0; + 0x20 carries into the high word: 0x2_00000010.
#[test]
fn an_extended_address_has_64_bits() {
    let loaded = load("LD.E R4, [R2+0x20]", &machine(), at(|_| 0x1_ffff_fff0));
    assert_eq!(address(&loaded, 9), 0x2_0000_0010);
}

/// 0x1_00000000 - 4 = 0xfffffffc: a zero-extended -4 would make it 0x1_fffffffc.
#[test]
fn an_extended_address_adds_a_sign_extended_immediate() {
    let loaded = load("LD.E R4, [R2-0x4]", &machine(), at(|_| 0x1_0000_0000));
    assert!(loaded.is_clean());
    assert_eq!(loaded.register(4, 0), word(0x90));
}

/// 2^64 - 0x1000 + 0x2004 = 2^64 + 0x1004; 0x10 - 0x20 = 2^64 - 0x10.
#[test]
fn an_extended_address_wraps_at_2_to_the_64() {
    let loaded = load("LD.E R4, [R2+0x2004]", &machine(), at(|_| 0xffff_ffff_ffff_f000));
    assert!(loaded.is_clean());
    assert_eq!(loaded.register(4, 0), word(4));
    let loaded = load("LD.E R4, [R2-0x20]", &machine(), at(|_| 0x10));
    assert_eq!(address(&loaded, 0), 0xffff_ffff_ffff_fff0);
}

#[test]
fn every_lane_has_an_address_of_its_own() {
    let loaded = load("LD.E.U8 R4, [R2]", &machine(), at(|lane| 0x10ff - 3 * lane as u64));
    for lane in 0..LANES {
        assert_eq!(loaded.register(4, lane), 0xff - 3 * lane as u32);
    }
}

/// R3 is the pair's high word, R0..R3 hold the pair, R2 and R3 are it. All addresses are formed before registers are
/// written.
#[test]
fn the_destination_may_overlap_the_base() {
    let warp = || at(|lane| 0x1000 + 4 * lane as u64);
    let loaded = load("LD R2, [R2]", &machine(), warp());
    assert_eq!(loaded.register(2, 31), word(0x7c));
    let loaded = load("LD.E R3, [R2]", &machine(), warp());
    assert_eq!(loaded.registers(2, 31), [0x107c, word(0x7c)]);
    let warp = || at(|lane| 0x1000 + 8 * lane as u64);
    let loaded = load("LD.E.64 R2, [R2]", &machine(), warp());
    assert_eq!(loaded.registers(2, 30), [word(0xf0), word(0xf4)]);
    let warp = || at(|lane| 0x1000 + 16 * (lane as u64 % 16));
    let loaded = load("LD.E.128 R0, [R2]", &machine(), warp());
    assert_eq!(loaded.registers(0, 15), [word(0xf0), word(0xf4), word(0xf8), word(0xfc)]);
}

/// 0x101f rounded down to a multiple of 1, 2, 4, 8 and 16.
#[test]
fn addresses_are_rounded_down_to_the_access_size() {
    for (size, first) in
        [("U8", 0x1f), ("U16", 0x1e), ("32", 0x1c), ("64", 0x18), ("128", 0x10), ("U.128", 0x10)]
    {
        let loaded = load(&format!("LD.{size} R4, [R2]"), &machine(), at(|_| 0x101f));
        assert_eq!(loaded.register(4, 0) & 0xff, first, "{size}");
        assert!(loaded.is_clean());
    }
}

/// The sum is rounded rather than the base: 0x1002 + 0x2 = 0x1004 is aligned.
#[test]
fn the_immediate_is_added_before_rounding() {
    let loaded = load("LD R4, [R2+0x2]", &reporting(), at(|_| 0x1002));
    assert!(loaded.is_clean());
    assert_eq!(loaded.register(4, 0), word(4));
}

/// Lanes 0, 4, .. have multiples of four, the others not; all load the same.
#[test]
fn rounding_is_reported_where_the_machine_is_set_so() {
    let warp = || at(|lane| 0x1010 + lane as u64);
    let reported = load("LD R4, [R2]", &reporting(), warp());
    assert_eq!(reported.faulting(LaneFaultKind::MisalignedAddress), 0xeeee_eeee);
    assert_eq!(reported.outcome.lane_faults.iter().count(), 24);
    let forced = load("LD R4, [R2]", &machine(), warp());
    assert!(forced.is_clean());
    assert_eq!(forced.warp, reported.warp);
    for lane in 0..LANES {
        assert_eq!(reported.register(4, lane), word(0x10 + (lane as u8 & !3)));
    }
}

/// 2 is rounded down to 0. An allocation of the bytes 2..8 holds 4..8, but not 0..4.
#[test]
fn the_allocation_is_looked_up_with_the_rounded_address() {
    let memory = MemoryBuilder::new(AddressMap::default()).global(2, &[1; 6]).build().unwrap();
    let machine = Machine::new(memory);
    let loaded = load("LD R4, [R2]", &machine, at(|lane| lane as u64 % 8));
    // Lanes 0..4 round to 0, which is before the allocation; 4..8 to 4, inside.
    assert_eq!(loaded.faulting(LaneFaultKind::OutsideAllocation), 0x0f0f_0f0f);
    assert_eq!(loaded.register(4, 2), 0);
    assert_eq!(loaded.register(4, 7), 0x0101_0101);
}
