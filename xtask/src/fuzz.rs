//! `cargo xtask fuzz`: the targets of `fuzz/` on their seeds and simple mutants, without libFuzzer.

use std::path::{PathBuf, absolute};
use std::process::{Command, ExitCode};

use anyhow::Result;
use clap::Args;

use crate::metadata::Metadata;
use crate::step::{Failed, cargo, command, exit_code};

/// How many mutants of each seed CI runs: a few seconds.
const CI_MUTATIONS: u64 = 50;

#[derive(Args, Default)]
#[command(after_help = "\
Examples:
  cargo xtask fuzz --mutations 1000 --seed 2
  cargo xtask fuzz page_is_inert fuzz/target/failures/page_is_inert")]
pub(crate) struct Arguments {
    /// The target to run; all if left out
    target: Option<String>,
    /// Files, or folders of files, to run instead of the target's seeds
    #[arg(requires = "target")]
    path: Vec<PathBuf>,
    /// Also run so many mutants of each input
    #[arg(long, value_name = "N", default_value_t = 0)]
    mutations: u64,
    /// Run other mutants
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Write the inputs to FOLDER/TARGET/ as a corpus for libFuzzer, and run nothing
    #[arg(long, value_name = "FOLDER")]
    write_seeds: Option<PathBuf>,
    /// List the targets, and run nothing
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    exit_code(Metadata::workspace().and_then(|workspace| targets(&workspace, arguments)))
}

/// Checks the package, which is not one of the workspace, and runs each target on its seeds and on a
/// few mutants of them.
///
/// # Errors
/// The step that failed.
pub(crate) fn check(workspace: &Metadata) -> Result<()> {
    let root = workspace.root()?;
    command(&root, cargo("fmt --check --manifest-path fuzz/Cargo.toml"))?;
    command(&root, on_stable("test --quiet", workspace)?)?;
    targets(workspace, &Arguments { mutations: CI_MUTATIONS, seed: 1, ..Arguments::default() })
}

/// A task of cargo on the package without libFuzzer, which needs another toolchain.
fn on_stable(task: &str, workspace: &Metadata) -> Result<Command> {
    let package = "--locked --no-default-features --manifest-path fuzz/Cargo.toml";
    let mut command = cargo(&format!("{task} {package} --target-dir"));
    command.arg(workspace.target()?);
    Ok(command)
}

fn targets(workspace: &Metadata, arguments: &Arguments) -> Result<()> {
    let (root, target) = (workspace.root()?, workspace.target()?);
    command(&root, on_stable("build --quiet", workspace)?)?;
    let runner = |more: &[&str]| -> Result<Command> {
        let mut runner = Command::new(target.join("debug/warpload-fuzz"));
        let (mutations, seed) = (arguments.mutations.to_string(), arguments.seed.to_string());
        runner.args(["--mutations", &mutations, "--seed", &seed]).args(more);
        runner.args(arguments.list.then_some("--list"));
        if let Some(folder) = &arguments.write_seeds {
            runner.arg("--write-seeds").arg(absolute(folder)?);
        }
        runner.args(&arguments.target);
        for path in &arguments.path {
            runner.arg(absolute(path)?);
        }
        Ok(runner)
    };
    command(&root, runner(&[])?).or_else(|error| {
        if Failed::is_signal(&error) {
            // A crash, such as a stack overflow, says nothing; this leaves the input.
            command(&root, runner(&["--keep"])?)?;
        }
        Err(error)
    })
}
