//! `cargo xtask roofline`: each rate beside its limit.

use anyhow::{Context, Result};

use crate::metadata::Metadata;
use crate::step::{Failed, PassedOn, cargo};

/// Builds the measures as they are published and runs them. Standard output is their lines of
/// JSON alone.
pub(crate) fn run(arguments: &PassedOn) -> Result<()> {
    let status = cargo("run --quiet --release --locked --package warpload-roofline --")
        .args(&arguments.arguments)
        .current_dir(Metadata::workspace()?.root()?)
        .status()
        .context("cannot run cargo")?;
    Failed::check(status)
}
