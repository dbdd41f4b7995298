//! The memory that a replay takes at most.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test")]

#[allow(dead_code)]
#[path = "../it/parts.rs"]
mod parts;
#[path = "../../../trace/tests/bounds/peak.rs"]
mod peak;
#[allow(dead_code)]
#[path = "../../../trace/tests/it/random.rs"]
mod random;
#[allow(dead_code)]
#[path = "../../../trace/tests/it/samples.rs"]
mod samples;

use std::io::Cursor;
use std::num::NonZero;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use warpload::lane::LaneMask;
use warpload::memory::{Arena, Fill};
use warpload_replay::{ReplayData, ReplayOptions, replay};
use warpload_trace::{
    BinaryTrace, Compression, Kernel, MemoryOperation, NewRecord, RecordAddresses, TraceSource,
    TraceWriter, export_jsonl,
};

use crate::random::Random;
use crate::samples::{random_items, write_with};

/// Allocations are counted for the whole process, so that one test runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn mib(bytes: usize) -> usize {
    bytes >> 20
}

/// A trace of as many kernels, with one load each.
fn kernels(count: usize) -> BinaryTrace {
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), "a test".to_owned()).unwrap();
    let operation = writer.operation(&MemoryOperation::of_opcode("LDG.E")).unwrap();
    for i in 0..count as u64 {
        writer.kernel(Kernel { name: "the same".into(), ..Kernel::default() }).unwrap();
        let addresses = RecordAddresses::Stride { base: 0x1_0000 + 128 * i, stride: 4 };
        writer.record(&NewRecord::new(0x10, LaneMask::ALL, operation, addresses)).unwrap();
    }
    BinaryTrace::new(Arena::from(writer.finish().unwrap().into_inner())).unwrap()
}

/// Kernels plus threads, not kernels times threads.
#[test]
fn a_replay_of_many_kernels_by_many_threads() {
    let _alone = alone();
    let trace = kernels(8_000);
    let options = ReplayOptions::new(ReplayData::Fill(Fill::Address));
    let mut all = Vec::new();
    for threads in [1, 32] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (replayed, peak) = peak::during(|| pool.install(|| replay(&trace, &options).unwrap()));
        // About 4 KiB a kernel and 16 MiB. Each split's own counts of all kernels took 32 times as much.
        assert!(mib(peak) < 64, "{threads} threads: {} MiB", mib(peak));
        all.push(replayed);
    }
    assert!(all[0] == all[1]);
}

/// A few bytes that say of many instructions that they have no line.
#[test]
fn instructions_without_a_line_are_counted_at_once() {
    let _alone = alone();
    let text = format!(
        "{{\"trace\":{{\"version\":1,\"records\":{0}}}}}\n{{\"kernel\":0,\"record\":0,\
         \"skipped\":{{\"store\":0,\"atomic\":0,\"other\":{0}}}}}\n",
        1u64 << 32
    );
    let source = TraceSource::from_stream(text.as_bytes(), Path::new("text")).unwrap();
    let trace = source.into_trace(NonZero::<usize>::MIN, &()).unwrap();
    let options = ReplayOptions::new(ReplayData::Fill(Fill::Address));
    let (replayed, peak) = peak::during(|| replay(&trace, &options).unwrap());
    assert_eq!(replayed.counts.instructions, 1 << 32);
    assert!(mib(peak) < 24, "{} MiB", mib(peak));
}

/// A column that zstd has compressed: `bytes` of zeros, or what is given.
fn compressed(id: u8, width: u8, bytes: &[u8]) -> parts::Column {
    let frame = zstd::bulk::compress(bytes, 19).unwrap();
    parts::Column { id, encoding: 0xc0 | width, bytes: frame[4..].to_vec() }
}

