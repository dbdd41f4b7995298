//! `tmem`: loads from Tensor Memory. Each subcommand is a file.

mod map;
pub(crate) mod memory;
mod run;
pub(crate) mod sass;

use clap::Subcommand;

use super::io::Output;
use crate::process::Status;

/// Execute loads from Tensor Memory (tcgen05.ld) and show their results
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  warpload tmem run 'tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [taddr];' --warp 0 --taddr 0
  warpload tmem map 16x256b x4
  warpload tmem map --sm 100 'LDTM.16dp256bit.x4 R0, tmem[UR4]'")]
pub(crate) enum Command {
    Run(run::Arguments),
    Map(map::Arguments),
}

pub(crate) fn execute(command: Command, output: &mut Output) -> anyhow::Result<Status> {
    match command {
        Command::Run(command) => run::execute(command, output),
        Command::Map(command) => map::execute(command, output),
    }
}
