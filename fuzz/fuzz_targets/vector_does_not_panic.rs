#![no_main]
use warpload_fuzz::targets::vector_does_not_panic;
libfuzzer_sys::fuzz_target!(|input: &[u8]| vector_does_not_panic(input));
