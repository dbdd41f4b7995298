//! Bits that the text of a 128-bit load does not show, and how they are kept (docs/load-sm70.md section 7).
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

use crate::common::{Random, decode as decode_64};
use warpload_encoding::{
    Decoded, HiddenDescriptor, Instruction, ParseErrorKind, Sm, UniformReg, parse_line,
    parse_line_like,
};

fn sm(name: &str) -> Sm {
    name.parse().expect(name)
}

fn decode(word: u128, sm: Sm) -> Option<Instruction> {
    match Instruction::decode(word, sm) {
        Decoded::Load(load) => Some(load),
        _ => None,
    }
}

/// Loads of every form of every SM, with random fields.
fn random_loads() -> Vec<Instruction> {
    let mut random = Random(28);
    let mut loads = Vec::new();
    for sm in Sm::all().filter(|sm| sm.has_wide_words()) {
        for form in Instruction::forms(sm) {
            for _ in 0..60 {
                let mut word = u128::from(random.word()) << 64 | u128::from(random.word());
                for reading in form.describe() {
                    let field = reading.field();
                    // Half of the words have a schedule that exists.
                    let is_kept = reading.fixed().is_some()
                        || field.low() == 0
                        || field.low() >= 104 && random.word() & 1 != 0;
                    if is_kept {
                        word = word & !field.mask() | form.bits() & field.mask();
                    }
                }
                loads.extend(decode(word, sm));
            }
        }
    }
    loads
}

#[test]
fn a_word_is_its_text_and_what_the_text_does_not_say() {
    let (mut same, mut hidden) = (0, 0);
    for load in random_loads() {
        let text = load.text();
        let Ok(alone) = Instruction::parse(text.as_str(), load.sm()) else { continue };
        let like = parse_line_like(text.as_str(), &load).expect("as before");
        assert_eq!((like.instruction, like.chosen), (load, None));
        assert_eq!(alone.text().as_str(), text.as_str());
        same += 1;
        let Some(descriptor) = load.hidden_descriptor() else { continue };
        let chosen = parse_line(text.as_str(), load.sm()).expect("as before").chosen;
        // A load of another form can have the same text.
        assert_eq!(chosen, alone.hidden_descriptor(), "{load}");
        // The annotation alone is enough to keep it.
        let line = format!("{load}{descriptor}");
        let read = parse_line(&line, load.sm()).expect(&line);
        assert_eq!(read.instruction.hidden_descriptor(), Some(descriptor), "{line}");
        assert_eq!(read.instruction.text().as_str(), text.as_str());
        assert_eq!(read.chosen, None);
        hidden += 1;
    }
    assert!(same > 5_000 && hidden > 50, "{same} {hidden}");
}

#[test]
fn a_word_of_64_bits_is_its_text_and_reserved_bits() {
    let mut random = Random(28);
    let mut read = 0;
    for _ in 0..2_000_000 {
        let word = random.word() >> 3 | 7 << 61;
        let Some(load) = decode_64(word) else { continue };
        if let Ok(line) = parse_line_like(&load.to_string(), &load) {
            assert_eq!(line.instruction, load);
            read += 1;
        }
    }
    assert!(read > 1_000, "{read}");
    let load = decode_64(0xeed4_3000_0007_0200).expect("a load");
    let error = parse_line_like("LDL R0, [R2]", &load).expect_err("LDL");
    assert!(error.to_string().contains("the given word, LDG"), "{error}");
}

/// Bits from another word never change the text.
#[test]
fn another_word_changes_no_text() {
    let loads = random_loads();
    let mut compared = 0;
    for pair in loads.windows(2) {
        let [load, like] = pair else { continue };
        let text = load.text();
        let read = parse_line_like(text.as_str(), like);
        if let Ok(read) = read {
            assert_eq!(read.instruction.text().as_str(), text.as_str());
            let unread = like.reserved_bits();
            assert_eq!(read.instruction.bits() & unread, like.bits() & unread, "{text:?}");
            compared += 1;
        }
    }
    assert!(compared > 2_000, "{compared}");
}

