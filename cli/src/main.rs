//! The program `warpload`. All of its code is in the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpload_cli::run(std::env::args_os()).into()
}
