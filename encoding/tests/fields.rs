//! Every value of every field survives decode, encode, text and parse.
//!
//! The fields come from the tables themselves, so that a new row is tested without a change here.
#![allow(clippy::unwrap_used)]

mod common;

use common::Random;
use proptest::prelude::*;
use warpload_encoding::control::{Barrier, Notation};
use warpload_encoding::{
    Control, Field, FieldReading, FieldValue, Instruction, Layout, Ld, describe, parse_line,
};

/// The LD opcode, 0b100 in bits 63:61 (docs/ld.md section 1), said here a second time on purpose.
const LD_OPCODE: u64 = 0b100 << 61;

fn with_ld_opcode(bits: u64) -> u64 {
    bits >> 3 | LD_OPCODE
}

/// All values of the field; where it is wider than 16 bits, the ends of its unsigned and signed
/// ranges, every single bit, and random ones.
fn values(field: Field, random: &mut Random) -> Vec<u64> {
    let largest = u64::MAX >> (64 - field.width());
    if field.width() <= 16 {
        return (0..=largest).collect();
    }
    let half = largest / 2 + 1;
    let mut values = vec![0, 1, 2, half - 1, half, half + 1, largest - 1, largest];
    values.extend((0..field.width()).map(|bit| 1 << bit));
    values.extend((0..1000).map(|_| random.word() & largest));
    values
}

/// The readings cover each of the lowest `width` bits once, and hold the word's bits.
fn assert_covers(readings: impl Iterator<Item = FieldReading>, word: u64, width: u32) {
    let (mut covered, mut gathered, mut next) = (0u64, 0u64, width);
    for reading in readings {
        let field = reading.row.field;
        assert_eq!(u32::from(field.high()) + 1, next, "{field} does not follow the one before");
        assert_eq!(covered & field.mask(), 0, "{field} covers bits again");
        assert!(!reading.row.name.is_empty() && !reading.row.purpose.is_empty());
        assert!(!reading.to_string().is_empty(), "{field} has no meaning");
        covered |= field.mask();
        gathered |= field.set(0, reading.raw).unwrap();
        next = u32::from(field.low());
    }
    assert_eq!(covered, u64::MAX >> (64 - width));
    assert_eq!(gathered, word);
}

