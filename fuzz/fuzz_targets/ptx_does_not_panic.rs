#![no_main]
use warpload_fuzz::targets::ptx_does_not_panic;
libfuzzer_sys::fuzz_target!(|input: &[u8]| ptx_does_not_panic(input));
