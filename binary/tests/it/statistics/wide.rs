//! Neighbours among words of 128 bits.

use std::borrow::Cow;

use warpload_binary::statistics::{
    AccessOrder, BaseRegisters, InstructionFacts, LoadFacts, RegisterRange, Statistics,
    StatisticsBuilder,
};
use warpload_encoding::Sm;

/// `LDG.E R0, [R4.64]` with the descriptor of SM 8.0.
const LDG: u128 = 0x000e_a800_0c1e_1900_0000_0004_0400_7981;
const IADD3: u128 = 0x000f_c000_07ff_e0ff_0000_0001_0a08_7810;
const STG: u128 = 0x000f_e200_0c10_1904_0000_0000_0200_7986;
const ULDC: u128 = 0x000f_e200_0000_0a00_0000_4600_0004_7ab9;
const EXIT: u128 = 0x000f_ea00_0380_0000_0000_0000_0000_794d;

/// A load of `destination` from `[R4.64+displacement]`.
fn load(offset: u64, destination: u8, displacement: i64, order: AccessOrder) -> InstructionFacts {
    let word = LDG | u128::from(destination) << 16 | (displacement as u128 & 0xff_ffff) << 40;
    let load = LoadFacts {
        kind: "LDG",
        bits: Some(32),
        cache: Cow::Borrowed(if order == AccessOrder::Weak { "" } else { "STRONG.SYS" }),
        order,
        base: BaseRegisters {
            registers: Some(RegisterRange { first: 4, count: 2 }),
            uniform: Some(RegisterRange { first: 4, count: 2 }),
        },
        displacement: Some(displacement),
        has_predicate: false,
        form: LDG,
        widest: 128,
    };
    InstructionFacts::wide(Some(offset), word, sm(), Some(load))
}

fn sm() -> Sm {
    Sm::new(80).expect("it is known")
}

/// The statistics of two neighbours with an instruction in between.
fn around(word: u128) -> Statistics {
    let mut builder = StatisticsBuilder::default();
    builder.add(load(0, 0, 0x10, AccessOrder::Weak));
    builder.add(InstructionFacts::wide(Some(0x10), word, sm(), None));
    builder.add(load(0x20, 1, 0x14, AccessOrder::Weak));
    builder.add(load(0x30, 2, 0x1c, AccessOrder::Volatile));
    builder.finish()
}

#[test]
fn neighbours() {
    let statistics = around(IADD3);
    let remarks: Vec<String> = statistics.remarks.iter().map(ToString::to_string).collect();
    assert_eq!(
        remarks,
        [
            "with 0x20: 8 consecutive bytes, which one 64-bit LDG could load if {R5, R4} + {UR5, UR4} \
             is a multiple of 8",
            ".STRONG.SYS is ordered with the whole system: fetched again by each load, past the caches",
        ]
    );
    assert!(statistics.are_blocks_known);
}

#[test]
fn what_comes_between() {
    let is_neighbour = |word| around(word).remarks.len() == 2;
    assert!(is_neighbour(IADD3));
    for (word, what) in [
        // R8 becomes R4, R5.
        (IADD3 ^ 0xc << 16, "low half of the base"),
        (IADD3 ^ 0xd << 16, "high half of the base"),
        (STG, "a store"),
        (ULDC, "a uniform register"),
        (EXIT, "an exit"),
        (0, "what is not known"),
    ] {
        assert!(!is_neighbour(word), "{what}");
    }
}

#[test]
fn a_branch_into_the_middle() {
    let branch = |distance: i64| {
        let mut builder = StatisticsBuilder::default();
        builder.add(load(0, 0, 0x10, AccessOrder::Weak));
        builder.add(load(0x10, 1, 0x14, AccessOrder::Weak));
        let word = 0x000f_ea00_0383_ffff_0000_0000_0000_0947 & !(((1_u128 << 48) - 1) << 34);
        let word = word | ((distance >> 2) as u128 & ((1 << 48) - 1)) << 34;
        builder.add(InstructionFacts::wide(Some(0x20), word, sm(), None));
        builder.finish().remarks.len()
    };
    assert_eq!(branch(-0x20), 0, "to the second load");
    assert_eq!(branch(-0x30), 1, "to the first");
    assert_eq!(branch(0), 1, "to the end");
}

/// A lane gets two elements of each matrix, but the addresses are those of rows of 16 bytes.
#[test]
fn matrices_are_counted_by_what_a_lane_gets() {
    let statistics = |sm: u32, text: &str| {
        let sm = Sm::new(sm).expect("it is known");
        let load = warpload_encoding::Instruction::parse(text, sm).expect("it is one");
        let word = load.word().wide().expect("it has 128 bits");
        let mut builder = StatisticsBuilder::default();
        builder.add(InstructionFacts::wide(Some(0), word, sm, Some(LoadFacts::from(&load))));
        builder.finish()
    };
    for (sm, text, bits) in [
        (75, "LDSM.16.M88 R8, [R2+0x10]", 32),
        (80, "LDSM.16.M88.2 R8, [R2+0x10]", 64),
        (90, "LDSM.16.MT88.4 R8, [R2+0x10]", 128),
        (100, "LDSM.16.M88.4 R8, [R2+UR4+0x10]", 128),
        (100, "LDSM.8.MT1616 R8, [R2+0x10]", 64),
    ] {
        let found = statistics(sm, text);
        assert_eq!(Vec::from_iter(found.by_bits), [(Some(bits), 1)], "{text}");
        assert!(found.remarks.is_empty(), "{text}");
    }
    let remarks = statistics(80, "LDSM.16.M88 R8, [R2+0x8]").remarks;
    assert_eq!(remarks[0].kind.name(), "misaligned");
}
