//! `cargo xtask suite`: writes the conformance suite, `vectors/v1`. The bytes are always the same. To add a family, add
//! a row to [`FAMILIES`] and a file beside this one.

mod by_hand;
mod case;
mod coalescing;
mod decode;
mod execute;
mod files;
mod flag;
mod manifest;
mod ptx_execute;
mod ptx_launch;
mod ptx_legality;
mod sources;
mod tensor_memory;
mod traces;

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use self::case::Family;
use self::files::Files;
use self::sources::Sources;
use crate::renewal::{self, Renewal};
use crate::step::root;

/// The families of the suite.
const FAMILIES: [Family; 7] = [
    decode::FAMILY,
    execute::FAMILY,
    ptx_legality::FAMILY,
    ptx_execute::FAMILY,
    tensor_memory::FAMILY,
    coalescing::FAMILY,
    traces::FAMILY,
];

/// Fails if the suite differs from the generated one.
pub(crate) fn check() -> Result<()> {
    run(&Renewal { check: true })
}

/// Writes the suite, or compares it.
pub(crate) fn run(renewal: &Renewal) -> Result<()> {
    let sources = Sources::new()?;
    let mut files = Files::default();
    let mut written = Vec::new();
    let mut left_out = BTreeMap::new();
    for family in &FAMILIES {
        let cases = (family.cases)(&sources).with_context(|| family.name.to_owned())?;
        if !cases.left_out.is_empty() {
            left_out.insert(family.name, cases.left_out);
        }
        for (name, bytes) in cases.carried {
            files.add(format!("{}/files/{name}", family.name), bytes);
        }
        for mut file in cases.files {
            file.identify()?;
            files.add(format!("{}/{}.jsonl", family.name, file.instruction), file.text());
            written.push((family.name, file));
        }
    }
    let mut schemas = schemas()?;
    let of_flags = manifest::schema_of_flags(&FAMILIES)?;
    files.add(format!("schema/{FLAGS_SCHEMA}"), of_flags.clone());
    schemas.push((FLAGS_SCHEMA.to_owned(), of_flags));
    schemas.sort();
    files.add("flags.json".to_owned(), manifest::flags(&FAMILIES)?);
    let manifest = manifest::manifest(&written, &left_out, &files, &schemas)?;
    files.add("MANIFEST.json".to_owned(), manifest);
    manifest::print(&written);
    files.renew(renewal, &schemas)
}

/// The schema of the flags' names. It is generated, unlike the others.
const FLAGS_SCHEMA: &str = "flags.schema.json";

/// Reads the schemas that are written by hand.
fn schemas() -> Result<Vec<(String, Vec<u8>)>> {
    let folder = root().join(files::FOLDER).join("schema");
    let mut schemas = Vec::new();
    for path in renewal::files(&folder, "")? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name != FLAGS_SCHEMA {
            schemas.push((name, std::fs::read(&path)?));
        }
    }
    Ok(schemas)
}
