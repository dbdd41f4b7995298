#![no_main]
use warpload_fuzz::targets::trace_does_not_panic;
libfuzzer_sys::fuzz_target!(|input: &[u8]| trace_does_not_panic(input));
