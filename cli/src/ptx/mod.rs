//! `ptx`: commands on PTX modules. Each subcommand is a file.

mod check;
mod file;
mod loads;
mod lower;
pub(crate) mod run;
mod setup;

use super::io::Output;
use super::options::Progress;
use crate::process::Status;

/// Check, lower and execute loads in PTX modules, and launch kernels
///
/// Modules are text, or part of a fatbin, object, archive, library or program: module N of such a file is named
/// `FILE#N`. A file that is not text is mapped: it must not change or become shorter while it is read.
#[derive(clap::Subcommand)]
#[command(after_help = "\
Examples:
  warpload ptx check kernel.ptx
  warpload ptx lower kernel.ptx
  warpload ptx run kernel.ptx --block 128 --arg random:f32:1024
  warpload ptx loads kernel.ptx --parameter in=0x10000000 --image memory.json")]
pub(crate) enum Command {
    Check(check::Arguments),
    Lower(lower::Arguments),
    Run(Box<run::Arguments>),
    Loads(Box<loads::Arguments>),
}

pub(crate) fn execute(
    command: Command,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    match command {
        Command::Check(command) => check::execute(&command, progress, output),
        Command::Lower(command) => lower::execute(&command, progress, output),
        Command::Loads(command) => loads::execute(&command, progress, output),
        Command::Run(command) => run::execute(&command, progress, output),
    }
}
