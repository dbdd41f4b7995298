//! `cargo xtask fuzz`: the program of `fuzz/`.

use anyhow::Result;

use crate::step::{PassedOn, cargo, command};

pub(crate) fn run(arguments: &PassedOn) -> Result<()> {
    // In the profile of tests the libraries are optimized, and overflows are found.
    let mut program = cargo("run --quiet --locked --profile test -p warpload-fuzz --");
    program.args(&arguments.arguments);
    command(program)
}

/// Runs each target on its seeds, and on more mutants than the tests of the package do.
///
/// # Errors
/// Returns an error if a target does not hold for an input.
pub(crate) fn check() -> Result<()> {
    run(&PassedOn { arguments: ["--mutations", "50"].map(Into::into).to_vec() })
}
