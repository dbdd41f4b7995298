use warpload::encoding::{Load, Sm, parse_line_128, parse_opcode_128};

use super::parse::is_in;
use super::wide_decode::sm_of;

/// Any text is refused with a span in it, or is a load of the SM, whose text parses to the same, line by
/// line. The first byte is the number of the SM.
pub fn wide_parse_does_not_panic(input: &[u8]) {
    let Some((number, text)) = input.split_first() else { return };
    let (sm, Ok(text)) = (sm_of(*number), str::from_utf8(text)) else { return };
    text.lines().for_each(|line| check(line, sm));
}

fn check(line: &str, sm: Sm) {
    let wide = parse_line_128(line, sm);
    match wide {
        Ok(load) => {
            let again = parse_line_128(&load.text(), sm);
            assert_eq!(again.map(|load| load.text().to_string()), Ok(load.text().to_string()));
            assert_eq!(load.encode() & load.unread_bits(), 0, "SM {sm}: {line}");
        }
        Err(error) => is_in(line, &error),
    }
    match Load::parse(line, sm) {
        Ok(load) => {
            assert_eq!(load.wide(), wide.ok());
            let again = Load::parse(&load.text(), sm);
            assert_eq!(again.map(|load| load.text().to_string()), Ok(load.text().to_string()));
        }
        Err(error) => is_in(line, &error),
    }
    match parse_opcode_128(line, sm) {
        Ok(load) => {
            let opcode = load.opcode();
            let again = parse_opcode_128(&opcode, sm).map(|load| load.encode());
            assert_eq!(again, Ok(load.encode()), "SM {sm}: {opcode}");
        }
        Err(error) => is_in(line, &error),
    }
}
