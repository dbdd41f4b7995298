//! Any text is a vector or an error; a vector gives the same on both executors.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpload::load::Executor;
use warpload::suite::vector::Vector;

fuzz_target!(|text: &str| {
    if let Ok(vector) = Vector::from_json(text) {
        assert_eq!(vector.run(Executor::Fast), vector.run(Executor::Reference));
    }
});
