//! Words of 128 bits, compared with nvdisasm 12.8's answers for 15 SMs (tests/data/README.md).

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use crate::common::rows_of_128_bits as rows;
use warpload_encoding::{Decoded, Instruction, Sm, parse_line};

/// The mnemonic of a text, after its guard.
fn mnemonic(text: &str) -> &str {
    let unguarded = text.strip_prefix('@').and_then(|rest| rest.split_once(' '));
    let text = unguarded.map_or(text, |(_, rest)| rest);
    text.split(['.', ' ']).next().unwrap()
}

#[test]
fn texts_refusals_and_words_are_those_of_nvdisasm() {
    let mut counts = BTreeMap::new();
    for (sm, word, expected) in rows() {
        let is_load = Instruction::mnemonics(sm).any(|name| name == mnemonic(&expected));
        let kind = match Instruction::decode(word, sm) {
            Decoded::Load(load) => {
                // Its text, with the scheduling that 12.8 appends.
                assert_eq!(format!("{load}{}", load.annotations()), expected, "{sm} {word:#034x}");
                assert_eq!(load.bits(), word);
                "loads"
            }
            Decoded::Illegal(illegal) => {
                assert_eq!(expected, "illegal", "SM {sm} {word:#034x}: {illegal}");
                "refused"
            }
            Decoded::Other => {
                assert!(!is_load, "SM {sm} {word:#034x} {expected}");
                if expected == "illegal" { "illegal, but no load's opcode" } else { "others" }
            }
        };
        *counts.entry(kind).or_insert(0) += 1;
    }
    let expected = [
        ("illegal, but no load's opcode", 120),
        ("loads", 12_000),
        ("others", 1_500),
        ("refused", 1_380),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
}

/// The texts of nvdisasm assemble to words with the same text, except texts of meaningless numbers.
#[test]
fn texts_are_assembled() {
    for (sm, word, text) in rows() {
        let Decoded::Load(load) = Instruction::decode(word, sm) else { continue };
        let canonical = load.text();
        let is_invalid = canonical.contains("INVALID") || canonical.contains("???");
        for text in [&text, canonical.as_str()] {
            match parse_line(text, sm) {
                Err(error) => assert!(is_invalid, "SM {sm} {text}: {error}"),
                Ok(line) => {
                    let parsed = line.instruction;
                    assert!(!is_invalid, "SM {sm} {text} is accepted");
                    assert_eq!(parsed.text().as_str(), canonical.as_str(), "SM {sm} {word:#034x}");
                }
            }
        }
        // From 12.0 on the text names the whole scheduling.
        if !is_invalid && sm.number() >= 120 {
            let parsed = parse_line(&text, sm).unwrap().instruction;
            assert_eq!(parsed.control(), load.control(), "SM {sm} {text}");
            assert_eq!((parsed.batch(), parsed.pm()), (load.batch(), load.pm()), "SM {sm} {text}");
        }
    }
}

/// The rows of each form cover each bit once, so that writing one field changes no other.
#[test]
fn the_fields_of_each_form_cover_the_word() {
    for sm in Sm::all().filter(|sm| sm.has_wide_words()) {
        for form in Instruction::forms(sm) {
            let mut next = 128;
            for reading in form.describe() {
                let field = reading.field();
                assert_eq!(u32::from(field.high()) + 1, next, "SM {sm} {form}: {}", reading.name());
                next = field.low().into();
            }
            assert_eq!(next, 0, "SM {sm} {form}");
        }
    }
}

/// If 12.8 appends annotations, those left out are 0. Before SM 12.0 it appends only PM, which does not determine the
/// others, and without annotations the scheduling is unknown (docs/load-sm70.md section 7).
#[test]
fn scheduling_that_a_text_does_not_name() {
    for (sm, annotations, schedule) in
        [("120", " ?PM2", 0), ("120", " &wr=0x1", 0), ("120", "", 17), ("90", " ?PM2", 17)]
    {
        let parsed =
            parse_line(&format!("LDG.E R2, desc[UR4][R4.64]{annotations}"), sm.parse().unwrap());
        let parsed = parsed.unwrap().instruction;
        assert_eq!(parsed.control().unwrap().schedule().value(), schedule, "{sm}{annotations}");
        assert_eq!(parsed.pm(), if annotations.contains("PM2") { 2 } else { 0 });
    }
}
