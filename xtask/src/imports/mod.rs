//! Reads from the sources of a crate which modules import which.
//!
//! An import is a `use` of something that the other module defines, or a path to it. Re-exports are
//! followed to the definition, and are not imports themselves, so that a module may list the names of
//! its children. Tests are ignored.

mod circles;
mod rooms;
mod source;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use tree::Tree;

use crate::metadata::Metadata;

/// For each module of a crate, the modules that it imports, all by path, such as `trace::import`; the
/// path of the root is empty.
pub(crate) type Imports = BTreeMap<String, BTreeSet<String>>;

/// Lists the circles of imports between the modules of each crate
#[derive(Args)]
pub(crate) struct Arguments {
    /// Roots of crates, such as `src/lib.rs`; those of the published packages if omitted
    root: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut roots = arguments.root.clone();
    if roots.is_empty() {
        let root = Metadata::workspace()?.root()?;
        roots = CRATES.iter().map(|crate_root| root.join(crate_root)).collect();
    }
    for path in roots {
        let circles = circles::circles(&of_crate(&path)?);
        println!("{}: {} circles", path.display(), circles.len());
        for circle in circles {
            println!("  {}", circle.join(", "));
        }
    }
    Ok(())
}

/// Compares the imports of the published crates with what ARCHITECTURE.md allows, and their circles with
/// the allowed ones.
///
/// # Errors
/// Returns an error that names each import and each circle that is not allowed.
pub(crate) fn check(workspace: &Path) -> Result<()> {
    circles::check(workspace)?;
    rooms::check(workspace, &std::fs::read_to_string(workspace.join("ARCHITECTURE.md"))?)
}

/// The roots of the published crates and of `arrow/`.
pub(crate) const CRATES: [&str; 5] =
    ["encoding/src/lib.rs", "src/lib.rs", "ptx/src/lib.rs", "arrow/src/lib.rs", "cli/src/lib.rs"];

/// Reads the crate whose root is the file `root`.
///
/// # Errors
/// Returns an error if a source cannot be read or is not Rust.
pub(crate) fn of_crate(root: &Path) -> Result<Imports> {
    Ok(Tree::new(root)?.imports())
}
