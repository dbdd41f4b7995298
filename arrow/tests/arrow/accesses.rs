//! The rows of every sample trace, beside its records and its replay.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;

use crate::common::{file, open, samples};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch, StringArray};
use warpload::lane::{LANES, LaneMask};
use warpload::memory::{Fill, Space, Window};
use warpload_arrow::{AccessBatches, AccessOptions, access_schema};
use warpload_replay::{
    AccessCounts, AccessKind, ReplayData, ReplayOptions, RowSpace, Selection, Summary, replay,
};
use warpload_trace::{BinaryTrace, Kernel, MemoryRecord, TraceSource};

fn batches(trace: &Arc<BinaryTrace>, options: AccessOptions<'_>) -> Vec<RecordBatch> {
    let all = AccessBatches::new(Arc::clone(trace), options).unwrap();
    let schema = all.schema();
    let all: Vec<_> = all.map(Result::unwrap).collect();
    for batch in &all {
        assert_eq!(batch.schema(), schema);
        assert!(batch.num_rows() > 0);
    }
    all
}

fn absent<'a>() -> ReplayOptions<'a> {
    ReplayOptions::new(ReplayData::Absent)
}

fn filled<'a>() -> ReplayOptions<'a> {
    ReplayOptions::new(ReplayData::Fill(Fill::Address))
}

/// Returns a column of numbers; `None` for null.
macro_rules! numbers {
    ($batch:expr, $name:expr, $kind:ty) => {
        $batch.column_by_name($name).unwrap().as_primitive::<$kind>().iter().collect::<Vec<_>>()
    };
}

/// Returns a column of names.
fn names(batch: &RecordBatch, name: &str) -> Vec<String> {
    let column = batch.column_by_name(name).unwrap().as_dictionary::<Int32Type>();
    let texts = column.downcast_dict::<StringArray>().unwrap();
    texts.into_iter().map(|text| text.unwrap().to_owned()).collect()
}

/// An access as the trace has it.
#[derive(Debug, PartialEq)]
struct Row {
    record: u64,
    kernel: u32,
    cta: [Option<u32>; 3],
    warp: Option<u32>,
    pc: u64,
    opcode: String,
    kind: String,
    space: String,
    bytes: u8,
    active: u32,
    lanes: u8,
    addresses: Option<Vec<Option<u64>>>,
}

