//! What is written is read back.

use std::io::Cursor;

use proptest::prelude::*;
use warpload::lane::LaneMask;
use warpload_trace::binary::{MAX_BLOCK_INSTRUCTIONS, MAX_BLOCK_RECORDS};
use warpload_trace::{
    MemoryOperation, NewRecord, OperationKind, RecordAddresses, TraceWriter, WarpPosition,
};

use crate::samples::{
    Form, Item, OPCODES, OTHER_OPCODES, Record, expected_records, instructions, open, records,
    registers, skipped, write,
};

fn record() -> impl Strategy<Value = Record> {
    let opcode = prop_oneof![
        2 => prop::sample::select(&OPCODES[..]),
        1 => prop::sample::select(&OTHER_OPCODES[..]),
    ];
    let mask = prop_oneof![Just(0), Just(1 << 31), Just(u32::MAX), any::<u32>()];
    let with_form = (opcode, mask).prop_flat_map(|(opcode, mask)| {
        let lanes = mask.count_ones() as usize;
        let list = prop::collection::vec(any::<u64>(), lanes).prop_map(Form::List);
        let deltas = prop::collection::vec(any::<i32>(), lanes.saturating_sub(1));
        let deltas = (any::<u64>(), deltas).prop_map(|(base, deltas)| Form::deltas(base, &deltas));
        let stride = (any::<u64>(), prop_oneof![Just(0), Just(4), any::<i64>()])
            .prop_map(|(base, stride)| Form::Stride(base, stride));
        let known = prop_oneof![list, stride];
        // Deltas are from the lane before: without a lane there are none.
        let known = if lanes == 0 { known.boxed() } else { prop_oneof![known, deltas].boxed() };
        let form = prop_oneof![9 => known, 1 => Just(Form::Unknown)];
        let transfer = any::<(u64, u64)>();
        let transfer = transfer.prop_map(|(count, bytes)| Form::Transfer(count, bytes));
        let form = match MemoryOperation::of_opcode(opcode).kind {
            OperationKind::Transfer => prop_oneof![form, transfer].boxed(),
            _ => form.boxed(),
        };
        (Just(opcode), Just(mask), form)
    });
    let known = (any::<Option<u32>>(), any::<Option<u32>>(), any::<bool>(), any::<bool>());
    (any::<u32>(), with_form, known, any::<bool>(), any::<u64>()).prop_map(
        |(pc, (opcode, mask, form), known, has_values, seed)| {
            let (plg, guard, is_valued, width_disagrees) = known;
            let values = mask.count_ones() as usize * registers(opcode);
            let values = if has_values { values } else { 0 };
            let values = (0..values as u64).map(|i| seed.wrapping_mul(i + 1) as u32).collect();
            Record { pc, mask, opcode, form, plg, guard, values, is_valued, width_disagrees }
        },
    )
}

/// Few different ones, so that some follow each other.
fn place() -> impl Strategy<Value = WarpPosition> {
    let number = || 0..2u32;
    let three = || prop::option::of([number(), number(), number()]);
    let index = prop::option::of(prop_oneof![number(), Just(u32::MAX - 1), any::<u32>()]);
    (three(), prop::option::of(number()), three(), index)
        .prop_map(|(cta, warp, cluster, index)| WarpPosition { cta, warp, cluster, index })
}

fn item() -> impl Strategy<Value = Item> {
    prop_oneof![
        1 => prop::sample::select(&["first", "second", ""][..]).prop_map(Item::Kernel),
        2 => prop::option::of(place()).prop_map(Item::Place),
        2 => Just(Item::Skip),
        5 => record().prop_map(Item::Record),
    ]
}

