//! The remarks on short pieces of code, written by hand.

use warpload_binary::statistics::{InstructionFacts, Statistics, StatisticsBuilder};
use warpload_encoding::{Sm, parse_line};

const IADD: u64 = 0x5c10_0000_0037_0400;
const ISETP_P1: u64 = 0x5b6a_0380_0027_070f;
const DADD: u64 = 0x5c70_0000_0047_0400;
const STG: u64 = 0xeedc_2000_0007_0200;
const BAR_SYNC: u64 = 0xf0a8_1b80_0007_0000;
const MEMBAR: u64 = 0xef98_0000_0007_0000;
const EXIT: u64 = 0xe300_0000_0007_000f;
const BRX: u64 = 0xe250_0000_0007_000f;
const NOP: u64 = 0x50b0_0000_0007_0f00;
const DEPBAR: u64 = 0xf0f0_0000_3407_0000;

fn load(text: &str) -> u64 {
    parse_line(text, Sm::SPA5).unwrap_or_else(|error| panic!("{text}: {error}")).instruction.bits()
        as u64
}

fn offset(index: usize) -> u64 {
    (index / 3 * 32 + index % 3 * 8 + 8) as u64
}

fn statistics(words: &[u64]) -> Statistics {
    let mut builder = StatisticsBuilder::default();
    for (index, word) in words.iter().enumerate() {
        builder.add(InstructionFacts::narrow(Some(offset(index)), *word));
    }
    builder.finish()
}

fn remarks(words: &[u64]) -> Vec<String> {
    let remarks = statistics(words).remarks;
    let line = |remark: &warpload_binary::statistics::Remark| {
        format!("{:#x} {}: {remark}", remark.offset.unwrap_or(0), remark.kind.name())
    };
    remarks.iter().map(line).collect()
}

/// Whether two neighbouring loads with these instructions in between are remarked on.
fn survives(between: &[u64], first: &str, second: &str) -> bool {
    let words: Vec<u64> =
        std::iter::once(load(first)).chain(between.iter().copied()).chain([load(second)]).collect();
    remarks(&words).iter().any(|remark| remark.contains("vectorizable"))
}

#[test]
fn four_loads_of_one_word() {
    let words = ["[R2+0x18]", "[R2+0x10]", "[R2+0x1c]", "[R2+0x14]"]
        .map(|address| load(&format!("LDG.E.CI R9, {address}")));
    assert_eq!(
        remarks(&words),
        [
            "0x8 vectorizable: with 0x10, 0x18 and 0x28: 16 consecutive bytes, which one 128-bit LDG \
          could load if {R3, R2} is a multiple of 16"
        ]
    );
}

#[test]
fn words_are_aligned() {
    let at = |displacements: &[i64]| {
        let text = |d: &i64| match d {
            0.. => format!("LDS.U.32 R9, [R2+{d:#x}]"),
            _ => format!("LDS.U.32 R9, [R2+-{:#x}]", -d),
        };
        let words: Vec<u64> = displacements.iter().map(|d| load(&text(d))).collect();
        remarks(&words).len()
    };
    assert_eq!(at(&[0, 4]), 1);
    assert_eq!(at(&[4, 8]), 0);
    assert_eq!(at(&[4, 8, 12]), 1);
    // One of 128 bits.
    assert_eq!(at(&[0, 4, 8, 12]), 1);
    // 8 and 12, 16 and 20.
    assert_eq!(at(&[8, 12, 16, 20]), 2);
    assert_eq!(at(&[-8, -4, 0, 4]), 2);
    assert_eq!(at(&[-16, -12, -8, -4]), 1);
    assert_eq!(at(&[0, 4, 8, 12, 16, 20, 24, 28]), 2);
    // The same word twice.
    assert_eq!(at(&[0, 0, 4]), 1);
    assert_eq!(at(&[0, 0]), 0);
    assert_eq!(at(&[2, 6]), 2, "misaligned");
}

