#![no_main]
use warpload_fuzz::targets::encode_then_decode_is_identity;
libfuzzer_sys::fuzz_target!(|input: &[u8]| encode_then_decode_is_identity(input));
