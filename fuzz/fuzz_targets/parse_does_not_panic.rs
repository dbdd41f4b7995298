#![no_main]
use warpload_fuzz::targets::parse_does_not_panic;
libfuzzer_sys::fuzz_target!(|input: &[u8]| parse_does_not_panic(input));
