#![no_main]
use warpload_fuzz::targets::wide_parse_does_not_panic;
libfuzzer_sys::fuzz_target!(|input: &[u8]| wide_parse_does_not_panic(input));
