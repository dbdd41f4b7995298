//! Every word that decodes encodes to itself, and its text parses to it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpload::encoding::{Instruction, parse_line};

fuzz_target!(|word: u64| {
    if let Some(instruction) = Instruction::decode(word) {
        assert_eq!(instruction.encode(), word);
        let parsed = parse_line(&instruction.text()).expect("canonical text parses");
        assert_eq!(parsed.instruction, instruction);
    }
});
