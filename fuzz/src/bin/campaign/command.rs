//! Runs the command under limits, and judges how it ended.

use std::io::Result;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// The time limit of a run in seconds, and the exit status of `timeout` when it is exceeded.
const TIMEOUT: (&str, i32) = ("60", 124);

/// The usual `ulimit`s of a run: seconds of processor time, and KiB of address space.
pub(crate) const LIMITS: &str = "ulimit -t 20; ulimit -v 8388608; ulimit -c 0";

/// The `ulimit`s of a run with that much processor time in seconds and address space in MiB.
pub(crate) fn limits(seconds: u32, memory: u32) -> String {
    format!("ulimit -t {seconds}; ulimit -v {}; ulimit -c 0", u64::from(memory) << 10)
}

/// The longest line of a message in bytes. A longer one contains input that should have been shortened.
const MAX_MESSAGE: usize = 1 << 12;

/// The end of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ended {
    /// The exit status; `None` after a signal.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// A behaviour that no input may cause, if the run shows one.
    pub(crate) fn broken(&self) -> Option<String> {
        match self.code() {
            Some(0..=100) if !self.stderr.contains("panicked at") => {}
            Some(code) if code == TIMEOUT.1 => return Some("still running".to_owned()),
            _ => return Some(format!("{}: {}", self.status, first_line(&self.stderr))),
        }
        if self.stderr.ends_with("error: there is no more memory; see `ulimit -v`\n") {
            return Some("out of memory".to_owned());
        }
        // A table reports errors in its rows.
        let says_why = || {
            let row = || self.stdout.windows(6).any(|part| part == b"error:" || part == b"error\"");
            self.stderr.contains("error") || row()
        };
        if self.code() == Some(2) && !says_why() {
            return Some("exit status 2 without an error".to_owned());
        }
        // The length of single lines is limited, because a module may have up to a hundred errors. No error repeats
        // the input.
        if let Some(long) = self.stderr.lines().map(str::len).find(|bytes| *bytes > MAX_MESSAGE) {
            return Some(format!("a message of {long} bytes"));
        }
        // A terminal interprets these characters, or they change the direction of text.
        let stdout = String::from_utf8_lossy(&self.stdout);
        let turns = |c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let is_raw = |c: &char| c.is_control() && !matches!(c, '\n' | '\t') || turns(*c);
        let mut characters = stdout.chars().chain(self.stderr.chars());
        characters.find(is_raw).map(|raw| format!("{raw:?} in the output"))
    }
}

/// The first line of a text, shortened.
pub(crate) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

/// A command that runs `program` in `folder` under `limits`, `ulimit`s separated by semicolons. The program can run
/// itself as `$PROGRAM`.
pub(crate) fn limited(program: &Path, folder: &Path, limits: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    // `--foreground` tells a signal of the command from a signal of `timeout`.
    let script = format!("{limits}; exec timeout --foreground {} \"$0\" \"$@\"", TIMEOUT.0);
    command.args(["-c", &script]).arg(program).args(arguments);
    command
        .env("PROGRAM", program)
        .current_dir(folder)
        .stdin(Stdio::null())
        .env_remove("RUST_BACKTRACE");
    command.env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
    command
}

///
/// # Errors
/// Returns an error if it cannot be started.
pub(crate) fn run(mut command: Command) -> Result<Ended> {
    let output = command.output()?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(Ended { status: output.status, stdout: output.stdout, stderr })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Ended {
        let folder = tempfile::tempdir().unwrap();
        let command = limited(Path::new("sh"), folder.path(), LIMITS, &["-c", script]);
        run(command).unwrap()
    }

    #[test]
    fn ends_are_judged() {
        assert_eq!(sh("echo a; exit 1").broken(), None);
        assert_eq!(sh("echo error: a >&2; exit 2").broken(), None);
        for script in ["exit 2", "exit 101", "kill -SEGV $$", "echo thread panicked at a >&2"] {
            assert!(sh(script).broken().is_some(), "{script}");
        }
        let ended = sh("printf 'a\\tb\\n'");
        assert_eq!((ended.broken(), &*ended.stdout), (None, &b"a\tb\n"[..]));
        for raw in ["printf '\\033[m' >&2", "printf '\\342\\200\\256'"] {
            assert!(sh(raw).broken().is_some_and(|what| what.ends_with("in the output")), "{raw}");
        }
    }
}
