//! Neighbours in random code, against the definition applied to every pair of loads.

use std::collections::BTreeSet;

use proptest::prelude::*;
use warpload_binary::statistics::{InstructionFacts, RemarkKind, StatisticsBuilder};
use warpload_encoding::{Instruction, Sm};

/// An instruction, in the terms of the definition.
#[derive(Clone, Debug)]
enum Item {
    Load {
        base: u8,
        displacement: i64,
        destination: u8,
        guard: u8,
    },
    WriteRegister(u8),
    WritePredicate(u8),
    Store,
    /// A branch, possibly conditional, to the instruction with this index.
    Branch(usize),
    /// An instruction that makes another one a target.
    Push(usize),
    Exit,
    Nothing,
}

const BASES: u8 = 8;

fn item() -> impl Strategy<Value = Item> {
    prop_oneof![
        12 => (0..2_u8, -4..5_i64, 0..BASES, 0..2_u8).prop_map(|(base, word, destination, guard)| {
            Item::Load { base: 2 * base, displacement: 4 * word, destination, guard }
        }),
        2 => (0..BASES).prop_map(Item::WriteRegister),
        1 => (0..2_u8).prop_map(Item::WritePredicate),
        1 => Just(Item::Store),
        1 => (0..40_usize).prop_map(Item::Branch),
        1 => (0..40_usize).prop_map(Item::Push),
        1 => Just(Item::Exit),
        4 => Just(Item::Nothing),
    ]
}

fn offset(index: usize) -> u64 {
    (index / 3 * 32 + index % 3 * 8 + 8) as u64
}

fn word(index: usize, item: &Item) -> u64 {
    let relative = |target: usize| {
        let distance = offset(target) as i64 - offset(index) as i64 - 8;
        (distance as u64 & 0xff_ffff) << 20
    };
    match *item {
        Item::Load { base, displacement, destination, guard } => {
            let guard = if guard == 0 { String::new() } else { format!("@P{guard} ") };
            let sign = if displacement < 0 { "-" } else { "" };
            let displacement = displacement.unsigned_abs();
            let text = format!("{guard}LDG.E R{destination}, [R{base}+{sign}{displacement:#x}]");
            Instruction::parse(&text, Sm::SPA5).expect("a load").bits() as u64
        }
        Item::WriteRegister(register) => 0x5c10_0000_0ff7_ff00 | u64::from(register),
        Item::WritePredicate(predicate) => 0x5b6a_0380_0027_0707 | u64::from(predicate) << 3,
        Item::Store => 0xeedc_2000_0007_ff00,
        Item::Branch(target) => 0xe240_0000_0000_000f | relative(target),
        Item::Push(target) => 0xe290_0000_0000_0000 | relative(target),
        Item::Exit => 0xe300_0000_0007_000f,
        Item::Nothing => 0x50b0_0000_0007_0f00,
    }
}

/// Whether loads `i` and `j`, in this order, can be executed at once in place of the first.
fn can_join(items: &[Item], i: usize, j: usize) -> bool {
    let (
        Item::Load { base, guard, destination, .. },
        Item::Load { base: other_base, guard: other_guard, .. },
    ) = (&items[i], &items[j])
    else {
        return false;
    };
    let is_base = |register: u8| register == *base || register == base + 1;
    let is_harmless = |item: &Item| match item {
        Item::Load { destination, .. } => !is_base(*destination),
        Item::WriteRegister(register) => !is_base(*register),
        // Any predicate counts, not only that of the guard.
        Item::WritePredicate(_) => *guard == 0,
        Item::Push(_) | Item::Nothing => true,
        Item::Store | Item::Branch(_) | Item::Exit => false,
    };
    let is_entered = items.iter().any(|item| match item {
        Item::Branch(target) | Item::Push(target) => (i + 1..=j).contains(target),
        _ => false,
    });
    base == other_base
        && guard == other_guard
        && !is_base(*destination)
        && items[i + 1..j].iter().all(is_harmless)
        && !is_entered
}

/// The offsets of the loads that each wider load could serve.
fn expected(items: &[Item]) -> BTreeSet<Vec<u64>> {
    let loads: Vec<usize> =
        (0..items.len()).filter(|i| matches!(items[*i], Item::Load { .. })).collect();
    // Each load with the first one that it can join.
    let first =
        |j: usize| loads.iter().copied().find(|i| *i < j && can_join(items, *i, j)).unwrap_or(j);
    let mut words = BTreeSet::new();
    for class in BTreeSet::from_iter(loads.iter().map(|load| first(*load))) {
        let at = |displacement: i64| {
            loads.iter().copied().find(|load| {
                matches!(items[*load], Item::Load { displacement: d, .. } if d == displacement)
                    && first(*load) == class
            })
        };
        for start in (-64..64).step_by(16) {
            let [a, b, c, d] = [0, 4, 8, 12].map(|word| at(start + word));
            let groups = match (a, b, c, d) {
                (Some(a), Some(b), Some(c), Some(d)) => vec![vec![a, b, c, d]],
                _ => [(a, b), (c, d)]
                    .into_iter()
                    .filter_map(|(low, high)| Some(vec![low?, high?]))
                    .collect(),
            };
            for mut group in groups {
                group.sort_unstable();
                words.insert(group.into_iter().map(offset).collect());
            }
        }
    }
    words
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn remarks_are_those_of_the_definition(items in prop::collection::vec(item(), 0..40)) {
        let mut builder = StatisticsBuilder::default();
        for (index, item) in items.iter().enumerate() {
            builder.add(InstructionFacts::narrow(Some(offset(index)), word(index, item)));
        }
        let statistics = builder.finish();
        prop_assert!(statistics.are_blocks_known);
        let mut found = BTreeSet::new();
        for remark in &statistics.remarks {
            let RemarkKind::Vectorizable { others, bits, .. } = &remark.kind else { continue };
            let offsets: Vec<u64> = remark.offset.into_iter().chain(others.iter().copied()).collect();
            prop_assert_eq!(32 * offsets.len(), *bits as usize);
            prop_assert!(found.insert(offsets), "twice: {:?}", remark);
        }
        prop_assert_eq!(found, expected(&items));
    }

    #[test]
    fn any_words_have_statistics(
        narrow in prop::collection::vec(any::<u64>(), 0..40),
        wide in prop::collection::vec(any::<u128>(), 0..40),
        start in any::<u64>(),
    ) {
        let mut builder = StatisticsBuilder::default();
        for (index, word) in narrow.iter().enumerate() {
            builder.add(InstructionFacts::narrow(start.checked_add(8 * index as u64), *word));
        }
        let _ = builder.finish();
        let mut builder = StatisticsBuilder::default();
        for (index, word) in wide.iter().enumerate() {
            let sm = warpload_encoding::Sm::all().nth(index % 22).expect("an SM");
            builder.add(InstructionFacts::wide(start.checked_add(16 * index as u64), *word, sm, None));
        }
        let _ = builder.finish();
    }
}
