//! `cargo xtask samples`: makes the samples in `traces/` that are not somebody else's.

mod generic;

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use crate::metadata::Metadata;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail if a sample is not as it would be written
    #[arg(long)]
    check: bool,
}

/// Writes the samples, or compares them.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let folder = Metadata::workspace()?.root()?.join("traces");
    let sample = generic::generate()?;
    let mut is_equal = true;
    for (name, bytes) in &sample.files {
        let path = folder.join(name);
        if !arguments.check {
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
            println!("{} written, {} bytes", path.display(), bytes.len());
        } else if fs::read(&path).ok().as_ref() != Some(bytes) {
            println!("{} is not as generated", path.display());
            is_equal = false;
        }
    }
    println!("{:#?}", sample.counts);
    Ok(if is_equal { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