fn check(items: &[Item]) {
    let trace = open(&write(items));
    assert_eq!(trace.instructions(), instructions(items));
    let (read, expected) = (records(&trace), expected_records(items));
    assert_eq!(trace.records(), expected.len() as u64);
    for (read, expected) in read.iter().zip(&expected) {
        assert_eq!(read, expected);
    }
    assert_eq!(read.len(), expected.len());
    let count = |kind| expected.iter().filter(|record| record.kind == kind).count() as u64;
    assert_eq!(trace.loads(), count(OperationKind::Load));
    assert_eq!(skipped(&trace), (count(OperationKind::Store), count(OperationKind::Atomic)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_traces(items in prop::collection::vec(item(), 0..60)) {
        check(&items);
    }
}

#[test]
fn blocks_end_at_their_greatest_number_of_memory_instructions() {
    let most = MAX_BLOCK_RECORDS;
    for count in [most - 1, most, most + 1] {
        let record = |i: usize| {
            let opcode = if i.is_multiple_of(3) { "STG.E" } else { "LDG.E" };
            Record { pc: i as u32, ..Record::new(opcode, Form::Stride(64, 4)) }
        };
        let items: Vec<Item> = (0..count).map(|i| Item::Record(record(i))).collect();
        check(&items);
        let blocks = open(&write(&items)).blocks().len();
        assert_eq!(blocks, count.div_ceil(most), "{count}");
    }
}

#[test]
fn blocks_end_at_their_greatest_number_of_instructions() {
    let most = MAX_BLOCK_INSTRUCTIONS as usize;
    for count in [most - 1, most, most + 1, 2 * most] {
        let mut items = vec![Item::Skip; count];
        items.extend([Item::of("LDS"), Item::Skip, Item::of("STS")]);
        check(&items);
        let blocks = open(&write(&items)).blocks().len();
        assert_eq!(blocks, (count + 3).div_ceil(most), "{count}");
    }
}

/// A warp's number counts on over the borders of blocks, and over what has no record.
#[test]
fn places_go_on_in_the_next_block() {
    let place =
        |warp, index| Item::Place(Some(WarpPosition { warp, index, ..WarpPosition::default() }));
    let mut items = vec![Item::Kernel("one"), place(Some(3), Some(7))];
    for _ in 0..=MAX_BLOCK_RECORDS {
        items.extend([Item::of("LDG.E"), Item::Skip]);
    }
    items.extend(vec![Item::Skip; MAX_BLOCK_INSTRUCTIONS as usize + 5]);
    items.push(Item::of("STG.E"));
    check(&items);
    let all = records(&open(&write(&items)));
    let last = all.last().unwrap();
    let index = 7 + 2 * (MAX_BLOCK_RECORDS as u32 + 1) + MAX_BLOCK_INSTRUCTIONS + 5;
    assert_eq!((last.place.warp, last.place.index), (Some(3), Some(index)));

    // Of the next kernel nothing is known; a number that does not fit is unknown.
    items.extend([Item::Kernel("two"), Item::of("LDG.E"), place(None, Some(u32::MAX))]);
    items.extend([Item::of("LDS"), Item::of("LDS"), Item::Place(None), Item::of("LDS")]);
    check(&items);
    let all = records(&open(&write(&items)));
    let two = &all[all.len() - 4..];
    assert!([0, 2, 3].iter().all(|i| two[*i].place == WarpPosition::default()));
    assert_eq!(two[1].place, WarpPosition { index: Some(u32::MAX), ..WarpPosition::default() });
}

/// The place of an instruction that does not come.
#[test]
fn places_without_instructions() {
    let place =
        |warp| Item::Place(Some(WarpPosition { warp: Some(warp), ..WarpPosition::default() }));
    check(&[place(1)]);
    check(&[Item::of("LDG.E"), place(1)]);
    check(&[Item::of("LDG.E"), place(1), Item::Kernel("two"), Item::of("LDG.E"), place(2)]);
    check(&[place(1), Item::of("LDG.E"), place(2), Item::Place(None)]);
    let mut items = vec![Item::of("LDG.E"); MAX_BLOCK_RECORDS];
    items.push(place(1));
    check(&items);
    items.extend([place(2), Item::of("LDG.E")]);
    check(&items);
}

/// Runs are as few as there are changes of the warp.
#[test]
fn a_place_that_goes_on_is_no_run() {
    let place = |index| WarpPosition {
        cta: Some([1, 2, 3]),
        warp: Some(0),
        index,
        ..WarpPosition::default()
    };
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), String::new()).unwrap();
    let load = writer.operation(&MemoryOperation::of_opcode("LDG.E")).unwrap();
    let address = RecordAddresses::Stride { base: 0, stride: 4 };
    let load = NewRecord::new(0, LaneMask::ALL, load, address);
    for index in 0..100 {
        writer.place(Some(place(Some(index))));
        writer.record(&load).unwrap();
    }
    for _ in 0..100 {
        writer.place(Some(place(None)));
        writer.record(&load).unwrap();
    }
    let trace = open(&writer.finish().unwrap().into_inner());
    // What two runs take; a run for each instruction would take some for each.
    assert!(trace.blocks()[0].length < 60, "{}", trace.blocks()[0].length);
    let block = trace.block(&trace.blocks()[0]).unwrap();
    assert_eq!(block.place(99), place(Some(99)));
    assert_eq!(block.place(199), place(None));
}

