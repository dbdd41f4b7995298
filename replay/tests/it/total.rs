//! Numbers and parts that a trace does not have: nothing panics.

use warpload::lane::LaneMask;
use warpload::memory::{Arena, Fill, Width};
use warpload_replay::{ReplayData, ReplayOptions, replay};
use warpload_report::{ReportPage, html, survey};
use warpload_trace::binary::RawBlock;
use warpload_trace::{BinaryTrace, MemoryOperation, NewRecord, Shard, TraceWriter};

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
    ReplayOptions::new(ReplayData::Fill(Fill::Address)).address_bits(40).shard(shard)
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
        |raw: &mut RawBlock| raw.memory_records = u32::MAX,
        |raw: &mut RawBlock| raw.records = u32::MAX,
        |raw: &mut RawBlock| raw.records = 0,
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
            let (replayed, survey) = survey(trace, &options).unwrap();
            let summary = replayed.summary();
            assert_eq!(summary.kernels.len(), trace.contents().kernels.len());
            for i in [0, 1, usize::MAX - 1, usize::MAX] {
                let _ = survey.whole.row(i);
            }
            let _ = html(&ReportPage::new(&replayed, &summary, &survey));
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
    let counts = replay(&trace, &options).unwrap().summary().counts;
    assert_eq!((counts.bytes, counts.sectors, counts.ideal_sectors), (1024, 32, 32));
}
