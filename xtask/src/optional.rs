//! Checks by programs that need not be installed: the book by mdBook, the workflows by actionlint.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;

use crate::step::command;

/// Builds the book and lints the workflows. What cannot be done is named.
///
/// # Errors
/// Returns an error if a program that is installed fails.
pub(crate) fn check(root: &Path) -> Result<()> {
    // The result is `target/book`.
    run(root, "mdbook", &["build", "docs/book"])?;
    // Without arguments, all workflows of the repository.
    run(root, "actionlint", &[])
}

fn run(root: &Path, program: &str, arguments: &[&str]) -> Result<()> {
    if !is_installed(program) {
        println!(
            "\nskipped: {}, which is not installed",
            [&[program], arguments].concat().join(" ")
        );
        return Ok(());
    }
    let mut run = Command::new(program);
    run.args(arguments);
    command(root, run)
}

fn is_installed(program: &str) -> bool {
    let mut version = Command::new(program);
    version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_missing_is_no_error() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(run(root, "a-program-that-is-not-there", &["build"]).is_ok());
        assert!(
            is_installed(env!("CARGO")) && run(root, env!("CARGO"), &["no-such-task"]).is_err()
        );
    }
}
