//! Checks the minimum supported Rust version without installing it: no package that the workspace is
//! built from may need a newer one.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::metadata::Metadata;

/// Major, minor, patch.
type Version = (u64, u64, u64);

/// Checks the graph; returns a summary.
///
/// # Errors
/// Returns an error that names the packages that need a newer version, or a member that declares none.
pub(crate) fn check(metadata: &Metadata) -> Result<String> {
    let mut supported = None;
    for member in metadata.members() {
        let package = metadata.package(member)?;
        let name = package["name"].as_str().unwrap_or(member);
        let declared =
            rust_version(package)?.with_context(|| format!("{name}: no rust-version"))?;
        if *supported.get_or_insert(declared) != declared {
            bail!("{name}: not the rust-version of the members before it");
        }
    }
    let supported = supported.context("a workspace without members")?;

    let (mut newer, mut undeclared) = (Vec::new(), 0);
    let needed = needed(metadata);
    for id in &needed {
        let package = metadata.package(id)?;
        match rust_version(package)? {
            Some(version) if version > supported => newer.push(format!(
                "{} {} needs Rust {}",
                package["name"].as_str().unwrap_or(id),
                package["version"].as_str().unwrap_or_default(),
                shown(version),
            )),
            Some(_) => {}
            None => undeclared += 1,
        }
    }
    let supported = shown(supported);
    if !newer.is_empty() {
        bail!("the workspace promises Rust {supported}, but\n  {}", newer.join("\n  "));
    }
    Ok(format!(
        "{} packages, none needs more than Rust {supported} ({undeclared} do not declare it)",
        needed.len()
    ))
}

/// Returns the packages that the members are built from, including the members.
fn needed(metadata: &Metadata) -> BTreeSet<&str> {
    let mut needed = BTreeSet::new();
    let mut open: Vec<&str> = metadata.members().collect();
    while let Some(id) = open.pop() {
        if needed.insert(id) {
            open.extend(metadata.dependencies(id));
        }
    }
    needed
}

/// Returns the version that a package declares; a missing minor or patch number is 0.
fn rust_version(package: &Value) -> Result<Option<Version>> {
    let Some(text) = package["rust_version"].as_str() else {
        return Ok(None);
    };
    let mut numbers = [0; 3];
    for (number, part) in numbers.iter_mut().zip(text.split('.')) {
        *number = part.parse().with_context(|| format!("rust-version `{text}`"))?;
    }
    Ok(Some(numbers.into()))
}

fn shown((major, minor, patch): Version) -> String {
    match patch {
        0 => format!("{major}.{minor}"),
        _ => format!("{major}.{minor}.{patch}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A member `us`, and what it depends on: name, kind, declared version.
    fn graph(dependencies: &[(&str, Value, Value)]) -> Metadata {
        let mut packages = vec![json!({"id": "us", "name": "us", "rust_version": "1.88"})];
        let mut deps = Vec::new();
        for (name, kind, version) in dependencies {
            packages.push(json!({"id": name, "name": name, "version": "2.0.0",
                "rust_version": version}));
            deps.push(json!({"pkg": name, "dep_kinds": [{"kind": kind}]}));
        }
        Metadata::from_json(json!({
            "packages": packages, "workspace_members": ["us"],
            "resolve": {"nodes": [{"id": "us", "deps": deps}]},
        }))
    }

    #[test]
    fn newer_dependencies_are_named() {
        let newer =
            graph(&[("old", json!(null), json!("1.9")), ("new", json!("build"), json!("1.88.1"))]);
        let error = check(&newer).map_err(|error| error.to_string());
        assert_eq!(
            error,
            Err("the workspace promises Rust 1.88, but\n  new 2.0.0 needs Rust 1.88.1".to_owned())
        );
    }

    #[test]
    fn what_only_tests_need_is_ignored() {
        let fine = graph(&[
            ("same", json!(null), json!("1.88.0")),
            ("silent", json!(null), json!(null)),
            ("test", json!("dev"), json!("1.99")),
        ]);
        let told = "3 packages, none needs more than Rust 1.88 (1 do not declare it)";
        assert_eq!(check(&fine).ok().as_deref(), Some(told));
    }
}
