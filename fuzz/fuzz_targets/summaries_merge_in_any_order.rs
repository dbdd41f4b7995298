#![no_main]
use warpload_fuzz::targets::summaries_merge_in_any_order;
libfuzzer_sys::fuzz_target!(|input: &[u8]| summaries_merge_in_any_order(input));
