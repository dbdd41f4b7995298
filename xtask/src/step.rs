//! One step of a task: a command or a check, printed with its duration.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::metadata::Metadata;

/// Arguments for the program that a task runs; `--help` is one of them.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct PassedOn {
    /// Arguments for the program; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

/// A step that failed and has printed the reason. Holds its exit status, or `None` if a signal ended it.
#[derive(Debug)]
pub(crate) struct Failed(Option<u8>);

impl Failed {
    /// Exit status 1, for a task that has printed the reason.
    pub(crate) const SHOWN: Self = Self(Some(1));

    /// Fails if a program did not succeed.
    pub(crate) fn check(status: ExitStatus) -> Result<()> {
        if status.success() {
            return Ok(());
        }
        Err(Self(status.code().map(|code| u8::try_from(code).unwrap_or(1))).into())
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(code) => write!(f, "a step failed with exit status {code}"),
            None => f.write_str("a step was ended by a signal"),
        }
    }
}

impl std::error::Error for Failed {}

/// The exit status of a task: success, or the status of the failed step.
///
/// # Errors
/// Returns any other error, such as for a command that could not be started.
pub(crate) fn exit_code(result: Result<()>) -> Result<ExitCode> {
    match result {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            error.downcast::<Failed>().map(|failed| ExitCode::from(failed.0.unwrap_or(1)))
        }
    }
}

/// The root of the repository. The path is compiled in, because cargo builds this program just before it runs.
pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// A command of the cargo that runs this. `arguments` are separated by spaces.
pub(crate) fn cargo(arguments: &str) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(arguments.split_whitespace());
    command
}

/// The variable with the path of a `warpload` that is already built.
const WARPLOAD: &str = "WARPLOAD";

/// The path of the command: from the environment, or built in the workspace.
///
/// # Errors
/// Returns an error if it cannot be built.
pub(crate) fn warpload() -> Result<PathBuf> {
    if let Some(program) = std::env::var_os(WARPLOAD) {
        return Ok(root().join(program));
    }
    run_cargo("build --quiet --locked -p warpload-cli")?;
    Ok(Metadata::workspace()?.target()?.join("debug/warpload"))
}

/// Runs `command`, at the root unless it has another directory. Prints the command and its duration.
///
/// # Errors
/// Returns [`Failed`] if it fails, and another error if it could not be started.
pub(crate) fn command(mut command: Command) -> Result<()> {
    let shown = shown(&command);
    if command.get_current_dir().is_none() {
        command.current_dir(root());
    }
    timed(&shown, || {
        Failed::check(command.status().with_context(|| format!("cannot run `{shown}`"))?)
    })
}

/// Runs [`cargo`] as [`command`] does.
///
/// # Errors
/// As [`command`].
pub(crate) fn run_cargo(arguments: &str) -> Result<()> {
    command(cargo(arguments))
}

/// Runs `check`. Prints its name and its duration.
///
/// # Errors
/// Returns the error of `check`.
pub(crate) fn timed(name: &str, check: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("\n$ {name}");
    let start = Instant::now();
    let result = check();
    let outcome = if result.is_ok() { "ok" } else { "FAILED" };
    println!("{outcome}, {:.1} s", start.elapsed().as_secs_f64());
    result
}

/// Says that a check is skipped, and why; an error where none may be.
///
/// # Errors
/// Returns an error with `WARPLOAD_REQUIRE=1` in the environment.
pub(crate) fn missing(what: &str) -> Result<()> {
    let is_required = std::env::var_os("WARPLOAD_REQUIRE").is_some_and(|value| value == "1");
    ensure!(!is_required, "{what}, and WARPLOAD_REQUIRE=1 requires it");
    println!("\nskipped: {what}");
    Ok(())
}

/// The command as one would type it, including its variables.
fn shown(command: &Command) -> String {
    let mut shown = String::new();
    for (name, value) in command.get_envs() {
        let value = value.unwrap_or_default().to_string_lossy();
        let quote = if value.contains(' ') { "'" } else { "" };
        shown += &format!("{}={quote}{value}{quote} ", name.to_string_lossy());
    }
    let program = Path::new(command.get_program());
    shown += &program.file_stem().unwrap_or_default().to_string_lossy();
    for argument in command.get_args() {
        shown.push(' ');
        shown += &argument.to_string_lossy();
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_typed() {
        let mut command = Command::new("/somewhere/cargo");
        command.args(["doc", "--workspace"]).env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(shown(&command), "RUSTDOCFLAGS='-D warnings' cargo doc --workspace");
    }

    #[test]
    fn failed_steps_become_their_status() {
        assert_eq!(exit_code(Ok(())).ok(), Some(ExitCode::SUCCESS));
        assert_eq!(exit_code(Err(Failed(Some(101)).into())).ok(), Some(ExitCode::from(101)));
        assert_eq!(exit_code(Err(Failed(None).into())).ok(), Some(ExitCode::FAILURE));
        assert!(exit_code(Err(anyhow::anyhow!("no cargo"))).is_err());
    }
}
