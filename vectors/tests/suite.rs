//! Checks the suite's flags, manifest and ids. python/tests/test_suite.py checks the schemas, because a validator in
//! Rust brings 40 crates.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};
use warpload_vectors::{CASES, FLAGS, MANIFEST, SCHEMAS, TRACES};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// All cases, with the names of their files.
fn cases() -> impl Iterator<Item = (&'static str, Value)> {
    CASES.iter().flat_map(|(name, text)| text.lines().map(|line| (*name, json(line))))
}

/// The form of a case. Vectors do not name a family.
fn form(case: &Value) -> &str {
    case["family"].as_str().unwrap_or("execute")
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

#[test]
fn ids_are_unique_and_name_the_family() {
    let mut ids = BTreeSet::new();
    for (file, case) in cases() {
        let id = case["id"].as_str().unwrap().to_owned();
        assert!(id.starts_with(&format!("{}-", form(&case))), "{file}: {id}");
        assert!(file.starts_with(form(&case)) || form(&case) == "encode", "{file}: {id}");
        assert!(ids.insert(id.clone()), "{file}: {id}");
    }
}

#[test]
fn flags_are_sorted_and_have_notes() {
    let notes = json(FLAGS);
    let mut used = BTreeSet::new();
    for (file, case) in cases() {
        let family = file.split('/').next().unwrap();
        let flags = names(&case["flags"]);
        assert!(flags.is_sorted(), "{}", case["id"]);
        for flag in flags {
            let note = notes[family][flag].as_str();
            assert!(note.is_some_and(|note| note.ends_with('.')), "{family}: {flag}: {note:?}");
            used.insert((family, flag.to_owned()));
        }
    }
    // Every documented flag needs a case.
    for (family, flags) in notes.as_object().unwrap() {
        for flag in flags.as_object().unwrap().keys() {
            assert!(used.contains(&(&**family, flag.clone())), "{family}: no case has {flag}");
        }
    }
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_manifest_agrees_with_the_files() {
    let manifest = json(MANIFEST);
    let entries = manifest["files"].as_array().unwrap();
    assert_eq!(entries.len(), CASES.len());
    for (name, text) in CASES {
        let entry = entries.iter().find(|entry| entry["file"] == *name).unwrap();
        let (family, instruction) = name.trim_end_matches(".jsonl").split_once('/').unwrap();
        assert_eq!(
            (&entry["family"], &entry["instruction"]),
            (&family.into(), &instruction.into())
        );
        assert_eq!(entry["sha256"], sha256(text.as_bytes()), "{name}");
        let cases: Vec<Value> = text.lines().map(json).collect();
        assert_eq!(entry["cases"], cases.len(), "{name}");
        let decisions = cases.iter().filter(|case| case["decision"] == true).count();
        assert_eq!(entry["decisions"], decisions, "{name}");
        for (key, of) in [("flags", true), ("sources", false)] {
            let mut counts = BTreeMap::<&str, usize>::new();
            for case in &cases {
                let found = match of {
                    true => names(&case["flags"]),
                    false => vec![case["source"].as_str().unwrap()],
                };
                found.into_iter().for_each(|name| *counts.entry(name).or_default() += 1);
            }
            assert_eq!(entry[key], serde_json::to_value(counts).unwrap(), "{name}");
        }
    }
    let others = manifest["others"].as_object().unwrap();
    assert_eq!(others.len(), SCHEMAS.len() + TRACES.len() + 1);
    for (name, text) in SCHEMAS {
        assert_eq!(others[&format!("schema/{name}")], sha256(text.as_bytes()), "{name}");
    }
    for (name, bytes) in TRACES {
        assert_eq!(others[*name], sha256(bytes), "{name}");
    }
    assert_eq!(others["flags.json"], sha256(FLAGS.as_bytes()));
}

#[test]
fn the_readme_says_what_is_left_out() {
    let readme = include_str!("../README.md");
    let (_, said) = readme.split_once("## What is left out").unwrap();
    let said: BTreeSet<&str> = said.lines().filter(|line| line.starts_with("| `")).collect();
    let manifest = json(MANIFEST);
    let left_out = manifest["left_out"].as_object().unwrap().iter();
    let rows = left_out.flat_map(|(family, reasons)| {
        let reasons = reasons.as_object().unwrap().iter();
        reasons.map(move |(reason, count)| format!("| `{family}` | {reason} | {count} |"))
    });
    assert_eq!(said, rows.collect::<Vec<String>>().iter().map(String::as_str).collect());
}

#[test]
fn traces_are_there_and_small() {
    for (file, case) in cases().filter(|(file, _)| file.starts_with("traces/")) {
        let name = format!("traces/{}", case["file"].as_str().unwrap());
        assert!(TRACES.iter().any(|(known, _)| *known == name), "{file}: {name}");
    }
    assert!(TRACES.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() < 1_000_000);
}

fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let sizes = entries.map(|entry| match entry.file_type().unwrap().is_dir() {
        true => size(&entry.path()),
        false => entry.metadata().unwrap().len(),
    });
    sizes.sum()
}

#[test]
fn all_of_it_is_below_twelve_megabytes() {
    let bytes = size(&Path::new(env!("CARGO_MANIFEST_DIR")).join("v1"));
    assert!(bytes < 12_000_000, "{bytes}");
}
