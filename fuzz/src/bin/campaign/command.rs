//! Running the command under limits, and judging how it ended.

use std::fs::File;
use std::io::{Read, Result};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long one run may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// `ulimit`s of every run: processor seconds, and KiB of address space.
pub(crate) const LIMITS: &str = "ulimit -t 20; ulimit -v 8388608; ulimit -c 0";

/// More of an output is not read.
const MAX_OUTPUT: u64 = 256 << 20;

/// A message longer than this has something in it that was to be shortened.
const MAX_MESSAGE: usize = 1 << 14;

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` if it did not end in time.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ended {
    /// Returns the exit status; `None` after a signal or a timeout.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// Returns what no input may cause, if it happened.
    pub(crate) fn broken(&self) -> Option<String> {
        let Some(status) = self.status else {
            return Some(format!("still running after {} s", TIMEOUT.as_secs()));
        };
        match status.code() {
            Some(0..=100) if !self.stderr.contains("panicked at") => {}
            _ => return Some(format!("{status}: {}", first_line(&self.stderr))),
        }
        // Rows of a table have errors of their own.
        let says_why = || {
            let row = || self.stdout.windows(6).any(|part| part == b"error:" || part == b"error\"");
            self.stderr.contains("error") || row()
        };
        if status.code() == Some(2) && !says_why() {
            return Some("exit status 2 without an error".to_owned());
        }
        if self.stderr.len() > MAX_MESSAGE {
            return Some(format!("messages of {} bytes", self.stderr.len()));
        }
        // A terminal acts on these, or they turn the direction of writing.
        let stdout = String::from_utf8_lossy(&self.stdout);
        let turns = |c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let is_raw = |c: &char| c.is_control() && !matches!(c, '\n' | '\t') || turns(*c);
        let mut characters = stdout.chars().chain(self.stderr.chars());
        characters.find(is_raw).map(|raw| format!("{raw:?} in the output"))
    }
}

/// Returns the first line of a text, shortened.
pub(crate) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}

/// Returns a command that runs `program`, which it can run as `$PROGRAM` itself, in `folder` with these
/// `ulimit`s, separated by semicolons.
pub(crate) fn limited(program: &Path, folder: &Path, limits: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limits}; exec \"$0\" \"$@\"")]).arg(program).args(arguments);
    command
        .env("PROGRAM", program)
        .current_dir(folder)
        .stdin(Stdio::null())
        .env_remove("RUST_BACKTRACE");
    command.env_remove("CLICOLOR_FORCE").env_remove("NO_COLOR");
    command
}

/// Runs a command to its end.
///
/// # Errors
/// Returns an error if it cannot be started, or its outputs cannot be read.
pub(crate) fn run(mut command: Command) -> Result<Ended> {
    let scratch = tempfile::tempdir()?;
    let (out, err) = (scratch.path().join("stdout"), scratch.path().join("stderr"));
    let mut child = command.stdout(File::create(&out)?).stderr(File::create(&err)?).spawn()?;
    let status = wait(&mut child, TIMEOUT)?;
    let stderr = String::from_utf8_lossy(&read(&err)?).into_owned();
    Ok(Ended { status, stdout: read(&out)?, stderr })
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_OUTPUT).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Waits until `child` ends; kills it after `timeout`, and returns `None`.
///
/// # Errors
/// Returns those of the system.
pub(crate) fn wait(child: &mut Child, timeout: Duration) -> Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let elapsed = start.elapsed();
        if elapsed > timeout {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        sleep((elapsed / 8).clamp(Duration::from_micros(200), Duration::from_millis(50)));
    }
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
