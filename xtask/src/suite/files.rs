//! [`Files`]: what is written of the package, and the list of it in Rust.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::metadata::Metadata;
use crate::renewal::Renewal;
use crate::step::Failed;

/// The suite, relative to the root of the repository.
pub(crate) const FOLDER: &str = "vectors/v1";

/// The files of a suite, by name.
#[derive(Default)]
pub(crate) struct Files(Vec<(String, Vec<u8>)>);

impl Files {
    pub(crate) fn add(&mut self, name: String, bytes: Vec<u8>) {
        self.0.push((name, bytes));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(String, Vec<u8>)> {
        self.0.iter()
    }

    /// Writes the files and the list of them, and removes others of the suite; or compares them.
    pub(crate) fn renew(mut self, renewal: &Renewal, schemas: &[(String, Vec<u8>)]) -> Result<()> {
        self.0.sort();
        let list = self.list(schemas);
        let root = Metadata::workspace()?.root()?;
        let folder = root.join(FOLDER);
        let known: BTreeSet<&str> = self.0.iter().map(|(name, _)| &**name).collect();
        let mut others = Vec::new();
        unlisted(&folder, "", &known, &mut others)?;
        for name in &others {
            if renewal.check {
                println!("{}: not a file of the suite", folder.join(name).display());
            } else {
                fs::remove_file(folder.join(name))?;
            }
        }
        for (name, _) in &self.0 {
            if let Some(parent) = folder.join(name).parent().filter(|_| !renewal.check) {
                fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
            }
        }
        let files: Vec<(&str, &[u8])> =
            self.0.iter().map(|(name, bytes)| (&**name, &**bytes)).collect();
        renewal.renew(FOLDER, &files)?;
        renewal.renew("vectors/src", &[("files.rs", list)])?;
        ensure!(others.is_empty() || !renewal.check, Failed::SHOWN);
        Ok(())
    }

    /// Returns the source of the package's list of files.
    fn list(&self, schemas: &[(String, Vec<u8>)]) -> String {
        let named = |is_listed: fn(&str) -> bool| {
            let names = self.0.iter().map(|(name, _)| &**name);
            names.filter(move |name| is_listed(name))
        };
        let is_carried = |name: &str| name.contains("/files/");
        let mut list = "//! The files of the suite; written by `cargo xtask suite`.\n".to_owned();
        let mut table = |what: &str, name: &str, of: &str, macro_name: &str, rows: Vec<String>| {
            list += &format!(
                "\n/// {what}\n#[rustfmt::skip]\npub const {name}: &[(&str, {of})] = &[\n"
            );
            for row in rows {
                let short = row.trim_start_matches("schema/");
                list += &format!("    (\"{short}\", {macro_name}!(\"../v1/{row}\")),\n");
            }
            list += "];\n";
        };
        table(
            "The files of cases with their names, one JSON object a line.",
            "CASES",
            "&str",
            "include_str",
            named(|name| name.ends_with(".jsonl") && !name.contains("/files/"))
                .map(str::to_owned)
                .collect(),
        );
        table(
            "The JSON Schemas of cases and answers, by file name.",
            "SCHEMAS",
            "&str",
            "include_str",
            schemas.iter().map(|(name, _)| format!("schema/{name}")).collect(),
        );
        table(
            "The files that cases of `traces` name.",
            "TRACES",
            "&[u8]",
            "include_bytes",
            named(is_carried).map(str::to_owned).collect(),
        );
        list
    }
}

/// Collects the files of a folder that the suite does not consist of, but for the schemas.
fn unlisted(
    folder: &Path,
    prefix: &str,
    known: &BTreeSet<&str>,
    others: &mut Vec<String>,
) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            if name != "schema" {
                unlisted(&entry.path(), &format!("{name}/"), known, others)?;
            }
        } else if !known.contains(&*name) {
            others.push(name);
        }
    }
    Ok(())
}
