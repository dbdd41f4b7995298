//! The checks of `arrow/`, which is not in the workspace.

use std::process::Command;

use anyhow::Result;

use crate::metadata::Metadata;
use crate::msrv;
use crate::step::{cargo, command, timed};

const MANIFEST: &str = "arrow/Cargo.toml";

/// Checks the package as the workspace is checked, and runs its tests: without features, with each alone, and
/// with all.
///
/// # Errors
/// Returns that of the step that failed.
pub(crate) fn check(workspace: &Metadata) -> Result<()> {
    let root = workspace.root()?;
    let run = |task: &str, rest: &str| -> Result<()> {
        let mut cargo: Command = cargo(&format!("{task} --locked --manifest-path {MANIFEST}"));
        // What both need is built once.
        cargo.arg("--target-dir").arg(workspace.target()?).args(rest.split_whitespace());
        command(&root, cargo)
    };
    command(&root, cargo(&format!("fmt --check --manifest-path {MANIFEST}")))?;
    for features in ["", "--features ffi", "--features parquet"] {
        run("clippy --lib", &format!("{features} -- -D warnings"))?;
    }
    run("clippy --all-targets --all-features", "-- -D warnings")?;
    timed("minimum supported Rust version of arrow/, by cargo metadata", || {
        println!("{}", msrv::check(&Metadata::resolved_of(&root.join(MANIFEST))?)?);
        Ok(())
    })?;
    run("test --quiet --all-features", "")
}
