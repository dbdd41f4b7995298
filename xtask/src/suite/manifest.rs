//! `MANIFEST.json` and `flags.json`: the contents of the suite, and the meanings of its flags.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use serde::Serialize;

use super::case::{Case, CaseFile, Family, sha256};
use super::files::Files;

#[derive(Serialize)]
struct Manifest<'m> {
    version: &'static str,
    cases: usize,
    files: Vec<Entry<'m>>,
    /// The number of items of the sources that are not used, by family and reason.
    left_out: &'m LeftOut<'m>,
    /// Schemas, flags, and files that cases refer to, each with its SHA-256.
    others: BTreeMap<String, String>,
}

type LeftOut<'m> = BTreeMap<&'m str, BTreeMap<&'static str, usize>>;

#[derive(Serialize)]
struct Entry<'m> {
    file: String,
    family: &'m str,
    instruction: &'m str,
    cases: usize,
    decisions: usize,
    /// Files of `decode` have cases of `encode` too.
    families: BTreeMap<&'m str, usize>,
    sources: BTreeMap<&'m str, usize>,
    flags: BTreeMap<&'m str, usize>,
    sha256: String,
}

/// The version of the suite's format. Adding cases does not change it.
const VERSION: &str = "1";

pub(crate) fn manifest(
    written: &[(&str, CaseFile)],
    left_out: &LeftOut<'_>,
    files: &Files,
    schemas: &[(String, Vec<u8>)],
) -> Result<Vec<u8>> {
    let mut entries = Vec::new();
    for (family, CaseFile { instruction, cases }) in written {
        let file = format!("{family}/{instruction}.jsonl");
        let bytes = files.iter().find(|(name, _)| *name == file).map(|(_, bytes)| bytes);
        entries.push(Entry {
            sha256: bytes.map(|bytes| sha256(bytes)).unwrap_or_default(),
            file,
            family,
            instruction,
            cases: cases.len(),
            decisions: cases.iter().filter(|case| case.head.is_decision).count(),
            families: counts(cases.iter().map(Case::family)),
            sources: counts(cases.iter().map(|case| case.head.source)),
            flags: counts(cases.iter().flat_map(|case| case.head.flags.iter().copied())),
        });
    }
    let is_listed = |name: &str| entries.iter().any(|entry| entry.file == name);
    let others = files.iter().filter(|(name, _)| !is_listed(name));
    let others = others.map(|(name, bytes)| (name.clone(), sha256(bytes)));
    let schemas = schemas.iter().map(|(name, bytes)| (format!("schema/{name}"), sha256(bytes)));
    let others = others.chain(schemas).collect();
    let cases = entries.iter().map(|entry| entry.cases).sum();
    json(&Manifest { version: VERSION, cases, files: entries, left_out, others })
}

pub(crate) fn flags(families: &[Family]) -> Result<Vec<u8>> {
    let notes = |family: &Family| (family.flags)().into_iter().collect::<BTreeMap<_, _>>();
    json(&families.iter().map(|family| (family.name, notes(family))).collect::<BTreeMap<_, _>>())
}

/// The JSON Schema of the flags of each family.
pub(crate) fn schema_of_flags(families: &[Family]) -> Result<Vec<u8>> {
    let names = |family: &Family| {
        let names = (family.flags)().into_iter().map(|(name, _)| name);
        let names: BTreeSet<&str> = names.collect();
        serde_json::json!({ "type": "array", "items": { "enum": names }, "uniqueItems": true })
    };
    let families = families.iter().map(|family| (family.name, names(family)));
    json(&serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "flags.schema.json",
        "title": "The flags of each family",
        "$defs": families.collect::<BTreeMap<_, _>>(),
    }))
}

/// Prints the number of cases of each family.
pub(crate) fn print(written: &[(&str, CaseFile)]) {
    let families = written.iter().flat_map(|(family, file)| file.cases.iter().map(|_| *family));
    println!("{:#?}", counts(families));
}

fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
}

fn counts<'n>(names: impl Iterator<Item = &'n str>) -> BTreeMap<&'n str, usize> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    counts
}
