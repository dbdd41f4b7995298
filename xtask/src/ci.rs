//! `cargo xtask ci`: all checks besides the tests.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::metadata::{Metadata, array};
use crate::step::{cargo, command, timed};
use crate::{arrow, fuzz, imports, msrv, optional, packages, python, suite};

/// The folders of the packages that are workspaces of their own.
const APART: [&str; 3] = ["arrow", "fuzz", "python"];

/// Files with more lines are warned of.
const MAX_LINES: usize = 400;

/// Runs the checks, up to the first that fails.
///
/// # Errors
/// Returns that of the check that failed.
pub(crate) fn run() -> Result<()> {
    // `--locked` everywhere: the first of these fails if Cargo.lock is not up to date.
    let workspace = Metadata::workspace()?;
    let root = workspace.root()?;
    let run = |arguments: &str| command(&root, cargo(arguments));

    let mut tracked = Command::new("git");
    tracked.args(["ls-files", "--error-unmatch", "Cargo.lock"]);
    command(&root, tracked)?;
    run("fmt --all --check")?;
    run("clippy --workspace --all-targets --all-features --locked -- -D warnings")?;
    let mut doc = cargo("doc --workspace --no-deps --locked");
    doc.env("RUSTDOCFLAGS", "-D warnings");
    command(&root, doc)?;

    // Unpublished packages have no features.
    for package in workspace.packages() {
        let name = package["name"].as_str().context("a package without a name")?;
        for features in feature_sets(package) {
            run(&format!("check --tests -p {name} --locked {features}"))?;
        }
    }

    timed("minimum supported Rust version, by cargo metadata", || {
        println!("{}", msrv::check(&Metadata::resolved()?)?);
        Ok(())
    })?;
    // Each bench once, without timing.
    run("test --quiet --workspace --bench * --locked")?;
    examples(&workspace)?;
    fuzz::check(&workspace)?;
    arrow::check(&workspace)?;
    python::check(&workspace)?;
    packages::check(&workspace)?;
    timed("the conformance suite is what is generated", suite::check)?;
    optional::check(&root)?;
    timed("imports between modules", || imports::check(&root))?;
    timed(&format!("files of at most {MAX_LINES} lines"), || {
        let members = workspace.packages().filter_map(|package| package["manifest_path"].as_str());
        let members = members.filter_map(|manifest| Path::new(manifest).parent());
        for folder in members.map(Path::to_owned).chain(APART.map(|folder| root.join(folder))) {
            warn_of_long_files(&folder.join("src"), &root)?;
        }
        Ok(())
    })
}

/// Runs the examples of all packages.
fn examples(workspace: &Metadata) -> Result<()> {
    let root = workspace.root()?;
    for package in workspace.packages() {
        for target in array(&package["targets"]) {
            if !array(&target["kind"]).any(|kind| kind == "example") {
                continue;
            }
            let (Some(package), Some(name)) = (package["name"].as_str(), target["name"].as_str())
            else {
                continue;
            };
            let features: Vec<&str> =
                array(&target["required-features"]).filter_map(Value::as_str).collect();
            let mut run = cargo(&format!("run --quiet --locked -p {package} --example {name}"));
            if !features.is_empty() {
                run.args(["--features", &features.join(",")]);
            }
            // Only whether it fails matters here.
            run.stdout(Stdio::null());
            command(&root, run)?;
        }
    }
    Ok(())
}

/// Returns the options for no feature and for each one alone; none if the package has no features.
/// Clippy checks all features together.
fn feature_sets(package: &Value) -> Vec<String> {
    let features = package["features"].as_object().into_iter().flatten();
    let each = features.map(|(name, _)| format!("--no-default-features --features {name}"));
    let mut sets: Vec<String> = each.collect();
    if !sets.is_empty() {
        sets.insert(0, "--no-default-features".to_owned());
    }
    sets
}

fn warn_of_long_files(directory: &Path, root: &Path) -> Result<()> {
    let reading = || format!("cannot read {}", directory.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).with_context(reading)? {
        paths.push(entry.with_context(reading)?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() {
            warn_of_long_files(&path, root)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let lines = fs::read_to_string(&path).with_context(reading)?.lines().count();
            if lines > MAX_LINES {
                let shown = path.strip_prefix(root).unwrap_or(&path);
                println!("warning: {} has {lines} lines", shown.display());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_feature_is_tried_alone() {
        let package = json!({"features": {"default": ["xz"], "xz": []}});
        let expected = [
            "--no-default-features",
            "--no-default-features --features default",
            "--no-default-features --features xz",
        ];
        assert_eq!(feature_sets(&package), expected);
        assert!(feature_sets(&json!({"features": {}})).is_empty());
    }
}
