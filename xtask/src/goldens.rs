//! `cargo xtask goldens`: renews the recorded outputs of the command's tests and of the book.

use anyhow::Result;

use crate::metadata::Metadata;
use crate::step::{cargo, command};

/// Runs the tests of the command with the variables that make them record its outputs. The changes are
/// then in `git diff`, for a person to judge.
pub(crate) fn run() -> Result<()> {
    let mut test = cargo("test --locked -p warpload-cli --test recorded");
    test.envs([("SNAPSHOTS", "overwrite"), ("TRYCMD", "overwrite")]);
    let root = Metadata::workspace()?.root()?;
    command(&root, test)?;
    let mut draw = cargo("test --locked -p warpload-cli --test it pictures::");
    draw.env("WARPLOAD_DRAW", "1");
    command(&root, draw)
}
