//! The command under test. It runs in the root of the repository, which the names of sample files are
//! relative to.

#![allow(dead_code, reason = "each test uses a part")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The command, without arguments.
pub(crate) fn warpload() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpload"));
    command.current_dir(ROOT);
    command
}

/// A file of the repository.
pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(ROOT).join(name)
}
