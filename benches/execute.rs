//! Executes loads, each kind of warp next to its limit: reading 32 addresses of 64 bits and copying the bytes there.
#![allow(clippy::expect_used, clippy::panic, reason = "a bench")]
#![allow(missing_docs, reason = "the macros of criterion make an undocumented function")]

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use warpload::encoding::{Instruction, Reg, Sm};
use warpload::lane::{LANES, LaneMask};
use warpload::load::{Executor, LaneAddresses, LoadOp, Prepared, load, load_many};
use warpload::machine::{Machine, Misaligned};
use warpload::memory::{AddressMap, MemoryBuilder, WarpAddresses, mix};
use warpload::warp::Warp;

const BASE: u64 = 0x1_0000_0000;
const BYTES: usize = 1 << 20;

/// A kind of warp: its name and every lane's offset into the allocation.
type Pattern = (&'static str, fn(usize) -> usize);

const PATTERNS: [Pattern; 3] = [
    ("coalesced", |lane| 4 * lane),
    ("one address", |_| 64),
    // Odd multiplier, so that the lanes spread over the whole megabyte.
    ("random in 1 MiB", |lane| ((lane * 0x9e37_79b1) % BYTES) & !3),
];

fn warp(offset: fn(usize) -> usize) -> Warp {
    let mut warp = Warp::new();
    let address = |lane| BASE + offset(lane) as u64;
    warp.set_register(Reg::new(2), std::array::from_fn(|lane| address(lane) as u32));
    warp.set_register(Reg::new(3), std::array::from_fn(|lane| (address(lane) >> 32) as u32));
    warp
}

fn execute(criterion: &mut Criterion) {
    let bytes: Vec<u8> = (0..BYTES).map(|i| i as u8).collect();
    let memory = MemoryBuilder::new(AddressMap::default()).global(BASE, &bytes).build();
    let machine = Machine::new(memory.expect("a legal configuration"));
    let instruction: Instruction = Instruction::parse("LD.E R0, [R2]", Sm::SPA5).expect("legal");
    for (name, offset) in PATTERNS {
        let mut group = criterion.benchmark_group(format!("execute, {name}"));
        group.throughput(Throughput::Elements(1));
        for executor in [Executor::Fast, Executor::Reference] {
            let mut warp = warp(offset);
            group.bench_function(executor.name(), |b| {
                b.iter(|| executor.execute(black_box(&instruction), &machine, &mut warp));
            });
        }
        let mut prepared = warp(offset);
        group.bench_function("prepared", |b| {
            let load = Prepared::new(&instruction, machine.register_limit).expect("executable");
            b.iter(|| black_box(&load).execute(&machine, &mut prepared));
        });
        // The state that a coalesced load touches, only summed up.
        let mut touched = warp(|lane| 4 * lane);
        let limit = "limit: two registers and 128 bytes read, one register written";
        group.bench_function(limit, |b| {
            b.iter(|| {
                let warp = black_box(&mut touched);
                let (low, high) = (*warp.register(Reg::new(2)), *warp.register(Reg::new(3)));
                let words = black_box(&bytes).as_chunks::<4>().0;
                let words: &[[u8; 4]; LANES] = words.first_chunk().expect("a megabyte");
                let row = warp.register_mut(Reg::new(0)).expect("is not RZ");
                let word = |lane: usize| u32::from_le_bytes(words[lane]) ^ low[lane] ^ high[lane];
                *row = std::array::from_fn(word);
            });
        });
        loads(
            &mut group,
            &machine,
            &bytes,
            LoadOp::try_from(&instruction).expect("executable"),
            offset,
        );
        group.finish();
    }
}

/// Loads from random addresses in 1 GiB, by more warps than the caches hold: one by one, and many at a time, next to
/// gathers on the same pages.
fn far(criterion: &mut Criterion) {
    const WARPS: usize = 1 << 16;
    // `cargo test --benches` only checks that it runs.
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let length = if is_measured { 1 << 30 } else { BYTES };
    let bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
    let memory = MemoryBuilder::new(AddressMap::default()).global(BASE, &bytes).build();
    let memory = memory.expect("a legal configuration");
    drop(bytes);
    let bytes = memory.allocation_bytes(&memory.allocations()[0]);
    let address = |number: u64| {
        BASE + mix(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)) % length as u64 / 4 * 4
    };
    let lists: Vec<[u64; LANES]> = (0..WARPS)
        .map(|warp| std::array::from_fn(|lane| address((warp * LANES + lane) as u64)))
        .collect();
    let warps: Vec<LaneAddresses> = lists
        .iter()
        .map(|list| LaneAddresses {
            executing: LaneMask::ALL,
            plg: None,
            addresses: WarpAddresses::Each(*list),
        })
        .collect();
    let op = LoadOp::try_from(&Instruction::parse("LD.E R0, [R2]", Sm::SPA5).expect("legal"));
    let op = black_box(op.expect("executable"));
    let mut rows = [[0u32; LANES]];
    let mut group = criterion.benchmark_group("loads, random in 1 GiB");
    group.throughput(Throughput::Elements(WARPS as u64)).sample_size(10);
    group.bench_function("load", |b| {
        b.iter(|| {
            warps.iter().fold(0, |read, warp| {
                let loaded = load(op, warp, &memory, Misaligned::Force, &mut rows);
                black_box(&mut rows);
                read + u64::from(loaded.global.bits())
            })
        });
    });
    group.bench_function("load_many", |b| {
        b.iter(|| {
            let mut read = 0;
            load_many(op, &warps, &memory, Misaligned::Force, &mut rows, |_, loaded, rows| {
                black_box(rows);
                read += u64::from(loaded.global.bits());
            });
            read
        });
    });
    for (name, ahead) in [
        ("limit: unchecked gather", 0),
        ("limit: unchecked gather that prefetches two warps ahead", 2),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| {
                for (i, list) in lists.iter().enumerate() {
                    if ahead > 0
                        && let Some(next) = lists.get(i + ahead)
                    {
                        next.iter().for_each(|address| prefetch(&bytes[(address - BASE) as usize]));
                    }
                    for (value, address) in rows[0].iter_mut().zip(list) {
                        let at = (address - BASE) as usize;
                        // SAFETY: the addresses are made as multiples of 4 below the length.
                        let word = unsafe { bytes.as_ptr().add(at).cast::<[u8; 4]>().read() };
                        *value = u32::from_le_bytes(word);
                    }
                    black_box(&mut rows);
                }
            });
        });
    }
    group.finish();
}

