//! `cargo xtask vectors`: generates the test vectors in `tests/data/` that have no other source.

mod family;

use anyhow::{Result, anyhow};

use crate::renewal::Renewal;

/// Writes the vectors, or compares them.
pub(crate) fn run(renewal: &Renewal) -> Result<()> {
    let generated = family::generate().map_err(|error| anyhow!("{error}"))?;
    println!("{} vectors of {} kinds", generated.lines.len(), generated.kinds.len());
    renewal.renew("tests/data", &[(family::FILE, generated.lines.concat())])
}
