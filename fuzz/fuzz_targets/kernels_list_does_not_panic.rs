#![no_main]
use warpload_fuzz::targets::kernels_list_does_not_panic;
libfuzzer_sys::fuzz_target!(|input: &[u8]| kernels_list_does_not_panic(input));
