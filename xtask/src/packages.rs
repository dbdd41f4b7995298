//! Checks that the packages can be published, without publishing them.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::ci::succeeds;
use crate::metadata::{Metadata, array};
use crate::step::{cargo, command, missing, root, run_cargo, timed};

/// The maximum size of a package, in bytes.
const MAX_BYTES: u64 = 2_000_000;

/// The files that each package must have.
const FILES: [&str; 3] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Packages everything that would be published, and inspects the packages.
///
/// # Errors
/// Returns an error if a package is incomplete or too large.
pub(crate) fn check(workspace: &Metadata) -> Result<()> {
    let published: Vec<&Value> =
        workspace.packages().filter(|package| package["publish"].is_null()).collect();
    let mut package = cargo("package --locked --no-verify --allow-dirty --quiet");
    for name in published.iter().filter_map(|package| package["name"].as_str()) {
        package.args(["-p", name]);
    }
    command(package)?;
    timed("the packages are complete", || {
        for package in &published {
            inspect(package, &workspace.target()?)?;
        }
        Ok(())
    })
}

fn inspect(package: &Value, target: &Path) -> Result<()> {
    let text =
        |key: &str| package[key].as_str().with_context(|| format!("a package without {key}"));
    let (name, version) = (text("name")?, text("version")?);
    for key in ["description", "license", "readme", "rust_version"] {
        text(key).with_context(|| name.to_owned())?;
    }
    for key in ["keywords", "categories"] {
        ensure!(array(&package[key]).next().is_some(), "{name}: no {key}");
    }
    let folder = Path::new(text("manifest_path")?).parent().unwrap_or(Path::new(""));
    for file in FILES {
        ensure!(folder.join(file).is_file(), "{name}: no {file}");
    }
    let file = target.join(format!("package/{name}-{version}.crate"));
    let bytes = fs::metadata(&file).with_context(|| file.display().to_string())?.len();
    ensure!(bytes <= MAX_BYTES, "{name}: {bytes} bytes packaged; at most {MAX_BYTES}");
    println!("{name} {version}: {bytes} bytes");
    Ok(())
}

/// Compares the public interfaces with the last tag, if there is one and cargo-semver-checks is installed.
///
/// # Errors
/// Returns an error if an interface is broken.
pub(crate) fn semver() -> Result<()> {
    let mut describe = Command::new("git");
    let describe =
        describe.args(["describe", "--tags", "--abbrev=0"]).current_dir(root()).output()?;
    let tag = String::from_utf8_lossy(&describe.stdout).trim().to_owned();
    if tag.is_empty() || !succeeds(&mut cargo("semver-checks --version")) {
        let why = "which is not installed or has no tag to compare with";
        return missing(&format!("cargo semver-checks, {why}"));
    }
    run_cargo(&format!("semver-checks --baseline-rev {tag}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The citation states the version itself.
    #[test]
    fn the_citation_has_the_version() {
        let version = |file: &str, key: &str| {
            let text = fs::read_to_string(root().join(file)).unwrap();
            let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
            line.trim_matches([' ', '"']).to_owned()
        };
        let workspace = version("Cargo.toml", "version = ");
        assert_eq!(version("CITATION.cff", "version: "), workspace);
    }
}
