#![no_main]
use warpload_fuzz::targets::fast_equals_literal;
libfuzzer_sys::fuzz_target!(|input: &[u8]| fast_equals_literal(input));
