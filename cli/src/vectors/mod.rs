//! `vectors`: fresh test vectors, and the flags that they have. One file a subcommand.

mod coverage;
mod flags;
mod generate;

use clap::Subcommand;

use super::io::Output;
use crate::process::Status;

/// Draw fresh test vectors, and list the flags that vectors have
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload vectors generate --instruction LD --count 300 --seed 1 -o ld.jsonl
  warpload vectors generate --instruction LDG --sm 90 --flag descriptor --flag misaligned
  warpload vectors flags")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Generate(generate::Arguments),
    Flags(flags::Arguments),
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    match arguments.command {
        Command::Generate(command) => generate::execute(command, output),
        Command::Flags(command) => flags::execute(command, output),
    }
}
