//! The vectors of `LD` and of SM 7.0 and later, on both executors.

#![allow(clippy::unwrap_used)]

use std::io::Read;

use warpload::encoding::Reg;
use warpload::load::Executor;
use warpload_suite::vector::Vector;

/// Every vector of a file holds. `expected` is their number.
fn hold(file: &str, expected: usize) {
    hold_text(&std::fs::read_to_string(format!("../tests/data/{file}")).unwrap(), expected);
}

fn hold_text(text: &str, expected: usize) {
    let mut count = 0;
    for line in text.lines() {
        let vector = Vector::from_json(line).unwrap();
        assert!(vector.expected.is_some());
        for executor in [Executor::Reference, Executor::Fast] {
            let differences = vector.check(executor).unwrap();
            assert!(differences.is_empty(), "{} {:?}: {:?}", vector.name, executor, differences[0]);
        }
        assert_eq!(vector.run(Executor::Fast), vector.run(Executor::Reference), "{}", vector.name);
        count += 1;
    }
    assert_eq!(count, expected);
}

#[test]
fn all_vectors_of_ld_hold_on_both_executors() {
    hold("ld-vectors.jsonl", 1000);
}

/// The expectations are from an independent model of SM 7.0 to 12.x (tests/independent/sm70).
#[test]
fn all_vectors_of_128_bit_words_hold_on_both_executors() {
    for (file, expected) in [("sm70-vectors", 1000), ("sm70-more-vectors", 360)] {
        hold_text(&unpacked(file), expected);
    }
}

/// An H100 loaded the expected values (`tests/data/README.md`).
#[test]
fn all_vectors_of_an_h100_hold_on_both_executors() {
    hold_text(&unpacked("h100-loads"), 1679);
}

/// The lines of a compressed file.
pub(crate) fn unpacked(file: &str) -> String {
    let compressed = std::fs::read(format!("../tests/data/{file}.jsonl.xz")).unwrap();
    let mut text = String::new();
    liblzma::read::XzDecoder::new(&compressed[..]).read_to_string(&mut text).unwrap();
    text
}

/// The last four bytes of the local window: lane n holds n + 1 there, and has no low part.
#[test]
fn local_memory_may_have_a_high_part_only() {
    let bytes: String = (1..=32).map(|n| format!("{n:02x}000000")).collect();
    let json = format!(
        r#"{{"instruction": "LD R0, [0xfffffffc]", "initial": {{"memory": {{"local":
        {{"high": {{"bytes_per_lane": 4, "hex": "{bytes}"}}}}}}}}}}"#
    );
    let vector = Vector::from_json(&json).unwrap();
    for executor in [Executor::Reference, Executor::Fast] {
        let (warp, outcome) = vector.run(executor).unwrap();
        assert!(outcome.lane_faults.is_empty());
        assert_eq!(warp.register(Reg::new(0)), &std::array::from_fn(|lane| lane as u32 + 1));
    }
}
