//! Words and instructions: decoding and encoding.

use std::hint::black_box;

use iced_x86::{Decoder, DecoderOptions};
use warpload::encoding::Instruction;

use crate::measure::{Bench, Measure, Target, Unit};
use crate::{random, x86};

/// As many words as fit into the first-level cache together with their instructions.
pub(crate) const COUNT: usize = 2048;

/// Returns words of `LD` with random fields: every branch on a field is as unpredictable as possible.
pub(crate) fn words() -> Vec<u64> {
    random::numbers(COUNT).map(|number| number >> 3 | 1 << 63).collect()
}

/// Runs the measures.
pub(crate) fn run(bench: &Bench) {
    decode(bench);
    decode_beside_iced(bench);
    encode(bench);
}

/// Returns a sum over every field, so that each is decoded.
fn sum_of_fields(instruction: Instruction) -> u64 {
    match instruction {
        Instruction::Ld(ld) => {
            let ld = ld.fields();
            u64::from(ld.plg.number())
                + ld.cache as u64
                + ld.size as u64
                + u64::from(ld.extended)
                + u64::from(ld.immediate.unsigned())
                + u64::from(ld.guard_negated)
                + u64::from(ld.guard.number())
                + u64::from(ld.base.number())
                + u64::from(ld.destination.number())
        }
        // All words are `LD`.
        _ => 0,
    }
}

fn sum(words: &[u64]) -> u64 {
    words.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

fn decode(bench: &Bench) {
    let words = words();
    bench.run(
        Measure {
            name: "decode, every field",
            unit: Unit::INSTRUCTIONS,
            limit_name: "sum of the words",
            target: Target::rate(300.0),
        },
        || {
            let decoded = black_box(&words).iter().filter_map(|word| Instruction::decode(*word));
            black_box(decoded.fold(0, |sum: u64, one| sum.wrapping_add(sum_of_fields(one))));
            COUNT as u64
        },
        || {
            black_box(sum(black_box(&words)));
            COUNT as u64
        },
    );
}

/// Both decode into the caller's array, the usual way to use either.
fn decode_beside_iced(bench: &Bench) {
    let Some(code) = x86::code(COUNT) else {
        return eprintln!("note: not measured beside iced-x86: this executable is not an ELF file");
    };
    let words = words();
    let mut ours: Vec<Instruction> =
        words.iter().filter_map(|word| Instruction::decode(*word)).collect();
    let mut theirs = vec![iced_x86::Instruction::default(); COUNT];
    bench.run(
        Measure {
            name: "decode beside iced-x86",
            unit: Unit::INSTRUCTIONS,
            limit_name: "iced-x86, decode of x86-64 code",
            target: Target::ratio(5.0),
        },
        || {
            for (slot, word) in ours.iter_mut().zip(black_box(&words)) {
                if let Some(instruction) = Instruction::decode(*word) {
                    *slot = instruction;
                }
            }
            black_box(&ours);
            COUNT as u64
        },
        || {
            let mut decoder = Decoder::new(64, black_box(&code), DecoderOptions::NONE);
            for slot in &mut theirs {
                decoder.decode_out(slot);
            }
            black_box(&theirs);
            COUNT as u64
        },
    );
}

fn encode(bench: &Bench) {
    let words = words();
    let instructions: Vec<Instruction> =
        words.iter().filter_map(|word| Instruction::decode(*word)).collect();
    let mut encoded = words.clone();
    bench.run(
        Measure {
            name: "encode",
            unit: Unit::INSTRUCTIONS,
            limit_name: "sum of the words",
            target: Target::NONE,
        },
        || {
            for (slot, instruction) in encoded.iter_mut().zip(black_box(&instructions)) {
                *slot = instruction.encode();
            }
            black_box(&encoded);
            COUNT as u64
        },
        || {
            black_box(sum(black_box(&words)));
            COUNT as u64
        },
    );
}
