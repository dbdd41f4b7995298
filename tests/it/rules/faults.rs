//! The contents of faults, and their hardware names (the table of section 4).

use warpload::encoding::Reg;
use warpload::load::{FaultCause, LaneFault, WarpFault};
use warpload::machine::Misaligned;
use warpload::memory::{GenericAddress, OutsideWindow, Space};

use crate::rules::{at, load, machine, reporting, with, word};

/// The faults of lane 20 if all lanes have this address; P1 is true.
fn faults(text: &str, address: u64) -> Vec<LaneFault> {
    let loaded = load(text, &reporting(), with(at(|_| address), 1, u32::MAX));
    for fault in &loaded.outcome.lane_faults {
        assert_eq!(fault.address, GenericAddress(address));
    }
    loaded.faults(20)
}

fn fault(
    cause: FaultCause,
    address: u64,
    rounded: u64,
    bytes: u32,
    space: Option<Space>,
) -> LaneFault {
    let (address, rounded) = (GenericAddress(address), GenericAddress(rounded));
    LaneFault { lane: 20, cause, address, rounded, bytes, space }
}

const BY_PLG: FaultCause = FaultCause::OutsideWindow(OutsideWindow::ByPredicate);
const BEYOND: FaultCause = FaultCause::OutsideWindow(OutsideWindow::BeyondAddressBits);

/// A lane that cannot access its address has no space.
#[test]
fn an_address_outside_the_window() {
    assert_eq!(
        faults("LD.U8 R4, [R2]", 0xfeff_ffff),
        [fault(BY_PLG, 0xfeff_ffff, 0xfeff_ffff, 1, None)]
    );
    assert_eq!(faults("LD R4, [R2], P0", 0x1000), [fault(BY_PLG, 0x1000, 0x1000, 4, None)]);
    assert_eq!(faults("LD.E.128 R4, [R2]", 1 << 40), [fault(BEYOND, 1 << 40, 1 << 40, 16, None)]);
}

#[test]
fn an_address_outside_the_allocation() {
    let outside = |address, bytes, space| {
        fault(FaultCause::OutsideAllocation, address, address, bytes, Some(space))
    };
    assert_eq!(faults("LD R4, [R2]", 0x1120), [outside(0x1120, 4, Space::Global)]);
    assert_eq!(faults("LD R4, [R2]", 0xff00_0040), [outside(0xff00_0040, 4, Space::Local)]);
    assert_eq!(faults("LD.64 R4, [R2], P0", 0xfe00_0100), [outside(0xfe00_0100, 8, Space::Shared)]);
}

#[test]
fn a_misaligned_address() {
    let misaligned = |address, rounded, bytes, space| {
        fault(FaultCause::MisalignedAddress, address, rounded, bytes, Some(space))
    };
    let wide = "LD.64 R4, [R2]";
    assert_eq!(faults(wide, 0x1007), [misaligned(0x1007, 0x1000, 8, Space::Global)]);
    assert_eq!(faults(wide, 0xff00_0007), [misaligned(0xff00_0007, 0xff00_0000, 8, Space::Local)]);
    assert_eq!(
        faults("LD.U16 R4, [R2], P0", 0xfe00_0007),
        [misaligned(0xfe00_0007, 0xfe00_0006, 2, Space::Shared)]
    );
}

/// The misalignment comes first, and is in the space of the rounded address, if any.
#[test]
fn a_lane_can_be_misaligned_and_outside() {
    let both = |kind, address, rounded, space| {
        [FaultCause::MisalignedAddress, kind].map(|kind| fault(kind, address, rounded, 16, space))
    };
    let wide = "LD.E.128 R4, [R2]";
    assert_eq!(faults(wide, 0xfe00_0001), both(BY_PLG, 0xfe00_0001, 0xfe00_0000, None));
    assert_eq!(faults(wide, (1 << 40) + 15), both(BEYOND, (1 << 40) + 15, 1 << 40, None));
    let outside = FaultCause::OutsideAllocation;
    assert_eq!(faults(wide, 0x2001), both(outside, 0x2001, 0x2000, Some(Space::Global)));
    assert_eq!(
        faults(wide, 0xff00_0029),
        both(outside, 0xff00_0029, 0xff00_0020, Some(Space::Local))
    );
    // Without the report only the second one remains.
    let loaded = load("LD.128 R4, [R2]", &machine(), at(|_| 0x2001));
    assert_eq!(loaded.causes(3), [outside]);
}

