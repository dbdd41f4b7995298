//! What reading and merging the summaries of 1,000 shards takes. The
//! numbers are single runs, for docs/performance.md.
//!
//! The trace streams through memory, reads a large table at random and reads earlier addresses again, so that shards have
//! lines in common. Its kernels are longer than a shard.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measure")]

use std::io::Cursor;
use std::time::Instant;

use serde::Serialize;
use warpload::lane::LaneMask;
use warpload::memory::{Arena, Fill};
use warpload_replay::{ReplayData, ReplayOptions, Summary, replay};
use warpload_trace::{
    BinaryTrace, Kernel, MemoryOperation, NewRecord, RecordAddresses, Shard, TraceWriter,
};

const SHARDS: u64 = 1000;
const LOADS: u64 = 4096 * SHARDS;
/// How many loads a kernel has: four and a half shards.
const KERNEL: u64 = 4096 * 9 / 2;
/// The program counters of a kernel.
const PCS: u64 = 64;
/// The lines of the table: 4 GiB.
const TABLE_LINES: u64 = 1 << 25;

fn main() {
    // `cargo test --benches` only asks whether it runs.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let bytes = trace();
    println!("{LOADS} loads, {} MB of trace, {SHARDS} shards", bytes.len() / 1_000_000);
    let trace = BinaryTrace::new(Arena::from(bytes)).unwrap();
    let options = ReplayOptions::new(ReplayData::Fill(Fill::Zero));
    let whole = json(&replay(&trace, &options).unwrap());
    let (start, mut parts) = (Instant::now(), Vec::new());
    for shard in 0..SHARDS {
        let options = ReplayOptions { shard: Shard::new(shard, SHARDS), ..options };
        parts.push(json(&replay(&trace, &options).unwrap()));
    }
    let bytes: usize = parts.iter().map(String::len).sum();
    println!(
        "replay: {:.1} s, {} MB of summaries",
        start.elapsed().as_secs_f64(),
        bytes / 1_000_000
    );
    let start = Instant::now();
    let summaries = parts.iter().map(|part| Summary::from_json(part.as_bytes()).unwrap());
    let summaries: Vec<Summary> = summaries.collect();
    println!("read: {:.1} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let merged = json(&Summary::merge(summaries).unwrap());
    println!("merge: {:.1} s", start.elapsed().as_secs_f64());
    assert!(merged == whole, "not the whole");
}

fn json(summary: &impl Serialize) -> String {
    serde_json::to_string(summary).unwrap()
}

fn trace() -> Vec<u8> {
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), "a bench".to_owned()).unwrap();
    let operation = writer.operation(&MemoryOperation::of_opcode("LDG.E")).unwrap();
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 33
    };
    for i in 0..LOADS {
        if i % KERNEL == 0 {
            let name = format!("kernel_{}", i / KERNEL);
            writer.kernel(Kernel { name: name.into(), ..Kernel::default() }).unwrap();
        }
        let mut lanes = [0u64; 32];
        let addresses = match i % 4 {
            // Coalesced, a line each, as loops over arrays have it; a quarter of the lines again.
            0 | 1 => RecordAddresses::Stride { base: 0x10_0000_0000 + i * 128, stride: 4 },
            2 => RecordAddresses::Stride { base: 0x10_0000_0000 + (i / 2) * 128, stride: 4 },
            _ => {
                lanes.fill_with(|| 0x20_0000_0000 + random() % TABLE_LINES * 128);
                RecordAddresses::List(&lanes)
            }
        };
        let pc = (i % PCS * 16) as u32;
        let record = NewRecord::new(pc, LaneMask::ALL, operation, addresses);
        writer.record(&record).unwrap();
    }
    writer.finish().unwrap().into_inner()
}
