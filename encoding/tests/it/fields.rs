//! Every value of every field survives decoding, encoding, formatting and parsing.
//!
//! The fields come from the tables themselves, so that a new row is tested without a change here.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(clippy::unwrap_used)]

use crate::common::{Random, decode, parse, word as word_of};
use proptest::prelude::*;
use warpload_encoding::control::{Notation, Scoreboard};
use warpload_encoding::{Bits, Control, Field, FieldReading, Instruction, ParseErrorKind, Sm};

/// The opcodes and their widths (docs/ld.md section 1, docs/load-family.md section 1), repeated here on
/// purpose.
const OPCODES: [(&str, u64, u32); 5] = [
    ("LD", 0b100 << 61, 3),
    ("LDG", 0xeed0 << 48, 13),
    ("LDL", 0xef40 << 48, 13),
    ("LDS", 0xef48 << 48, 13),
    ("LDC", 0xef90 << 48, 13),
];

/// A word with one of the opcodes and its other bits from `bits`.
fn load_word(which: usize, bits: u64) -> u64 {
    let (_, opcode, width) = OPCODES[which % OPCODES.len()];
    bits >> width | opcode
}

/// The bits of docs/load-family.md section 1 that the disassembler does not read, repeated here on
/// purpose.
#[test]
fn unread_bits_are_those_of_the_documents() {
    let unread = [0u64, 1 << 44, 0b11 << 46, 0b111 << 45, 0b11 << 46 | 0b111 << 41];
    for (which, unread) in unread.into_iter().enumerate() {
        let word = load_word(which, 0);
        let instruction = decode(word).unwrap();
        assert_eq!(instruction.reserved_bits(), unread.into(), "{instruction}");
        let other = decode(word | unread).unwrap();
        assert_eq!(other.text().as_str(), instruction.text().as_str());
    }
}

/// Assembles the text of `word`; `None` if the word has an invalid size, because its text is refused.
fn reassembled(word: u64) -> Option<Instruction> {
    let instruction = decode(word).unwrap();
    let text = instruction.text();
    match (instruction.lane_bits().ok_or("INVALIDSIZE"), parse(&text)) {
        (Err(invalid), Err(error)) => {
            assert!(text.contains(invalid), "{text}");
            assert!(
                matches!(error.kind, ParseErrorKind::InvalidModifier { .. }),
                "{text}: {error}"
            );
            None
        }
        (Ok(_), Ok(line)) => {
            assert_eq!((line.control, line.alias), (None, None), "{text}");
            Some(line.instruction)
        }
        (size, line) => panic!("{text}: {size:?}, {line:?}"),
    }
}

/// All values of the field; if it is wider than 16 bits, the ends of its unsigned and signed ranges, every single bit,
/// and random ones.
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

/// Checks that the readings cover each of the lowest `width` bits once and contain the bits of the word.
fn assert_covers(readings: impl Iterator<Item = FieldReading>, word: u64, width: u32) {
    let (mut covered, mut gathered, mut next) = (0u128, 0u128, width);
    for reading in readings {
        let field = reading.field();
        assert_eq!(u32::from(field.high()) + 1, next, "{field} does not follow the one before");
        assert_eq!(covered & field.mask(), 0, "{field} covers bits again");
        assert!(!reading.name().is_empty() && !reading.purpose().is_empty());
        assert!(!reading.to_string().is_empty(), "{field} has no meaning");
        covered |= field.mask();
        gathered = field.with(gathered, reading.raw);
        next = u32::from(field.low());
    }
    assert_eq!(covered, u128::MAX >> (128 - width));
    assert_eq!(gathered, word.into());
}

fn assert_survives(word: u64) {
    let instruction = decode(word).unwrap();
    assert_eq!(word_of(instruction), word, "{word:#018x}");
    if let Some(again) = reassembled(word) {
        assert_eq!(again.bits(), u128::from(word) & !instruction.reserved_bits(), "{instruction}");
        assert_eq!(again.text().as_str(), instruction.text().as_str());
    }
}

fn names(readings: impl Iterator<Item = FieldReading>) -> String {
    let rows: Vec<String> =
        readings.map(|reading| format!("{} {}", reading.field(), reading.name())).collect();
    rows.join(", ")
}

/// One load of each of the [`OPCODES`].
fn forms() -> Vec<Instruction> {
    Instruction::forms(Sm::SPA5).collect()
}

fn set(field: Field, word: u64, value: u64) -> u64 {
    field.with(word.into(), value) as u64
}

