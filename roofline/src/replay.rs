//! Replaying binary traces, by the pattern of their addresses: without statistics, with all of them,
//! on two threads; and their checksums.

use std::hint::black_box;
use std::io::Cursor;

use rayon::{ThreadPool, ThreadPoolBuilder};
use warpload::lane::{LANES, LaneMask};
use warpload::load::{LaneAddresses, LoadOp, load};
use warpload::machine::Misaligned;
use warpload::memory::{AddressSpace, Arena, Fill, Memory};
use warpload_replay::{Data, ReplayOptions, replay};
use warpload_trace::{Addresses, BinaryTrace, Kernel, NewRecord, Operation, TraceWriter};

use crate::loads::{BASE, memory, used};
use crate::measure::{Bench, Measure, Target, Unit, wall_time};
use crate::random;

/// Loads of a trace, at least 48 bytes each: more than fits into caches.
const LOADS: u64 = 1 << 20;
/// The bytes that they read repeatedly.
const BYTES: usize = 1 << 20;

/// What the loads of a trace have in common.
struct Pattern {
    name: &'static str,
    /// Take turns.
    opcodes: &'static [&'static str],
    /// Take turns.
    program_counters: u64,
    mask: LaneMask,
    /// The distance of neighbouring active lanes; `None` if each lane is anywhere.
    stride: Option<i64>,
    /// Warp loads replayed with all statistics, in millions a second.
    no_data: Option<f64>,
    fill_address: f64,
}

const STRIDE_4: Pattern = Pattern {
    name: "stride 4",
    opcodes: &["LDG.E"],
    program_counters: 32,
    mask: LaneMask::ALL,
    stride: Some(4),
    no_data: Some(24.0),
    fill_address: 15.0,
};

const OTHERS: [Pattern; 5] = [
    Pattern {
        name: "random deltas in 1 MiB",
        stride: None,
        no_data: Some(5.0),
        fill_address: 4.0,
        ..STRIDE_4
    },
    Pattern {
        name: "8-byte strides",
        opcodes: &["LDG.E.64"],
        stride: Some(8),
        no_data: None,
        fill_address: 4.0,
        ..STRIDE_4
    },
    Pattern {
        name: "half-empty masks",
        mask: LaneMask::from_bits(0x5555_5555),
        stride: Some(8),
        no_data: None,
        fill_address: 4.0,
        ..STRIDE_4
    },
    Pattern {
        name: "mixed opcodes",
        opcodes: &["LDG.E", "LDG.E.64", "LDG.E.128", "LDG.E.U8", "LDG.E.S16", "LD.E"],
        stride: Some(16),
        no_data: None,
        fill_address: 4.0,
        ..STRIDE_4
    },
    Pattern {
        name: "1,000 program counters",
        program_counters: 1000,
        no_data: None,
        fill_address: 4.0,
        ..STRIDE_4
    },
];

/// Runs the measures.
pub(crate) fn run(bench: &Bench) {
    let bytes = STRIDE_4.trace_bytes();
    let trace = BinaryTrace::new(Arena::from(bytes.clone())).expect("as it was written");
    let memory = memory(BYTES);
    without_statistics(bench, &trace, &memory, &bytes);
    with_statistics(
        bench,
        &STRIDE_4,
        &trace,
        &memory,
        &[("fill zero", Data::Fill(Fill::Zero), 17.0), ("image", Data::Image(&memory), 17.0)],
    );
    two_threads(bench, &trace);
    checksum(bench, &bytes);
    drop((trace, bytes));
    for pattern in OTHERS {
        if bench.wants(&pattern.title("no data")) || bench.wants(&pattern.title("fill address")) {
            let trace = BinaryTrace::new(Arena::from(pattern.trace_bytes()));
            with_statistics(bench, &pattern, &trace.expect("as it was written"), &memory, &[]);
        }
    }
}

impl Pattern {
    fn title(&self, data: &str) -> String {
        format!("replay, {}, all statistics, {data}", self.name)
    }

    fn trace_bytes(&self) -> Vec<u8> {
        let room = Cursor::new(Vec::new());
        let writer = TraceWriter::new(room, "roofline".to_owned());
        let mut writer = writer.expect("memory takes writes");
        writer.kernel(Kernel { name: self.name.into(), ..Kernel::default() }).expect("as above");
        let operations: Vec<u16> = self
            .opcodes
            .iter()
            .map(|opcode| writer.operation(&Operation::of_opcode(opcode)).expect("there is room"))
            .collect();
        let mut random = random::numbers(usize::MAX).map(|number| number % BYTES as u64 / 16 * 16);
        let mut deltas = Vec::new();
        for i in 0..LOADS {
            let addresses = match self.stride {
                Some(stride) => {
                    let base = BASE + 128 * i % (BYTES as u64 - 4096);
                    Addresses::Stride { base, stride }
                }
                None => {
                    let lanes: Vec<u64> = random.by_ref().take(LANES).collect();
                    deltas.clear();
                    deltas.extend(lanes.windows(2).map(|pair| pair[1] as i32 - pair[0] as i32));
                    Addresses::Deltas { base: BASE + lanes[0], deltas: &deltas }
                }
            };
            let pc = 16 * (i % self.program_counters) as u32;
            let operation = operations[i as usize % operations.len()];
            let load = NewRecord::new(pc, self.mask, operation, addresses);
            writer.record(&load).expect("the operation is numbered, the addresses fit the mask");
        }
        writer.finish().expect("memory takes writes").into_inner()
    }
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
    let mut lanes = LaneAddresses { plg: LaneMask::ALL, ..LaneAddresses::NONE };
    let mut rows = [[0; LANES]; 4];
    let (mut read, mut faults) = (0, 0);
    for raw in trace.blocks() {
        let block = trace.block(raw).expect("as it was written");
        for i in 0..raw.loads as usize {
            let traced = block.record(i).expect("as it was written");
            let op = ops[usize::from(traced.operation)];
            lanes.executing = traced.mask & traced.guard.unwrap_or(LaneMask::ALL);
            traced.read_addresses(&mut lanes.addresses);
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

/// Measures a pattern without data and with the fill that costs most, and with `others`.
fn with_statistics(
    bench: &Bench,
    pattern: &Pattern,
    trace: &BinaryTrace,
    memory: &Memory,
    others: &[(&str, Data<'_>, f64)],
) {
    let one = pool(1);
    let no_data = pattern.no_data.map(|rate| ("no data", Data::Absent, rate));
    let fill = ("fill address", Data::Fill(Fill::Address), pattern.fill_address);
    for (title, data, rate) in no_data.into_iter().chain([fill]).chain(others.iter().copied()) {
        let options = ReplayOptions::new(data);
        bench.run(
            Measure {
                name: &pattern.title(title),
                unit: Unit::LOADS,
                limit_name: "the same loads, no statistics",
                target: Target::rate(rate),
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
