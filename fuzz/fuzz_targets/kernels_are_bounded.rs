#![no_main]
use warpload_fuzz::targets::kernels_are_bounded;
libfuzzer_sys::fuzz_target!(|input: &[u8]| kernels_are_bounded(input));