/// Returns the space of one side of a copy.
fn side(kernel: &Kernel, record: &MemoryRecord<'_>) -> &'static str {
    let default = Window::DEFAULT_SHARED;
    let base = kernel.shared_base.unwrap_or(default.base);
    let addresses = record.addresses();
    let is_shared = |lane| {
        let address = addresses.of(lane);
        address < default.size || address.wrapping_sub(base) < default.size
    };
    let executing = record.mask & record.guard.unwrap_or(LaneMask::ALL);
    let is_known = record.has_addresses() && !executing.is_empty();
    if is_known && executing.lanes().all(is_shared) { "shared" } else { "global" }
}

fn expected(trace: &BinaryTrace) -> Vec<Row> {
    let mut rows = Vec::new();
    for raw in trace.blocks() {
        let block = trace.block(raw).unwrap();
        for i in 0..raw.records as usize {
            let record = block.record(i).unwrap();
            let operation = record.operation();
            let Some(kind) = AccessKind::of(operation) else { continue };
            let place = block.place(record.index);
            let addresses = record.addresses();
            let executing = record.mask & record.guard.unwrap_or(LaneMask::ALL);
            let space = match kind {
                AccessKind::Copy => side(&trace.contents().kernels[raw.kernel as usize], &record),
                _ => operation.space_name(),
            };
            rows.push(Row {
                record: raw.first_instruction + u64::from(record.index),
                kernel: raw.kernel,
                cta: [0, 1, 2].map(|i| place.cta.map(|cta| cta[i])),
                warp: place.warp,
                pc: record.pc.into(),
                opcode: operation.opcode.to_string(),
                kind: kind.name().to_owned(),
                space: space.to_owned(),
                bytes: operation.bytes().unwrap() as u8,
                active: record.mask.bits(),
                lanes: executing.count() as u8,
                addresses: record.has_addresses().then(|| {
                    let lane = |lane| record.mask.contains(lane).then(|| addresses.of(lane));
                    (0..LANES).map(lane).collect()
                }),
            });
        }
    }
    rows
}

fn rows(batch: &RecordBatch) -> Vec<Row> {
    let record = numbers!(batch, "record", UInt64Type);
    let kernel = numbers!(batch, "kernel", UInt32Type);
    let cta = ["cta_x", "cta_y", "cta_z"].map(|name| numbers!(batch, name, UInt32Type));
    let warp = numbers!(batch, "warp", UInt32Type);
    let pc = numbers!(batch, "pc", UInt64Type);
    let [opcode, kind, space] = ["opcode", "kind", "space"].map(|name| names(batch, name));
    let bytes = numbers!(batch, "bytes", UInt8Type);
    let active = numbers!(batch, "active", UInt32Type);
    let lanes = numbers!(batch, "lanes", UInt8Type);
    let addresses = batch.column_by_name("addresses").unwrap().as_fixed_size_list();
    (0..batch.num_rows())
        .map(|i| Row {
            record: record[i].unwrap(),
            kernel: kernel[i].unwrap(),
            cta: [cta[0][i], cta[1][i], cta[2][i]],
            warp: warp[i],
            pc: pc[i].unwrap(),
            opcode: opcode[i].clone(),
            kind: kind[i].clone(),
            space: space[i].clone(),
            bytes: bytes[i].unwrap(),
            active: active[i].unwrap(),
            lanes: lanes[i].unwrap(),
            addresses: addresses.is_valid(i).then(|| {
                let of_lanes = addresses.value(i);
                assert_eq!(of_lanes.len(), LANES);
                of_lanes.as_primitive::<UInt64Type>().iter().collect()
            }),
        })
        .collect()
}

#[test]
fn rows_are_the_accesses_of_each_sample() {
    let (mut all, mut unknown) = (BTreeMap::<_, u64>::new(), 0);
    for (name, trace) in samples() {
        let expected = expected(&trace);
        let found: Vec<Row> =
            batches(&trace, AccessOptions::new(absent())).iter().flat_map(rows).collect();
        assert_eq!(found.len() as u64, trace.accesses().unwrap(), "{name}");
        assert!(found == expected, "{name}");
        unknown += found.iter().filter(|row| row.addresses.is_none()).count();
        for row in found {
            *all.entry((row.kind, row.space)).or_default() += 1;
        }
    }
    assert!(unknown > 0);
    assert!(all.values().sum::<u64>() > 1000, "{all:?}");
    for kind in AccessKind::ALL {
        assert!(all.keys().any(|(of, _)| of == kind.name()), "{kind:?}");
    }
    for side in ["global", "shared"] {
        assert!(all.contains_key(&("copy".to_owned(), side.to_owned())), "{side}");
    }
}

/// A row of a summary: its launch, program counter, opcode, kind and space.
type Key = (u64, u64, String, String, String);
/// Sums of one instruction of a launch: accesses, lanes, sectors, ideal sectors, wavefronts, ideal wavefronts.
type Sums = BTreeMap<Key, [Option<u64>; 6]>;

fn add(sums: &mut Sums, key: Key, row: [Option<u64>; 6]) {
    let known = sums.entry(key).or_default();
    for (sum, more) in known.iter_mut().zip(row) {
        *sum = match (*sum, more) {
            (None, more) => more,
            (sum, more) => sum.map(|sum| sum + more.unwrap_or(0)),
        };
    }
}

/// Sums over all rows of one kind.
#[derive(Debug, Default, PartialEq)]
struct KindSums {
    /// Accesses, lanes, bytes.
    accesses: [u64; 3],
    /// Of global memory: sectors, ideal sectors, lines.
    global: [u64; 3],
    /// Wavefronts, ideal wavefronts.
    shared: [u64; 2],
}

#[test]
fn costs_add_up_to_the_replay() {
    for (name, trace) in samples() {
        let summary = replay(&trace, &absent()).unwrap();
        let (mut per_row, mut kinds) = (Sums::new(), BTreeMap::<String, KindSums>::new());
        let mut turns = 0;
        for batch in batches(&trace, AccessOptions::new(absent())) {
            let cost = |name| {
                let costs = numbers!(batch, name, UInt16Type);
                costs.into_iter().map(|cost| cost.map(u64::from)).collect::<Vec<_>>()
            };
            let costs = ["sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts"].map(cost);
            let of_lines = cost("lines");
            for (i, row) in rows(&batch).into_iter().enumerate() {
                let [a, b, c, d] = [0, 1, 2, 3].map(|kind: usize| costs[kind][i]);
                let is_global = ["global", "generic"].contains(&&*row.space);
                let has_addresses = row.addresses.is_some();
                // A copy without lanes has a cost on neither side.
                let has_cost = has_addresses && (row.kind != "copy" || row.lanes > 0);
                assert_eq!(of_lines[i].is_some(), is_global && has_cost, "{name}: {row:?}");
                assert_eq!(a.is_some(), b.is_some(), "{name}");
                assert_eq!(c.is_some(), d.is_some(), "{name}");
                if row.space == "constant" || !has_addresses {
                    assert_eq!([a, b, c, d], [None; 4], "{name}");
                }
                let sums = kinds.entry(row.kind.clone()).or_default();
                let lanes = u64::from(row.lanes);
                let accesses = [1, lanes, lanes * u64::from(row.bytes)];
                add_up(&mut sums.accesses, accesses.map(Some));
                if row.space == "local" {
                    assert_eq!(c, None, "{name}");
                } else {
                    add_up(&mut sums.global, [a, b, of_lines[i]]);
                }
                add_up(&mut sums.shared, [c, d]);
                if row.space == "shared" && has_addresses && row.lanes > 0 && c.is_none() {
                    assert!(["atomic", "reduction"].contains(&&*row.kind), "{name}");
                    turns += 1;
                }
                let key = (row.kernel.into(), row.pc, row.opcode, row.kind, row.space);
                add(&mut per_row, key, [Some(1), Some(row.lanes.into()), a, b, c, d]);
            }
        }
        for kind in AccessKind::ALL {
            let counts = summary.counts.kind(kind);
            let global = counts.global.unwrap_or_default();
            let expected = KindSums {
                accesses: [counts.accesses, counts.lanes, counts.bytes],
                global: [global.sectors.sum, global.ideal_sectors, global.lines],
                shared: [counts.wavefronts(), counts.ideal_wavefronts()],
            };
            assert_eq!(kinds.remove(kind.name()).unwrap_or_default(), expected, "{name} {kind:?}");
        }
        let of_turns = summary.rows.iter().filter(|row| row.space == RowSpace::Shared);
        let of_turns = of_turns.filter_map(|row| row.counts.shared.as_ref());
        assert_eq!(turns, of_turns.map(|shared| shared.unknown).sum::<u64>(), "{name}");
        check_rows(&name, &summary, &per_row);
        check_batch(&name, &summary);
    }
}

fn add_up<const N: usize>(sums: &mut [u64; N], more: [Option<u64>; N]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum += more.unwrap_or(0);
    }
}

