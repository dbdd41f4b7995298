//! `cargo xtask fuzz`: the targets of `fuzz/` on their seeds and simple mutants, without libFuzzer.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::metadata::Metadata;
use crate::step::{Failed, PassedOn, cargo, command};

/// How many mutants of each seed CI runs: a few seconds.
const CI_MUTATIONS: [&str; 2] = ["--mutations", "50"];

pub(crate) fn run(arguments: &PassedOn) -> Result<()> {
    targets(&Metadata::workspace()?, &arguments.arguments)
}

/// Checks the package, which is not in the workspace, and runs each target on its seeds and on a few
/// mutants of each.
///
/// # Errors
/// Returns that of the step that failed.
pub(crate) fn check(workspace: &Metadata) -> Result<()> {
    let root = workspace.root()?;
    command(&root, cargo("fmt --check --manifest-path fuzz/Cargo.toml"))?;
    command(&root, on_stable("test --quiet", workspace)?)?;
    targets(workspace, &CI_MUTATIONS.map(OsString::from))
}

/// Returns a task of cargo on the package without libFuzzer, which needs another toolchain.
fn on_stable(task: &str, workspace: &Metadata) -> Result<Command> {
    let package = "--locked --no-default-features --manifest-path fuzz/Cargo.toml";
    let mut command = cargo(&format!("{task} {package} --target-dir"));
    command.arg(workspace.target()?);
    Ok(command)
}

/// Builds the command that runs targets without libFuzzer; returns its path.
///
/// # Errors
/// Returns an error if it cannot be built.
pub(crate) fn runner(workspace: &Metadata) -> Result<PathBuf> {
    command(&workspace.root()?, on_stable("build --quiet", workspace)?)?;
    Ok(workspace.target()?.join("debug/warpload-fuzz"))
}

fn targets(workspace: &Metadata, arguments: &[OsString]) -> Result<()> {
    let program = runner(workspace)?;
    let run = |more: &[&str]| {
        let mut runner = Command::new(&program);
        runner.args(more).args(arguments);
        command(Path::new("."), runner)
    };
    run(&[]).or_else(|error| {
        if Failed::is_signal(&error) {
            // A crash, such as a stack overflow, does not report its input; this run keeps it.
            run(&["--keep"])?;
        }
        Err(error)
    })
}
