//! The modules of a crate, and the definitions of the names that they use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Imports;
use super::source::Source;

/// The modules of a crate by path; the root's is empty.
#[derive(Default)]
pub(crate) struct Tree {
    modules: BTreeMap<Vec<String>, Source>,
}

/// What a path leads to.
#[derive(Clone)]
enum Found {
    Module(Vec<String>),
    /// Something that this module defines.
    Item(Vec<String>),
}

/// What paths from modules lead to, as far as they were followed: globs of globs lead to the same ones again
/// and again.
type Known = BTreeMap<(Vec<String>, Vec<String>), Option<Found>>;

impl Tree {
    /// Reads the crate whose root is the file `root`.
    ///
    /// # Errors
    /// Returns an error if a source cannot be read or is not Rust.
    pub(crate) fn new(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        tree.read(Vec::new(), root, root.parent().unwrap_or(Path::new("")))?;
        Ok(tree)
    }

    #[cfg(test)]
    pub(crate) fn from_sources(sources: &[(&str, &str)]) -> syn::Result<Self> {
        let path = |module: &str| {
            module.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        let read = |(module, text): &(&str, &str)| Ok((path(module), Source::new(text)?));
        Ok(Self { modules: sources.iter().map(read).collect::<syn::Result<_>>()? })
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

    /// Returns the imports of each module.
    pub(crate) fn imports(&self) -> Imports {
        let uses = self.modules.iter().map(|(module, source)| {
            let uses_of_names = source.imports.iter().filter(|import| !import.is_re_export);
            let names = uses_of_names.map(|import| &import.path).chain(&source.paths);
            let used: BTreeSet<String> = names
                .filter_map(|path| match self.find(module, path, &mut Known::new())? {
                    Found::Item(owner) if owner != *module => Some(owner.join("::")),
                    _ => None,
                })
                .collect();
            (module.join("::"), used)
        });
        uses.collect()
    }

    /// Follows a path from a module; `None` if it leads out of the crate.
    fn find(&self, from: &[String], path: &[String], known: &mut Known) -> Option<Found> {
        let key = (from.to_vec(), path.to_vec());
        if let Some(found) = known.get(&key) {
            return found.clone();
        }
        // A path that leads back to itself leads nowhere.
        known.insert(key.clone(), None);
        let found = self.follow(from, path, known);
        known.insert(key, found.clone());
        found
    }

    fn follow(&self, from: &[String], path: &[String], known: &mut Known) -> Option<Found> {
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
            return self.find_within(&module, after, known);
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
            return match self.find(&module, &import.path, known)? {
                Found::Module(target) => self.find_within(&target, after, known),
                item => Some(item),
            };
        }
        source.imports.iter().filter(|import| import.name.is_none()).find_map(|import| {
            match self.find(&module, &import.path, known)? {
                Found::Module(target) => self.find(&target, rest, known),
                // The variants of an enum.
                Found::Item(_) => None,
            }
        })
    }

    fn find_within(&self, module: &[String], path: &[String], known: &mut Known) -> Option<Found> {
        if path.is_empty() {
            return Some(Found::Module(module.to_vec()));
        }
        // Only names are left: `self` has been removed.
        self.find(module, path, known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_lead_to_where_the_name_is_defined() {
        let tree = Tree::from_sources(&[
            ("", "mod shapes; mod draw; mod names; pub use shapes::round::Circle; use std::fmt;"),
            ("shapes", "pub(crate) mod round; pub use self::round::*; pub struct Square;"),
            ("shapes::round", "use super::Square; pub struct Circle(Square);"),
            // By name, by a module's name, by a re-export of the root, in a macro.
            ("draw", "use crate::{Circle, shapes}; fn f(_: shapes::Square) { g!(names::N) } use crate::names;"),
            // Neither its own name, nor another crate's, nor a test's.
            (
                "names",
                "pub const N: u8 = 0; use serde::Serialize; fn f() { std::mem::drop(N) }
                 #[cfg(test)] mod tests { use crate::draw; fn f() { draw::f() } }",
            ),
        ])
        .unwrap();
        let imports = tree.imports();
        let used = |module: &str| imports[module].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(used(""), Vec::<&str>::new());
        assert_eq!(used("shapes"), Vec::<&str>::new());
        assert_eq!(used("shapes::round"), ["shapes"]);
        assert_eq!(used("draw"), ["names", "shapes", "shapes::round"]);
        assert_eq!(used("names"), Vec::<&str>::new());
    }

    #[test]
    fn an_inline_module_belongs_to_its_file() {
        let tree = Tree::from_sources(&[
            ("", "mod a; mod b;"),
            ("a", "pub struct A; mod inner { use super::A; use super::super::b::B; }"),
            ("b", "pub struct B;"),
        ])
        .unwrap();
        assert_eq!(tree.imports()["a"].iter().collect::<Vec<_>>(), ["b"]);
    }
}