/// Compares the rows in the batch of a summary with sums of the accesses' own rows.
fn check_rows(name: &str, summary: &Summary, per_row: &Sums) {
    let batch = warpload_arrow::rows(summary, None).unwrap();
    let [opcode, kind, space] = ["opcode", "kind", "space"].map(|name| names(&batch, name));
    let [launch, pc] = ["launch", "pc"].map(|name| numbers!(batch, name, UInt64Type));
    let [accesses, lanes, sectors, ideal, local_sectors, local_ideal, wavefronts, ideal_wavefronts] =
        [
            "accesses",
            "lanes",
            "global_sectors_sum",
            "global_ideal_sectors",
            "local_sectors",
            "local_ideal_sectors",
            "shared_wavefronts_sum",
            "shared_ideal_wavefronts",
        ]
        .map(|name| numbers!(batch, name, UInt64Type));
    let mut sums = Sums::new();
    for i in 0..batch.num_rows() {
        // A generic access's own row has only its sectors of global memory.
        let [sectors, ideal] = match &*space[i] {
            "local" => [local_sectors[i], local_ideal[i]],
            _ => [sectors[i], ideal[i]],
        };
        let costs = [accesses[i], lanes[i], sectors, ideal, wavefronts[i], ideal_wavefronts[i]];
        let (opcode, kind, space) = (opcode[i].clone(), kind[i].clone(), space[i].clone());
        add(&mut sums, (launch[i].unwrap(), pc[i].unwrap(), opcode, kind, space), costs);
    }
    assert_eq!(sums.len(), per_row.len(), "{name}");
    for (key, expected) in &sums {
        let found = per_row[key];
        // Null if no access has a cost, and of a generic one only if it has wavefronts.
        for i in 0..6 {
            assert_eq!(found[i].unwrap_or(0), expected[i].unwrap_or(0), "{name} {key:?}");
        }
    }
}

