//! Every instruction of SM 5.0 to 6.2, against the texts and refusals of nvdisasm, and properties of the table.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use warpload_encoding::{Bits, Sm, Spa5Instruction, Spa5TextErrorKind};

use crate::common::Random;

const SMS: [&str; 6] = ["50", "52", "53", "60", "61", "62"];

fn unpacked(path: &str) -> String {
    let compressed = std::fs::read(path).unwrap();
    let mut text = String::new();
    liblzma::read::XzDecoder::new(&compressed[..]).read_to_string(&mut text).unwrap();
    text
}

/// Word, text and SMs of each row; the text of a refused word is `-`.
fn rows() -> Vec<(u64, String, Vec<Sm>)> {
    let text = unpacked("tests/data/nvdisasm-spa5.tsv.xz");
    let sms = |list: &str| list.split(',').map(|sm| sm.parse().unwrap()).collect::<Vec<Sm>>();
    let row = |line: &str| {
        let mut fields = line.split('\t');
        let word = u64::from_str_radix(fields.next().unwrap(), 16).unwrap();
        let text = fields.next().unwrap().trim_end().to_owned();
        (word, text, sms(&fields.next().map_or_else(|| SMS.join(","), str::to_owned)))
    };
    text.lines().map(row).collect()
}

/// The corpus has 300 words of each mnemonic, and the same number of those whose text depends on the SM.
#[test]
fn texts_and_refusals_are_those_of_nvdisasm() {
    let (mut counts, mut refused) = (BTreeMap::new(), 0);
    for (at, (word, text, sms)) in rows().into_iter().enumerate() {
        let sm = sms[at % sms.len()];
        let Some(decoded) = Spa5Instruction::decode(word, sm) else {
            assert_eq!(text, "-", "{word:#018x} on SM {sm}");
            refused += 1;
            continue;
        };
        let written = decoded.text_at(8).to_string();
        assert_eq!(written.trim_end(), text, "{word:#018x} on SM {sm}");
        let read = Spa5Instruction::parse(&text, sm, 8);
        let read = read.unwrap_or_else(|error| panic!("{text}: {error} at byte {}", error.at));
        assert_eq!(read.text_at(8).to_string(), written, "{word:#018x} on SM {sm}");
        *counts.entry(decoded.mnemonic()).or_insert(0) += 1;
    }
    assert!(refused > 400, "{refused}");
    assert!(counts.len() > 110 && counts.values().all(|count| *count >= 20), "{counts:?}");
}

/// Bits that are not read change nothing, and each other bit changes the text of some word of its form.
#[test]
fn bits_that_are_not_read_change_no_text() {
    let sm: Sm = "61".parse().unwrap();
    for (word, ..) in rows().into_iter().step_by(7) {
        let Some(decoded) = Spa5Instruction::decode(word, sm) else { continue };
        let unread = decoded.unread_bits();
        for word in [word | unread, word & !unread] {
            let other = Spa5Instruction::decode(word, sm).map(|other| other.text_at(8).to_string());
            assert_eq!(other, Some(decoded.text_at(8).to_string()), "{word:#018x}");
        }
    }
}

/// Random words of each opcode: what is printed is read back, and neither panics nor takes long.
#[test]
fn random_words_are_printed_and_read_back() {
    let mut random = Random(7);
    let (mut legal, mut mnemonics) = (0, BTreeSet::new());
    for prefix in 0..1_u64 << 13 {
        let word = prefix << 51 | random.word() >> 13;
        let sm: Sm = SMS[prefix as usize % SMS.len()].parse().unwrap();
        let Some(decoded) = Spa5Instruction::decode(word, sm) else { continue };
        assert_eq!((decoded.word(), decoded.sm()), (word, sm));
        let text = decoded.text_at(0x1008).to_string();
        let read = Spa5Instruction::parse(&text, sm, 0x1008);
        assert_eq!(
            read.map(|read| read.text_at(0x1008).to_string()),
            Ok(text.clone()),
            "{word:#018x}"
        );
        let operands = decoded.operands_at(8).count();
        assert!(
            operands <= 8 && decoded.fields().all(|field| !field.purpose().is_empty()),
            "{text}"
        );
        legal += 1;
        mnemonics.insert(decoded.mnemonic());
    }
    assert!(legal > 3000 && mnemonics.len() > 100, "{legal} {}", mnemonics.len());
}

