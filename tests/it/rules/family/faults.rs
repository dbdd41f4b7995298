//! The contents of the faults of the four, and their hardware names.

use warpload::encoding::Size;
use warpload::load::{FaultCause, LaneFault, LaneFaultKind};
use warpload::memory::GenericAddress;

use super::{LDC, LDG, LDL, LDS, SIBLINGS, Sibling};
use crate::rules::{at, load, machine, reporting};

const MISALIGNED: FaultCause = FaultCause::MisalignedAddress;
const OUTSIDE: FaultCause = FaultCause::OutsideAllocation;

/// The faults of lane 20 in a load of the widest size.
fn faults(sibling: Sibling, address: u64) -> Vec<LaneFault> {
    let text = sibling.text(sibling.widest(), "R4", "[R2]");
    load(&text, &reporting(), at(|_| address)).faults(20)
}

fn fault(sibling: Sibling, cause: FaultCause, address: u64, rounded: u64) -> LaneFault {
    LaneFault {
        lane: 20,
        cause,
        address: GenericAddress(address),
        rounded: GenericAddress(rounded),
        bytes: sibling.widest().bytes(),
        space: Some(sibling.space),
    }
}

/// The effective address as it was, the rounded one, the size and the instruction's own memory;
/// the misalignment comes first. 5 after a multiple of 16 is not a multiple of 8 or 16.
#[test]
fn a_fault_names_the_address_and_the_memory() {
    for sibling in SIBLINGS {
        let (inside, outside) = (sibling.allocated, sibling.outside);
        assert_eq!(faults(sibling, inside), []);
        assert_eq!(faults(sibling, inside + 5), [fault(sibling, MISALIGNED, inside + 5, inside)]);
        assert_eq!(faults(sibling, outside), [fault(sibling, OUTSIDE, outside, outside)]);
        let both = [MISALIGNED, OUTSIDE].map(|kind| fault(sibling, kind, outside + 5, outside));
        assert_eq!(faults(sibling, outside + 5), both);
    }
}

/// Without the report only faults that zero the lane remain.
#[test]
fn a_forced_alignment_is_no_fault() {
    for sibling in SIBLINGS {
        let text = sibling.text(Size::B32, "R4", "[R2]");
        let loaded = load(&text, &machine(), at(|_| sibling.outside + 1));
        assert_eq!(loaded.causes(3), [OUTSIDE], "{text}");
    }
}

/// Every other lane is outside; these and every third one are misaligned.
#[test]
fn faults_ascend_by_lane() {
    for sibling in SIBLINGS {
        let from = |lane: usize| {
            let place = if lane.is_multiple_of(2) { sibling.outside } else { sibling.allocated };
            place + u64::from(lane.is_multiple_of(3))
        };
        let loaded = load(&sibling.text(Size::B32, "R4", "[R2]"), &reporting(), at(from));
        let lanes: Vec<_> = loaded.outcome.lane_faults.iter().map(|fault| fault.lane).collect();
        assert!(lanes.is_sorted());
        // 16 even lanes, 11 multiples of three.
        assert_eq!(lanes.len(), 16 + 11);
    }
}

/// Global memory gives an illegal address, the others an out-of-range address; no lane is outside of a window.
#[test]
fn hardware_names() {
    for (sibling, exception) in [
        (LDG, "CUDA_EXCEPTION_14 Warp Illegal Address"),
        (LDL, "CUDA_EXCEPTION_5 Warp Out-of-range Address"),
        (LDS, "CUDA_EXCEPTION_5 Warp Out-of-range Address"),
        (LDC, "CUDA_EXCEPTION_5 Warp Out-of-range Address"),
    ] {
        let error = faults(sibling, sibling.outside)[0].warp_error();
        assert_eq!((error.code, error.name, error.exception), (0xe, "OOR_ADDR", exception));
        let error = faults(sibling, sibling.allocated + 1)[0].warp_error();
        assert_eq!((error.code, error.name), (0xf, "MISALIGNED_ADDR"));
        assert_eq!(error.exception, "CUDA_EXCEPTION_6 Warp Misaligned Address");
    }
    let loaded = load("LDG.E R4, [R2]", &machine(), at(|_| 1 << 40));
    let error = loaded.faults(0)[0].warp_error();
    assert_eq!(error.exception, "CUDA_EXCEPTION_14 Warp Illegal Address");
    assert_eq!(loaded.faulting(LaneFaultKind::OutsideWindow), 0);
}

#[test]
fn lane_faults_as_text() {
    let text = |sibling: Sibling, address| faults(sibling, address)[0].to_string();
    assert_eq!(
        text(LDG, 0x2000),
        "lane 20: outside_allocation at 0x2000, 16 bytes of global memory"
    );
    assert_eq!(
        text(LDL, 0x15),
        "lane 20: misaligned_address at 0x15 (rounded down to 0x10), 16 bytes of local memory"
    );
    assert_eq!(text(LDS, 0x30), "lane 20: outside_allocation at 0x30, 16 bytes of shared memory");
    assert_eq!(
        text(LDC, 0x1_0000),
        "lane 20: outside_allocation at 0x10000, 8 bytes of constant memory"
    );
}
