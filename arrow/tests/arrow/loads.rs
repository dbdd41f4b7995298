//! The rows of every sample trace, beside its records and its replay.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Arc;

use crate::common::{file, open, samples};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch, StringArray};
use warpload::lane::{LANES, LaneMask};
use warpload::memory::Fill;
use warpload_arrow::{LoadBatches, LoadOptions, load_schema};
use warpload_replay::{
    AccessCounts, AccessKind, ReplayData, ReplayOptions, RowSpace, Selection, Summary, replay,
};
use warpload_trace::{BinaryTrace, OperationKind};

fn batches(trace: &Arc<BinaryTrace>, options: LoadOptions<'_>) -> Vec<RecordBatch> {
    let all = LoadBatches::new(Arc::clone(trace), options).unwrap();
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

/// A load as the trace has it.
#[derive(Debug, PartialEq)]
struct Row {
    record: u64,
    kernel: u32,
    cta: [Option<u32>; 3],
    warp: Option<u32>,
    pc: u64,
    opcode: String,
    space: String,
    bytes: u8,
    active: u32,
    lanes: u8,
    addresses: Option<Vec<Option<u64>>>,
}

fn expected(trace: &BinaryTrace) -> Vec<Row> {
    let mut rows = Vec::new();
    for raw in trace.blocks() {
        let block = trace.block(raw).unwrap();
        for i in 0..raw.memory_records as usize {
            let record = block.record(i).unwrap();
            let operation = record.operation();
            if operation.kind != OperationKind::Load {
                continue;
            }
            let place = block.place(record.index);
            let addresses = record.addresses();
            rows.push(Row {
                record: raw.first_record + u64::from(record.index),
                kernel: raw.kernel,
                cta: [0, 1, 2].map(|i| place.cta.map(|cta| cta[i])),
                warp: place.warp,
                pc: record.pc.into(),
                opcode: operation.opcode.to_string(),
                space: operation.space_name().to_owned(),
                bytes: operation.bytes().unwrap() as u8,
                active: record.mask.bits(),
                lanes: (record.mask & record.guard.unwrap_or(LaneMask::ALL)).count() as u8,
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
    let (opcode, space) = (names(batch, "opcode"), names(batch, "space"));
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
fn rows_are_the_loads_of_each_sample() {
    let (mut all, mut unknown) = (0, 0);
    for (name, trace) in samples() {
        let expected = expected(&trace);
        let found: Vec<Row> =
            batches(&trace, LoadOptions::new(absent())).iter().flat_map(rows).collect();
        assert_eq!(found.len() as u64, trace.loads(), "{name}");
        assert!(found == expected, "{name}");
        all += found.len();
        unknown += found.iter().filter(|row| row.addresses.is_none()).count();
    }
    assert!(all > 1000 && unknown > 0, "{all} loads, {unknown} of unknown addresses");
}

/// Sums of one instruction of a launch: loads, lanes, sectors, ideal sectors, wavefronts, ideal wavefronts.
type Sums = BTreeMap<(u64, u64, String), [Option<u64>; 6]>;

fn add(sums: &mut Sums, key: (u64, u64, String), row: [Option<u64>; 6]) {
    let known = sums.entry(key).or_default();
    for (sum, more) in known.iter_mut().zip(row) {
        *sum = match (*sum, more) {
            (None, more) => more,
            (sum, more) => sum.map(|sum| sum + more.unwrap_or(0)),
        };
    }
}

#[test]
fn costs_add_up_to_the_replay() {
    for (name, trace) in samples() {
        let summary = replay(&trace, &absent()).unwrap();
        let mut per_row = Sums::new();
        let [mut sectors, mut ideal, mut lines, mut wavefronts, mut ideal_wavefronts] = [0u64; 5];
        for batch in batches(&trace, LoadOptions::new(absent())) {
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
                assert_eq!(of_lines[i].is_some(), is_global && has_addresses, "{name}");
                assert_eq!(a.is_some(), b.is_some(), "{name}");
                assert_eq!(c.is_some(), d.is_some(), "{name}");
                if row.space == "constant" || !has_addresses {
                    assert_eq!([a, b, c, d], [None; 4], "{name}");
                }
                if row.space == "local" {
                    assert_eq!(c, None, "{name}");
                } else {
                    sectors += a.unwrap_or(0);
                    ideal += b.unwrap_or(0);
                }
                lines += of_lines[i].unwrap_or(0);
                wavefronts += c.unwrap_or(0);
                ideal_wavefronts += d.unwrap_or(0);
                let row_costs = [Some(1), Some(row.lanes.into()), a, b, c, d];
                add(&mut per_row, (row.kernel.into(), row.pc, row.opcode), row_costs);
            }
        }
        let counts = &summary.counts.loads;
        let global = counts.global.unwrap_or_default();
        let expected = [global.sectors.sum, global.ideal_sectors, global.lines];
        assert_eq!([sectors, ideal, lines], expected, "{name}");
        let expected = [counts.wavefronts(), counts.ideal_wavefronts()];
        assert_eq!([wavefronts, ideal_wavefronts], expected, "{name}");
        check_loads(&name, &summary, &per_row);
        check_batch(&name, &summary);
    }
}

/// Compares the rows of loads in the batch of a summary with sums of the loads' own rows.
fn check_loads(name: &str, summary: &Summary, per_row: &Sums) {
    let batch = warpload_arrow::rows(summary, None).unwrap();
    let [opcode, kind, space] = ["opcode", "kind", "space"].map(|name| names(&batch, name));
    let [launch, pc] = ["launch", "pc"].map(|name| numbers!(batch, name, UInt64Type));
    let [loads, lanes, sectors, ideal, local_sectors, local_ideal, wavefronts, ideal_wavefronts] =
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
    for i in (0..batch.num_rows()).filter(|i| kind[*i] == "load") {
        // A generic load's own row has only its sectors of global memory.
        let [sectors, ideal] = match &*space[i] {
            "local" => [local_sectors[i], local_ideal[i]],
            _ => [sectors[i], ideal[i]],
        };
        let costs = [loads[i], lanes[i], sectors, ideal, wavefronts[i], ideal_wavefronts[i]];
        add(&mut sums, (launch[i].unwrap(), pc[i].unwrap(), opcode[i].clone()), costs);
    }
    assert_eq!(sums.len(), per_row.len(), "{name}");
    for (key, expected) in &sums {
        let found = per_row[key];
        // Null if no load has a cost, and of a generic load only if it has wavefronts.
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
        let options = LoadOptions::new(filled()).values(true);
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
    // Almost every load of this one has values.
    let trace = Arc::new(BinaryTrace::open(&file("traces/generic.wlt")).unwrap());
    let mut from_trace = 0;
    for (options, has_data) in [(absent(), false), (filled(), true)] {
        let found = batches(&trace, LoadOptions::new(options).values(true));
        let mut found = found.iter().flat_map(values);
        for raw in trace.blocks() {
            let block = trace.block(raw).unwrap();
            for i in 0..raw.memory_records as usize {
                let record = block.record(i).unwrap();
                if record.operation().kind != OperationKind::Load {
                    continue;
                }
                let row = found.next().expect("a row of each load");
                if record.values(0).is_none() {
                    assert_eq!(row.is_some(), has_data && record.has_addresses());
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
    let found = batches(&trace, LoadOptions::new(absent()).values(true));
    assert!(found.iter().flat_map(values).all(|row| row.is_none()));
    let found = batches(&trace, LoadOptions::new(filled()).values(true));
    let mut checked = 0;
    for batch in &found {
        for (row, values) in rows(batch).iter().zip(values(batch)) {
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

#[test]
fn a_selection_leaves_out_rows() {
    let trace = open(crate::common::bytes(&file("traces/btree-v5-kernel-1.traceg")));
    let operations = &trace.contents().operations;
    let local = operations.iter().map(|one| one.space_name() == "local").collect();
    let selection = Selection { operations: Some(local), ..Selection::default() };
    let options = ReplayOptions { selection: Some(&selection), ..absent() };
    let loads = replay(&trace, &options).unwrap().counts.loads.accesses;
    let all = batches(&trace, LoadOptions::new(options));
    let rows: Vec<Row> = all.iter().flat_map(rows).collect();
    assert!(loads > 0 && rows.len() as u64 == loads);
    assert!(rows.iter().all(|row| row.space == "local"));
}

#[test]
fn metadata_say_how_the_rows_were_made() {
    let trace = Arc::new(BinaryTrace::open(&file("traces/generic.wlt")).unwrap());
    let replay_options = ReplayOptions { address_bits: 40, ..filled() };
    let schema = load_schema(&trace, &LoadOptions::new(replay_options));
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
