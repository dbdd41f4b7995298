//! Words of 128 bits beside words of 64 bits, in bytes per second: decoding, and the canonical text.

use std::hint::black_box;
use std::path::Path;

use warpload::encoding::{Decoded128, Instruction, Instruction128, MachineWord, Sm};
use warpload_binary::sass::{Format, read};

use crate::measure::{Bench, Measure, Target, Unit};
use crate::random;
use crate::words::{COUNT, words};

/// Code that ptxas wrote (tests/data/README.md).
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data");

type Wide = (u128, Sm);

/// Runs the measures.
pub(crate) fn run(bench: &Bench) {
    if !ALL.iter().any(|(decode, text)| bench.wants(decode) || bench.wants(text)) {
        return;
    }
    let (narrow, wide) = compiled();
    let is_narrow = |word: &u64| Instruction::decode(*word).is_some();
    let narrow_loads: Vec<u64> = narrow.iter().copied().filter(is_narrow).collect();
    let wide_loads: Vec<Wide> = wide.iter().copied().filter(is_load).collect();
    // One in so many is a load, which differs between the two: no target.
    beside(bench, ALL[0], Target::NONE, &some(&narrow), &some(&wide));
    let target = Target::ratio(0.8);
    beside(bench, ALL[1], target, &some(&narrow_loads), &some(&wide_loads));
    beside(bench, ALL[2], target, &words(), &random_loads());
}

/// The names of the measures: decoding, and the text too.
const ALL: [(&str, &str); 3] = [
    ("decode 128-bit words, compiled code", "decode and text of 128-bit words, compiled code"),
    ("decode 128-bit words, compiled loads", "decode and text of 128-bit words, compiled loads"),
    ("decode 128-bit words, random loads", "decode and text of 128-bit words, random loads"),
];

fn is_load((word, sm): &Wide) -> bool {
    matches!(Instruction128::decode(*word, *sm), Decoded128::Load(_))
}

/// Returns [`COUNT`] of the items, from everywhere among them.
fn some<T: Copy>(items: &[T]) -> Vec<T> {
    (0..COUNT).map(|i| items[i * items.len() / COUNT]).collect()
}

/// Returns the words of both widths in the cubins of the repository.
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

/// Returns loads of every form and SM, with random fields.
fn random_loads() -> Vec<Wide> {
    let forms: Vec<_> = Sm::all().flat_map(Instruction128::forms).collect();
    let mut numbers = random::numbers(64 * COUNT);
    let mut loads = Vec::with_capacity(COUNT);
    while loads.len() < COUNT {
        let mut next = || numbers.next().expect("most words are loads");
        let form = forms[next() as usize % forms.len()];
        let random = u128::from(next()) << 64 | u128::from(next());
        let fixed = form.describe().filter(|reading| reading.fixed().is_some());
        let mask = fixed.fold(0, |mask, reading| mask | reading.field().mask());
        let word = (form.encode() & mask | random & !mask, form.sm());
        if is_load(&word) {
            loads.push(word);
        }
    }
    loads
}

/// Measures both widths, each into one array or buffer that is reused.
fn beside(bench: &Bench, names: (&str, &str), target: Target, narrow: &[u64], wide: &[Wide]) {
    let measure = |name, limit_name| Measure { name, unit: Unit::BYTES, limit_name, target };
    let (narrow_bytes, wide_bytes) = (8 * narrow.len() as u64, 16 * wide.len() as u64);
    let mut narrow_loads = Vec::with_capacity(narrow.len());
    let mut wide_loads = Vec::with_capacity(wide.len());
    bench.run(
        measure(names.0, "the same of 64-bit words"),
        || {
            wide_loads.clear();
            for (word, sm) in black_box(wide) {
                if let Decoded128::Load(load) = Instruction128::decode(*word, *sm) {
                    wide_loads.push(load);
                }
            }
            black_box(&wide_loads);
            wide_bytes
        },
        || {
            narrow_loads.clear();
            for word in black_box(narrow) {
                if let Some(load) = Instruction::decode(*word) {
                    narrow_loads.push(load);
                }
            }
            black_box(&narrow_loads);
            narrow_bytes
        },
    );
    let (mut narrow_texts, mut wide_texts) = (Vec::new(), Vec::new());
    bench.run(
        measure(names.1, "the same of 64-bit words"),
        || {
            wide_texts.clear();
            for (word, sm) in black_box(wide) {
                if let Decoded128::Load(load) = Instruction128::decode(*word, *sm) {
                    wide_texts.extend_from_slice(load.text().as_bytes());
                }
            }
            black_box(&wide_texts);
            wide_bytes
        },
        || {
            narrow_texts.clear();
            for word in black_box(narrow) {
                if let Some(load) = Instruction::decode(*word) {
                    narrow_texts.extend_from_slice(load.text().as_bytes());
                }
            }
            black_box(&narrow_texts);
            narrow_bytes
        },
    );
}