/// The tables of docs/ld.md sections 1 and 5 and docs/load-family.md section 1, copied by hand, because the round trips
/// below would not notice two fields that changed places.
#[test]
fn fields_are_where_the_reference_has_them() {
    assert_eq!(
        names(forms()[0].describe()),
        "63:61 opcode, 60:58 Plg, 57:56 cop, 55:53 sz, 52 E, 51:20 imm, 19 !, 18:16 Pg, 15:8 Ra, \
         7:0 Rd"
    );
    assert_eq!(
        names(forms()[1].describe()),
        "63:51 opcode, 50:48 sz, 47:46 cop, 45 E, 44 -, 43:20 imm, 19 !, 18:16 Pg, 15:8 Ra, 7:0 Rd"
    );
    assert_eq!(
        names(forms()[2].describe()),
        "63:51 opcode, 50:48 sz, 47:46 -, 45:44 cop, 43:20 imm, 19 !, 18:16 Pg, 15:8 Ra, 7:0 Rd"
    );
    assert_eq!(
        names(forms()[3].describe()),
        "63:51 opcode, 50:48 sz, 47:45 -, 44 U, 43:20 imm, 19 !, 18:16 Pg, 15:8 Ra, 7:0 Rd"
    );
    assert_eq!(
        names(forms()[4].describe()),
        "63:51 opcode, 50:48 sz, 47:46 -, 45:44 mode, 43:41 -, 40:36 bank, 35:20 imm, 19 !, \
         18:16 Pg, 15:8 Ra, 7:0 Rd"
    );
    assert_eq!(
        names(Control::default().describe()),
        "20:17 reuse, 16:11 req, 10:8 rd, 7:5 wr, 4 yield, 3:0 stall"
    );
}

#[test]
fn every_value_of_every_field() {
    let mut random = Random(1);
    for (which, form) in forms().into_iter().enumerate() {
        let name = OPCODES[which].0;
        for row in form.describe() {
            for value in values(row.field(), &mut random) {
                let word = set(row.field(), load_word(which, random.word()), value);
                let decoded = decode(word).map(|load| load.mnemonic());
                if row.fixed().is_some_and(|fixed| fixed != value) {
                    assert_ne!(decoded, Some(name), "{word:#018x}");
                    continue;
                }
                assert_eq!(decoded, Some(name), "{word:#018x}");
                assert_survives(word);
                assert_covers(decode(word).unwrap().describe(), word, 64);
            }
        }
    }
}

#[test]
fn every_value_of_every_control_field() {
    let mut random = Random(2);
    for row in Control::default().describe() {
        for value in values(row.field(), &mut random) {
            let slot = set(row.field(), random.word() & ((1 << 21) - 1), value);
            let control = Control::unpack(slot);
            assert_eq!(control.pack(), slot);
            assert_covers(control.describe(), slot, 21);
        }
    }
}

/// Each field alone, so that an error in one field cannot be hidden by another.
#[test]
fn every_value_of_every_field_beside_the_defaults() {
    let mut random = Random(3);
    let plain =
        ["LD R0, [R1]", "LDG R0, [R1]", "LDL R0, [R1]", "LDS R0, [R1]", "LDC R0, c[0x0][R1]"];
    for plain in plain {
        let plain = parse(plain).unwrap().instruction;
        for row in plain.describe().filter(|row| row.fixed().is_none()) {
            for value in values(row.field(), &mut random) {
                assert_survives(set(row.field(), word_of(plain), value));
            }
        }
    }
}

/// All 13-bit opcodes: an eighth of them is LD's, four are the family's.
#[test]
fn other_opcodes_are_not_loads() {
    let mut random = Random(4);
    for opcode in 0..1u64 << 13 {
        let word = random.word() >> 13 | opcode << 51;
        let expected =
            OPCODES.iter().find(|(_, bits, width)| word >> (64 - width) == bits >> (64 - width));
        let decoded = decode(word).map(|load| load.mnemonic());
        assert_eq!(decoded, expected.map(|(name, ..)| *name), "{word:#018x}");
    }
}

/// Reads the slot back from its text before or after an instruction.
fn reread(control: Control, notation: Notation) -> Control {
    let shown = control.display(notation);
    let text = if notation.is_trailing() {
        format!("LD R0, [R1] {shown} ;")
    } else {
        format!("{shown} LD R0, [R1] ;")
    };
    let line = parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    line.control.unwrap_or_else(|| panic!("{text}: no control"))
}

fn without_reuse(control: Control) -> Control {
    Control { reuse: Bits::default(), ..control }
}

/// All 2^17 slots without reuse flags, in each notation that can be read back.
#[test]
fn every_slot_in_every_notation() {
    let six = Scoreboard::new(6).unwrap();
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

/// Splits canonical text into words and single characters, without spaces.
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
    fn decode_then_encode_is_identity(which: usize, bits: u64) {
        let word = load_word(which, bits);
        prop_assert_eq!(decode(word).map(word_of), Some(word));
    }

    #[test]
    fn format_then_parse_is_identity(which: usize, bits: u64) {
        assert_survives(load_word(which, bits));
    }

    #[test]
    fn case_does_not_matter(which: usize, bits: u64, flips: u64) {
        let Some(instruction) = reassembled(load_word(which, bits)) else { return Ok(()) };
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
        prop_assert_eq!(parse(&flipped).unwrap().instruction, instruction, "{}", flipped);
    }

    #[test]
    fn blanks_between_tokens_do_not_matter(which: usize, bits: u64, blanks: [u8; 64], notation in 0..3u8) {
        let Some(instruction) = reassembled(load_word(which, bits)) else { return Ok(()) };
        let text = instruction.text();
        let mut blanks = blanks.iter().map(|n| BLANKS[usize::from(*n) % BLANKS.len()]);
        let mut spaced = String::new();
        if notation > 0 {
            spaced += blanks.next().unwrap();
            spaced += if notation == 1 { "01:-:1:Y:d" } else { "[B0-----:R-:W0:Y:S13]" };
            // A word ends before a comment, too.
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
        let line = parse(&spaced).unwrap_or_else(|error| panic!("{spaced:?}: {error}"));
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
