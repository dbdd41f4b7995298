//! Numbers and parts that a trace does not have: nothing panics.

use warpload::lane::LaneMask;
use warpload::memory::{Arena, Fill, Memory, Width};
use warpload_replay::{ReplayData, ReplayOptions, replay};
use warpload_report::{ReportPage, html};
use warpload_trace::binary::RawBlock;
use warpload_trace::{
    BinaryTrace, MemoryOperation, NewRecord, RecordAddresses, Shard, TraceWriter,
};

use crate::samples::{Form, Item, OPCODES, OTHER_OPCODES, Record, open, write};

/// A trace of that many kernels, each with one record of every opcode.
fn trace(kernels: usize, opcodes: &[&'static str]) -> BinaryTrace {
    let mut items = Vec::new();
    for _ in 0..kernels {
        items.push(Item::Kernel("kernel"));
        items.push(Item::Skip);
        for opcode in opcodes {
            // Misaligned, and so a fault of each load.
            items.push(Item::Record(Record::new(opcode, Form::Stride(0x1001, 4))));
        }
    }
    open(&write(&items))
}

fn options(shard: Option<Shard>) -> ReplayOptions<'static> {
    let data = ReplayData::Fill(Fill::Address);
    ReplayOptions { address_bits: 40, shard, ..ReplayOptions::new(data) }
}

#[test]
fn a_record_keeps_its_operation() {
    let (large, small) = (trace(1, &OPCODES), trace(1, &["LDG.E"]));
    let block = large.block(&large.blocks()[0]).unwrap();
    let other = small.block(&small.blocks()[0]).unwrap();
    let last = block.record(OPCODES.len() - 1).unwrap();
    assert_eq!(&*last.operation().opcode, OPCODES[OPCODES.len() - 1]);
    assert_eq!(&*other.record(0).unwrap().operation().opcode, "LDG.E");
}

#[test]
fn numbers_that_a_block_does_not_have_are_errors() {
    let trace = trace(1, &["LDG.E.64"]);
    let raw = trace.blocks()[0];
    let block = trace.block(&raw).unwrap();
    for i in [1, 2, usize::MAX / 32, usize::MAX] {
        block.record(i).unwrap_err();
    }
    let mut record = block.record(0).unwrap();
    for mask in [0, 1, u32::MAX] {
        record.mask = LaneMask::from_bits(mask);
        let _ = record.addresses();
        assert!(record.values(usize::MAX).is_none());
    }
    for change in [
        |raw: &mut RawBlock| raw.offset = u64::MAX,
        |raw: &mut RawBlock| raw.length = u32::MAX,
        |raw: &mut RawBlock| raw.records = u32::MAX,
        |raw: &mut RawBlock| raw.instructions = u32::MAX,
        |raw: &mut RawBlock| raw.instructions = 0,
        |raw: &mut RawBlock| raw.loads = 0,
        |raw: &mut RawBlock| raw.stores = 1,
        |raw: &mut RawBlock| raw.atomics = u32::MAX,
    ] {
        let mut made_up = raw;
        change(&mut made_up);
        trace.block(&made_up).unwrap_err();
    }
    for index in [0, 1, u32::MAX] {
        let _ = block.place(index);
    }
}

#[test]
fn values_of_registers_that_a_load_lacks() {
    let load = Record { values: vec![5; 64], ..Record::new("LDG.E.64", Form::Stride(0, 8)) };
    let trace = open(&write(&[Item::Record(load)]));
    let block = trace.block(&trace.blocks()[0]).unwrap();
    let load = block.record(0).unwrap();
    for (register, count) in [(0, 32), (1, 32), (2, 0), (usize::MAX / 4, 0), (usize::MAX, 0)] {
        assert_eq!(load.values(register).unwrap().count(), count, "register {register}");
    }
}

#[test]
fn shards_of_any_count() {
    let opcodes = [&OPCODES[..], &OTHER_OPCODES].concat();
    let (large, small) = (trace(8, &opcodes), trace(1, &["LDG.E"]));
    let shards = [None, Shard::new(0, 2), Shard::new(u64::MAX - 1, u64::MAX)];
    for trace in [&large, &small] {
        for options in shards.map(options) {
            let is_whole = options.shard.is_none();
            let summary = replay(trace, &options).unwrap();
            assert!(!is_whole || summary.launches.len() == trace.contents().kernels.len());
            let _ = html(&ReportPage::new(&summary));
            let _ = html(&ReportPage::new(&summary.by_kernel()));
        }
    }
}

