//! The two lists of checks: `cargo xtask ci` for each change, and `cargo xtask nightly` for checks that take longer,
//! before a release.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;

use crate::metadata::{Metadata, array};
use crate::step::{cargo, command, missing, run_cargo, timed};
use crate::{fuzz, nvidia, packages, page, python};

/// What the tests of the workspace do not build, because criterion takes long and a machine may have no Python.
const APART: &str = "--exclude warpload-bench --exclude warpload-python";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Skip the tests, because they have just run
    #[arg(long)]
    tested: bool,
}

/// Runs the checks of each change, up to the first failure.
///
/// # Errors
/// Returns the error of the first check that fails.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    // `--locked` everywhere, so that the first command fails if Cargo.lock is out of date.
    let workspace = Metadata::workspace()?;

    let mut tracked = Command::new("git");
    tracked.args(["ls-files", "--error-unmatch", "Cargo.lock"]);
    command(tracked)?;
    run_cargo("fmt --all --check")?;
    if !arguments.tested {
        run_cargo("test --workspace --locked")?;
    }
    // The judges in Python. Of the whole workspace, so that the tests are not built again.
    run_cargo("test --quiet --workspace --locked --test it -- --ignored independent::")?;
    // Together the packages have all features but those of programs that take long to build; `nightly` has these.
    run_cargo(&format!("clippy --workspace {APART} --all-targets --locked -- -D warnings"))?;
    let mut doc = cargo(&format!("doc --workspace {APART} --no-deps --locked"));
    doc.env("RUSTDOCFLAGS", "-D warnings");
    command(doc)?;
    page::check()?;
    packages::check(&workspace)
}

/// Runs all other checks, up to the first failure. Prints the programs that are missing and skips their checks.
///
/// # Errors
/// Returns the error of the first check that fails.
pub(crate) fn nightly() -> Result<()> {
    let workspace = Metadata::workspace()?;

    // Each feature alone, because clippy checks only all of them together. Unpublished packages have none.
    for package in workspace.packages() {
        let name = package["name"].as_str().context("a package without a name")?;
        for features in feature_sets(package) {
            run_cargo(&format!("check --tests -p {name} --locked {features}"))?;
        }
    }
    minimum_rust()?;
    // Each bench once, without timing.
    run_cargo("test --quiet --locked -p warpload-bench --benches")?;
    examples(&workspace)?;
    fuzz::check()?;
    run_cargo("clippy --workspace --all-targets --all-features --locked -- -D warnings")?;
    // Parquet, which takes long to build.
    run_cargo("test --quiet --locked -p warpload-arrow --all-features")?;
    python::nightly(&workspace)?;
    page::nightly(&workspace)?;
    packages::semver()?;
    // The result is `target/book`.
    if_installed("mdbook", "build docs/book")?;
    // Without arguments, actionlint checks all workflows of the repository.
    if_installed("actionlint", "")?;
    nvidia::at_hand(&workspace)?;
    // Last, because they take most of an hour: tests of minutes, and pages in a browser. The test that needs nvdisasm is
    // a step above.
    run_cargo("test --workspace --locked -- --ignored --skip nvdisasm")
}

fn examples(workspace: &Metadata) -> Result<()> {
    for package in workspace.packages() {
        for target in array(&package["targets"]) {
            let (Some(package), Some(name)) = (package["name"].as_str(), target["name"].as_str())
            else {
                continue;
            };
            if !array(&target["kind"]).any(|kind| kind == "example") {
                continue;
            }
            // Built for the whole workspace: `-p` would select fewer features and build dependencies again.
            let mut build = cargo("build --quiet --locked --workspace --example");
            build.arg(name);
            command(build)?;
            let program = workspace.target()?.join("debug/examples").join(name);
            let mut run = Command::new(program);
            // Only the exit status matters.
            run.stdout(Stdio::null());
            command(run).with_context(|| format!("{package}, example {name}"))?;
        }
    }
    Ok(())
}

/// The options for no feature and for each one alone; empty if the package has no features.
fn feature_sets(package: &Value) -> Vec<String> {
    let features = package["features"].as_object().into_iter().flatten();
    let each = features.map(|(name, _)| format!("--no-default-features --features {name}"));
    let mut sets: Vec<String> = each.collect();
    if !sets.is_empty() {
        sets.insert(0, "--no-default-features".to_owned());
    }
    sets
}

/// Checks that no dependency declares a newer Rust than the workspace. Then builds the workspace with that version, if
/// it is installed, because declarations can be wrong.
fn minimum_rust() -> Result<()> {
    let graph = Metadata::resolved()?;
    let members: Vec<&Value> = array(graph.get("workspace_members")).collect();
    let mut versions = graph.packages().filter(|package| members.contains(&&package["id"]));
    let ours = versions.next().and_then(|member| member["rust_version"].as_str());
    let ours = ours.context("no rust-version")?;
    timed(&format!("no dependency needs more than Rust {ours}"), || {
        let newer = graph.packages().filter(|package| {
            package["rust_version"].as_str().is_some_and(|theirs| numbers(theirs) > numbers(ours))
        });
        let newer: Vec<String> = newer
            .map(|package| format!("{}: {}", package["name"], package["rust_version"]))
            .collect();
        ensure!(newer.is_empty(), "newer: {}", newer.join(", "));
        Ok(())
    })?;
    if !succeeds(Command::new("rustup").args(["run", ours, "cargo", "--version"])) {
        return missing(&format!("a build by Rust {ours}, which is not installed"));
    }
    let mut check = Command::new("rustup");
    check.args(["run", ours, "cargo", "check", "--workspace", "--locked"]);
    command(check)
}

/// The numbers of a version; missing ones are 0.
fn numbers(version: &str) -> [u64; 3] {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}

fn if_installed(program: &str, arguments: &str) -> Result<()> {
    if !succeeds(Command::new(program).arg("--version")) {
        return missing(&format!("{program} {arguments}, which is not installed"));
    }
    let mut run = Command::new(program);
    run.args(arguments.split_whitespace());
    command(run)
}

/// Whether a command can be run and succeeds. Its output is not shown.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
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

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(numbers("1.100") > numbers("1.89.1") && numbers("1.89.1") > numbers("1.89"));
        assert_eq!(numbers("1.89"), numbers("1.89.0"));
    }

    /// README.md begins with `cargo run`, which refuses to choose among programs.
    #[test]
    fn cargo_run_has_one_program() {
        let workspace = Metadata::workspace().unwrap();
        let default: Vec<&Value> = array(workspace.get("workspace_default_members")).collect();
        let packages = workspace.packages().filter(|package| default.contains(&&package["id"]));
        let targets = packages.flat_map(|package| array(&package["targets"]));
        let is_program = |target: &&Value| array(&target["kind"]).any(|kind| kind == "bin");
        let programs: Vec<&Value> =
            targets.filter(is_program).map(|target| &target["name"]).collect();
        assert_eq!(programs, ["warpload"]);
    }
}
