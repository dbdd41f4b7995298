#![no_main]
use warpload_fuzz::targets::page_is_inert;
libfuzzer_sys::fuzz_target!(|input: &[u8]| page_is_inert(input));
