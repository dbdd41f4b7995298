//! Replaying binary traces, by the pattern of their addresses, beside the same loads without statistics; these
//! beside the bytes that they read; on two threads beside one; and the checksums of a trace.
#![allow(clippy::expect_used, clippy::panic, reason = "a bench")]
#![allow(missing_docs, reason = "the macros of criterion make an undocumented function")]

use std::hint::black_box;
use std::io::Cursor;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rayon::{ThreadPool, ThreadPoolBuilder};
use warpload::lane::{LANES, LaneMask};
use warpload::load::{LaneAddresses, LoadOp, Loaded, load};
use warpload::machine::Misaligned;
use warpload::memory::{AddressMap, AddressSpace, Arena, Fill, Memory, MemoryBuilder, mix};
use warpload_replay::{ReplayData, ReplayOptions, replay};
use warpload_trace::binary::BlockBuffers;
use warpload_trace::{
    BinaryTrace, Compression, Kernel, MemoryOperation, NewRecord, RecordAddresses, TraceWriter,
};

const BASE: u64 = 0x1_0000_0000;

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
    /// The offset of the first lane's address of the load with that number.
    first: fn(u64) -> u64,
}

const STRIDE_4: Pattern = Pattern {
    name: "stride 4",
    opcodes: &["LDG.E"],
    program_counters: 32,
    mask: LaneMask::ALL,
    stride: Some(4),
    first: |i| 128 * i % (BYTES as u64 - 4096),
};

/// The lines among which first addresses jump.
const JUMPED: u64 = 16_384;

const OTHERS: [Pattern; 7] = [
    Pattern {
        name: "8-byte strides that jump",
        opcodes: &["LDG.E.64"],
        stride: Some(8),
        first: |i| 128 * (mix(i) % JUMPED),
        ..STRIDE_4
    },
    Pattern {
        name: "half-used strides that jump",
        stride: Some(8),
        first: |i| 128 * (mix(i) % JUMPED),
        ..STRIDE_4
    },
    Pattern { name: "random deltas in 1 MiB", stride: None, ..STRIDE_4 },
    Pattern { name: "8-byte strides", opcodes: &["LDG.E.64"], stride: Some(8), ..STRIDE_4 },
    Pattern {
        name: "half-empty masks",
        mask: LaneMask::from_bits(0x5555_5555),
        stride: Some(8),
        ..STRIDE_4
    },
    Pattern {
        name: "mixed opcodes",
        opcodes: &["LDG.E", "LDG.E.64", "LDG.E.128", "LDG.E.U8", "LDG.E.S16", "LD.E"],
        stride: Some(16),
        ..STRIDE_4
    },
    Pattern { name: "1,000 program counters", program_counters: 1000, ..STRIDE_4 },
];