/// Few bytes of a file that become many: rows of the index, names, kernels, header lines.
#[test]
fn small_files_do_not_fill_memory() {
    let _alone = alone();
    let output = Cursor::new(Vec::new());
    let mut writer =
        TraceWriter::with_compression(output, "a test".to_owned(), Compression::None).unwrap();
    writer.kernel(Kernel { name: "a".into(), ..Kernel::default() }).unwrap();
    let whole = parts::Parts::of(&writer.finish().unwrap().into_inner());
    let json = String::from_utf8(whole.clone().json().clone()).unwrap();
    let many = |what: &str, items: usize| vec![what; items].join(",");
    let names = json.replace("[\"a\"]", &format!("[{}]", many("\"\"", 5 << 20)));
    let (_, kernel) = json.split_once("\"kernels\":[").unwrap();
    let kernel = kernel.split_once("],\"operations\"").unwrap().0;
    let kernels = json.replace(kernel, &many(kernel, 250_000));
    let fewer = json.replace(kernel, &many(kernel, 18_000));
    let lines = json.replace("\"header\":[]", &format!("\"header\":[{}]", many("[0,0]", 2 << 20)));
    for (what, column, message) in [
        ("rows", compressed(2, 1, &vec![1; 64 << 20]), "blocks in"),
        ("names", compressed(1, 1, names.as_bytes()), "expected at most"),
        ("kernels", compressed(1, 1, kernels.as_bytes()), "expected at most"),
        ("lines", compressed(1, 1, lines.as_bytes()), "expected at most"),
        ("fewer kernels", compressed(1, 1, fewer.as_bytes()), ""),
    ] {
        let mut trace = whole.clone();
        let columns = &mut trace.footer.0;
        columns.retain(|one| one.id != column.id);
        let at = columns.iter().position(|one| one.id > column.id).unwrap_or(columns.len());
        columns.insert(at, column);
        let bytes = trace.together();
        assert!(bytes.len() < 32 << 10, "{what}: {} bytes", bytes.len());
        let most = most_memory(&bytes);
        let (opened, peak) = peak::during(|| BinaryTrace::new(Arena::from(bytes)));
        assert!(peak < most, "{what}: {} MiB", mib(peak));
        match opened {
            Ok(_) => assert_eq!(message, "", "{what}"),
            Err(error) => {
                let found = error.to_string();
                assert!(!message.is_empty() && found.contains(message), "{what}: {found}");
            }
        }
    }
}

/// The most memory that a file may take, whatever its contents are.
fn most_memory(file: &[u8]) -> usize {
    64_000_000 + 200 * file.len()
}

/// Changes `bytes`: a bit, a byte, a number of bytes that go, are repeated or come from elsewhere.
fn change(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len().max(1)).min(bytes.len());
        let end = (at + random.below(40)).min(bytes.len());
        match random.below(5) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let part = bytes[at..end].repeat(1 + random.below(3));
                bytes.splice(at..at, part);
            }
            _ if at < bytes.len() => bytes[at] = [0, 1, 0x7f, 0xff, b'9', b'"'][random.below(6)],
            _ => {}
        }
    }
}

/// A part of the JSON that is there many times, which zstd makes small again.
fn repeat(random: &mut Random, json: &mut Vec<u8>) {
    let ends = [b',', b'[', b']', b'{', b'}', b'"'];
    let places: Vec<usize> = (0..json.len()).filter(|at| ends.contains(&json[*at])).collect();
    let [one, other] = [0; 2].map(|_| places[random.below(places.len())]);
    let part = json[one.min(other)..one.max(other)].to_vec();
    let times = (1 + random.below(16 << 20)) / part.len().max(1);
    json.splice(one..one, part.repeat(times));
}

/// A changed trace with new checksums, as an attacker writes it, takes memory in proportion to the file: to open, show,
/// export and replay.
#[test]
fn changed_traces_take_little_memory() {
    let _alone = alone();
    let mut random = Random(46);
    let mut opened = 0;
    for seed in 0..4 {
        let mut whole = parts::Parts::of(&write_with(&random_items(seed, 40), Compression::None));
        whole.contents(|contents| {
            contents.notes.push("a note".to_owned());
            contents.tools.push("a tool".to_owned());
            contents.allocations.push((4096, 64));
            for kernel in &mut contents.kernels {
                kernel.header.push(("ptx 16 line 3".into(), "ld.global.u32 %r1, [%rd1];".into()));
                kernel.source_lines.push((16, 3));
            }
        });
        for i in 0..1000 {
            let mut trace = whole.clone();
            let blocks = trace.blocks.len();
            match random.below(3) {
                0 if blocks > 0 => {
                    let columns = &mut trace.blocks[random.below(blocks)].0;
                    let column = random.below(columns.len());
                    change(&mut random, &mut columns[column].bytes);
                }
                1 => {
                    let columns = &mut trace.footer.0;
                    let column = random.below(columns.len());
                    change(&mut random, &mut columns[column].bytes);
                }
                _ => {
                    let mut json = trace.json().clone();
                    change(&mut random, &mut json);
                    // Few, because they are slow.
                    if i % 100 == 0 {
                        repeat(&mut random, &mut json);
                    }
                    trace.footer.0[0] = compressed(1, 1, &json);
                }
            }
            let bytes = trace.together();
            let most = most_memory(&bytes);
            let (is_open, peak) = peak::during(|| {
                let Ok(trace) = BinaryTrace::new(Arena::from(bytes)) else { return false };
                drop(serde_json::to_string(&trace.overview()).unwrap());
                let _ = export_jsonl(&trace, &mut std::io::sink(), |_| ());
                let options = ReplayOptions::new(ReplayData::Fill(Fill::Address));
                let _ = replay(&trace, &options);
                true
            });
            assert!(peak < most, "{seed} {i}: {} MiB of {}", mib(peak), mib(most));
            opened += usize::from(is_open);
        }
    }
    assert!(opened > 400, "{opened}");
}
