//! The modules of a crate, and where the names that they use are defined.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Imports;
use super::source::Source;

/// Longer chains of re-exports go round.
const MAX_STEPS: usize = 32;

/// The modules of a crate by their paths; the root's is empty.
#[derive(Default)]
pub(crate) struct Tree {
    modules: BTreeMap<Vec<String>, Source>,
}

/// Reads the crate whose root is the file `root`.
///
/// # Errors
/// Returns an error if a source cannot be read or is not Rust.
pub(crate) fn read(root: &Path) -> Result<Tree> {
    let mut tree = Tree::default();
    let folder = root.parent().unwrap_or(Path::new("")).to_owned();
    tree.read(Vec::new(), root, &folder)?;
    Ok(tree)
}

/// Where a path leads.
enum Found {
    Module(Vec<String>),
    /// To something that this module defines.
    Item(Vec<String>),
}

impl Tree {
    pub(crate) fn is_empty(&self) -> bool {
        self.modules.is_empty()
    }

    /// Reads the module in `file`, whose children are in `folder`.
    fn read(&mut self, module: Vec<String>, file: &Path, folder: &Path) -> Result<()> {
        let failed = || file.display().to_string();
        let text = fs::read_to_string(file).with_context(failed)?;
        let source = Source::new(&text).with_context(failed)?;
        for child in &source.children {
            let flat = folder.join(format!("{child}.rs"));
            let nested: PathBuf = folder.join(child);
            let file = if flat.exists() { flat } else { nested.join("mod.rs") };
            let path = [&module[..], std::slice::from_ref(child)].concat();
            self.read(path, &file, &nested)?;
        }
        self.modules.insert(module, source);
        Ok(())
    }

    /// Returns what each module uses of the others.
    pub(crate) fn imports(&self) -> Imports {
        let uses = self.modules.iter().map(|(module, source)| {
            let uses_of_names = source.imports.iter().filter(|import| !import.is_re_export);
            let names = uses_of_names.map(|import| &import.path).chain(&source.paths);
            let used: BTreeSet<String> = names
                .filter_map(|path| match self.find(module, path, 0)? {
                    Found::Item(owner) if owner != *module => Some(owner.join("::")),
                    _ => None,
                })
                .collect();
            (module.join("::"), used)
        });
        uses.collect()
    }

    /// Follows a path from a module; `None` if it leads out of the crate.
    fn find(&self, from: &[String], path: &[String], steps: usize) -> Option<Found> {
        if steps > MAX_STEPS {
            return None;
        }
        let mut module = from.to_vec();
        let mut rest = path;
        while let Some((first, after)) = rest.split_first() {
            match first.as_str() {
                "crate" => module.clear(),
                "super" => _ = module.pop(),
                "self" => {}
                _ => break,
            }
            rest = after;
        }
        let Some((name, after)) = rest.split_first() else { return Some(Found::Module(module)) };
        let source = self.modules.get(&module)?;
        if source.children.contains(name) {
            module.push(name.clone());
            return self.find_within(&module, after, steps);
        }
        if source.items.contains(name) {
            return Some(Found::Item(module));
        }
        let named = source.imports.iter().find(|import| import.name.as_ref() == Some(name));
        if let Some(import) = named {
            // `use serde::Serialize` names a crate, or a child of this module.
            if import.path.first() == Some(name) {
                return None;
            }
            return match self.find(&module, &import.path, steps + 1)? {
                Found::Module(target) => self.find_within(&target, after, steps),
                item => Some(item),
            };
        }
        source.imports.iter().filter(|import| import.name.is_none()).find_map(|import| {
            match self.find(&module, &import.path, steps + 1)? {
                Found::Module(target) => self.find(&target, rest, steps + 1),
                // The variants of an enum.
                Found::Item(_) => None,
            }
        })
    }

    fn find_within(&self, module: &[String], path: &[String], steps: usize) -> Option<Found> {
        if path.is_empty() {
            return Some(Found::Module(module.to_vec()));
        }
        // A path is followed from within only by names: `self` has been taken.
        self.find(module, path, steps + 1)
    }
}
