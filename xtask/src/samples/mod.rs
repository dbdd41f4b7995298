//! `cargo xtask samples`: generates the samples in `traces/` that have no other source.

mod generic;

use anyhow::Result;

use crate::renewal::Renewal;

/// Writes the samples, or compares them.
pub(crate) fn run(renewal: &Renewal) -> Result<()> {
    let sample = generic::generate()?;
    println!("{:#?}", sample.counts);
    renewal.renew("traces", &sample.files)
}
