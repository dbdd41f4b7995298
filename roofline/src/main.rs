//! Measures each rate of warpload beside its limit: `cargo xtask roofline [--quick] [--only NAME]`.
//!
//! A limit is the minimum cost of the same work on this machine (summing the same bytes, copying
//! the same bytes), or another program that does the same. Both are measured alternately in one run,
//! since rates drift on shared machines: the ratio is reliable, the rate is a hint.
//! docs/performance.md has the results and what they mean.
#![allow(clippy::expect_used, reason = "a measure that fails has no result")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command prints to the terminal")]

mod import;
mod loads;
mod measure;
mod ptx;
mod random;
mod replay;
mod system;
mod tensor;
mod text;
mod wide;
mod words;
mod x86;

use clap::Parser;
use measure::Bench;

/// Measures each rate beside its limit: one line of JSON a measure
#[derive(Parser)]
#[command(bin_name = "cargo xtask roofline")]
struct Arguments {
    /// Shorter turns and smaller inputs: under 60 s
    #[arg(long)]
    quick: bool,
    /// Only measures whose names contain it
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    only: String,
}

fn main() {
    let Arguments { quick, only } = Arguments::parse();
    let bench = Bench::new(quick, only);
    words::run(&bench);
    text::run(&bench);
    wide::run(&bench);
    loads::run(&bench);
    replay::run(&bench);
    import::run(&bench);
    ptx::run(&bench);
    tensor::run(&bench);
}
