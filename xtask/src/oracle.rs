//! `cargo xtask oracle`: compares fresh words with NVIDIA's disassembler.

use std::time::SystemTime;

use anyhow::{Result, ensure};
use clap::Args;
use warpload_oracle::{Nvdisasm, TARGETS};

use crate::metadata::Metadata;
use crate::nvdisasm;
use crate::step::Failed;

#[derive(Args)]
pub(crate) struct Arguments {
    /// How many words to compare, all instructions together
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    words: usize,
    /// The seed of the words, as printed by an earlier run; a new one each time if omitted
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
}

/// Runs the comparison, which fails if a word differs.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    ensure!(arguments.words >= TARGETS.len(), "--words: expected at least one word an instruction");
    let nvdisasm = match Nvdisasm::from_env() {
        Some(nvdisasm) => nvdisasm,
        None => nvdisasm::fetch(&Metadata::workspace()?.target()?.join("oracle"))?,
    };
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    // The low bits of the time differ from run to run.
    let now = || SystemTime::UNIX_EPOCH.elapsed().map_or(0, |now| now.as_nanos() as u64);
    let seed = arguments.seed.unwrap_or_else(now);
    println!("nvdisasm {}, {}, --seed {seed}", nvdisasm.release()?, names.join(" "));

    let report = warpload_oracle::run(&nvdisasm, arguments.words, seed)?;
    println!("{report}");
    ensure!(report.differences == 0, Failed::SHOWN);
    Ok(())
}
