//! Replaying a binary trace whose records have stride 4: without statistics, with all of them,
//! on two threads; and its checksums.

use std::hint::black_box;
use std::io::Cursor;

use rayon::{ThreadPool, ThreadPoolBuilder};
use warpload::lane::{LANES, LaneMask};
use warpload::load::{LaneAddresses, LoadOp, load};
use warpload::machine::Misaligned;
use warpload::memory::{AddressSpace, Arena, Fill, Memory};
use warpload::trace::{
    Addresses, BinaryTrace, Class, Data, Kernel, NewLoad, ReplayOptions, TraceWriter, replay,
};

use crate::loads::{BASE, memory, used};
use crate::measure::{Bench, Measure, Target, Unit, wall_time};

/// Loads of the trace, 48 bytes each: more than fits into caches.
const LOADS: u64 = 1 << 20;
/// The bytes that they read repeatedly.
const BYTES: usize = 1 << 20;
/// The instructions of the loop that they belong to.
const PROGRAM_COUNTERS: u64 = 32;

/// Runs the measures.
pub(crate) fn run(bench: &Bench) {
    let bytes = trace_bytes();
    let trace = BinaryTrace::new(Arena::from(bytes.clone())).expect("as it was written");
    let memory = memory(BYTES);
    without_statistics(bench, &trace, &memory, &bytes);
    with_statistics(bench, &trace, &memory);
    two_threads(bench, &trace);
    checksum(bench, &bytes);
}

fn trace_bytes() -> Vec<u8> {
    let room = Cursor::new(Vec::new());
    let mut writer = TraceWriter::new(room, "roofline".to_owned()).expect("memory takes writes");
    writer.kernel(Kernel { name: "stride".into(), ..Kernel::default() }).expect("as above");
    let Class::Load(operation) = Class::of("LDG.E") else { unreachable!("LDG is a load") };
    let operation = writer.operation(&operation).expect("the first one");
    for i in 0..LOADS {
        let base = BASE + 128 * i % BYTES as u64;
        let load = NewLoad {
            pc: 16 * (i % PROGRAM_COUNTERS) as u32,
            mask: LaneMask::ALL,
            operation,
            addresses: Addresses::Stride { base, stride: 4 },
            plg: None,
            guard: None,
            expected: &[],
            width_disagrees: false,
        };
        writer.load(&load).expect("the operation is numbered, the addresses are a stride");
    }
    writer.finish().expect("memory takes writes").into_inner()
}

/// Checks blocks, decodes records and executes loads, without counting anything.
fn walk(trace: &BinaryTrace, memory: &Memory) -> u64 {
    let ops: Vec<LoadOp> = trace
        .contents()
        .operations
        .iter()
        .map(|one| LoadOp {
            space: AddressSpace::Global,
            width: one.width,
            signed: one.signed,
            uniform: one.uniform,
        })
        .collect();
    let mut rows = [[0; LANES]; 4];
    let (mut read, mut faults) = (0, 0);
    for raw in trace.blocks() {
        let block = trace.block(raw).expect("as it was written");
        for i in 0..raw.loads as usize {
            let traced = block.load(i).expect("as it was written");
            let op = ops[usize::from(traced.operation)];
            let lanes = LaneAddresses {
                executing: traced.mask & traced.guard.unwrap_or(LaneMask::ALL),
                plg: LaneMask::ALL,
                addresses: traced.addresses(),
            };
            let loaded = load(op, &lanes, memory, Misaligned::Report, &mut rows);
            black_box(&mut rows);
            read += used(&loaded);
            faults += usize::from(!loaded.faults.is_empty());
        }
    }
    black_box(read);
    assert_eq!(faults, 0, "every address lies in the allocation");
    trace.loads()
}

fn sum(bytes: &[u8]) -> u64 {
    bytes.as_chunks().0.iter().fold(0, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}

fn without_statistics(bench: &Bench, trace: &BinaryTrace, memory: &Memory, bytes: &[u8]) {
    let data = memory.allocation_bytes(&memory.allocations()[0]);
    bench.run(
        Measure {
            name: "replay, stride 4, no statistics",
            unit: Unit::LOADS,
            limit_name: "sum of the trace's words, copy of 128 bytes a load",
            target: Target::rate(20.0),
        },
        || walk(trace, memory),
        || {
            black_box(sum(black_box(bytes)));
            let mut row = [0u8; 128];
            for i in 0..LOADS as usize {
                let start = 128 * i % BYTES;
                row.copy_from_slice(&data[start..start + 128]);
                black_box(&mut row);
            }
            LOADS
        },
    );
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started")
}

fn replayed(trace: &BinaryTrace, options: &ReplayOptions<'_>) -> u64 {
    black_box(replay(trace, options).expect("as it was written"));
    trace.loads()
}

fn with_statistics(bench: &Bench, trace: &BinaryTrace, memory: &Memory) {
    let one = pool(1);
    for (name, data) in [
        ("replay, all statistics, no data", Data::Absent),
        ("replay, all statistics, fill zero", Data::Fill(Fill::Zero)),
        ("replay, all statistics, fill address", Data::Fill(Fill::Address)),
        ("replay, all statistics, image", Data::Image(memory)),
    ] {
        let options = ReplayOptions::new(data);
        bench.run(
            Measure {
                name,
                unit: Unit::LOADS,
                limit_name: "the same loads, no statistics",
                target: Target::rate(5.0),
            },
            || one.install(|| replayed(trace, &options)),
            || walk(trace, memory),
        );
    }
}

fn two_threads(bench: &Bench, trace: &BinaryTrace) {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return eprintln!("note: two threads not measured: there is one core");
    }
    let (one, two) = (pool(1), pool(2));
    let options = ReplayOptions::new(Data::Fill(Fill::Address));
    bench.run_by(
        wall_time,
        Measure {
            name: "replay on two threads, fill address",
            unit: Unit::LOADS,
            limit_name: "the same on one thread",
            target: Target::ratio(1.8),
        },
        || two.install(|| replayed(trace, &options)),
        || one.install(|| replayed(trace, &options)),
    );
}

/// Measures the checksum, which each block costs before its first load.
fn checksum(bench: &Bench, bytes: &[u8]) {
    bench.run(
        Measure {
            name: "checksum of the trace, CRC-32",
            unit: Unit::BYTES,
            limit_name: "sum of its words",
            target: Target::NONE,
        },
        || {
            black_box(crc32fast::hash(black_box(bytes)));
            bytes.len() as u64
        },
        || {
            black_box(sum(black_box(bytes)));
            bytes.len() as u64
        },
    );
}