#[test]
fn a_trace_takes_accesses_of_32_bytes_with_their_values() {
    let mut writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), String::new()).unwrap();
    let wide = MemoryOperation { width: Width::Bytes32, ..MemoryOperation::of_opcode("LDG.E") };
    let number = writer.operation(&wide).unwrap();
    let form = Form::Stride(0, 32);
    let record = NewRecord::new(0, LaneMask::ALL, number, form.addresses());
    for (words, fits) in [(4 * 32, false), (8 * 32, true)] {
        let values = vec![0; words];
        let record = NewRecord { values: Some(&values), ..record };
        assert_eq!(writer.record(&record).is_ok(), fits);
    }
    writer.record(&NewRecord::new(0, LaneMask::ALL, 7, form.addresses())).unwrap_err();
    let trace = BinaryTrace::new(Arena::from(writer.finish().unwrap().into_inner())).unwrap();
    let options = ReplayOptions::new(ReplayData::Fill(Fill::Address));
    let counts = replay(&trace, &options).unwrap().counts;
    let global = counts.loads.global.unwrap();
    let sectors = (global.sectors.sum, global.ideal_sectors);
    assert_eq!((counts.loads.bytes, sectors), (1024, (32, 32)));
}

/// Lane i gets elements 2(i mod 4) and the next of row i / 4 of each matrix, or transposed those of the column: as many
/// registers as matrices, in the file and in the replay, of records that follow one another.
#[test]
fn matrices_have_the_values_that_lanes_receive() {
    let bytes: Vec<u8> = (0..1024u32).map(|i| (i * 7 + i / 256) as u8).collect();
    let memory = Memory::builder().shared(&bytes).build().unwrap();
    // Rows 16 bytes apart, from the last to the first.
    let row = |lane: usize| 16 * (31 - lane);
    let addresses: Vec<u64> = (0..32).map(|lane| row(lane) as u64).collect();
    let element = |matrix: usize, line: usize, column: usize| {
        let at = row(8 * matrix + line) + 2 * column;
        u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
    };
    let values = |count: usize, is_transposed: bool| -> Vec<u32> {
        let of_lane = |matrix, lane: usize| {
            let (one, two) = (lane / 4, 2 * (lane % 4));
            let element = |two| match is_transposed {
                true => element(matrix, two, one),
                false => element(matrix, one, two),
            };
            element(two + 1) << 16 | element(two)
        };
        (0..count).flat_map(|matrix| (0..32).map(move |lane| of_lane(matrix, lane))).collect()
    };
    for wrong in [None, Some(0), Some(1), Some(2)] {
        let mut writer = TraceWriter::new(std::io::Cursor::new(Vec::new()), String::new()).unwrap();
        let loads =
            [("LDSM.16.M88", 1, false), ("LDSM.16.MT88.2", 2, true), ("LDSM.16.M88.4", 4, false)];
        for (i, (opcode, count, is_transposed)) in loads.into_iter().enumerate() {
            let number = writer.operation(&MemoryOperation::of_opcode(opcode)).unwrap();
            let mut values = values(count, is_transposed);
            if wrong == Some(i) {
                *values.last_mut().unwrap() ^= 1;
            }
            let record =
                NewRecord::new(0, LaneMask::ALL, number, RecordAddresses::List(&addresses));
            writer.record(&NewRecord { values: Some(&values), ..record }).unwrap();
        }
        let trace = BinaryTrace::new(Arena::from(writer.finish().unwrap().into_inner())).unwrap();
        let options = ReplayOptions::new(ReplayData::Image(&memory));
        let counts = replay(&trace, &options).unwrap().counts;
        let loads = counts.loads;
        assert_eq!((loads.accesses, loads.lanes, loads.bytes), (3, 96, 32 * 4 * 7));
        assert_eq!((loads.values.checked, loads.values.checked_words), (3, 32 * 7));
        assert_eq!(loads.values.mismatched_words, u64::from(wrong.is_some()), "{wrong:?}");
        let shared = loads.shared.unwrap();
        assert_eq!((shared.accesses, shared.wavefronts.sum), (3, 7));
    }
}
