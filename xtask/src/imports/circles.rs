//! Circles of imports: modules of which each leads to each other one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, ensure};

use super::{CRATES, Imports, of_crate};

/// The circles that may stay, by the root of their crate.
const ALLOWED: [(&str, &[&str]); 0] = [];

/// Compares the circles of the published crates with those that may stay.
///
/// # Errors
/// Returns an error that names the circles if there are others.
pub(crate) fn check(workspace: &Path) -> Result<()> {
    let mut found = Vec::new();
    for root in CRATES {
        for circle in circles(&of_crate(&workspace.join(root))?) {
            if !ALLOWED.iter().any(|(of, modules)| *of == root && is_within(&circle, modules)) {
                found.push(format!("\n{root}: {}", circle.join(", ")));
            }
        }
    }
    ensure!(found.is_empty(), "modules that import each other:{}", found.concat());
    Ok(())
}

fn is_within(circle: &[String], modules: &[&str]) -> bool {
    circle.iter().all(|module| modules.contains(&module.as_str()))
}

/// Returns the circles: groups of at least two modules, each of which leads to each other one. Sorted,
/// the names within one too.
pub(crate) fn circles(imports: &Imports) -> Vec<Vec<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|module| (module.as_str(), reached(imports, module))).collect();
    let mut circles = BTreeSet::new();
    for (module, others) in &reached {
        let circle: Vec<String> = others
            .iter()
            .filter(|other| reached.get(*other).is_some_and(|back| back.contains(module)))
            .map(|other| if other.is_empty() { "(root)".to_owned() } else { (*other).to_owned() })
            .collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

/// Returns every module that `from` leads to, itself only if it is in a circle.
fn reached<'i>(imports: &'i Imports, from: &str) -> BTreeSet<&'i str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = imports.get(from).into_iter().flatten().map(String::as_str).collect();
    while let Some(module) = next.pop() {
        if reached.insert(module) {
            next.extend(imports.get(module).into_iter().flatten().map(String::as_str));
        }
    }
    reached
}
