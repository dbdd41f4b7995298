//! Each rate of warpload beside its limit: `cargo xtask roofline [--quick] [--only NAME]`.
//!
//! A limit is the least that the same work costs on this machine (summing the same bytes, copying
//! the same bytes), or another program that does the same. Both are measured in one run and in
//! turn, since rates of shared machines drift: the ratio is what holds, the rate is a hint.
//! docs/performance.md has the results and what they mean.
#![allow(clippy::expect_used, reason = "a measure that cannot be made has no result")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command; it talks to a terminal")]

mod import;
mod loads;
mod measure;
mod random;
mod replay;
mod text;
mod words;
mod x86;

use std::process::ExitCode;

use measure::Bench;

fn main() -> ExitCode {
    let (mut is_quick, mut only) = (false, String::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => is_quick = true,
            "--only" => only = arguments.next().unwrap_or_default(),
            other => {
                eprintln!("error: unknown argument `{other}`; expected --quick, --only NAME");
                return ExitCode::from(2);
            }
        }
    }
    let bench = Bench::new(is_quick, only);
    words::run(&bench);
    text::run(&bench);
    loads::run(&bench);
    replay::run(&bench);
    import::run(&bench);
    ExitCode::SUCCESS
}
