#![no_main]
use warpload_fuzz::targets::sass_does_not_panic;
libfuzzer_sys::fuzz_target!(|input: &[u8]| sass_does_not_panic(input));
