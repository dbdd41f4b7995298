use warpload::encoding::{Instruction, ParseError, Sm, parse_opcode};

use super::decode::sm_of;

/// Each line of any text is refused with a span in it, or is a load of the SM that parses to the same from its own
/// text. The first byte is the number of the SM.
pub(super) fn parse_does_not_panic(input: &[u8]) {
    let Some((number, text)) = input.split_first() else { return };
    let (sm, Ok(text)) = (sm_of(*number), str::from_utf8(text)) else { return };
    text.lines().for_each(|line| check(line, sm));
}

fn check(line: &str, sm: Sm) {
    match Instruction::parse(line, sm) {
        Ok(load) => {
            let again = Instruction::parse(&load.text(), sm);
            assert_eq!(again.map(|load| load.text().to_string()), Ok(load.text().to_string()));
            assert_eq!(load.bits() & load.reserved_bits(), 0, "SM {sm}: {line}");
        }
        Err(error) => is_in(line, &error, sm),
    }
    match parse_opcode(line, sm) {
        Ok(load) => {
            let opcode = load.opcode();
            let again = parse_opcode(&opcode, sm).map(|load| load.bits());
            assert_eq!(again, Ok(load.bits()), "SM {sm}: {opcode}");
        }
        Err(error) => is_in(line, &error, sm),
    }
}

/// Asserts that an error has a message and a place in the text.
pub(super) fn is_in(text: &str, error: &ParseError, sm: Sm) {
    assert!(text.get(error.span.range()).is_some(), "{text}");
    let (message, hint) = (error.to_string(), error.hint_in(text, sm));
    assert!(!message.is_empty() && hint.is_none_or(|hint| !hint.to_string().is_empty()));
}
