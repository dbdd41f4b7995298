//! Checks the suite's flags, manifest and ids. python/tests/test_suite.py checks the schemas, because a validator in
//! Rust brings 40 crates.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

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

/// The paths of the files in a folder of the suite, below `v1`.
fn files(folder: &Path, found: &mut BTreeMap<String, PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            let name = path.strip_prefix(v1()).unwrap().to_str().unwrap().replace('\\', "/");
            found.insert(name, path);
        }
    }
}

fn v1() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("v1")
}

/// `RENEW_CHECKSUMS=1` renews the manifest; a variable of its own, so that renewing other tables does not hide a changed case.
#[test]
fn the_manifest_has_the_checksum_of_each_file() {
    let mut found = BTreeMap::new();
    files(&v1(), &mut found);
    let manifest = found.remove("MANIFEST.json").unwrap();
    let names: BTreeSet<String> = CASES
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .chain(SCHEMAS.iter().map(|(name, _)| format!("schema/{name}")))
        .chain(TRACES.iter().map(|(name, _)| (*name).to_owned()))
        .chain(["flags.json".to_owned()])
        .collect();
    // A file that is missing in `src/files.rs` would not be in the package.
    assert_eq!(names, found.keys().cloned().collect());
    let sha256 = |path: &PathBuf| -> String {
        let digest = Sha256::digest(std::fs::read(path).unwrap());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let rows = found.iter().map(|(name, path)| format!("    \"{name}\": \"{}\"", sha256(path)));
    let rows: Vec<String> = rows.collect();
    let (cases, rows) = (cases().count(), rows.join(",\n"));
    let renewed = format!(
        "{{\n  \"version\": \"1\",\n  \"cases\": {cases},\n  \"files\": {{\n{rows}\n  }}\n}}\n"
    );
    if std::env::var_os("RENEW_CHECKSUMS").is_some() {
        std::fs::write(manifest, renewed).unwrap();
    } else {
        assert!(renewed == MANIFEST, "RENEW_CHECKSUMS=1 renews MANIFEST.json:\n{renewed}");
    }
}

/// A validator in Python checks the lists of flags by this schema.
#[test]
fn the_schema_has_the_flags_with_notes() {
    let (_, schema) = SCHEMAS.iter().find(|(name, _)| *name == "flags.schema.json").unwrap();
    let (schema, notes) = (json(schema), json(FLAGS));
    let families = schema["$defs"].as_object().unwrap();
    assert!(families.keys().eq(notes.as_object().unwrap().keys()));
    for (family, list) in families {
        let known: Vec<&str> = notes[family].as_object().unwrap().keys().map(|k| &**k).collect();
        assert_eq!(names(&list["items"]["enum"]), known, "{family}");
    }
}

#[test]
fn traces_are_there_and_small() {
    for (file, case) in cases().filter(|(file, _)| file.starts_with("traces/")) {
        let name = format!("traces/{}", case["file"].as_str().unwrap());
        assert!(TRACES.iter().any(|(known, _)| *known == name), "{file}: {name}");
    }
    assert!(TRACES.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() < 1_000_000);
}

#[test]
fn all_of_it_is_below_twelve_megabytes() {
    let mut found = BTreeMap::new();
    files(&v1(), &mut found);
    let bytes: u64 = found.values().map(|path| path.metadata().unwrap().len()).sum();
    assert!(bytes < 12_000_000, "{bytes}");
}
