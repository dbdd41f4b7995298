//! Checks the table in ARCHITECTURE.md of which modules may import which.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::{CRATES, of_crate};

/// The heading of the table in ARCHITECTURE.md.
const HEADING: &str = "## What may import what";

/// The crate that is not in the table.
const UNLISTED: &str = "cli/src/lib.rs";

/// A row: the modules, such as `src/memory`, and what they and the modules below them may import.
struct Row<'t> {
    modules: Vec<&'t str>,
    allowed: Vec<&'t str>,
}

/// Compares the table in ARCHITECTURE.md with the sources.
///
/// # Errors
/// Returns an error that names each import that the table does not allow, and each module without a
/// row.
pub(crate) fn check(workspace: &Path, architecture: &str) -> Result<()> {
    let rows = rows(architecture)?;
    let mut wrong = Vec::new();
    for root in CRATES.iter().filter(|root| **root != UNLISTED) {
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        let row_of = |module: &str| {
            let path = format!("{folder}/{}", module.replace("::", "/"));
            let lengths = rows.iter().enumerate().flat_map(|(i, row)| {
                let of_row = row.modules.iter().filter(|room| is_in(&path, room, "/"));
                of_row.map(move |room| (room.len(), i))
            });
            lengths.max().map(|(_, i)| i)
        };
        // Modules without a row may only list names.
        for (module, used) in of_crate(&workspace.join(root))? {
            let Some(row) = row_of(&module) else {
                if !used.is_empty() {
                    wrong.push(format!("\n{folder}/{module}: no row"));
                }
                continue;
            };
            for other in used {
                let allowed = rows[row].allowed.iter().any(|room| is_in(&other, room, "::"));
                if row_of(&other) != Some(row) && !allowed {
                    wrong.push(format!("\n{folder}: {module} imports {other}"));
                }
            }
        }
    }
    ensure!(wrong.is_empty(), "ARCHITECTURE.md, {HEADING:?}, does not allow:{}", wrong.concat());
    Ok(())
}

/// Returns whether `path` is `room`, or below it.
fn is_in(path: &str, room: &str, separator: &str) -> bool {
    path.strip_prefix(room).is_some_and(|rest| rest.is_empty() || rest.starts_with(separator))
}

fn rows(architecture: &str) -> Result<Vec<Row<'_>>> {
    let (_, section) = architecture.split_once(HEADING).context("no table of imports")?;
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let table = section.lines().filter(|line| line.starts_with("| `"));
    let rows: Vec<Row<'_>> = table
        .filter_map(|line| {
            let (modules, allowed) = line.trim_matches('|').split_once('|')?;
            Some(Row { modules: quoted(modules), allowed: quoted(allowed) })
        })
        .collect();
    ensure!(rows.len() > 20, "a table of {} rows", rows.len());
    Ok(rows)
}

/// Returns the texts between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_with(change: impl Fn(String) -> String) -> Result<()> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
        check(&root, &change(text))
    }

    #[test]
    fn the_architecture_says_what_may_import_what() {
        check_with(|text| text).unwrap();
    }

    #[test]
    fn an_import_that_is_not_allowed_is_named() {
        let error =
            check_with(|text| text.replace("| `src/warp` | `lane` |", "| `src/warp` | nothing |"));
        assert!(error.unwrap_err().to_string().contains("src: warp imports lane"));
        let error = check_with(|text| text.replace("| `src/warp` | `lane` |\n", ""));
        assert!(error.unwrap_err().to_string().contains("src/warp: no row"));
    }
}
