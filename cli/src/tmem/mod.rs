//! `tmem`: loads from Tensor Memory. One file a subcommand, and the drawings of `map`.

mod drawing;
mod map;
pub(crate) mod memory;
mod picture;
mod run;
pub(crate) mod sass;
pub(crate) mod table;
mod test;

use clap::Subcommand;
use warpload_ptx::tensor::{Half, TensorLoad};

pub use self::run::draw_tensor_load;

use super::io::Output;
use super::options::Progress;
use crate::process::Status;

/// Execute loads from Tensor Memory (tcgen05.ld) and show what they read
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  warpload tmem test cases.jsonl
  warpload tmem run 'tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [taddr];' --warp 0 --taddr 0
  warpload tmem map 16x256b x4
  warpload tmem map --sm 100 'LDTM.16dp256bit.x4 R0, tmem[UR4]'")]
pub(crate) enum Command {
    Test(test::Arguments),
    Run(run::Arguments),
    Map(map::Arguments),
}

/// Returns which thread and register each cell of a load goes to, as `tmem map` draws it without colours. `half` is that
/// of an `LDTM` that is one.
#[must_use]
pub fn draw_tensor_map(load: &TensorLoad, half: Option<Half>) -> String {
    drawing::grid(load, half, false)
}

/// Returns the same as a picture, SVG.
#[must_use]
pub fn tensor_map_svg(load: &TensorLoad, half: Option<Half>) -> String {
    picture::svg(load, half)
}

pub(crate) fn execute(
    command: Command,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    match command {
        Command::Test(command) => test::execute(command, progress, output),
        Command::Run(command) => run::execute(command, output),
        Command::Map(command) => map::execute(command, output),
    }
}
