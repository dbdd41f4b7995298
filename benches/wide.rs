//! Words of 128 bits beside words of 64 bits, in bytes of code per second: decoding, and the canonical text.
#![allow(clippy::expect_used, clippy::panic, reason = "a bench")]
#![allow(missing_docs, reason = "the macros of criterion make an undocumented function")]

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use warpload_binary::sass::{Format, read};
use warpload_encoding::{Decoded, Instruction, MachineWord, Sm, Text};

/// Code that ptxas wrote (tests/data/README.md).
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data");

/// As many words as fit into the first-level cache together with their instructions.
const COUNT: usize = 2048;

type Wide = (u128, Sm);

fn is_load((word, sm): &Wide) -> bool {
    matches!(Instruction::decode(*word, *sm), Decoded::Load(_))
}

/// [`COUNT`] of the items, evenly spread.
fn some<T: Copy>(items: &[T]) -> Vec<T> {
    (0..COUNT).map(|i| items[i * items.len() / COUNT]).collect()
}

/// The words of both widths in the cubins of the repository.
fn compiled() -> (Vec<u64>, Vec<Wide>) {
    let (mut narrow, mut wide) = (Vec::new(), Vec::new());
    for folder in ["listings", "listings128"] {
        let mut files: Vec<_> = std::fs::read_dir(Path::new(DATA).join(folder))
            .expect("a folder of the repository")
            .map(|entry| entry.expect("a file of the folder").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "cubin"))
            .collect();
        files.sort();
        for file in files {
            let bytes = std::fs::read(file).expect("a file of the folder");
            for instruction in read(&bytes[..], Format::Detect).expect("a cubin") {
                let instruction = instruction.expect("a cubin");
                match instruction.word {
                    Some(MachineWord::Bits64(word)) => narrow.push(word),
                    Some(MachineWord::Bits128(word)) => {
                        wide.push((word, instruction.sm.expect("a cubin names its SM")))
                    }
                    None => {}
                }
            }
        }
    }
    (narrow, wide)
}

/// The outputs of SplitMix64 seeded with 0.
fn numbers() -> impl Iterator<Item = u64> {
    (1u64..).map(|i| {
        let z = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// Loads of every form and SM, with random fields.
fn random_loads() -> Vec<Wide> {
    let forms: Vec<_> =
        Sm::all().filter(|sm| sm.has_wide_words()).flat_map(Instruction::forms).collect();
    let mut numbers = numbers();
    let mut loads = Vec::with_capacity(COUNT);
    while loads.len() < COUNT {
        let mut next = || numbers.next().unwrap_or_default();
        let form = forms[next() as usize % forms.len()];
        let random = u128::from(next()) << 64 | u128::from(next());
        let fixed = form.describe().filter(|reading| reading.fixed().is_some());
        let mask = fixed.fold(0, |mask, reading| mask | reading.field().mask());
        let word = (form.bits() & mask | random & !mask, form.sm());
        if is_load(&word) {
            loads.push(word);
        }
    }
    loads
}

/// Both widths, each into one array or buffer that is reused.
fn beside(criterion: &mut Criterion, name: &str, narrow: &[u64], wide: &[Wide]) {
    let decode = |word: &Wide| match Instruction::decode(word.0, word.1) {
        Decoded::Load(load) => Some(load),
        _ => None,
    };
    let (narrow_bytes, wide_bytes) =
        (Throughput::Bytes(8 * narrow.len() as u64), Throughput::Bytes(16 * wide.len() as u64));
    let mut narrow_loads = Vec::with_capacity(narrow.len());
    let mut wide_loads = Vec::with_capacity(wide.len());
    let mut group = criterion.benchmark_group(format!("decode, {name}"));
    group.throughput(wide_bytes.clone()).bench_function("128 bits", |b| {
        b.iter(|| {
            wide_loads.clear();
            wide_loads.extend(black_box(wide).iter().filter_map(decode));
            black_box(&wide_loads);
        });
    });
    group.throughput(narrow_bytes.clone()).bench_function("limit: 64 bits", |b| {
        b.iter(|| {
            narrow_loads.clear();
            narrow_loads.extend(
                black_box(narrow).iter().filter_map(|w| Instruction::decode(*w, Sm::SPA5).load()),
            );
            black_box(&narrow_loads);
        });
    });
    group.finish();
    let (mut text, mut texts) = (Text::new(), Vec::new());
    let mut group = criterion.benchmark_group(format!("decode and text, {name}"));
    group.throughput(wide_bytes).bench_function("128 bits", |b| {
        b.iter(|| {
            texts.clear();
            for load in black_box(wide).iter().filter_map(decode) {
                load.write_text(&mut text);
                texts.extend_from_slice(text.as_bytes());
            }
            black_box(&texts);
        });
    });
    group.throughput(narrow_bytes).bench_function("limit: 64 bits", |b| {
        b.iter(|| {
            texts.clear();
            for load in black_box(narrow)
                .iter()
                .filter_map(|word| Instruction::decode(*word, Sm::SPA5).load())
            {
                load.write_text(&mut text);
                texts.extend_from_slice(text.as_bytes());
            }
            black_box(&texts);
        });
    });
    group.finish();
}

/// Loads are a different share of compiled code in the two widths, so compare the rates of loads alone.
fn words(criterion: &mut Criterion) {
    let (narrow, wide) = compiled();
    let is_narrow = |word: &u64| Instruction::decode(*word, Sm::SPA5).load().is_some();
    let narrow_loads: Vec<u64> = narrow.iter().copied().filter(is_narrow).collect();
    let wide_loads: Vec<Wide> = wide.iter().copied().filter(is_load).collect();
    // `LD` with random fields.
    let random: Vec<u64> = numbers().take(COUNT).map(|number| number >> 3 | 1 << 63).collect();
    beside(criterion, "compiled code", &some(&narrow), &some(&wide));
    beside(criterion, "compiled loads", &some(&narrow_loads), &some(&wide_loads));
    beside(criterion, "random loads", &random, &random_loads());
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .measurement_time(Duration::from_secs(2))
        .warm_up_time(Duration::from_millis(500));
    targets = words
}
criterion_main!(benches);
