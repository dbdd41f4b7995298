//! Any bytes are SASS or an error, and there are not more instructions than bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpload::sass::{Format, read};

fuzz_target!(|bytes: &[u8]| {
    for format in [Format::Detect, Format::Raw] {
        if let Ok(instructions) = read(bytes, format) {
            assert!(instructions.count() <= bytes.len());
        }
    }
});
