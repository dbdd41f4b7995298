#![no_main]
use warpload_fuzz::targets::accelsim_does_not_panic;
libfuzzer_sys::fuzz_target!(|input: &[u8]| accelsim_does_not_panic(input));
