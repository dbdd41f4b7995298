//! What the suite says of itself: schemas, flags, the manifest, ids.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jsonschema::{Registry, Validator};
use serde_json::Value;
use sha2::{Digest, Sha256};
use warpload_vectors::{CASES, FLAGS, MANIFEST, SCHEMAS, TRACES};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Returns every case with the name of its file.
fn cases() -> impl Iterator<Item = (&'static str, Value)> {
    CASES.iter().flat_map(|(name, text)| text.lines().map(|line| (*name, json(line))))
}

/// The form of a case: vectors name no family.
fn form(case: &Value) -> &str {
    case["family"].as_str().unwrap_or("execute")
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

/// Returns the validators of all schemas but that which holds what they share.
fn validators() -> BTreeMap<&'static str, Validator> {
    let resources =
        SCHEMAS.iter().map(|(name, text)| (format!("json-schema:///{name}"), json(text)));
    let registry = Registry::new().extend(resources).unwrap().prepare().unwrap();
    let validator = |(name, text): &(&'static str, &str)| {
        let schema = json(text);
        jsonschema::meta::validate(&schema).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
        assert_eq!(schema["$id"], *name);
        let options = jsonschema::options().with_registry(&registry);
        (*name, options.build(&schema).unwrap_or_else(|error| panic!("{name}: {error}")))
    };
    SCHEMAS.iter().map(validator).collect()
}

#[test]
fn every_case_has_the_form_of_its_schema() {
    let validators = validators();
    let mut count = 0;
    for (file, case) in cases() {
        let form = form(&case);
        let expected = if form == "execute" { "final" } else { "expect" };
        for (schema, value) in [
            (format!("{form}.schema.json"), &case),
            (format!("{form}.answer.schema.json"), &case[expected]),
        ] {
            if let Some(error) = validators[&*schema].iter_errors(value).next() {
                panic!("{file}: {}: {}: {error}", case["id"], error.instance_path());
            }
        }
        count += 1;
    }
    assert_eq!(json(MANIFEST)["cases"], count);
    assert!(count > 4_000, "{count}");
}

/// Returns the object with each key renamed in turn, and with one key more.
fn misspelt(object: &Value) -> Vec<Value> {
    let keys = object.as_object().unwrap().keys();
    let renamed = keys.map(|key| {
        let mut changed = object.clone();
        let map = changed.as_object_mut().unwrap();
        let value = map.remove(key).unwrap();
        map.insert(format!("{key}_"), value);
        changed
    });
    let mut longer = object.clone();
    longer["unknown"] = 1.into();
    renamed.chain([longer]).collect()
}

/// A schema that anything fulfils would check nothing.
#[test]
fn schemas_refuse_what_is_changed() {
    let validators = validators();
    let mut forms = BTreeSet::new();
    for (_, case) in cases() {
        let form = form(&case);
        if !forms.insert(form.to_owned()) {
            continue;
        }
        let validator = &validators[&*format!("{form}.schema.json")];
        assert!(validator.is_valid(&case), "{form}");
        for key in case.as_object().unwrap().keys().filter(|key| *key != "name") {
            let mut changed = case.clone();
            changed[key] = json(r#"{"x": [1.5]}"#);
            assert!(!validator.is_valid(&changed), "{form}: {key}");
        }
        for changed in misspelt(&case) {
            assert!(!validator.is_valid(&changed), "{form}: {changed}");
        }
        let mut flagged = case.clone();
        flagged["flags"] = json(r#"["no-such-flag"]"#);
        assert!(!validator.is_valid(&flagged), "{form}");
        // Objects within the case whose keys are the suite's.
        for path in ["/expect", "/final", "/initial", "/initial/memory", "/expect/loads/0", "/tmem"]
        {
            let Some(object) = case.pointer(path) else { continue };
            for misspelt in misspelt(object) {
                let mut changed = case.clone();
                *changed.pointer_mut(path).unwrap() = misspelt;
                assert!(!validator.is_valid(&changed), "{form}: {path}: {changed}");
            }
        }
    }
    assert_eq!(forms.len(), 8);
    assert_eq!(validators.len(), 18);
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
    // Each is one that a case shows.
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
fn all_of_it_is_below_six_megabytes() {
    let bytes = size(&Path::new(env!("CARGO_MANIFEST_DIR")).join("v1"));
    assert!(bytes < 6_000_000, "{bytes}");
}