#[test]
fn kernels_may_be_empty_or_missing() {
    let load = Item::of("LDG.E");
    for items in [
        vec![],
        vec![Item::Kernel("empty")],
        vec![load.clone()],
        vec![load.clone(), Item::Kernel("named"), load.clone()],
        vec![Item::Kernel("empty"), Item::Kernel("full"), load, Item::Kernel("empty")],
    ] {
        check(&items);
        assert_eq!(open(&write(&items)).contents().kernels.is_empty(), items.is_empty());
    }
}

/// What cannot be read back is not written.
#[test]
fn records_that_do_not_fit_are_refused() {
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), String::new()).unwrap();
    let store = writer.operation(&MemoryOperation::of_opcode("STG.E.64")).unwrap();
    let number = writer.operation(&MemoryOperation::of_opcode("LDG.E.64")).unwrap();
    let mask = LaneMask::from_bits(3);
    let good = NewRecord {
        values: Some(&[1, 2, 3, 4]),
        ..NewRecord::new(0, mask, number, RecordAddresses::List(&[1, 2]))
    };
    writer.record(&good).unwrap();
    writer.record(&NewRecord { operation: store, ..good }).unwrap();
    let transfer = RecordAddresses::Transfer { count: 1, bytes: 16 };
    for bad in [
        NewRecord { operation: number + 1, ..good },
        NewRecord { addresses: RecordAddresses::List(&[1]), ..good },
        NewRecord { addresses: RecordAddresses::List(&[1, 2, 3]), ..good },
        NewRecord { addresses: transfer, ..good },
        NewRecord { addresses: transfer, operation: store, ..good },
        NewRecord { values: Some(&[1, 2]), ..good },
        NewRecord { values: Some(&[1, 2]), operation: store, ..good },
        NewRecord { mask: LaneMask::NONE, values: Some(&[]), ..good },
    ] {
        let error = writer.record(&bad).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{bad:?}");
    }
    let trace = open(&writer.finish().unwrap().into_inner());
    assert_eq!((trace.instructions(), trace.loads()), (2, 1));
}

/// Each is named once, in the order in which they were; the list is bounded.
#[test]
fn tools_that_made_the_source() {
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), String::new()).unwrap();
    for tool in ["Accel-Sim tracer 6", "NVBit 1.7.4", "Accel-Sim tracer 6"] {
        writer.tool(tool);
    }
    let trace = open(&writer.finish().unwrap().into_inner());
    assert_eq!(trace.contents().tools, ["Accel-Sim tracer 6", "NVBit 1.7.4"]);

    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), String::new()).unwrap();
    (0..100).for_each(|i| writer.tool(&format!("tool {i}")));
    let tools = open(&writer.finish().unwrap().into_inner()).contents().tools.clone();
    assert_eq!((tools.len(), &*tools[63]), (64, "tool 63"));
}

/// The lines of PTX are looked up by bisection, in any order of the header. 100,000 walks through as many lines would not
/// end.
#[test]
fn lines_of_ptx_are_found() {
    use warpload_trace::Kernel;
    use warpload_trace::binary::PtxLines;
    const LINES: u32 = 100_000;
    let line = |number: u32| (format!("ptx line {number}").into(), format!("text {number}").into());
    let mut header: Vec<(std::sync::Arc<str>, std::sync::Arc<str>)> =
        (1..=LINES).rev().map(|number| line(2 * number)).collect();
    header.insert(7, ("nregs".into(), "7".into()));
    header.push(("ptx line x".into(), "not a line".into()));
    let kernel = Kernel { name: "k".into(), header, ..Kernel::default() };
    let lines = PtxLines::new(&kernel);
    for number in 1..=LINES {
        let found = lines.get(2 * number).map(|line| line.text.to_string());
        assert_eq!(found, Some(format!("text {}", 2 * number)));
    }
    assert!([0, 1, 2 * LINES + 2].iter().all(|pc| lines.get(*pc).is_none()));
}