/// Clause 7: the kinds that zero the lane, and the kind that does not.
#[test]
fn a_misaligned_lane_is_not_zeroed() {
    assert!(
        BY_PLG.kind().zeroes(Misaligned::Force)
            && FaultCause::OutsideAllocation.kind().zeroes(Misaligned::Force)
    );
    assert!(!FaultCause::MisalignedAddress.kind().zeroes(Misaligned::Report));
    assert!(FaultCause::MisalignedAddress.kind().zeroes(Misaligned::Fault));
    let loaded = load("LD R4, [R2]", &reporting(), at(|_| 0x1013));
    assert_eq!(loaded.causes(0), [FaultCause::MisalignedAddress]);
    assert_eq!(loaded.register(4, 0), word(0x10));
}

#[test]
fn faults_ascend_by_lane() {
    let loaded = load("LD.64 R4, [R2]", &reporting(), at(|lane| 0x10f9 + lane as u64));
    let lanes: Vec<_> = loaded.outcome.lane_faults.iter().map(|fault| fault.lane).collect();
    assert!(lanes.is_sorted());
    assert_eq!(lanes.len(), loaded.outcome.lane_faults.into_iter().count());
}

#[test]
fn hardware_names_of_warp_faults() {
    let illegal = "CUDA_EXCEPTION_4 Warp Illegal Instruction";
    for (fault, name, code, error) in [
        (WarpFault::MisalignedRegister(Reg::new(5)), "misaligned_register", 8, "MISALIGNED_REG"),
        (WarpFault::OutOfRangeRegister(Reg::new(5)), "out_of_range_register", 0xd, "OOR_REG"),
    ] {
        assert_eq!(fault.name(), name);
        assert_eq!(fault.to_string(), format!("{name} (R5)"));
        let hardware = fault.warp_error();
        assert_eq!((hardware.code, hardware.name, hardware.exception), (code, error, illegal));
        assert_eq!(hardware.to_string(), format!("ESR {code:#04x} {error}, {illegal}"));
    }
}

#[test]
fn hardware_names_of_lane_faults() {
    let out_of_range = "CUDA_EXCEPTION_5 Warp Out-of-range Address";
    let illegal = "CUDA_EXCEPTION_14 Warp Illegal Address";
    for (text, address, exception) in [
        ("LD R4, [R2], P0", 0x1000, out_of_range),
        ("LD R4, [R2]", 0xfe00_0000, out_of_range),
        ("LD R4, [R2]", 0xff00_0040, out_of_range),
        ("LD R4, [R2], P0", 0xfe00_0100, out_of_range),
        ("LD.E R4, [R2]", 1 << 40, illegal),
        ("LD R4, [R2]", 0x2000, illegal),
    ] {
        let error = faults(text, address)[0].warp_error();
        assert_eq!((error.code, error.name, error.exception), (0xe, "OOR_ADDR", exception));
    }
    // In any memory.
    for address in [0x1001, 0x2001, 0xfe00_0001, 0xff00_0001] {
        let error = faults("LD R4, [R2]", address)[0].warp_error();
        assert_eq!((error.code, error.name), (0xf, "MISALIGNED_ADDR"));
        assert_eq!(error.exception, "CUDA_EXCEPTION_6 Warp Misaligned Address");
    }
}

#[test]
fn lane_faults_as_text() {
    let text = |instruction, address| faults(instruction, address)[0].to_string();
    assert_eq!(
        text("LD.U8 R4, [R2]", 0x2001),
        "lane 20: outside_allocation at 0x2001, 1 byte of global memory"
    );
    assert_eq!(
        text("LD R4, [R2]", 0xff00_0001),
        "lane 20: misaligned_address at 0xff000001 (rounded down to 0xff000000), 4 bytes of local \
         memory"
    );
    assert_eq!(
        text("LD.E.64 R4, [R2]", 1 << 40),
        "lane 20: outside_window at 0x10000000000, 8 bytes, beyond the address space"
    );
    assert_eq!(
        text("LD.64 R4, [R2]", 0xfe00_0000),
        "lane 20: outside_window at 0xfe000000, 8 bytes, outside the memory that Plg selects"
    );
}