/// Compares the batch of a summary with its rows, which are accesses of every kind.
fn check_batch(name: &str, summary: &Summary) {
    let batch = warpload_arrow::rows(summary, None).unwrap();
    let [kernel, opcode, kind, space] =
        ["kernel", "opcode", "kind", "space"].map(|name| names(&batch, name));
    let [launch, pc] = ["launch", "pc"].map(|name| numbers!(batch, name, UInt64Type));
    let access_bytes = numbers!(batch, "access_bytes", UInt32Type);
    assert_eq!(batch.num_rows(), summary.rows.len(), "{name}");
    for (i, row) in summary.rows.iter().enumerate() {
        assert_eq!((launch[i], pc[i]), (Some(row.launch), Some(row.pc.0)), "{name}");
        let expected = [&*row.kernel, &*row.opcode, row.kind.name(), row.space.name()];
        assert_eq!([&*kernel[i], &*opcode[i], &*kind[i], &*space[i]], expected, "{name}");
        assert_eq!(access_bytes[i], row.access_bytes, "{name}");
    }
    let columns = AccessCounts::columns();
    let found: Vec<_> = columns.iter().map(|name| numbers!(batch, name, UInt64Type)).collect();
    for (i, row) in summary.rows.iter().enumerate() {
        let found: Vec<Option<u64>> = found.iter().map(|column| column[i]).collect();
        assert_eq!(found, row.counts.values(), "{name}");
    }
    for kind in AccessKind::ALL {
        let counts = summary.counts.kind(kind);
        let sum = |name: &str| -> u64 {
            let column = numbers!(batch, name, UInt64Type);
            let rows = summary.rows.iter().zip(column);
            rows.filter(|(row, _)| row.kind == kind).filter_map(|(_, value)| value).sum()
        };
        let found = ["accesses", "lanes", "bytes", "global_sectors_sum", "shared_wavefronts_sum"];
        let sectors = counts.global.map_or(0, |global| global.sectors.sum);
        let expected = [counts.accesses, counts.lanes, counts.bytes, sectors, counts.wavefronts()];
        assert_eq!(found.map(sum), expected, "{name} {kind:?}");
    }
}

#[test]
fn rows_have_every_kind_of_access_and_both_sides_of_a_copy() {
    let mut found = Vec::new();
    for (_, trace) in samples() {
        let summary = replay(&trace, &absent()).unwrap();
        found.extend(summary.rows.iter().map(|row| (row.kind, row.space)));
    }
    for kind in AccessKind::ALL {
        assert!(found.iter().any(|(of, _)| *of == kind), "{kind:?}");
    }
    for side in [RowSpace::Global, RowSpace::Shared] {
        assert!(found.contains(&(AccessKind::Copy, side)), "{side:?}");
    }
}