#[test]
fn addresses_without_a_base_are_known() {
    assert_eq!(
        remarks(&[load("LDC R0, c[0x3][0x10]"), load("LDC R1, c[0x3][0x14]")]),
        ["0x8 vectorizable: with 0x10: 8 consecutive bytes, which one 64-bit LDC could load"]
    );
    // LDC loads 64 bits at most.
    let words = [0, 4, 8, 12].map(|at| load(&format!("LDC R0, c[0x3][R4+{at:#x}]")));
    assert_eq!(remarks(&words).len(), 2);
    // Other banks are other memories.
    assert!(!survives(&[], "LDC R0, c[0x3][0x10]", "LDC R1, c[0x2][0x14]"));
    // The offsets of the other modes are undocumented.
    assert!(!survives(&[], "LDC.IL R0, c[0x3][0x10]", "LDC.IL R1, c[0x3][0x14]"));
}

#[test]
fn what_comes_between() {
    let survives = |between: &[u64]| survives(between, "LDG.E R9, [R2]", "LDG.E R10, [R2+0x4]");
    assert!(survives(&[]));
    assert!(survives(&[NOP, DEPBAR, ISETP_P1, IADD | 4, IADD | 1, load("LDL.128 R12, [R1]")]));
    for (word, what) in [
        (IADD | 2, "low half of the base"),
        (IADD | 3, "high half of the base"),
        (DADD | 1, "64 bits with the low half"),
        (load("LDS R2, [R1]"), "a load of the base"),
        (load("LD.128 R0, [R8]"), "a wide load of the base"),
        (load("LDG.E.CV R12, [R8]"), "a volatile load"),
        (STG, "a store"),
        (BAR_SYNC, "a barrier"),
        (MEMBAR, "a fence"),
        (EXIT, "an exit"),
    ] {
        assert!(!survives(&[word]), "{what}");
    }
}

#[test]
fn loads_differ_in_destination_and_displacement_only() {
    let first = "LDG.E R9, [R2]";
    assert!(survives(&[], first, "LDG.E R10, [R2+0x4]"));
    for second in [
        "LDG R10, [R2+0x4]",
        "LDG.E R10, [R4+0x4]",
        "LDG.E.CI R10, [R2+0x4]",
        "LDG.E.U16 R10, [R2+0x4]",
        "LDG.E.64 R10, [R2+0x4]",
        "LD.E R10, [R2+0x4]",
        "@P0 LDG.E R10, [R2+0x4]",
    ] {
        assert!(!survives(&[], first, second), "{second}");
    }
    assert!(!survives(&[], "LDG.E.CV R9, [R2]", "LDG.E.CV R10, [R2+0x4]"));
    // The first one overwrites the base, the second one may.
    assert!(!survives(&[], "LDG.E R2, [R2]", "LDG.E R10, [R2+0x4]"));
    assert!(!survives(&[], "LDG.E R3, [R2]", "LDG.E R10, [R2+0x4]"));
    assert!(survives(&[], "LDG.E R9, [R2]", "LDG.E R2, [R2+0x4]"));
    assert!(!survives(&[], "@P1 LDG.E R9, [R2]", "@!P1 LDG.E R10, [R2+0x4]"));
}

#[test]
fn predicates_of_the_guard_and_of_generic_addresses() {
    for (first, second, survives_predicates) in [
        ("LDG.E R9, [R2]", "LDG.E R10, [R2+0x4]", true),
        ("@P1 LDG.E R9, [R2]", "@P1 LDG.E R10, [R2+0x4]", false),
        ("LD.E R9, [R2], P1", "LD.E R10, [R2+0x4], P1", false),
        ("LD.E R9, [R2]", "LD.E R10, [R2+0x4]", true),
    ] {
        assert!(survives(&[NOP], first, second), "{first}");
        assert_eq!(survives(&[ISETP_P1], first, second), survives_predicates, "{first}");
    }
}

