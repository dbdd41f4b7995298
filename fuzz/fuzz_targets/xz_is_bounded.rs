#![no_main]
use warpload_fuzz::targets::xz_is_bounded;
libfuzzer_sys::fuzz_target!(|input: &[u8]| xz_is_bounded(input));