#[test]
fn threads_do_not_change_the_rows() {
    for (name, trace) in samples() {
        let options = AccessOptions::new(filled()).values(true);
        let one = batches(&trace, options);
        let two = batches(&trace, options.threads(NonZero::new(2).unwrap()));
        assert!(one == two, "{name}");
    }
}

/// Returns the values of each row: by lane, then by register.
fn values(batch: &RecordBatch) -> Vec<Option<Vec<Option<Vec<u32>>>>> {
    let column = batch.column_by_name("values").unwrap().as_fixed_size_list();
    let row = |row: Option<Arc<dyn Array>>| {
        Some(
            row?.as_list::<i32>()
                .iter()
                .map(|lane| Some(lane?.as_primitive::<UInt32Type>().values().to_vec()))
                .collect(),
        )
    };
    column.iter().map(row).collect()
}

#[test]
fn values_are_those_of_the_trace_or_of_the_fill() {
    // Almost every access of this one has values.
    let trace = Arc::new(BinaryTrace::open(&file("traces/generic.wlt")).unwrap());
    let mut from_trace = 0;
    for (options, has_data) in [(absent(), false), (filled(), true)] {
        let found = batches(&trace, AccessOptions::new(options).values(true));
        let mut found = found.iter().flat_map(values);
        for raw in trace.blocks() {
            let block = trace.block(raw).unwrap();
            for i in 0..raw.records as usize {
                let record = block.record(i).unwrap();
                let Some(kind) = AccessKind::of(record.operation()) else { continue };
                let row = found.next().expect("a row of each access");
                if record.values(0).is_none() {
                    let is_load = kind == AccessKind::Load;
                    assert_eq!(row.is_some(), is_load && has_data && record.has_addresses());
                    continue;
                }
                let executing = record.mask & record.guard.unwrap_or(LaneMask::ALL);
                let registers = record.operation().width.registers() as usize;
                let mut expected = vec![None; LANES];
                for lane in executing {
                    expected[lane] = Some(Vec::new());
                }
                for register in 0..registers {
                    let values = record.values(register).expect("values of every register");
                    for (lane, value) in record.mask.lanes().zip(values) {
                        if let Some(values) = &mut expected[lane] {
                            values.push(value);
                        }
                    }
                }
                assert_eq!(row, Some(expected));
                from_trace += 1;
            }
        }
        assert_eq!(found.next(), None);
    }
    assert!(from_trace > 500, "{from_trace}");

    // None of this one has.
    let trace = open(crate::common::bytes(&file("traces/btree-v5-kernel-1.traceg")));
    let found = batches(&trace, AccessOptions::new(absent()).values(true));
    assert!(found.iter().flat_map(values).all(|row| row.is_none()));
    let found = batches(&trace, AccessOptions::new(filled()).values(true));
    let mut checked = 0;
    for batch in &found {
        for (row, values) in rows(batch).iter().zip(values(batch)) {
            if row.kind != "load" {
                assert_eq!(values, None);
                continue;
            }
            // A fill of words: the eight bytes at address 8k are splitmix64(k).
            let values = values.expect("values of a fill");
            for (lane, address) in row.addresses.as_ref().unwrap().iter().enumerate() {
                assert_eq!(values[lane].is_some(), address.is_some());
                if let (Some(address), 4) = (address, row.bytes)
                    && row.space == "global"
                {
                    let word = warpload::memory::mix(address >> 3) >> (address % 8 * 8);
                    assert_eq!(values[lane], Some(vec![word as u32]));
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 1000, "{checked}");
}

/// The lanes of the first atomic share a word; the lanes of the second have two words in each bank.
const ATOMICS: &str = "\
-kernel name = k
-grid dim = (1,1,1)
-block dim = (32,1,1)
-accelsim tracer version = 4
#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]
#BEGIN_TB
thread block = 0,0,0
warp = 0
insts = 2
0010 ffffffff 1 R2 ATOMS.ADD 2 R4 R6 4 1 0x100 0
0020 ffffffff 1 R2 ATOMS.ADD 2 R4 R6 4 1 0x100 8
#END_TB
";

#[test]
fn wavefronts_of_atomics_that_share_a_word_are_null() {
    let source = TraceSource::from_stream(ATOMICS.as_bytes(), Path::new("ATOMICS")).unwrap();
    let trace = Arc::new(source.into_trace(NonZero::<usize>::MIN, &()).unwrap());
    let found = batches(&trace, AccessOptions::new(filled()).values(true));
    let [batch] = &found[..] else { panic!("{} batches", found.len()) };
    assert_eq!(names(batch, "kind"), ["atomic"; 2]);
    for (name, cost) in [("wavefronts", 2), ("ideal_wavefronts", 1)] {
        assert_eq!(numbers!(batch, name, UInt16Type), [None, Some(cost)]);
    }
    assert_eq!(values(batch), [None, None]);
    let shared = replay(&trace, &filled()).unwrap().counts.atomics.shared.unwrap();
    assert_eq!((shared.unknown, shared.wavefronts.sum), (1, 2));
}

/// Returns the rows of a selection, and checks that a replay counts as many accesses.
fn selected(name: &str, trace: &Arc<BinaryTrace>, selection: &Selection) -> Vec<Row> {
    let options = ReplayOptions { selection: Some(selection), ..absent() };
    let counts = replay(trace, &options).unwrap().counts;
    let rows: Vec<Row> =
        batches(trace, AccessOptions::new(options)).iter().flat_map(rows).collect();
    assert_eq!(rows.len() as u64, counts.all().accesses, "{name}");
    rows
}

#[test]
fn a_selection_leaves_out_rows() {
    let trace = open(crate::common::bytes(&file("traces/btree-v5-kernel-1.traceg")));
    let operations = &trace.contents().operations;
    let local = operations.iter().map(|one| one.space_name() == "local").collect();
    let selection = Selection { operations: Some(local), ..Selection::default() };
    let rows = selected("local", &trace, &selection);
    assert!(rows.iter().all(|row| row.space == "local"));
    for kind in [AccessKind::Load, AccessKind::Store] {
        assert!(rows.iter().any(|row| row.kind == kind.name()), "{kind:?}");
    }
}

#[test]
fn selections_of_a_memory_are_those_of_the_replay() {
    let mut kinds = BTreeMap::<_, u64>::new();
    for (name, trace) in samples() {
        for space in [None, Some(Space::Global), Some(Space::Shared)] {
            let selection = Selection { space: Some(space), ..Selection::default() };
            for row in selected(&name, &trace, &selection) {
                *kinds.entry((row.kind, space == Some(Space::Shared))).or_default() += 1;
            }
        }
    }
    for kind in AccessKind::ALL {
        assert!(kinds.contains_key(&(kind.name().to_owned(), false)), "{kinds:?}");
    }
    assert!(kinds.contains_key(&("copy".to_owned(), true)), "{kinds:?}");
}

#[test]
fn metadata_say_how_the_rows_were_made() {
    let trace = Arc::new(BinaryTrace::open(&file("traces/generic.wlt")).unwrap());
    let replay_options = ReplayOptions { address_bits: 40, ..filled() };
    let schema = access_schema(&trace, &AccessOptions::new(replay_options));
    let metadata = schema.metadata();
    assert_eq!(metadata["source"], trace.contents().source);
    assert_eq!(metadata["options"], "--fill address --address-bits 40");
    assert!(metadata.contains_key("version"));
    let summary = replay(&trace, &replay_options).unwrap();
    let batch = warpload_arrow::rows(&summary, Some(&replay_options)).unwrap();
    let schema = batch.schema();
    let metadata = schema.metadata();
    assert_eq!(metadata["digest"], summary.digest.unwrap().to_string());
    assert_eq!(metadata["options"], "--fill address --address-bits 40");
}
