//! Circles of imports: modules each of which leads to all others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, ensure};

use super::{CRATES, Imports, of_crate};

/// The allowed circles, by the root of their crate: folders whose `mod.rs` defines what all of them work
/// on, or two modules for one idea. A part of an allowed circle is allowed too.
const ALLOWED: [(&str, &[&str]); 11] = [
    ("src/lib.rs", &["memory", "memory::builder", "memory::windows"]),
    ("src/lib.rs", &["memory::error", "memory::windows"]),
    (
        "src/lib.rs",
        &[
            "sass",
            "sass::cubin",
            "sass::elf_layout",
            "sass::error",
            "sass::line",
            "sass::listing",
            "sass::raw",
        ],
    ),
    ("src/lib.rs", &["trace::binary::contents", "trace::binary::format"]),
    ("ptx/src/lib.rs", &["lower", "lower::operand", "lower::select", "lower::spaces"]),
    ("ptx/src/lib.rs", &["module", "module::lookup"]),
    (
        "ptx/src/lib.rs",
        &[
            "rules",
            "rules::address",
            "rules::cache",
            "rules::declarations",
            "rules::destination",
            "rules::gates",
            "rules::opcodes",
            "rules::order",
            "rules::param",
            "rules::qualifiers",
            "rules::tensor",
        ],
    ),
    ("ptx/src/lib.rs", &["run", "run::memory", "run::placement", "run::tensor"]),
    ("ptx/src/lib.rs", &["syntax::load", "syntax::load::parse"]),
    ("ptx/src/lib.rs", &["tensor::cases", "tensor::cases::read"]),
    ("ptx/src/lib.rs", &["tensor::instruction", "tensor::judge", "tensor::shape"]),
];

/// Compares the circles of the published crates with the allowed ones.
///
/// # Errors
/// Returns an error that names the circles if there are others.
pub(crate) fn check(workspace: &Path) -> Result<()> {
    let mut found = Vec::new();
    let mut used = [false; ALLOWED.len()];
    for root in CRATES {
        for circle in circles(&of_crate(&workspace.join(root))?) {
            let allowed =
                ALLOWED.iter().position(|(of, modules)| *of == root && is_within(&circle, modules));
            match allowed {
                Some(allowed) => used[allowed] = true,
                None => found.push(format!("\n{root}: {}", circle.join(", "))),
            }
        }
    }
    for ((root, modules), _) in ALLOWED.iter().zip(used).filter(|(_, used)| !used) {
        println!("warning: {root}: {} is no longer a circle; remove it", modules.join(", "));
    }
    ensure!(found.is_empty(), "modules that import each other:{}", found.concat());
    Ok(())
}

fn is_within(circle: &[String], modules: &[&str]) -> bool {
    circle.iter().all(|module| modules.contains(&module.as_str()))
}

/// Returns the circles: groups of at least two modules, each of which leads to all others. Circles and
/// the names in them are sorted.
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

/// Returns all modules that `from` leads to; itself only if it is in a circle.
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
