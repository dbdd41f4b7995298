//! `cargo xtask roofline`: each rate beside its limit.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use crate::metadata::Metadata;
use crate::step::cargo;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Shorter turns and smaller inputs: under 40 s
    #[arg(long)]
    quick: bool,
    /// Measures whose names contain it, and no others
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

/// Builds the measures as they are published and runs them. Standard output is their lines of
/// JSON alone.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mut roofline = cargo("run --quiet --release --locked --package warpload-roofline --");
    if arguments.quick {
        roofline.arg("--quick");
    }
    if let Some(only) = &arguments.only {
        roofline.args(["--only", only]);
    }
    let status = roofline
        .current_dir(Metadata::workspace()?.root()?)
        .status()
        .context("cannot run cargo")?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
