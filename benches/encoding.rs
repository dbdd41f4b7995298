//! Measures decoding, encoding, formatting and parsing.
//!
//! Each group includes its limit: summing the same words, or the same bytes of text, which is the minimum cost of
//! reading them. A parser also has to find the end of each word. Throughput counts instructions in both.
//! With `RUSTFLAGS="--cfg iced"` it also measures iced-x86, a decoder and formatter of x86-64, which takes long to
//! build.
#![allow(missing_docs, reason = "the macros of criterion make an undocumented function")]

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use warpload_encoding::{Instruction, LoadParts, Sm, Text, parse_line};

const COUNT: usize = 4096;

/// Random words of `LD` from a fixed seed (SplitMix64).
fn words() -> Vec<u64> {
    let mut state = 0u64;
    (0..COUNT)
        .map(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ (z >> 31)) >> 3 | 1 << 63
        })
        .collect()
}

fn instructions() -> Vec<Instruction> {
    words().into_iter().filter_map(load_of).collect()
}

#[inline]
fn load_of(word: u64) -> Option<Instruction> {
    Instruction::decode(word, Sm::SPA5).load()
}

fn group<'c>(criterion: &'c mut Criterion, name: &str) -> BenchmarkGroup<'c, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(30)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .throughput(Throughput::Elements(COUNT as u64));
    group
}

fn limit_words(group: &mut BenchmarkGroup<'_, WallTime>) {
    let words = words();
    group.bench_function("limit: sum of the words", |b| {
        b.iter(|| black_box(&words).iter().fold(0, |sum: u64, word| sum.wrapping_add(*word)));
    });
}

fn limit_text(group: &mut BenchmarkGroup<'_, WallTime>, texts: &[String]) {
    let bytes: Vec<u8> = texts.iter().flat_map(|text| text.bytes()).collect();
    group.bench_function("limit: sum of the bytes", |b| {
        b.iter(|| black_box(&bytes).iter().map(|byte| u64::from(*byte)).sum::<u64>());
    });
}

/// Uses every part, so that none is left undecoded.
fn sum_of_parts(instruction: Instruction) -> u64 {
    let LoadParts { guard, destination, address, size, .. } = instruction.parts();
    u64::from(guard.pred.number())
        + u64::from(guard.negated)
        + u64::from(destination.register().map_or(0, |register| register.number()))
        + u64::from(address.base.number())
        + u64::from(address.extended)
        + u64::from(address.offset.without_base())
        + u64::from(size.map_or(0, |size| size.bytes()))
}

fn decode(criterion: &mut Criterion) {
    let mut group = group(criterion, "decode");
    let words = words();
    group.bench_function("sum of the parts", |b| {
        b.iter(|| {
            black_box(&words)
                .iter()
                .filter_map(|word| load_of(*word))
                .fold(0, |sum: u64, instruction| sum.wrapping_add(sum_of_parts(instruction)))
        });
    });
    let mut decoded = instructions();
    group.bench_function("into an array", |b| {
        b.iter(|| {
            for (slot, word) in decoded.iter_mut().zip(black_box(&words)) {
                if let Some(instruction) = load_of(*word) {
                    *slot = instruction;
                }
            }
            black_box(&decoded);
        });
    });
    limit_words(&mut group);
}

fn encode(criterion: &mut Criterion) {
    let mut group = group(criterion, "encode");
    let instructions = instructions();
    let mut encoded = words();
    group.bench_function("into an array", |b| {
        b.iter(|| {
            for (slot, instruction) in encoded.iter_mut().zip(black_box(&instructions)) {
                *slot = instruction.bits() as u64;
            }
            black_box(&encoded);
        });
    });
    limit_words(&mut group);
}

fn text(criterion: &mut Criterion) {
    let mut group = group(criterion, "text");
    let instructions = instructions();
    let texts: Vec<String> = instructions.iter().map(ToString::to_string).collect();
    let mut sink = Vec::with_capacity(texts.iter().map(String::len).sum());
    let mut text = Text::new();
    group.bench_function("into a sink", |b| {
        b.iter(|| {
            sink.clear();
            for instruction in black_box(&instructions) {
                instruction.write_text(&mut text);
                sink.extend_from_slice(text.as_bytes());
            }
            black_box(sink.len())
        });
    });
    limit_text(&mut group, &texts);
}

