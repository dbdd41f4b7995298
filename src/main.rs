//! The command `warpload`: decodes, assembles, explains and executes GPU load instructions.

#![deny(unsafe_code)]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
