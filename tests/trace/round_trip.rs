//! What is written is read back.

use std::io::Cursor;

use proptest::prelude::*;
use warpload::lane::LaneMask;
use warpload::trace::binary::{MAX_BLOCK_LOADS, MAX_BLOCK_RECORDS};
use warpload::trace::{Addresses, BinaryTrace, NewLoad, Skipped, TraceWriter};

use crate::samples::{
    Form, Item, Load, OPCODES, expected_loads, loads, open, operation, registers, skipped, summary,
    write,
};

fn load() -> impl Strategy<Value = Load> {
    let mask = prop_oneof![Just(0), Just(1 << 31), Just(u32::MAX), any::<u32>()];
    let mask_and_form = mask.prop_flat_map(|mask| {
        let lanes = mask.count_ones() as usize;
        let list = prop::collection::vec(any::<u64>(), lanes).prop_map(Form::List);
        let deltas = prop::collection::vec(any::<i32>(), lanes.saturating_sub(1));
        let deltas = (any::<u64>(), deltas).prop_map(|(base, deltas)| Form::Deltas(base, deltas));
        let stride = (any::<u64>(), prop_oneof![Just(0), Just(4), any::<i64>()])
            .prop_map(|(base, stride)| Form::Stride(base, stride));
        // Deltas are from the lane before: without a lane there are none.
        let form = match lanes {
            0 => prop_oneof![list, stride].boxed(),
            _ => prop_oneof![list, stride, deltas].boxed(),
        };
        (Just(mask), form)
    });
    let known = (any::<Option<u32>>(), any::<Option<u32>>(), any::<bool>());
    let opcode = prop::sample::select(&OPCODES[..]);
    (any::<u32>(), mask_and_form, opcode, known, any::<bool>(), any::<u64>()).prop_map(
        |(pc, (mask, form), opcode, (plg, guard, width_disagrees), has_expected, seed)| {
            let values = mask.count_ones() as usize * registers(opcode);
            let values = if has_expected { values } else { 0 };
            let expected = (0..values as u64).map(|i| seed.wrapping_mul(i + 1) as u32).collect();
            Load { pc, mask, opcode, form, plg, guard, expected, width_disagrees }
        },
    )
}

fn item() -> impl Strategy<Value = Item> {
    prop_oneof![
        1 => prop::sample::select(&["first", "second", ""][..]).prop_map(Item::Kernel),
        2 => prop::sample::select(&[Skipped::Store, Skipped::Atomic, Skipped::Other][..])
            .prop_map(Item::Skip),
        1 => (prop::sample::select(&["LDGSTS", "LDSM"][..]), any::<u32>())
            .prop_map(|(name, mask)| Item::NotReplayed(name, mask)),
        5 => load().prop_map(Item::Load),
    ]
}

fn check(items: &[Item]) {
    let trace = open(&write(items));
    let records = items.iter().filter(|item| !matches!(item, Item::Kernel(_))).count();
    assert_eq!(trace.records(), records as u64);
    let expected = expected_loads(items);
    assert_eq!(trace.loads(), expected.len() as u64);
    for (read, expected) in loads(&trace).iter().zip(&expected) {
        assert_eq!(read, expected);
    }
    let count = |kind| items.iter().filter(|item| **item == Item::Skip(kind)).count() as u64;
    assert_eq!(skipped(&trace), (count(Skipped::Store), count(Skipped::Atomic)));
    assert_eq!(not_replayed(&trace), expected_not_replayed(items));
}

/// The record in the whole trace, the name and the number of active lanes of each instruction that
/// is not replayed.
fn not_replayed(trace: &BinaryTrace) -> Vec<(u64, String, u32)> {
    let mut all = Vec::new();
    for raw in trace.blocks() {
        let names = &trace.contents().not_replayed;
        all.extend(trace.block(raw).unwrap().not_replayed().map(|one| {
            let record = raw.first_record + u64::from(one.index);
            (record, names[usize::from(one.name)].clone(), u32::from(one.lanes))
        }));
    }
    all
}