fn parse(criterion: &mut Criterion) {
    let mut group = group(criterion, "parse");
    let texts: Vec<String> = instructions().iter().map(ToString::to_string).collect();
    group.bench_function("lines", |b| {
        b.iter(|| {
            black_box(&texts)
                .iter()
                .filter_map(|text| parse_line(text, Sm::SPA5).ok())
                .fold(0, |sum: u64, line| sum.wrapping_add(line.instruction.bits() as u64))
        });
    });
    group.bench_function("limit: end of each word found, byte by byte", |b| {
        b.iter(|| {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric();
            let ends = |text: &String| {
                text.as_bytes().windows(2).filter(|two| is_part(two[0]) && !is_part(two[1])).count()
            };
            black_box(&texts).iter().map(ends).sum::<usize>()
        });
    });
    limit_text(&mut group, &texts);
}

/// The groups `decode` and `text` for iced-x86, on as many instructions of this executable's own code.
#[cfg(iced)]
fn x86(criterion: &mut Criterion) {
    use iced_x86::{
        Decoder, DecoderOptions, FastFormatter, SpecializedFormatter,
        SpecializedFormatterTraitOptions,
    };
    use object::{Object, ObjectSection};

    /// The options that iced-x86's documentation recommends for speed.
    struct Fastest;
    impl SpecializedFormatterTraitOptions for Fastest {
        const ENABLE_DB_DW_DD_DQ: bool = false;
        unsafe fn verify_output_has_enough_bytes_left() -> bool {
            // A second check, because the formatter reserves room for the longest text.
            false
        }
    }

    let path = std::env::current_exe().unwrap_or_default();
    let file = std::fs::read(path).unwrap_or_default();
    let Ok(elf) = object::File::parse(&*file) else { return };
    let code = elf.section_by_name(".text").and_then(|text| text.data().ok()).unwrap_or_default();
    let decoder = |code| Decoder::new(64, code, DecoderOptions::NONE);
    // Decoded from the start, so that the middle part begins at an instruction.
    let starts: Vec<usize> = decoder(code).into_iter().map(|one| one.ip() as usize).collect();
    let Some(first) = starts.len().checked_sub(COUNT + 1).map(|left| left / 2) else { return };
    let code = &code[starts[first]..starts[first + COUNT]];

    let mut array = vec![iced_x86::Instruction::default(); COUNT];
    group(criterion, "decode").bench_function("iced-x86, into an array", |b| {
        b.iter(|| {
            let mut decoder = decoder(black_box(code));
            array.iter_mut().for_each(|slot| decoder.decode_out(slot));
            black_box(&array);
        });
    });
    let mut one = iced_x86::Instruction::default();
    let mut sink = String::with_capacity(512 * COUNT);
    let mut group = group(criterion, "decode and text");
    let mut fast = FastFormatter::new();
    let mut specialized = SpecializedFormatter::<Fastest>::new();
    let mut formatted = |format: &mut dyn FnMut(&iced_x86::Instruction, &mut String)| {
        sink.clear();
        let mut decoder = decoder(black_box(code));
        while decoder.can_decode() {
            decoder.decode_out(&mut one);
            format(&one, &mut sink);
        }
        black_box(sink.len())
    };
    group.bench_function("iced-x86, FastFormatter", |b| {
        b.iter(|| formatted(&mut |one, sink| fast.format(one, sink)));
    });
    group.bench_function("iced-x86, SpecializedFormatter", |b| {
        b.iter(|| formatted(&mut |one, sink| specialized.format(one, sink)));
    });
    let words = words();
    let mut texts = Vec::with_capacity(128 * COUNT);
    group.bench_function("into a sink", |b| {
        b.iter(|| {
            texts.clear();
            for load in black_box(&words).iter().filter_map(|word| load_of(*word)) {
                texts.extend_from_slice(load.text().as_bytes());
            }
            black_box(texts.len())
        });
    });
}

#[cfg(not(iced))]
fn x86(_: &mut Criterion) {}

criterion_group!(benches, decode, encode, text, parse, x86);
criterion_main!(benches);
