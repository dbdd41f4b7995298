//! What merging the summaries of 1,000 shards takes, level by level of a tree: `cargo bench --bench merge
//! --features trace,simd`. The numbers are single runs, for docs/performance.md.
//!
//! The trace streams through memory and reads a large table at random, in kernels
//! that are longer than a shard. Summaries go through files, as on many machines.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measure")]

use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use warpload::lane::LaneMask;
use warpload::memory::{Arena, Fill};
use warpload_replay::{PartialSummary, ReplayData, ReplayOptions, Summary, replay};
use warpload_trace::{
    BinaryTrace, Kernel, MemoryOperation, NewRecord, RecordAddresses, Shard, TraceWriter,
};

const SHARDS: u64 = 1000;
const LOADS: u64 = 4096 * SHARDS;
/// How many loads a kernel has: four and a half shards.
const KERNEL: u64 = 4096 * 9 / 2;
/// The program counters of a kernel.
const PCS: u64 = 64;
const FAN_IN: usize = 16;
/// The lines of the table: 4 GiB.
const TABLE_LINES: u64 = 1 << 25;

fn main() {
    // `cargo test --benches` only asks whether it runs.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let bytes = trace();
    println!(
        "{LOADS} loads, {} MB of trace, {SHARDS} shards, fan-in {FAN_IN}",
        bytes.len() / 1_000_000
    );
    let trace = BinaryTrace::new(Arena::from(bytes)).unwrap();
    tree(&trace, &ReplayOptions::new(ReplayData::Fill(Fill::Zero)));
}

fn tree(trace: &BinaryTrace, options: &ReplayOptions<'_>) {
    let whole = json(&replay(trace, options).unwrap().summary());
    let folder = tempfile::tempdir().unwrap();
    let name = |level: usize, i: usize| folder.path().join(format!("{level}-{i}.json"));
    println!("level  tasks  MB of all outputs  largest, MB  s of all tasks  longest, s  MB/s read");
    let mut level = Level::default();
    let mut outputs = Vec::new();
    for shard in 0..SHARDS {
        let start = Instant::now();
        let options = options.shard(Shard::new(shard, SHARDS));
        let to = name(0, outputs.len());
        level.task(start, 0, write(&replay(trace, &options).unwrap().partial().unwrap(), &to));
        outputs.push(to);
    }
    level.print("replay");
    let mut number = 0;
    while outputs.len() > 1 {
        number += 1;
        level = Level::default();
        let mut merged = Vec::new();
        let is_last = outputs.len() <= FAN_IN;
        for given in outputs.chunks(FAN_IN) {
            let (start, to) = (Instant::now(), name(number, merged.len()));
            let mut read = 0;
            let summaries = given.iter().map(|path| {
                let bytes = fs::read(path).unwrap();
                read += bytes.len();
                PartialSummary::from_json(&bytes).unwrap()
            });
            let summaries: Vec<PartialSummary> = summaries.collect();
            let written = if is_last {
                write(&Summary::merge(summaries).unwrap(), &to)
            } else {
                write(&PartialSummary::merge(summaries).unwrap(), &to)
            };
            level.task(start, read, written);
            merged.push(to);
        }
        outputs.iter().for_each(|path| fs::remove_file(path).unwrap());
        outputs = merged;
        level.print(&number.to_string());
    }
    assert!(fs::read_to_string(&outputs[0]).unwrap() == whole, "not the whole");
}

/// What the tasks of a level took.
#[derive(Default)]
struct Level {
    tasks: u32,
    read: usize,
    written: usize,
    largest: usize,
    all: Duration,
    longest: Duration,
}

impl Level {
    fn task(&mut self, start: Instant, read: usize, written: usize) {
        let time = start.elapsed();
        self.tasks += 1;
        self.read += read;
        self.written += written;
        self.largest = self.largest.max(written);
        self.all += time;
        self.longest = self.longest.max(time);
    }

    fn print(&self, name: &str) {
        let mb = |bytes: usize| bytes as f64 / 1e6;
        let all = self.all.as_secs_f64();
        println!(
            "{name:<6} {:>5}  {:>17.1}  {:>11.2}  {all:>14.1}  {:>10.2}  {:>9.0}",
            self.tasks,
            mb(self.written),
            mb(self.largest),
            self.longest.as_secs_f64(),
            mb(self.read) / all,
        );
    }
}

fn json(summary: &impl Serialize) -> String {
    serde_json::to_string(summary).unwrap()
}

fn write(summary: &impl Serialize, to: &Path) -> usize {
    let text = json(summary);
    fs::write(to, &text).unwrap();
    text.len()
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
