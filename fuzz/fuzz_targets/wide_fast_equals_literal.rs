#![no_main]
use warpload_fuzz::targets::wide_fast_equals_literal;
libfuzzer_sys::fuzz_target!(|input: &[u8]| wide_fast_equals_literal(input));
