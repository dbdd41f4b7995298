//! `cargo xtask roofline`: each rate beside its limit.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::metadata::Metadata;
use crate::step::{PassedOn, cargo};

/// Builds the measures as they are published and runs them. Standard output is their lines of
/// JSON alone.
pub(crate) fn run(arguments: &PassedOn) -> Result<ExitCode> {
    let status = cargo("run --quiet --release --locked --package warpload-roofline --")
        .args(&arguments.arguments)
        .current_dir(Metadata::workspace()?.root()?)
        .status()
        .context("cannot run cargo")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
