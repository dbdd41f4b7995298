//! `cargo xtask fuzz`: the program of `fuzz/`, without libFuzzer.

use std::ffi::OsString;
use std::process::Command;

use anyhow::Result;

use crate::metadata::Metadata;
use crate::step::{Failed, PassedOn, command, run_cargo};

/// Options for the package without libFuzzer, because libFuzzer needs another toolchain.
const PACKAGE: &str = "--locked --no-default-features --manifest-path fuzz/Cargo.toml";

pub(crate) fn run(arguments: &PassedOn) -> Result<()> {
    targets(&Metadata::workspace()?, &arguments.arguments)
}

/// Checks the package and runs its tests, then each target on its seeds and on a few mutants of each.
///
/// # Errors
/// Returns the error of the first step that fails.
pub(crate) fn check(workspace: &Metadata) -> Result<()> {
    run_cargo(&format!("clippy {PACKAGE} --all-targets -- -D warnings"))?;
    run_cargo(&format!("test --quiet {PACKAGE}"))?;
    // A few seconds.
    targets(workspace, &["--mutations", "50"].map(OsString::from))
}

fn targets(workspace: &Metadata, arguments: &[OsString]) -> Result<()> {
    run_cargo(&format!("build --quiet {PACKAGE}"))?;
    let program = workspace.target()?.join("debug/warpload-fuzz");
    let run = |more: &[&str]| {
        let mut runner = Command::new(&program);
        runner.args(more).args(arguments);
        command(runner)
    };
    run(&[]).or_else(|error| {
        if Failed::is_signal(&error) {
            // A crash, such as a stack overflow, does not report its input; this run keeps it.
            run(&["--keep"])?;
        }
        Err(error)
    })
}