impl Pattern {
    fn trace_bytes(&self, compression: Compression) -> Vec<u8> {
        let room = Cursor::new(Vec::new());
        let mut writer = TraceWriter::with_compression(room, "a bench".to_owned(), compression)
            .expect("memory takes writes");
        writer.kernel(Kernel { name: self.name.into(), ..Kernel::default() }).expect("as above");
        let operations: Vec<u16> = self
            .opcodes
            .iter()
            .map(|opcode| {
                writer.operation(&MemoryOperation::of_opcode(opcode)).expect("there is room")
            })
            .collect();
        let mut random =
            (0u64..).map(|i| mix(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)) % BYTES as u64 / 16 * 16);
        let mut lanes = Vec::new();
        for i in 0..LOADS {
            let addresses = match self.stride {
                Some(stride) => {
                    let base = BASE + (self.first)(i);
                    RecordAddresses::Stride { base, stride }
                }
                None => {
                    lanes.clear();
                    lanes.extend(random.by_ref().take(LANES).map(|offset| BASE + offset));
                    RecordAddresses::List(&lanes)
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

/// Returns a sum of what callers inspect, so that all of it is computed. It stays in a register:
/// passing it through memory would cost a third of a load.
#[inline]
fn used(loaded: &Loaded) -> u64 {
    u64::from(loaded.global.bits())
        + u64::from(loaded.first_space.is_some())
        + u64::from(loaded.is_broadcast)
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
    let mut buffers = BlockBuffers::default();
    let mut lanes = LaneAddresses { ..LaneAddresses::NONE };
    let mut rows = [[0; LANES]; 4];
    let (mut read, mut faults) = (0, 0);
    for raw in trace.blocks() {
        let block = trace.block_in(raw, buffers).expect("as it was written");
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
        buffers = block.into_buffers();
    }
    assert_eq!(faults, 0, "every address lies in the allocation");
    read
}

fn sum(bytes: &[u8]) -> u64 {
    bytes.as_chunks().0.iter().fold(0, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started")
}

fn replays(criterion: &mut Criterion) {
    // The lines among which strides jump, and what the last one reaches.
    let length = (128 * JUMPED) as usize + 4096;
    let bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
    let memory = MemoryBuilder::new(AddressMap::default()).global(BASE, &bytes).build();
    let memory = memory.expect("one allocation below the windows' addresses");
    let (one, two) = (pool(1), pool(2));
    let replayed = |trace: &BinaryTrace, pool: &ThreadPool, options: &ReplayOptions<'_>| {
        black_box(pool.install(|| replay(trace, options)).expect("as it was written"));
    };
    let fill = ReplayOptions::new(ReplayData::Fill(Fill::Address));
    for pattern in [STRIDE_4].iter().chain(&OTHERS) {
        let trace_bytes = pattern.trace_bytes(Compression::None);
        let trace = BinaryTrace::new(Arena::from(trace_bytes.clone())).expect("as it was written");
        let compressed = pattern.trace_bytes(Compression::default());
        let compressed = BinaryTrace::new(Arena::from(compressed)).expect("as it was written");
        let is_first = pattern.name == STRIDE_4.name;
        let mut group = criterion.benchmark_group(format!("replay, {}", pattern.name));
        group.throughput(Throughput::Elements(LOADS));
        let mut datas = vec![
            ("no data", ReplayData::Absent),
            ("fill address", ReplayData::Fill(Fill::Address)),
        ];
        if is_first {
            datas.push(("fill zero", ReplayData::Fill(Fill::Zero)));
            datas.push(("image", ReplayData::Image(&memory)));
        }
        for (name, data) in datas {
            let options = ReplayOptions::new(data);
            group.bench_function(name, |b| b.iter(|| replayed(&trace, &one, &options)));
        }
        group.bench_function("fill address, compressed", |b| {
            b.iter(|| replayed(&compressed, &one, &fill));
        });
        group.bench_function("limit: no statistics", |b| b.iter(|| walk(&trace, &memory)));
        if is_first {
            group.bench_function("limit of that: sum of its words, copy of 128 bytes", |b| {
                let mut row = [0u8; 128];
                b.iter(|| {
                    for i in 0..LOADS as usize {
                        let start = 128 * i % BYTES;
                        row.copy_from_slice(&bytes[start..start + 128]);
                        black_box(&mut row);
                    }
                    sum(black_box(&trace_bytes))
                });
            });
            group.bench_function("fill address, two threads", |b| {
                b.iter(|| replayed(&trace, &two, &fill));
            });
            group.bench_function("fill address, compressed, two threads", |b| {
                b.iter(|| replayed(&compressed, &two, &fill));
            });
        }
        group.finish();
        if is_first {
            let mut group = criterion.benchmark_group("checksum of a trace");
            group.throughput(Throughput::Bytes(trace_bytes.len() as u64));
            group.bench_function("CRC-32", |b| {
                b.iter(|| crc32fast::hash(black_box(&trace_bytes)));
            });
            group.bench_function("limit: sum of its words", |b| {
                b.iter(|| sum(black_box(&trace_bytes)));
            });
            group.finish();
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .measurement_time(Duration::from_secs(2))
        .warm_up_time(Duration::from_millis(500));
    targets = replays
}
criterion_main!(benches);
