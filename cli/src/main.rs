//! The command `warpload` as a program; the library of this package is all of it.

use std::process::ExitCode;

fn main() -> ExitCode {
    warpload_cli::run(std::env::args_os()).into()
}
