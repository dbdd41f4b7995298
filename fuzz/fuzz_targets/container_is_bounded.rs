#![no_main]
use warpload_fuzz::targets::container_is_bounded;
libfuzzer_sys::fuzz_target!(|input: &[u8]| container_is_bounded(input));