fn expected_not_replayed(items: &[Item]) -> Vec<(u64, String, u32)> {
    let records = items.iter().filter(|item| !matches!(item, Item::Kernel(_)));
    let named = (0..).zip(records).filter_map(|(record, item)| match item {
        Item::NotReplayed(name, mask) => Some((record, (*name).to_owned(), mask.count_ones())),
        _ => None,
    });
    named.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_traces(items in prop::collection::vec(item(), 0..60)) {
        check(&items);
    }
}

#[test]
fn blocks_end_at_their_greatest_number_of_loads() {
    for count in [MAX_BLOCK_LOADS - 1, MAX_BLOCK_LOADS, MAX_BLOCK_LOADS + 1] {
        let load = |i: usize| Load { pc: i as u32, ..Load::new("LDG.E", Form::Stride(64, 4)) };
        let items: Vec<Item> = (0..count).map(|i| Item::Load(load(i))).collect();
        check(&items);
        let blocks = open(&write(&items)).blocks().len();
        assert_eq!(blocks, count.div_ceil(MAX_BLOCK_LOADS), "{count}");
    }
}

#[test]
fn blocks_end_at_their_greatest_number_of_instructions() {
    let most = MAX_BLOCK_RECORDS as usize;
    for (skip, count) in [
        (Skipped::Store, most - 1),
        (Skipped::Atomic, most),
        (Skipped::Other, most + 1),
        (Skipped::Store, 2 * most),
    ] {
        let load = Item::Load(Load::new("LDS", Form::Stride(0, 4)));
        let mut items = vec![Item::Skip(skip); count];
        items.push(load.clone());
        items.push(Item::Skip(skip));
        items.push(load);
        check(&items);
        let blocks = open(&write(&items)).blocks().len();
        assert_eq!(blocks, (count + 3).div_ceil(most), "{skip:?} {count}");
    }
}

#[test]
fn kernels_may_be_empty_or_missing() {
    let load = Item::Load(Load::new("LDG.E", Form::Stride(64, 4)));
    for items in [
        vec![],
        vec![Item::Kernel("empty")],
        vec![load.clone()],
        vec![load.clone(), Item::Kernel("named"), load.clone()],
        vec![Item::Kernel("empty"), Item::Kernel("full"), load, Item::Kernel("empty")],
    ] {
        check(&items);
        assert!(!open(&write(&items)).contents().kernels.is_empty());
    }
}

/// What cannot be read back is not written.
#[test]
fn loads_that_do_not_fit_are_refused() {
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), String::new()).unwrap();
    let number = writer.operation(&operation("LDG.E.64")).unwrap();
    let good = NewLoad {
        pc: 0,
        mask: LaneMask::from_bits(3),
        operation: number,
        addresses: Addresses::List(&[1, 2]),
        plg: None,
        guard: None,
        expected: &[1, 2, 3, 4],
        width_disagrees: false,
    };
    writer.load(&good).unwrap();
    for bad in [
        NewLoad { operation: number + 1, ..good },
        NewLoad { addresses: Addresses::List(&[1]), ..good },
        NewLoad { addresses: Addresses::Deltas { base: 0, deltas: &[1, 2] }, ..good },
        NewLoad { expected: &[1, 2], ..good },
        NewLoad {
            mask: LaneMask::NONE,
            expected: &[],
            addresses: Addresses::Deltas { base: 0, deltas: &[] },
            ..good
        },
    ] {
        let error = writer.load(&bad).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{bad:?}");
    }
    assert_eq!(open(&writer.finish().unwrap().into_inner()).loads(), 1);
}

/// Version 1 named no instructions that are not replayed: how many there are is unknown, not zero.
#[test]
fn a_trace_of_version_1() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cmd/example-v1.wlt");
    let trace = open(&std::fs::read(path).unwrap());
    assert!(!trace.names_not_replayed());
    let counts = summary(&trace, None).unwrap().counts;
    assert_eq!((counts.loads, counts.skipped.store), (1, 1));
    assert_eq!((counts.skipped.not_replayed, counts.ldgsts), (None, None));
}
