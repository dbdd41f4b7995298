//! The kinds of LDG, LDL, LDS and LDC.

use crate::executors::loads::SIBLINGS;

use super::expect;

/// Each kind of load and its least count among 6,000 loads, about half of the actual count.
const WANTED: &[(&str, u32)] = &[
    ("LDC: INVALIDSIZE6", 15),
    ("LDC: INVALIDSIZE7", 15),
    ("LDC: Rd = RZ", 73),
    ("LDC: Rd overlaps Ra", 135),
    ("LDC: all lanes load", 226),
    ("LDC: loads from 64 KiB", 6),
    ("LDC: loads from constant", 366),
    ("LDC: misaligned address, constant", 72),
    ("LDC: misaligned_register, Rd", 4),
    ("LDC: no base", 59),
    ("LDC: no lane loads", 110),
    ("LDC: nobody executes", 127),
    ("LDC: out_of_range_register, Rd", 53),
    ("LDC: outside allocation, constant", 250),
    ("LDC: refused: IL", 8),
    ("LDC: refused: IS", 6),
    ("LDC: refused: ISL", 11),
    ("LDC: some lanes load", 140),
    ("LDG: Rd = RZ", 58),
    ("LDG: Rd overlaps Ra", 140),
    ("LDG: all lanes load", 106),
    ("LDG: broadcast", 23),
    ("LDG: broadcast from global", 23),
    ("LDG: divergent", 147),
    ("LDG: loads at or above 2^63", 9),
    ("LDG: loads from global", 203),
    ("LDG: misaligned address, global", 121),
    ("LDG: misaligned_register, Ra", 32),
    ("LDG: misaligned_register, Rd", 24),
    ("LDG: no base", 64),
    ("LDG: no lane loads", 255),
    ("LDG: nobody executes", 169),
    ("LDG: out_of_range_register, Ra", 8),
    ("LDG: out_of_range_register, Rd", 73),
    ("LDG: outside allocation, global", 352),
    ("LDG: runs off into a neighbour", 4),
    ("LDG: some lanes load", 97),
    ("LDL: INVALIDSIZE7", 41),
    ("LDL: Rd = RZ", 70),
    ("LDL: Rd overlaps Ra", 139),
    ("LDL: all lanes load", 255),
    ("LDL: loads across the parts", 30),
    ("LDL: loads from local", 436),
    ("LDL: loads from the high part", 262),
    ("LDL: loads from the low part", 270),
    ("LDL: misaligned address, local", 98),
    ("LDL: misaligned_register, Rd", 10),
    ("LDL: no base", 62),
    ("LDL: no lane loads", 79),
    ("LDL: nobody executes", 142),
    ("LDL: out_of_range_register, Rd", 62),
    ("LDL: outside allocation, local", 260),
    ("LDL: some lanes load", 180),
    ("LDS: INVALIDSIZE7", 34),
    ("LDS: Rd = RZ", 77),
    ("LDS: Rd overlaps Ra", 133),
    ("LDS: all lanes load", 268),
    ("LDS: loads from shared", 431),
    ("LDS: misaligned address, shared", 79),
    ("LDS: misaligned_register, Rd", 10),
    ("LDS: no base", 63),
    ("LDS: no lane loads", 76),
    ("LDS: nobody executes", 130),
    ("LDS: out_of_range_register, Rd", 62),
    ("LDS: outside allocation, shared", 239),
    ("LDS: some lanes load", 163),
];

#[test]
fn every_kind_of_sibling_is_generated() {
    let name =
        |case: &crate::executors::Case, kind| format!("{}: {kind}", case.instruction.mnemonic());
    expect(6000, SIBLINGS, WANTED, name);
}
