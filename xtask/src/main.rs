//! Development tasks for CI and for people: `cargo xtask --help`.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command prints to the terminal")]

mod arrow;
mod campaign;
mod ci;
#[cfg(test)]
mod documents;
mod fuzz;
mod goldens;
mod imports;
mod metadata;
mod msrv;
mod nvdisasm;
mod optional;
mod oracle;
mod packages;
mod pip;
mod python;
mod renewal;
mod roofline;
mod samples;
mod step;
mod suite;
mod wheels;

use std::process::ExitCode;

use clap::Parser;
use renewal::Renewal;
use step::PassedOn;

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "Development tasks of warpload")]
enum Task {
    /// Runs all checks of CI besides the tests; stops at the first failure
    Ci,
    /// Compares fresh words with NVIDIA's nvdisasm, which is downloaded once
    Oracle(oracle::Arguments),
    /// Runs the fuzz targets on their seeds, without libFuzzer
    Fuzz(PassedOn),
    Campaign(campaign::Arguments),
    /// Renews the recorded outputs of the command's tests
    Goldens,
    Circles(imports::Arguments),
    /// Inspects the packages that would be published
    Packages,
    /// Builds the Python package in a virtual environment and runs its tests
    Python,
    /// Measures each rate beside its limit: one line of JSON a measure
    Roofline(PassedOn),
    /// Regenerates the generated samples in `traces/`
    Samples(Renewal),
    /// Regenerates the conformance suite in `vectors/`
    Suite(Renewal),
    /// Compares the GPU code found in public wheels, downloaded once, with cuobjdump's
    Wheels,
}

fn main() -> ExitCode {
    let done = match Task::parse() {
        Task::Ci => ci::run(),
        Task::Oracle(arguments) => oracle::run(&arguments),
        Task::Fuzz(arguments) => fuzz::run(&arguments),
        Task::Campaign(arguments) => campaign::run(&arguments),
        Task::Goldens => goldens::run(),
        Task::Circles(arguments) => imports::run(&arguments),
        Task::Packages => packages::run(),
        Task::Python => python::test(),
        Task::Roofline(arguments) => roofline::run(&arguments),
        Task::Samples(arguments) => samples::run(&arguments),
        Task::Suite(arguments) => suite::run(&arguments),
        Task::Wheels => wheels::run(),
    };
    step::exit_code(done).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