#[test]
fn a_function_whose_blocks_are_unknown_has_no_neighbours() {
    let loads = [load("LDG.E R9, [R2]"), load("LDG.E R10, [R2+0x4]")];
    let with = |word| [&loads[..], &[word]].concat();
    assert_eq!(remarks(&with(EXIT)).len(), 1);
    assert!(statistics(&with(EXIT)).are_blocks_known);
    assert!(remarks(&with(BRX)).is_empty());
    assert!(!statistics(&with(BRX)).are_blocks_known);

    // A gap, which can hide a branch; an instruction without a word.
    for step in
        [InstructionFacts::narrow(Some(0x40), NOP), InstructionFacts::opaque(Some(0x18), None)]
    {
        let mut builder = StatisticsBuilder::default();
        for (index, word) in loads.iter().enumerate() {
            builder.add(InstructionFacts::narrow(Some(offset(index)), *word));
        }
        builder.add(step);
        let statistics = builder.finish();
        assert_eq!((statistics.loads, statistics.remarks.len()), (2, 0));
        assert!(!statistics.are_blocks_known);
    }
}

#[test]
fn volatile_and_misaligned_loads() {
    assert_eq!(
        remarks(&[
            load("LDG.E.CV.64 R8, [R2+0x4]"),
            load("LDL.CV R8, [R2]"),
            load("LDS.U16 R8, [0x101]"),
            load("LDS.128 R8, [R0+-0x8]"),
            load("LDL.CI.U8 R8, [R0+0x7]"),
        ]),
        [
            "0x8 misaligned: displacement 0x4 is not a multiple of 8: misaligned unless {R3, R2} \
             makes up for it",
            "0x8 volatile: .CV is volatile: fetched again by each load, past the caches",
            "0x10 volatile: .CV is volatile: fetched again by each load, past the caches",
            "0x18 misaligned: address 0x101 is not a multiple of 2",
            "0x28 misaligned: displacement -0x8 is not a multiple of 16: misaligned unless R0 \
             makes up for it",
        ]
    );
}

#[test]
fn loads_are_counted() {
    let statistics = statistics(&[
        load("LDG.E.CV.64 R8, [R2]"),
        load("LDG.E R8, [R2]"),
        load("LDS.U.32 R8, [R2]"),
        // LDS has no size 7.
        0xef4f_0000_0007_0000,
        NOP,
    ]);
    assert_eq!(statistics.loads, 4);
    assert_eq!(Vec::from_iter(statistics.by_kind), [("LDG", 2), ("LDS", 2)]);
    assert_eq!(Vec::from_iter(statistics.by_bits), [(None, 1), (Some(32), 2), (Some(64), 1)]);
    let by_cache: Vec<(String, u64)> =
        statistics.by_cache.into_iter().map(|(name, count)| (name.into_owned(), count)).collect();
    assert_eq!(by_cache, [(String::new(), 2), ("CA".to_owned(), 1), ("CV".to_owned(), 1)]);
}

/// Two of 64 bits make one of 128, and four of them two.
#[test]
fn loads_of_64_bits() {
    let at = |kind: &str, displacements: &[i64]| {
        let text = |d: &i64| load(&format!("{kind}.64 R8, [R2+{d:#x}]"));
        remarks(&displacements.iter().map(text).collect::<Vec<_>>())
    };
    assert_eq!(
        at("LDG.E", &[0, 8]),
        ["0x8 vectorizable: with 0x10: 16 consecutive bytes, which one 128-bit LDG could load if \
             {R3, R2} is a multiple of 16"]
    );
    assert_eq!(at("LDG.E", &[8, 16]).len(), 0);
    assert_eq!(at("LDS.U", &[0, 8, 16, 24]).len(), 2);
    assert_eq!(at("LDG.E", &[0, 4]).len(), 1, "misaligned, and they overlap");
    // The first one writes the base.
    assert!(!survives(&[], "LDG.E.64 R2, [R2]", "LDG.E.64 R8, [R2+0x8]"));
    assert!(!survives(&[], "LDG.E.64 R8, [R2]", "LDG.E R4, [R2+0x8]"));
    // LDC loads 64 bits at most.
    assert!(!survives(&[], "LDC.64 R8, c[0x3][R4]", "LDC.64 R10, c[0x3][R4+0x8]"));
}
