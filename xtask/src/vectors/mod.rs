//! `cargo xtask vectors`: makes the test vectors in `tests/data/` that are not somebody else's.

mod family;

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use clap::Args;

use crate::metadata::Metadata;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail if the vectors are not as they would be written
    #[arg(long)]
    check: bool,
}

/// Writes the vectors, or compares them.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let path = Metadata::workspace()?.root()?.join("tests/data").join(family::FILE);
    let generated = family::generate().map_err(|error| anyhow!("{error}"))?;
    let text = generated.lines.concat();
    if !arguments.check {
        fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{} written, {} bytes", path.display(), text.len());
    } else if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
        println!("{} is not as generated", path.display());
        return Ok(ExitCode::FAILURE);
    }
    println!("{} vectors of {} kinds", generated.lines.len(), generated.kinds.len());
    Ok(ExitCode::SUCCESS)
}
