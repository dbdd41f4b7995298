#![no_main]
use warpload_fuzz::targets::tensor_case_does_not_panic;
libfuzzer_sys::fuzz_target!(|input: &[u8]| tensor_case_does_not_panic(input));