/// Prefetches a byte, on x86-64 only.
#[inline(always)]
fn prefetch(byte: &u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch neither reads nor faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = byte;
}

/// The number of warps, read one after the other so that the cache holds their addresses but the branch predictor does
/// not.
const WARPS: usize = 256;

/// The load alone, next to its limits.
fn loads(
    group: &mut BenchmarkGroup<'_, WallTime>,
    machine: &Machine,
    bytes: &[u8],
    op: LoadOp,
    offset: fn(usize) -> usize,
) {
    let offsets: Vec<[u64; LANES]> = (0..WARPS)
        .map(|warp| {
            let shift = ((warp * 0x2_4f1c) % (BYTES / 2)) & !3;
            std::array::from_fn(|lane| ((offset(lane) + shift) % BYTES) as u64)
        })
        .collect();
    let lanes: Vec<LaneAddresses> = offsets
        .iter()
        .map(|offsets| LaneAddresses {
            executing: LaneMask::ALL,
            plg: None,
            addresses: WarpAddresses::Each(offsets.map(|offset| BASE + offset)),
        })
        .collect();
    let mut rows = [[0u32; LANES]];
    let mut next = (0..WARPS).cycle();
    group.bench_function("load", |b| {
        b.iter(|| {
            let lanes = &lanes[next.next().unwrap_or(0)];
            let loaded = load(op, lanes, &machine.memory, Misaligned::Force, &mut rows);
            black_box(&mut rows);
            loaded.global
        });
    });
    group.bench_function("limit: unchecked gather", |b| {
        b.iter(|| {
            let offsets = &offsets[next.next().unwrap_or(0)];
            for (value, at) in rows[0].iter_mut().zip(offsets) {
                // SAFETY: every offset is a multiple of 4 below BYTES.
                let word = unsafe { bytes.as_ptr().add(*at as usize).cast::<[u8; 4]>().read() };
                *value = u32::from_le_bytes(word);
            }
            black_box(&mut rows);
        });
    });
    group.bench_function("limit: copy of 128 bytes, sum of 32 addresses", |b| {
        b.iter(|| {
            let offsets = &offsets[next.next().unwrap_or(0)];
            let at = offsets[0] as usize % (BYTES - 128);
            let source: &[u8; 128] = bytes[at..at + 128].try_into().expect("128 bytes");
            for (value, word) in rows[0].iter_mut().zip(source.as_chunks::<4>().0) {
                *value = u32::from_le_bytes(*word);
            }
            black_box(&mut rows);
            offsets.iter().fold(0u64, |sum, at| sum.wrapping_add(*at))
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .measurement_time(std::time::Duration::from_secs(2))
        .warm_up_time(std::time::Duration::from_millis(500));
    targets = execute, far
}
criterion_main!(benches);
