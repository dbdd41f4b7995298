//! Clause 1 of docs/ld.md section 4 for the four: the executing lanes, on which Plg has no effect.

use warpload::encoding::{Instruction, Size, Sm};
use warpload::lane::LaneMask;

use super::SIBLINGS;
use crate::rules::{BEFORE, active, at, limited, load, load_instruction, machine, reporting, with};

/// Active 0x3 and P1 in 0x6: lane 1 with @P1, lane 0 with @!P1, lanes 0 and 1 without.
#[test]
fn a_lane_executes_where_it_is_active_and_let_through() {
    for sibling in SIBLINGS {
        for (guard, lanes) in [("", 0x3), ("@P1 ", 0x2), ("@!P1 ", 0x1)] {
            let text = format!("{guard}{}", sibling.text(Size::B64, "R4", "[R2]"));
            let warp = active(with(at(|_| sibling.allocated), 1, 0x6), 0x3);
            let loaded = load(&text, &machine(), warp);
            assert!(loaded.is_clean(), "{text}");
            assert_eq!(loaded.outcome.executing.bits(), lanes, "{text}");
            for lane in 0..32 {
                let expected = match lanes >> lane & 1 {
                    0 => [BEFORE; 2],
                    _ => [sibling.word(lane, 0), sibling.word(lane, 4)],
                };
                assert_eq!(loaded.registers(4, lane), expected, "{text} lane {lane}");
            }
        }
    }
}

/// Lanes 4 and up are misaligned and outside, but not active.
#[test]
fn lanes_that_do_not_execute_do_not_fault() {
    for sibling in SIBLINGS {
        let from = |lane| if lane < 4 { sibling.allocated } else { sibling.outside + 1 };
        let text = sibling.text(Size::B32, "R4", "[R2]");
        let loaded = load(&text, &reporting(), active(at(from), 0xf));
        assert!(loaded.is_clean(), "{text}");
        assert_eq!(loaded.changed(), [4]);
    }
}

/// R9 is odd and beyond the limit, and the address is not allocated.
#[test]
fn nothing_faults_where_no_lane_executes() {
    for sibling in SIBLINGS {
        let text = sibling.text(Size::B64, "R9", "[R2]");
        let guarded = load(&format!("@!PT {text}"), &limited(5), at(|_| sibling.outside));
        let inactive = load(&text, &limited(5), active(at(|_| sibling.outside), 0));
        for loaded in [guarded, inactive] {
            assert!(loaded.is_clean(), "{text}");
            assert_eq!(loaded.outcome.executing, LaneMask::NONE);
            assert_eq!(loaded.outcome.destination, None);
            assert!(loaded.changed().is_empty());
        }
    }
}

/// LD takes Plg from bits 60:58, which belong to the opcode of the four, so no predicate has an effect.
#[test]
fn plg_plays_no_role() {
    for sibling in SIBLINGS {
        let text = sibling.text(Size::B32, "R4", "[R2]");
        let from = |lane| if lane == 9 { sibling.outside } else { sibling.allocated };
        let plain = load(&text, &machine(), at(from));
        for predicate in 0..7 {
            for lanes in [0x0f0f_0f0f, u32::MAX] {
                let other = load(&text, &machine(), with(at(from), predicate, lanes));
                assert_eq!(other.outcome, plain.outcome, "{text}");
                assert_eq!(other.registers::<4>(4, 3), plain.registers::<4>(4, 3), "{text}");
            }
        }
    }
}

/// Bit 44 of LDG, 47:46 of LDL, 47:45 of LDS, 47:46 and 43:41 of LDC.
#[test]
fn bits_that_are_not_read_change_nothing() {
    for (sibling, unread) in SIBLINGS.into_iter().zip([
        0x1000_0000_0000u64,
        0xc000_0000_0000,
        0xe000_0000_0000,
        0xce00_0000_0000,
    ]) {
        let text = sibling.text(Size::B64, "R4", "[R2+0x4]");
        let word = warpload::encoding::Instruction::parse(&text, Sm::SPA5).unwrap().bits() as u64;
        assert_eq!(word & unread, 0, "{text}");
        let warp = || at(|lane| sibling.allocated + 4 * (lane as u64 % 3));
        let plain = load(&text, &machine(), warp());
        for bit in (0..64).map(|bit| 1 << bit).filter(|bit| unread & bit != 0) {
            let instruction = Instruction::decode(word | bit, Sm::SPA5).load().unwrap();
            let other = load_instruction(instruction, &machine(), warp());
            assert_eq!((other.warp, other.outcome), (plain.warp.clone(), plain.outcome.clone()));
        }
    }
}

#[test]
fn the_outcome_names_what_was_written() {
    for sibling in SIBLINGS {
        for size in sibling.sizes() {
            let text = sibling.text(*size, "R8", "[R2]");
            let outcome = load(&text, &machine(), at(|_| sibling.allocated)).outcome;
            let destination = outcome.destination.unwrap();
            assert_eq!((destination.first.number(), destination.count), (8, size.registers()));
        }
    }
}