fn assert_survives(word: u64) {
    let instruction = Instruction::decode(word).unwrap();
    assert_eq!(instruction.encode(), word, "{word:#018x}");
    let text = instruction.text();
    let line = parse_line(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(line.instruction, instruction, "{text}");
    assert_eq!((line.control, line.alias), (None, None), "{text}");
}

fn names<L: Layout>() -> String {
    let rows: Vec<String> =
        L::ROWS.iter().map(|row| format!("{} {}", row.field, row.name)).collect();
    rows.join(", ")
}

/// The tables of docs/ld.md sections 1 and 5, copied by hand: the round trips below would not
/// notice two fields that changed places.
#[test]
fn fields_stand_where_the_reference_has_them() {
    assert_eq!(
        names::<Ld>(),
        "63:61 opcode, 60:58 Plg, 57:56 cop, 55:53 sz, 52 E, 51:20 imm, 19 !, 18:16 Pg, 15:8 Ra, \
         7:0 Rd"
    );
    assert_eq!(names::<Control>(), "20:17 reuse, 16:11 req, 10:8 rd, 7:5 wr, 4 yield, 3:0 stall");
}

#[test]
fn every_value_of_every_ld_field() {
    let mut random = Random(1);
    for row in Ld::ROWS {
        for value in values(row.field, &mut random) {
            let word = row.field.set(with_ld_opcode(random.word()), value).unwrap();
            if row.fixed.is_some_and(|fixed| fixed != value) {
                assert!(!Ld::matches(word));
                assert!(!matches!(Instruction::decode(word), Some(Instruction::Ld(_))));
                continue;
            }
            assert!(Ld::matches(word));
            assert_survives(word);
            assert_covers(describe(word).unwrap(), word, 64);
        }
    }
}

#[test]
fn every_value_of_every_control_field() {
    let mut random = Random(2);
    for row in Control::ROWS {
        for value in values(row.field, &mut random) {
            let slot = row.field.set(random.word() & ((1 << Control::WIDTH) - 1), value).unwrap();
            let control = Control::unpack(slot);
            assert_eq!(control.pack(), slot);
            assert_covers(control.describe(), slot, Control::WIDTH);
        }
    }
}

/// Each field alone: text that follows one field only cannot hide behind the others.
#[test]
fn every_value_of_every_ld_field_beside_the_defaults() {
    let mut random = Random(3);
    let plain = parse_line("LD R0, [R1]").unwrap().instruction.encode();
    for row in Ld::ROWS.iter().filter(|row| row.fixed.is_none()) {
        for value in values(row.field, &mut random) {
            assert_survives(row.field.set(plain, value).unwrap());
        }
    }
}

#[test]
fn other_opcodes_are_not_ld() {
    let mut random = Random(4);
    for opcode in (0..8).filter(|opcode| *opcode != 0b100) {
        for _ in 0..1000 {
            let word = random.word() >> 3 | opcode << 61;
            assert!(!Ld::matches(word));
            assert!(!matches!(Instruction::decode(word), Some(Instruction::Ld(_))));
        }
    }
}

/// Reads the slot back from its text in front of or behind an instruction.
fn reread(control: Control, notation: Notation) -> Control {
    let shown = control.display(notation);
    let text = if notation.is_behind() {
        format!("LD R0, [R1] {shown} ;")
    } else {
        format!("{shown} LD R0, [R1] ;")
    };
    let line = parse_line(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    line.control.unwrap_or_else(|| panic!("{text}: no control"))
}

fn without_reuse(control: Control) -> Control {
    Control { reuse: FieldValue::from_bits(0), ..control }
}

/// All 2^17 slots without reuse flags, in each notation that can be read back.
#[test]
fn every_slot_in_every_notation() {
    let six = Barrier::new(6).unwrap();
    for bits in 0..1 << 17 {
        let control = Control::unpack(bits);
        for notation in [Notation::Maxas, Notation::CuAssembler, Notation::Nvidia] {
            // `&rd` and `&wr` accept 0..=5 only.
            let has_six = control.read == six || control.write == six;
            if notation == Notation::Nvidia && has_six {
                continue;
            }
            assert_eq!(reread(control, notation), control, "{}", control.display(notation));
        }
    }
}

/// Splits canonical text into words and single characters, its spaces left out.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_alphanumeric() {
            rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

const BLANKS: [&str; 8] =
    ["", " ", "\t ", "/**/", "/* a:b [c] */", " // LD R9\n", "\r\n", "/***/ /* é */"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn decode_then_encode_is_identity(bits: u64) {
        let word = with_ld_opcode(bits);
        prop_assert_eq!(Instruction::decode(word).map(Instruction::encode), Some(word));
    }

    #[test]
    fn format_then_parse_is_identity(bits: u64) {
        let instruction = Instruction::decode(with_ld_opcode(bits)).unwrap();
        prop_assert_eq!(parse_line(&instruction.text()).unwrap().instruction, instruction);
    }

    #[test]
    fn case_does_not_matter(bits: u64, flips: u64) {
        let instruction = Instruction::decode(with_ld_opcode(bits)).unwrap();
        let flipped: String = instruction
            .text()
            .chars()
            .enumerate()
            .map(|(i, c)| match flips >> i & 1 {
                0 => c,
                _ if c.is_ascii_lowercase() => c.to_ascii_uppercase(),
                _ => c.to_ascii_lowercase(),
            })
            .collect();
        prop_assert_eq!(parse_line(&flipped).unwrap().instruction, instruction, "{}", flipped);
    }

    #[test]
    fn blanks_between_tokens_do_not_matter(bits: u64, blanks: [u8; 64], notation in 0..3u8) {
        let instruction = Instruction::decode(with_ld_opcode(bits)).unwrap();
        let text = instruction.text();
        let mut blanks = blanks.iter().map(|n| BLANKS[usize::from(*n) % BLANKS.len()]);
        let mut spaced = String::new();
        if notation > 0 {
            spaced += blanks.next().unwrap();
            spaced += if notation == 1 { "01:-:1:Y:d" } else { "[B0-----:R-:W0:Y:S13]" };
            // A word ends in front of a comment, too.
            spaced += blanks.next().filter(|blank| !blank.is_empty()).unwrap_or(" ");
        }
        let mut after_word = false;
        for token in tokens(&text) {
            let word = token.starts_with(|c: char| c.is_ascii_alphanumeric());
            let blank = blanks.next().unwrap();
            spaced += if blank.is_empty() && word && after_word { " " } else { blank };
            spaced += token;
            after_word = word;
        }
        spaced += blanks.next().unwrap();
        let line = parse_line(&spaced).unwrap_or_else(|error| panic!("{spaced:?}: {error}"));
        prop_assert_eq!(line.instruction, instruction, "{}", spaced);
        prop_assert_eq!(line.control.is_some(), notation > 0);
    }

    #[test]
    fn slots_then_word_is_identity(bits in 0..1u64 << 63) {
        prop_assert_eq!(Control::word(Control::slots(bits)), bits);
    }

    #[test]
    fn notations_lose_the_reuse_flags_only(bits in 0..1u64 << 21) {
        let control = Control::unpack(bits);
        for notation in [Notation::Maxas, Notation::CuAssembler] {
            prop_assert_eq!(reread(control, notation), without_reuse(control));
        }
    }
}
