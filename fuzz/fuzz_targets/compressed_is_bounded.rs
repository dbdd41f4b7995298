#![no_main]
use warpload_fuzz::targets::compressed_is_bounded;
libfuzzer_sys::fuzz_target!(|input: &[u8]| compressed_is_bounded(input));
