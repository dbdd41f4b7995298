use warpload::sass::{Format, read};

/// Any bytes are SASS or an error, and have no more instructions than bytes.
pub fn sass_does_not_panic(input: &[u8]) {
    for format in [Format::Detect, Format::Raw] {
        if let Ok(instructions) = read(input, format) {
            assert!(instructions.count() <= input.len());
        }
    }
}