#[test]
fn hidden_descriptors() {
    // ptxas 12.9: the descriptor is in UR4.
    let word = 0x000e_a200_0c1e_1d00_0000_0004_0204_7981;
    let load = decode(word, sm("80")).expect("a load");
    let ur4 = HiddenDescriptor::Register(UniformReg::new(4));
    assert_eq!(
        (load.text().as_str(), load.hidden_descriptor()),
        ("LDG.E.128 R4, [R2.64]", Some(ur4))
    );
    // An edited text keeps register, scheduling and all.
    let edited = parse_line_like("LDG.E.128 R8, [R2.64+0x10]", &load);
    let edited = edited.expect("a load").instruction;
    assert_eq!(edited.bits(), word & !(0xff << 16) | 8 << 16 | 0x10 << 40);
    // A scheduling in the text takes precedence.
    let text = "LDG.E.128 R4, [R2.64] &wr=0x1 ?trans3";
    let edited = parse_line_like(text, &load).expect("a load").instruction;
    assert_eq!(edited.hidden_descriptor(), Some(ur4));
    let control = edited.control().expect("a word of 128 bits");
    let control = (control.write.number(), control.schedule().to_string());
    assert_eq!(control, (Some(1), "trans3".to_owned()));

    for (of, text, hidden) in [
        ("80", "LDG.E R4, [R2.64]", " &desc=UR0"),
        ("89", "LDG.E.ENL2.256 R8, R4, [R2.64]", " &desc=UR0"),
        ("86", "LD.E R4, [R2.64]", " &desc=UR0"),
        ("80", "LDL R4, [R2]", ""),
        ("80", "LDG.E R4, desc[UR6][R2.64]", ""),
        ("80", "LDG.E R4, [R2.64+UR6]", ""),
        ("80", "LDG.E R4, [R2]", ""),
        ("90", "LDG.E R4, desc[UR6][R2.64]", ""),
        ("75", "LDG.E.SYS R4, [R2.64+UR6]", ""),
        ("80", "LDGSTS.E [R4], [R2.64]", " &desc=UR0"),
        ("80", "LDGSTS.E [R4+UR6], [R2.64]", " &desc=none"),
        ("80", "LDGSTS.E [R4], [R2.U32]", ""),
        ("80", "LDS R4, [R2]", ""),
    ] {
        let load = Instruction::parse(text, sm(of)).expect(text);
        let shown = load.hidden_descriptor().map_or(String::new(), |hidden| hidden.to_string());
        assert_eq!(shown, hidden, "{of} {text}");
        if load.hidden_descriptor().is_none() {
            continue;
        }
        for name in ["UR7", "URZ", "none"] {
            let line = format!("{text} &desc={name}");
            let Ok(read) = Instruction::parse(&line, sm(of)) else { continue };
            assert_eq!(read.text().as_str(), text);
            assert_eq!(format!("{read}{}", read.hidden_descriptor().expect(&line)), line);
        }
    }
}

#[test]
fn descriptors_that_cannot_be() {
    use ParseErrorKind as Kind;
    for (of, text, expected) in [
        ("80", "LDG.E R4, desc[UR4][R2.64] &desc=UR4", "hides no descriptor"),
        ("80", "LDG.E R4, [R2] &desc=UR4", "hides no descriptor"),
        ("90", "LDG.E R4, desc[UR4][R2.64] &desc=UR4", "hides no descriptor"),
        ("120", "LDS R4, [R2] &desc=none", "hides no descriptor"),
        ("80", "LDG.E R4, [R2.64] &desc=none", "expected a uniform register"),
        ("80", "LDG.E R4, [R2.64] &desc=R4", "expected a uniform register"),
        ("80", "LDG.E R4, [R2.64] &desc", "expected `=`"),
        ("80", "LDG.E R4, [R2.64] &desc=UR63", "UR"),
        ("80", "LDG.E R4, [R2.64] &desc=UR4 &desc=UR4", "repeated annotation"),
        ("80", "LDGSTS.E [R4+UR6], [R2.64] &desc=UR6", "after the register of the shared address"),
        ("80", "LDGSTS.E [R4], [R2.U32] &desc=UR4", "hides no descriptor"),
    ] {
        let error = parse_line(text, sm(of)).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let like = Instruction::parse("LDG.E R4, [R2.64]", sm("80")).expect("a load");
    for text in ["LDG.E R4, [R2]", "LDS R4, [R2]"] {
        let error = parse_line_like(text, &like).expect_err(text);
        assert!(matches!(error.kind, Kind::OtherForm { mnemonic: "LDG" }), "{error}");
    }
}

/// `????3` is batch 3; two, three, five or more question marks are refused.
#[test]
fn question_marks() {
    for (text, is_read) in [
        ("?trans1", true),
        ("?trans1 ????3", true),
        ("?PM1", true),
        ("??trans1", false),
        ("???trans1", false),
        ("????trans1", false),
        ("?????trans1", false),
        ("??PM1", false),
        ("???BATCH_END", false),
        ("??3", false),
        ("???3", false),
        ("?????3", false),
    ] {
        for of in ["70", "90", "120"] {
            let line = format!("LDC R0, c[0x0][0x28] {text}");
            assert_eq!(parse_line(&line, sm(of)).is_ok(), is_read, "{of} {line}");
        }
    }
}

#[test]
fn a_second_offset_is_no_register() {
    for (text, at, expected) in [
        ("LDG.E R0, [R2.64+0x4+0x8]", "+0x8]", "expected `]`"),
        ("LDG.E R0, [R2.64+0x4-0x8]", "-0x8]", "expected `]`"),
        ("LDG.E R0, [R2.64+0x4-UR4]", "-UR4]", "expected `]`"),
        ("LDG.E R0, [R2.64+0x4+]", "+]", "expected `]`"),
        ("LDG.E R0, [R2.64+0x4+UR4]", "UR4]", "register after the offset"),
        ("LDG.E R0, [0x4+R2.64]", "R2.64]", "register after the offset"),
    ] {
        let error = parse_line(text, sm("80")).expect_err(text);
        let start = text.len() - at.len();
        assert_eq!((error.span.start, &*error.to_string()), (start, expected), "{text}");
    }
}
