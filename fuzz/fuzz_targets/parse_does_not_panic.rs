//! Any text parses or gives an error whose span lies in it; what parses is stable.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpload::encoding::parse_line;

fuzz_target!(|text: &str| match parse_line(text) {
    Ok(line) => {
        let again = parse_line(&line.instruction.text()).expect("canonical text parses");
        assert_eq!(again.instruction, line.instruction);
    }
    Err(error) => assert!(text.get(error.span.start..error.span.end).is_some()),
});
