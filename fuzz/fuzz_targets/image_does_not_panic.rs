#![no_main]
use warpload_fuzz::targets::image_does_not_panic;
libfuzzer_sys::fuzz_target!(|input: &[u8]| image_does_not_panic(input));
