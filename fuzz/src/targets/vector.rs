use warpload::load::Executor;
use warpload_suite::vector::Vector;

/// Any text is refused, or is a vector that gives the same result on both executors.
pub(super) fn vector_does_not_panic(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    if let Ok(vector) = Vector::from_json(text) {
        assert_eq!(vector.run(Executor::Fast), vector.run(Executor::Reference));
    }
}
