//! Load operations and whole instructions, coalesced and random, in cache and out of it.

use std::hint::black_box;

use warpload::encoding::{Instruction, Reg, parse_line};
use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::load::{Executor, LaneAddresses, LoadOp, Loaded, Prepared, load, load_many};
use warpload::machine::{Machine, Misaligned};
use warpload::memory::{AddressMap, AddressSpace, Addresses, Memory, MemoryBuilder, Width};
use warpload::warp::Warp;

use crate::measure::{Bench, Measure, Target, Unit};
use crate::{random, system};

pub(crate) const BASE: u64 = 0x1_0000_0000;
const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;

/// Warps whose addresses stay in the first-level cache.
const FEW: usize = 64;
/// Warps whose data cover 1 MiB.
const SOME: usize = 512;
/// Warps whose data, 64 bytes of cache for each lane, exceed the caches.
const MANY: usize = 1 << 16;

/// Runs the measures.
pub(crate) fn run(bench: &Bench) {
    let memory = memory(MIB);
    let coalesced = coalesced();
    bench.run(
        Measure {
            name: "load, coalesced, in cache",
            unit: Unit::LOADS,
            limit_name: "copy of 128 bytes, sum of 32 addresses",
            target: Target::ratio(0.45),
        },
        || loads(&memory, &coalesced),
        || copies(&memory, &coalesced),
    );
    let near = spread(SOME, MIB);
    bench.run(
        Measure {
            name: "load, random in 1 MiB",
            unit: Unit::LOADS,
            limit_name: "unchecked gather",
            target: Target::ratio(0.65),
        },
        || loads(&memory, &near),
        || gathers(&memory, &near, 0),
    );
    execute(bench, memory, &coalesced);
    far(bench);
}

fn far(bench: &Bench) {
    let name = "load, random in 1 GiB";
    if !bench.wants(name) {
        return;
    }
    // The memory is built from a copy, which is freed only afterwards.
    if system::available_memory().is_some_and(|bytes| bytes < 3 * GIB as u64) {
        return eprintln!("note: random in 1 GiB not measured: under 3 GiB of memory available");
    }
    let memory = memory(GIB);
    let far = spread(MANY, GIB);
    bench.run(
        Measure {
            name,
            unit: Unit::LOADS,
            limit_name: "unchecked gather on the same pages",
            target: Target::ratio(0.7),
        },
        || loads(&memory, &far),
        || gathers(&memory, &far, 0),
    );
    for (limit_name, ahead, target) in [
        ("unchecked gather on the same pages", 0, Target::ratio(1.1)),
        ("unchecked gather that prefetches two warps ahead", 2, Target::NONE),
    ] {
        bench.run(
            Measure {
                name: "load, random in 1 GiB, many at a time",
                unit: Unit::LOADS,
                limit_name,
                target,
            },
            || loads_of_many(&memory, &far),
            || gathers(&memory, &far, ahead),
        );
    }
}

pub(crate) fn memory(bytes: usize) -> Memory {
    let bytes: Vec<u8> = (0..bytes).map(|i| i as u8).collect();
    let memory = MemoryBuilder::new(AddressMap::default()).global(BASE, &bytes).build();
    memory.expect("one allocation below the windows' addresses")
}

fn instruction() -> Instruction {
    parse_line("LD.E R0, [R2]").expect("canonical text").instruction
}

fn warp_of(addresses: [u64; LANES]) -> LaneAddresses {
    let addresses = Addresses::Each(addresses);
    LaneAddresses { executing: LaneMask::ALL, plg: LaneMask::ALL, addresses }
}

/// The addresses of [`warp_of`].
fn list(warp: &LaneAddresses) -> &[u64; LANES] {
    let Addresses::Each(list) = &warp.addresses else { unreachable!("made of a list") };
    list
}

/// Returns warps that each read 128 consecutive bytes, aligned to 4.
fn coalesced() -> Vec<LaneAddresses> {
    let starts = random::numbers(FEW).map(|number| BASE + number % (MIB as u64 - 128) / 4 * 4);
    starts.map(|start| warp_of(std::array::from_fn(|lane| start + 4 * lane as u64))).collect()
}

/// Returns warps whose lanes each read 4 bytes anywhere.
fn spread(warps: usize, within: usize) -> Vec<LaneAddresses> {
    let addresses: Vec<u64> =
        random::numbers(warps * LANES).map(|n| BASE + n % within as u64 / 4 * 4).collect();
    addresses.as_chunks().0.iter().map(|addresses| warp_of(*addresses)).collect()
}

/// Returns a sum of what callers inspect, so that all of it is computed. It stays in a register:
/// passing it through memory would cost a third of a load.
#[inline]
pub(crate) fn used(loaded: &Loaded) -> u64 {
    u64::from(loaded.global.bits())
        + u64::from(loaded.first_space.is_some())
        + u64::from(loaded.is_broadcast)
}

/// Returns what `LD.E` is; a replay does not know it when it is compiled either.
fn load_e() -> LoadOp {
    let space = AddressSpace::Generic;
    black_box(LoadOp { space, width: Width::B4, signed: false, uniform: false })
}

