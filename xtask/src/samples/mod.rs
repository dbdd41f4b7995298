//! `cargo xtask samples`: generates the samples in `traces/` that have no other source.

mod generic;

use std::process::ExitCode;

use anyhow::Result;

use crate::renewal::Renewal;

/// Writes the samples, or compares them.
pub(crate) fn run(renewal: &Renewal) -> Result<ExitCode> {
    let sample = generic::generate()?;
    let code = renewal.renew("traces", &sample.files)?;
    println!("{:#?}", sample.counts);
    Ok(code)
}
