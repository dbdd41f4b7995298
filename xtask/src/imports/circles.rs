//! Circles of imports: modules of which each leads to each other one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, ensure};

use super::{CRATES, Imports, of_crate};

/// Checks that no modules of the published crates import each other.
///
/// # Errors
/// Returns an error that names the circles if there are some.
pub(crate) fn check(workspace: &Path) -> Result<()> {
    let mut found = Vec::new();
    for root in CRATES {
        for circle in circles(&of_crate(&workspace.join(root))?) {
            found.push(format!("\n{root}: {}", circle.join(", ")));
        }
    }
    ensure!(found.is_empty(), "modules that import each other:{}", found.concat());
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(edges: &[(&str, &[&str])]) -> Imports {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        edges.iter().map(|(from, to)| ((*from).to_owned(), set(to))).collect()
    }

    #[test]
    fn modules_that_lead_to_each_other_are_a_circle() {
        let found = circles(&imports(&[
            ("a", &["b"]),
            ("b", &["c"]),
            ("c", &["a", "d"]),
            ("d", &["e"]),
            ("e", &[]),
            ("f", &["a"]),
        ]));
        assert_eq!(found, [["a", "b", "c"]]);
        assert_eq!(circles(&imports(&[("", &["a"]), ("a", &[""])])), [["(root)", "a"]]);
        assert!(circles(&imports(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])).is_empty());
    }

    #[test]
    fn the_crates_have_no_other_circles() {
        check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
    }
}
