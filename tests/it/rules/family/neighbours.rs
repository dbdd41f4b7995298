//! Lanes that load side by side, and lanes that nearly do.

use warpload::encoding::Size;
use warpload::lane::LANES;
use warpload::load::LaneFaultKind;

use super::{LDC, LDG, LDS, Sibling};
use crate::rules::{at, bytes, load, machine, reporting};

/// The three loads from memory that lanes share.
const SHARING: [Sibling; 3] = [LDG, LDS, LDC];

/// Lane n at the n-th byte: from 0x1000, 0 and 0 on.
#[test]
fn all_lanes_load() {
    for sibling in SHARING {
        let from = sibling.allocated - 0x10;
        let text = sibling.text(Size::U8, "R4", "[R2]");
        let loaded = load(&text, &machine(), at(|lane| from + lane as u64));
        assert!(loaded.is_clean(), "{text}");
        for (lane, byte) in bytes(sibling.first - 0x10, LANES).into_iter().enumerate() {
            assert_eq!(loaded.register(4, lane), u32::from(byte), "{text} lane {lane}");
        }
    }
}

/// 0x1102 + 31 = 0x1121, 9 + 31 = 0x28 and 0xffe1 + 31 = 0x10000 are the first bytes after it.
#[test]
fn the_last_lane_may_be_the_only_one_outside() {
    for (sibling, from, first) in [(LDG, 0x1102, 0xa2), (LDS, 9, 0x49), (LDC, 0xffe1, 0xe1)] {
        let text = sibling.text(Size::U8, "R4", "[R2]");
        let loaded = load(&text, &machine(), at(|lane| from + lane as u64));
        assert_eq!(sibling.outside_lanes(&loaded), 1 << 31, "{text}");
        assert_eq!([0, 30].map(|lane| loaded.register(4, lane)), [first, first + 30], "{text}");
    }
}

/// One byte after multiples of 2, every lane is rounded down: lane n loads the n-th half, the
/// bytes 2n and 2n + 1 after the first.
#[test]
fn all_lanes_may_be_misaligned_alike() {
    for (sibling, from, first) in [(LDG, 0x1000, 0), (LDC, 0x0, 0)] {
        let text = sibling.text(Size::U16, "R4", "[R2]");
        let warp = || at(|lane| from + 1 + 2 * lane as u64);
        let reported = load(&text, &reporting(), warp());
        assert_eq!(reported.faulting(LaneFaultKind::MisalignedAddress), u32::MAX, "{text}");
        let forced = load(&text, &machine(), warp());
        assert!(forced.is_clean(), "{text}");
        for lane in 0..LANES {
            let low = first + 2 * lane as u32;
            assert_eq!(forced.register(4, lane), low | (low + 1) << 8, "{text} lane {lane}");
        }
    }
}

/// The first and the last lane are where they would be side by side, lane 7 is not: it loads what
/// lane 0 does.
#[test]
fn a_lane_between_may_be_elsewhere() {
    for sibling in SHARING {
        let from = sibling.allocated - 0x10;
        let first = u32::from(sibling.first - 0x10);
        let text = sibling.text(Size::U8, "R4", "[R2]");
        let place = |lane: usize| if lane == 7 { 0 } else { lane };
        let loaded = load(&text, &machine(), at(|lane| from + place(lane) as u64));
        assert!(loaded.is_clean(), "{text}");
        for lane in 0..LANES {
            assert_eq!(loaded.register(4, lane), first + place(lane) as u32, "{text} lane {lane}");
        }
    }
}
