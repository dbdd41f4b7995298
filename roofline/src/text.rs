//! Decoding and writing the canonical text, beside iced-x86's fast formatters.

use std::hint::black_box;

use iced_x86::{
    Decoder, DecoderOptions, FastFormatter, SpecializedFormatter, SpecializedFormatterTraitOptions,
};
use warpload::encoding::{Instruction, parse_line};

use crate::measure::{Bench, Measure, Target, Unit};
use crate::words::{COUNT, words};
use crate::x86;

/// The options that iced-x86's documentation recommends for speed.
struct Fastest;

impl SpecializedFormatterTraitOptions for Fastest {
    const ENABLE_DB_DW_DD_DQ: bool = false;
    #[allow(unsafe_code)]
    unsafe fn verify_output_has_enough_bytes_left() -> bool {
        // The formatter reserves the longest text's room; the check is a second one.
        false
    }
}

/// Runs the measures.
pub(crate) fn run(bench: &Bench) {
    parse(bench);
    let Some(code) = x86::code(COUNT) else { return };
    let mut fast = FastFormatter::new();
    beside(bench, "iced-x86, decode and FastFormatter", &code, |one, out| fast.format(one, out));
    let mut specialized = SpecializedFormatter::<Fastest>::new();
    beside(bench, "iced-x86, decode and SpecializedFormatter", &code, |one, out| {
        specialized.format(one, out);
    });
}

/// Measures both, each appending to one buffer that is cleared for each batch.
fn beside(
    bench: &Bench,
    limit_name: &'static str,
    code: &[u8],
    mut format: impl FnMut(&iced_x86::Instruction, &mut String),
) {
    let words = words();
    let mut ours = Vec::with_capacity(128 * COUNT);
    let mut theirs = String::with_capacity(512 * COUNT);
    let mut decoded = iced_x86::Instruction::default();
    bench.run(
        Measure {
            name: "decode and canonical text",
            unit: Unit::INSTRUCTIONS,
            limit_name,
            target: Target::ratio(1.0),
        },
        || {
            ours.clear();
            for instruction in black_box(&words).iter().filter_map(|w| Instruction::decode(*w)) {
                ours.extend_from_slice(instruction.text().as_bytes());
            }
            black_box(&ours);
            COUNT as u64
        },
        || {
            theirs.clear();
            let mut decoder = Decoder::new(64, black_box(code), DecoderOptions::NONE);
            while decoder.can_decode() {
                decoder.decode_out(&mut decoded);
                format(&decoded, &mut theirs);
            }
            black_box(&theirs);
            COUNT as u64
        },
    );
}

/// Measures reading lines back; the least that can be done with them is to look at each byte.
fn parse(bench: &Bench) {
    let instructions = words().into_iter().filter_map(Instruction::decode);
    let lines: Vec<String> = instructions.map(|instruction| instruction.to_string()).collect();
    bench.run(
        Measure {
            name: "parse a canonical line",
            unit: Unit::LINES,
            limit_name: "end of each word found, byte by byte",
            target: Target::rate(8.3),
        },
        || {
            for line in black_box(&lines) {
                black_box(parse_line(line).is_ok());
            }
            lines.len() as u64
        },
        || {
            for line in black_box(&lines) {
                let ends = line.as_bytes().windows(2);
                black_box(
                    ends.filter(|two| {
                        two[0].is_ascii_alphanumeric() && !two[1].is_ascii_alphanumeric()
                    })
                    .count(),
                );
            }
            lines.len() as u64
        },
    );
}
