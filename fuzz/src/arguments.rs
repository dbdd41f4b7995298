//! The arguments of the command.

use std::path::PathBuf;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use warpload_fuzz::seeds::repository;
use warpload_fuzz::targets::TARGETS;

/// Feeds files to the targets: properties of warpload that hold for any input
///
/// Exit status 1 if an input fails a target; the input is then in a file named after the target.
#[derive(Debug, Parser)]
#[command(
    bin_name = "cargo xtask fuzz",
    max_term_width = 100,
    after_help = "\
Examples:
  cargo xtask fuzz --mutations 1000 --seed 2
  cargo xtask fuzz page_is_inert target/failures/page_is_inert"
)]
pub(crate) struct Arguments {
    /// The target to run; all if omitted
    #[arg(
        value_parser = PossibleValuesParser::new(TARGETS.iter().map(|target| target.name)),
        hide_possible_values = true
    )]
    pub(crate) target: Option<String>,
    /// Files, or folders of files, to run instead of the target's seeds
    pub(crate) path: Vec<PathBuf>,
    /// Also run N mutants of each input
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) mutations: u64,
    /// Run other mutants
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Folder for inputs that fail a target [default: target/failures]
    #[arg(
        long,
        value_name = "FOLDER",
        default_value_os_t = repository().join("target/failures"),
        hide_default_value = true
    )]
    pub(crate) failures: PathBuf,
    /// Write each input before it runs, for crashes that are not panics; slow
    #[arg(long)]
    pub(crate) keep: bool,
    /// Write the inputs to FOLDER/TARGET/ as a corpus for libFuzzer, and run nothing
    #[arg(long, value_name = "FOLDER")]
    pub(crate) write_seeds: Option<PathBuf>,
}
