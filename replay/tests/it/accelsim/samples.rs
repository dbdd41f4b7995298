//! The samples, beside what an independent model counts, and damaged ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::accelsim::{counts, file, integer};

fn folder() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("tests/data/traces2")
}

fn recorded() -> Value {
    let text = std::fs::read_to_string(folder().join("accelsim.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns loads, lanes and sectors by program counter and opcode.
fn per_pc(rows: &Value, sectors: fn(&Value) -> u64) -> BTreeMap<(String, String), [u64; 3]> {
    let mut sums = BTreeMap::<_, [u64; 3]>::new();
    for row in rows.as_array().unwrap() {
        let text = |key| row[key].as_str().unwrap().to_owned();
        let sum = sums.entry((text("pc"), text("opcode"))).or_default();
        let counts = [integer(&row["loads"]), integer(&row["lanes"]), sectors(row)];
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    sums
}

#[test]
fn samples_have_the_counts_of_an_independent_model() {
    for (name, expected) in recorded()["counts"].as_object().unwrap() {
        let trace = file(&folder().join(name), 2).unwrap();
        let found = counts(&trace);
        for (key, expected) in expected.as_object().unwrap() {
            match &**key {
                "memory_records" => assert_eq!(*expected, trace.records(), "{name}"),
                // The model does not count all of it.
                "skipped" | "ldgsts" => {
                    for (inner, expected) in expected.as_object().unwrap() {
                        assert_eq!(*expected, found[key][inner], "{name}: {key}.{inner}");
                    }
                }
                "per_pc" => {
                    let sectors =
                        |row: &Value| integer(row.get("all_sectors").unwrap_or(&row["sectors"]));
                    assert_eq!(
                        per_pc(expected, sectors),
                        per_pc(&found["per_pc"], sectors),
                        "{name}"
                    );
                }
                "kernels" => {
                    let kernels = expected.as_array().unwrap();
                    let found = found["kernels"].as_array().unwrap();
                    assert_eq!(kernels.len(), found.len());
                    for (expected, found) in kernels.iter().zip(found) {
                        for (key, expected) in expected.as_object().unwrap() {
                            assert_eq!(*expected, found[key], "{name}: {key}");
                        }
                    }
                }
                _ => assert_eq!(*expected, found[key], "{name}: {key}"),
            }
        }
    }
}

/// Texts and their binary twins have the same digests and counts, whatever the number of threads.
#[test]
fn twins_are_equal() {
    for [text, binary] in [
        ["v6.traceg.xz", "v6.tracez"],
        ["v6-subchunks.traceg.xz", "v6-subchunks.tracez"],
        ["v6-nodict.traceg", "v6-nodict.tracez"],
    ] {
        let read = |name: &str, threads| file(&folder().join(name), threads).unwrap();
        let expected = read(text, 1);
        for other in [read(text, 2), read(binary, 1), read(binary, 2)] {
            assert_eq!(other.contents().kernels, expected.contents().kernels);
            assert_eq!(counts(&other)["digest"], counts(&expected)["digest"]);
            assert_eq!(counts(&other), counts(&expected));
        }
    }
}

#[test]
fn damaged_files_are_refused_with_their_place() {
    let folder = folder().join("damaged");
    for (name, expected) in recorded()["refused"].as_object().unwrap() {
        for threads in [1, 2] {
            let message = file(&folder.join(name), threads).map(drop).expect_err(name);
            let message = message.replace(&format!("{}/", folder.display()), "");
            assert_eq!(expected, &message);
        }
    }
}
