//! `vectors`: fresh test vectors, and their flags. Each subcommand is a file.

mod coverage;
mod flags;
mod generate;

use clap::Subcommand;

use super::io::Output;
use crate::process::Status;

/// Draw fresh test vectors, and list the flags that vectors have
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  warpload vectors generate --instruction LD --count 300 --seed 1 -o ld.jsonl
  warpload vectors generate --instruction LDG --sm 90 --flag descriptor --flag misaligned
  warpload vectors flags")]
pub(crate) enum Command {
    Generate(generate::Arguments),
    Flags(flags::Arguments),
}

pub(crate) fn execute(command: Command, output: &mut Output) -> anyhow::Result<Status> {
    match command {
        Command::Generate(command) => generate::execute(command, output),
        Command::Flags(command) => flags::execute(command, output),
    }
}
