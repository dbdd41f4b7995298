//! `cargo xtask fuzz`: the program of `fuzz/`.

use anyhow::Result;

use crate::step::{PassedOn, cargo, command, run_cargo};

const PACKAGE: &str = "--locked --manifest-path fuzz/Cargo.toml";

pub(crate) fn run(arguments: &PassedOn) -> Result<()> {
    let mut program = cargo(&format!("run --quiet {PACKAGE} --"));
    program.args(&arguments.arguments);
    command(program)
}

/// Checks the package and runs its tests, then each target on its seeds and on mutants of each.
///
/// # Errors
/// Returns the error of the first step that fails.
pub(crate) fn check() -> Result<()> {
    run_cargo(&format!("clippy {PACKAGE} --all-targets -- -D warnings"))?;
    run_cargo(&format!("test --quiet {PACKAGE}"))?;
    run_cargo(&format!("run --quiet {PACKAGE} -- --mutations 50"))
}
