//! The command `warpload`: decodes, assembles, explains and executes GPU load instructions.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
