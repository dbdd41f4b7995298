//! The 1,000 vectors of `LD`, on both executors.

#![allow(clippy::unwrap_used)]

use warpload::load::Executor;
use warpload::vector::Vector;

#[test]
fn all_vectors_hold_on_both_executors() {
    let text = std::fs::read_to_string("tests/data/ld-vectors.jsonl").unwrap();
    let mut count = 0;
    for line in text.lines() {
        let vector = Vector::from_json(line).unwrap();
        assert!(vector.expected.is_some());
        for executor in [Executor::Reference, Executor::Fast] {
            let differences = vector.check(executor);
            assert!(differences.is_empty(), "{} {:?}: {:?}", vector.name, executor, differences[0]);
        }
        assert_eq!(vector.run(Executor::Fast), vector.run(Executor::Reference), "{}", vector.name);
        count += 1;
    }
    assert_eq!(count, 1000);
}
