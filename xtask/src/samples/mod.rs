//! `cargo xtask samples`: makes the samples in `traces/` that are not somebody else's.

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
