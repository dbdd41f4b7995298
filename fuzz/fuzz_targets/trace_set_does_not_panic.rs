#![no_main]
use warpload_fuzz::targets::trace_set_does_not_panic;
libfuzzer_sys::fuzz_target!(|input: &[u8]| trace_set_does_not_panic(input));
