use warpload::encoding::{Decoded, Instruction, MachineWord, ParseErrorKind, Sm, parse_opcode};
use warpload::explain::{certain_fault, effect, remarks};

/// The SM for a number. Every number has one.
pub(super) fn sm_of(number: u8) -> Sm {
    let count = Sm::all().count();
    Sm::all().nth(usize::from(number) % count).unwrap_or(Sm::SPA5)
}

/// The instruction word of an SM with these bits.
pub(super) fn word_of(bits: u128, sm: Sm) -> MachineWord {
    if sm.has_wide_words() { bits.into() } else { (bits as u64).into() }
}

/// Each word that decodes encodes to itself on every SM. Its text parses to the same text, unless it contains an
/// invalid modifier. With nvdisasm's annotations it parses to the same scheduling. Reserved bits change none of this.
/// The input is the number of an SM and little-endian words.
pub(super) fn decode_then_encode_is_identity(input: &[u8]) {
    let Some((number, words)) = input.split_first() else { return };
    let sm = sm_of(*number);
    let size = if sm.has_wide_words() { 16 } else { 8 };
    for bytes in words.chunks_exact(size) {
        let bits = bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
        match Instruction::decode(word_of(bits, sm), sm) {
            Decoded::Load(load) => check(load, bits),
            Decoded::Illegal(reason) => assert!(!reason.to_string().is_empty()),
            Decoded::Other => {}
        }
    }
}

fn check(load: Instruction, word: u128) {
    let sm = load.sm();
    assert_eq!((load.bits(), load.word()), (word, word_of(word, sm)), "{load}");
    assert!(!effect(&load).is_empty());
    let _ = (remarks(&load), certain_fault(&load), load.cache_modifiers());
    fields_cover_the_word(&load);
    reserved_bits_do_not_matter(&load);
    let text = load.text();
    let is_invalid = text.contains("INVALID") || text.contains("???");
    match Instruction::parse(&text, sm) {
        Ok(parsed) => {
            assert!(!is_invalid, "SM {sm}: {text}");
            assert_eq!(parsed.text().as_str(), text.as_str());
            assert_eq!(parsed.bits() & parsed.reserved_bits(), 0, "SM {sm}: {text}");
            is_read_with_scheduling(&load);
        }
        Err(error) => {
            assert!(is_invalid, "SM {sm}: {text}: {error}");
            assert!(text.get(error.span.range()).is_some(), "{text}");
        }
    }
    opcode_is_read(&load);
}

/// Each bit must be in exactly one field.
fn fields_cover_the_word(load: &Instruction) {
    let (mut bits, mut next) = (0, load.word().width());
    for reading in load.describe() {
        let field = reading.field();
        assert_eq!(u32::from(field.high()) + 1, next, "{}", reading.name());
        next = field.low().into();
        bits |= u128::from(reading.raw) << next;
        assert!(!reading.to_string().is_empty() && !reading.name().is_empty());
        assert!(reading.fixed().is_none_or(|fixed| fixed == reading.raw), "{}", reading.name());
    }
    assert_eq!((bits, next), (load.bits(), 0));
}

fn reserved_bits_do_not_matter(load: &Instruction) {
    let mixed = load.bits().wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    for changed in [load.reserved_bits(), load.reserved_bits() & mixed] {
        let word = load.bits() ^ changed;
        let Decoded::Load(other) = Instruction::decode(word_of(word, load.sm()), load.sm()) else {
            panic!("SM {}: {load}: {word:#034x} is no load", load.sm());
        };
        assert_eq!(other.text().as_str(), load.text().as_str());
        assert_eq!(other.annotations().to_string(), load.annotations().to_string());
        assert_eq!(other.parts(), load.parts());
        assert_eq!(other.control(), load.control());
    }
}

/// Checks that the text with its annotations parses to the same. From SM 12.0 on the annotations are the complete
/// scheduling, and before that at most the PM field. A load without annotations is not checked.
fn is_read_with_scheduling(load: &Instruction) {
    let (sm, annotations) = (load.sm(), load.annotations().to_string());
    if annotations.is_empty() {
        return;
    }
    let line = format!("{load}{annotations}");
    let parsed = match Instruction::parse(&line, sm) {
        Ok(parsed) => parsed,
        // The notation can write such a barrier, but no instruction has it.
        Err(error) => {
            assert_eq!(error.kind, ParseErrorKind::BarrierTooHigh, "SM {sm}: {line}");
            let control = load.control().unwrap_or_default();
            let barriers = [control.read, control.write];
            return assert!(barriers.iter().any(|barrier| barrier.number() == Some(6)), "{line}");
        }
    };
    assert_eq!(parsed.text().as_str(), load.text().as_str());
    assert_eq!(parsed.annotations().to_string(), annotations);
    if sm.number() >= 120 {
        assert_eq!(parsed.control(), load.control(), "SM {sm}: {line}");
        assert_eq!((parsed.batch(), parsed.pm()), (load.batch(), load.pm()), "SM {sm}: {line}");
    }
}

fn opcode_is_read(load: &Instruction) {
    let opcode = load.opcode();
    let is_invalid = opcode.contains("INVALID") || opcode.contains("???");
    match parse_opcode(&opcode, load.sm()) {
        Ok(parsed) => assert_eq!(parsed.opcode().as_str(), opcode.as_str()),
        Err(error) => assert!(is_invalid, "SM {}: {opcode}: {error}", load.sm()),
    }
}
