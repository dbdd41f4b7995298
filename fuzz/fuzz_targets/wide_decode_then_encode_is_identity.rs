#![no_main]
use warpload_fuzz::targets::wide_decode_then_encode_is_identity;
libfuzzer_sys::fuzz_target!(|input: &[u8]| wide_decode_then_encode_is_identity(input));
