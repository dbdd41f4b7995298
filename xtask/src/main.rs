//! Development tasks for CI and for people: `cargo xtask --help`.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command prints to the terminal")]

mod ci;
mod fuzz;
mod metadata;
mod nvidia;
mod packages;
mod page;
mod python;
mod step;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use metadata::Metadata;
use step::PassedOn;

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "Development tasks of warpload")]
enum Task {
    /// Runs the checks that each change passes; stops at the first failure
    Ci(ci::Arguments),
    /// Runs the checks that take longer, before a release
    Nightly,
    /// Compares fresh words with NVIDIA's nvdisasm; downloads it once
    Oracle(nvidia::Arguments),
    /// Runs the fuzz targets on their seeds and on mutants
    Fuzz(PassedOn),
    /// Renews the recorded outputs of the command's tests
    Goldens,
    /// Inspects the packages that would be published
    Packages,
    /// Builds the page to try warpload in, for WebAssembly
    Page(page::Arguments),
    /// Builds the Python package in a virtual environment and runs its tests
    Python,
    /// Compares the GPU code found in public wheels with cuobjdump's; downloads the wheels once
    Wheels,
}

fn main() -> ExitCode {
    let done = match Task::parse() {
        Task::Ci(arguments) => ci::run(&arguments),
        Task::Nightly => ci::nightly(),
        Task::Oracle(arguments) => nvidia::oracle(&arguments),
        Task::Fuzz(arguments) => fuzz::run(&arguments),
        Task::Goldens => goldens(),
        Task::Packages => Metadata::workspace().and_then(|workspace| packages::check(&workspace)),
        Task::Page(arguments) => page::run(&arguments),
        Task::Python => python::run(),
        Task::Wheels => nvidia::wheels(),
    };
    step::exit_code(done).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

/// Runs the tests of the command with variables that make them record its outputs rather than compare them. A person
/// reviews the changes in `git diff`.
fn goldens() -> Result<()> {
    let mut test = step::cargo("test --locked -p warpload-cli --test recorded");
    test.envs([("SNAPSHOTS", "overwrite"), ("TRYCMD", "overwrite")]);
    step::command(test)?;
    let mut draw = step::cargo("test --locked -p warpload-cli --test it pictures");
    draw.env("WARPLOAD_DRAW", "1");
    step::command(draw)
}
