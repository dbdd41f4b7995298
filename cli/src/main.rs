//! The program `warpload`. All of its code is in the library of this package.

use std::process::ExitCode;

/// Makes a lack of memory an error like others.
#[global_allocator]
static ALLOCATOR: warpload_cli::Allocator = warpload_cli::Allocator;

fn main() -> ExitCode {
    warpload_cli::run(std::env::args_os()).into()
}