fn loads(memory: &Memory, warps: &[LaneAddresses]) -> u64 {
    let op = load_e();
    let mut rows = [[0u32; LANES]];
    let (mut read, mut faults) = (0, 0);
    for warp in warps {
        let loaded = load(op, warp, memory, Misaligned::Force, &mut rows);
        black_box(&mut rows);
        read += used(&loaded);
        faults += usize::from(!loaded.faults.is_empty());
    }
    black_box(read);
    assert_eq!(faults, 0, "every address lies in the allocation");
    warps.len() as u64
}

fn loads_of_many(memory: &Memory, warps: &[LaneAddresses]) -> u64 {
    let mut rows = [[0u32; LANES]];
    let mut read = 0;
    load_many(load_e(), warps, memory, Misaligned::Force, &mut rows, |_, loaded, rows| {
        black_box(rows);
        read += used(loaded);
    });
    black_box(read);
    warps.len() as u64
}

fn bytes(memory: &Memory) -> &[u8] {
    memory.allocations().first().map_or(&[], |one| memory.allocation_bytes(one))
}

/// The minimum cost of a coalesced load.
fn copies(memory: &Memory, warps: &[LaneAddresses]) -> u64 {
    let bytes = black_box(bytes(memory));
    let mut row: LaneValues = [0; LANES];
    for warp in warps {
        copy(bytes, list(warp), &mut row);
    }
    warps.len() as u64
}

#[allow(unsafe_code)]
#[inline]
fn copy(bytes: &[u8], addresses: &[u64; LANES], row: &mut LaneValues) {
    let start = (addresses[0] - BASE) as usize;
    debug_assert!(start + 128 <= bytes.len());
    // SAFETY: the addresses were generated so that the 128 bytes from the first one on lie in `bytes`.
    let source: [u8; 128] = unsafe { bytes.as_ptr().add(start).cast::<[u8; 128]>().read() };
    for (value, word) in row.iter_mut().zip(source.as_chunks::<4>().0) {
        *value = u32::from_le_bytes(*word);
    }
    black_box(&mut *row);
    black_box(addresses.iter().fold(0u64, |sum, address| sum.wrapping_add(*address)));
}

/// The minimum cost of loads whose lanes are spread; asks for the bytes of the warp that is `ahead`, if
/// that is not 0.
#[allow(unsafe_code)]
fn gathers(memory: &Memory, warps: &[LaneAddresses], ahead: usize) -> u64 {
    let bytes = black_box(bytes(memory));
    let place = |address: &u64| {
        let at = (address - BASE) as usize;
        debug_assert!(at + 4 <= bytes.len());
        // SAFETY: the addresses were generated so that the 4 bytes from each on lie in `bytes`.
        unsafe { bytes.as_ptr().add(at).cast::<[u8; 4]>() }
    };
    let mut row: LaneValues = [0; LANES];
    for (i, warp) in warps.iter().enumerate() {
        if ahead > 0
            && let Some(next) = warps.get(i + ahead)
        {
            for address in list(next) {
                system::prefetch(place(address));
            }
        }
        for (value, address) in row.iter_mut().zip(list(warp)) {
            // SAFETY: see `place`.
            *value = u32::from_le_bytes(unsafe { place(address).read() });
        }
        black_box(&mut row);
    }
    warps.len() as u64
}

/// Measures a whole instruction on a warp: guard, Plg and addresses from registers, values into one.
fn execute(bench: &Bench, memory: Memory, warps: &[LaneAddresses]) {
    let addresses = *list(warps.first().expect("at least one warp"));
    let machine = Machine::new(memory);
    let (low, high, destination) = (Reg::new(2), Reg::new(3), Reg::new(0));
    let mut warp = Warp::new();
    warp.set_register(low, addresses.map(|address| address as u32));
    warp.set_register(high, addresses.map(|address| (address >> 32) as u32));
    let mut other = warp.clone();
    // What the instruction touches, added up instead of understood.
    let mut limit = || {
        let bytes = black_box(bytes(&machine.memory));
        let start = (addresses[0] - BASE) as usize;
        for _ in 0..FEW {
            let warp = black_box(&mut other);
            let (low, high) = (*warp.register(low), *warp.register(high));
            let words = bytes[start..].as_chunks::<4>().0;
            let words: &[[u8; 4]; LANES] = words.first_chunk().expect("128 bytes follow");
            let row = warp.register_mut(destination).expect("is not RZ");
            let word = |lane: usize| u32::from_le_bytes(words[lane]) ^ low[lane] ^ high[lane];
            *row = std::array::from_fn(word);
        }
        FEW as u64
    };
    let measure = |name, rate| Measure {
        name,
        unit: Unit::LOADS,
        limit_name: "two registers and 128 bytes read, one register written",
        target: Target { rate: Some(rate), ratio: None },
    };
    let instruction = instruction();
    bench.run(
        measure("execute LD.E, coalesced, in cache", 50.0),
        || {
            for _ in 0..FEW {
                let warp = black_box(&mut warp);
                black_box(&Executor::Fast.execute(black_box(&instruction), &machine, warp));
            }
            FEW as u64
        },
        &mut limit,
    );
    let prepared = Prepared::new(&instruction, machine.register_limit).expect("LD.E executes");
    bench.run(
        measure("execute LD.E prepared, coalesced, in cache", 85.0),
        || {
            for _ in 0..FEW {
                black_box(&black_box(&prepared).execute(&machine, black_box(&mut warp)));
            }
            FEW as u64
        },
        limit,
    );
}
