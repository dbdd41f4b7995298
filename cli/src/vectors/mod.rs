//! `vectors`: fresh test vectors, their flags, and results. Each subcommand is a file.

mod fill_in;
mod flags;
mod generate;

use clap::Subcommand;

use super::io::Output;
use crate::process::Status;

/// Draw fresh test vectors, list their flags, and fill in results
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  warpload vectors generate --instruction LD --count 300 --seed 1 -o ld.jsonl
  warpload vectors generate --instruction LDG --sm 90 --flag descriptor --flag misaligned
  warpload vectors fill-in new.jsonl -o new-with-final.jsonl
  warpload vectors flags")]
pub(crate) enum Command {
    Generate(generate::Arguments),
    FillIn(fill_in::Arguments),
    Flags(flags::Arguments),
}

pub(crate) fn execute(command: Command, output: &mut Output) -> anyhow::Result<Status> {
    match command {
        Command::Generate(command) => generate::execute(command, output),
        Command::FillIn(command) => fill_in::execute(command, output),
        Command::Flags(command) => flags::execute(command, output),
    }
}
