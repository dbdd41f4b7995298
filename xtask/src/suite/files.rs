//! [`Files`]: the generated files of the package `warpload-vectors`, and their list in Rust.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, ensure};

use crate::renewal::{Renewal, files};
use crate::step::{Failed, root};

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

    /// Writes the files and their list, and removes stale files of the suite. A check compares instead.
    pub(crate) fn renew(mut self, renewal: &Renewal, schemas: &[(String, Vec<u8>)]) -> Result<()> {
        self.0.sort();
        let list = self.list(schemas);
        let folder = root().join(FOLDER);
        let known: BTreeSet<&str> = self.0.iter().map(|(name, _)| &**name).collect();
        let mut others = files(&folder, "")?;
        others.retain(|path| {
            let name = path.strip_prefix(&folder).unwrap_or(path).to_string_lossy();
            let name = name.replace('\\', "/");
            !known.contains(&*name) && !name.starts_with("schema/")
        });
        for path in &others {
            if renewal.check {
                println!("{}: not a file of the suite", path.display());
            } else {
                fs::remove_file(path)?;
            }
        }
        for (name, _) in &self.0 {
            if let Some(parent) = folder.join(name).parent().filter(|_| !renewal.check) {
                fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
            }
        }
        let written: Vec<_> = self.0.iter().map(|(name, bytes)| (&**name, bytes)).collect();
        renewal.renew(FOLDER, &written)?;
        renewal.renew("vectors/src", &[("files.rs", list)])?;
        ensure!(others.is_empty() || !renewal.check, Failed::SHOWN);
        Ok(())
    }

    /// The source of the package's list of files.
    fn list(&self, schemas: &[(String, Vec<u8>)]) -> String {
        let names = self.0.iter().map(|(name, _)| name.clone());
        let (carried, names): (Vec<_>, Vec<_>) = names.partition(|name| name.contains("/files/"));
        let cases = names.into_iter().filter(|name| name.ends_with(".jsonl")).collect();
        let schemas = schemas.iter().map(|(name, _)| format!("schema/{name}")).collect();
        let tables: [(&str, &str, &str, Vec<String>); 3] = [
            ("The files of cases with their names, one JSON object a line.", "CASES", "str", cases),
            ("The JSON Schemas of cases and answers, by file name.", "SCHEMAS", "str", schemas),
            ("The files that cases of `traces` name.", "TRACES", "[u8]", carried),
        ];
        let mut list = "//! The files of the suite; written by `cargo xtask suite`.\n".to_owned();
        for (about, name, of, rows) in tables {
            list += &format!(
                "\n/// {about}\n#[rustfmt::skip]\npub const {name}: &[(&str, &{of})] = &[\n"
            );
            let include = if of == "str" { "include_str" } else { "include_bytes" };
            for row in rows {
                let short = row.trim_start_matches("schema/");
                list += &format!("    (\"{short}\", {include}!(\"../v1/{row}\")),\n");
            }
            list += "];\n";
        }
        list
    }
}
