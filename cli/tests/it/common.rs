//! The command under test. It runs in the root of the repository, to which the names of samples are
//! relative.

#![allow(dead_code, reason = "each test uses a part")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The root of the repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Returns the command without arguments.
pub(crate) fn warpload() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpload"));
    command.current_dir(ROOT);
    command
}

/// Returns the path of a file in the repository.
pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(ROOT).join(name)
}

/// Says that a judge is missing on this machine, so that something is not tested; a failure where all of them must be
/// there.
///
/// # Panics
/// Panics with `WARPLOAD_REQUIRE=1` in the environment.
pub(crate) fn missing(what: &str) {
    let is_required = std::env::var_os("WARPLOAD_REQUIRE").is_some_and(|value| value == "1");
    assert!(!is_required, "{what}, and WARPLOAD_REQUIRE=1 requires it");
    // Not `eprintln!`, which a test that passes does not show.
    let _ = writeln!(std::io::stderr(), "skipped: {what}");
}

/// Whether there is a `python3`. If not, says that `what` is not tested.
pub(crate) fn has_python(what: &str) -> bool {
    let is_there = Command::new("python3").arg("--version").output();
    let is_there = is_there.is_ok_and(|output| output.status.success());
    if !is_there {
        missing(&format!("{what}: no python3"));
    }
    is_there
}

/// What a command wrote, and its exit status.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    /// -1 if a signal ended it.
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let status = output.status.code().unwrap_or(-1);
        Self { status, stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// Runs a command with `input` as its standard input, written in parts of `part` bytes.
pub(crate) fn piped(command: &mut Command, input: &[u8], part: usize) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that refuses its input does not read all of it.
    let _ = input.chunks(part).try_for_each(|part| stdin.write_all(part));
    drop(stdin);
    child.wait_with_output().unwrap().into()
}

/// Runs a command that must succeed; returns what it wrote to standard output.
pub(crate) fn succeeded(command: &mut Command) -> String {
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    ran.stdout
}
