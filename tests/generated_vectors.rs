//! The generated vectors are as their generator makes them, and hold of everything there is.

#![cfg(feature = "json")]
#![allow(clippy::unwrap_used)]

#[path = "../xtask/src/vectors/family/mod.rs"]
mod family;

use std::collections::BTreeSet;
use std::fs;

use family::{FILE, generate};

#[test]
fn the_vectors_are_as_generated() {
    let held = fs::read_to_string(format!("tests/data/{FILE}")).unwrap();
    let made = generate().unwrap().lines;
    assert!(held == made.concat(), "{FILE}: run `cargo xtask vectors`");
}

/// What every instruction has, and what some have besides.
#[test]
fn the_vectors_cover_everything() {
    let sizes = ["U8", "S8", "U16", "S16", "32", "64", "128", "U.128"];
    let common = [
        "all lanes execute",
        "no lane executes",
        "the guard keeps lanes off",
        "negated guard",
        "all lanes load",
        "misaligned_register",
        "out_of_range_register",
        "outside_allocation",
        "misaligned_address",
        "forced alignment",
        "no base",
        "base at or above the limit",
        "Rd = RZ",
    ];
    let some_active = "not all lanes are active";
    let own: [(&str, usize, &[&str]); 4] = [
        ("LDG", 8, &["extended address", "broadcast", "divergent", some_active]),
        ("LDL", 7, &[]),
        ("LDS", 7, &[some_active]),
        ("LDC", 6, &["a bank", "no such bank"]),
    ];
    let mut wanted = BTreeSet::new();
    for (mnemonic, count, own) in own {
        for kind in sizes[..count].iter().chain(&common).chain(own) {
            wanted.insert(format!("{mnemonic}: {kind}"));
        }
    }
    // LDL, LDS and LDC are never uniform, and no address of these loads is outside of a window.
    assert_eq!(generate().unwrap().kinds, wanted);
}

#[test]
fn every_vector_has_a_name_of_its_own() {
    let lines = generate().unwrap().lines;
    let name = |line: &String| {
        let vector: serde_json::Value = serde_json::from_str(line).unwrap();
        vector["name"].as_str().unwrap().to_owned()
    };
    let names: BTreeSet<String> = lines.iter().map(name).collect();
    assert_eq!(names.len(), lines.len());
}