/// Blanks, the case of letters and a semicolon do not matter; the place of a mistake is named.
#[test]
fn texts_are_read_as_people_write_them() {
    let sm: Sm = "61".parse().unwrap();
    let parse = |text: &str| Spa5Instruction::parse(text, sm, 8);
    let word = parse("@!P0 IADD.X R1.CC, -R2, c[0x0][0x140]").unwrap().word();
    for text in
        ["  @!P0  IADD.X R1.CC,-R2,c[0x0][0x140] ;", "@!p0 IADD.X r1.cc , -r2, c[0x0] [0x140];"]
    {
        assert_eq!(parse(text).map(|read| read.word()), Ok(word), "{text}");
    }
    for (text, kind, at) in [
        ("IADDX R1, R2, R3", Spa5TextErrorKind::Mnemonic, "IADDX"),
        ("@P7 IADD R1, R2, R3", Spa5TextErrorKind::Rest, "P7"),
        ("IADD.Y R1, R2, R3", Spa5TextErrorKind::Rest, "Y"),
        ("IADD R1, R2, R256", Spa5TextErrorKind::Rest, "R256"),
        ("IADD R1, R2, R3, R4", Spa5TextErrorKind::Rest, ", R4"),
        ("IADD R1, R2, 0x80000", Spa5TextErrorKind::Rest, "0x80000"),
        ("", Spa5TextErrorKind::Mnemonic, ""),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.kind, kind, "{text}");
        let place = text.find(at).unwrap();
        assert!((place..=place + at.len()).contains(&error.at), "{text}: {}", error.at);
    }
    let volta: Sm = "70".parse().unwrap();
    let error = Spa5Instruction::parse("IADD R1, R2, R3", volta, 8).unwrap_err();
    assert_eq!(error.to_string(), "instructions of SM 70 have 128 bits");
    assert!(Spa5Instruction::decode(0x5c10_0000_0027_0100, volta).is_none());
}

/// Texts of nvdisasm 12.8 for words in programs, with bits 20:17 of their scheduling: 12 words of each mnemonic; `-` is
/// refused.
#[test]
fn reuse_is_printed_as_by_nvdisasm() {
    let (mut shown, mut refused) = (0, 0);
    for line in unpacked("tests/data/nvdisasm-spa5-reuse.tsv.xz").lines() {
        let [word, reuse, address, sm, text] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let [word, address] = [word, address].map(|hex| u64::from_str_radix(hex, 16).unwrap());
        let (sm, reuse) = (sm.parse().unwrap(), Bits::from_bits(reuse.parse().unwrap()));
        let decoded = Spa5Instruction::decode(word, sm).unwrap();
        let written = decoded.text_with(address, reuse).map(|written| written.to_string());
        assert_eq!(written.as_deref().unwrap_or("-").trim_end(), text, "{line}");
        if written.is_none() {
            refused += 1;
            continue;
        }
        let shows = Bits::from_bits((reuse.get() & decoded.shown_reuse().get()).into());
        assert_eq!(decoded.reuse_in(text, address), Some(shows), "{line}");
        let read = Spa5Instruction::parse_line(text, sm, address);
        let read = read.unwrap_or_else(|error| panic!("{text}: {error} at byte {}", error.at));
        assert_eq!(read.reuse, shows, "{line}");
        assert_eq!(
            read.instruction.text_with(address, shows).map(|text| text.to_string()),
            written
        );
        shown += u32::from(shows.get() > 0);
    }
    assert!(shown > 800 && refused > 800, "{shown} {refused}");
}

#[test]
fn lines_are_read_with_their_scheduling() {
    let sm: Sm = "61".parse().unwrap();
    let control = |text: &str| {
        let line = Spa5Instruction::parse_line(text, sm, 8).map_err(|error| error.at)?;
        assert_eq!(line.instruction.word(), 0x5c10_0000_0027_0100, "{text}");
        Ok(line.control.map(|control| control.pack()))
    };
    let first = Some(0x207e1);
    for (text, expected) in [
        ("IADD R0, R1, R2", Ok(None)),
        ("iadd r0 , r1, r2 ; // a comment", Ok(None)),
        ("--:-:-:-:1  IADD R0, R1.reuse, R2;", Ok(Some(0x207f1))),
        ("[B------:R-:W-:Y:S01] IADD R0, R1.reuse, R2 /* x */", Ok(first)),
        ("IADD R0, R1.reuse, R2 &req={0} &wr=1 ?WAIT1_END_GROUP;", Ok(Some(0x20f21))),
        ("IADD R0, R1.again, R2", Err(11)),
        ("IADD.reuse R0, R1, R2", Err(5)),
        ("IADD R0, R1, R2 &req={9}", Err(22)),
        ("--:-:-:-:g IADD R0, R1, R2", Err(0)),
        ("--:-:-:-:1 IADE R0, R1, R2", Err(11)),
    ] {
        assert_eq!(control(text), expected, "{text}");
    }
    assert!(Spa5Instruction::mnemonics(sm).filter(|name| *name == "IADD").count() == 1);
    let has_halves =
        |sm: &str| Spa5Instruction::mnemonics(sm.parse().unwrap()).any(|name| name == "HADD2");
    assert_eq!(["50", "53"].map(has_halves), [false, true]);
    assert_eq!(Spa5Instruction::mnemonics("80".parse().unwrap()).count(), 0);
}
