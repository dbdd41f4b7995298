//! [`Program`]: an emulator under test, asked over pipes. [`ProgramExaminee`] asks it the cases of a suite.

mod examinee;
#[cfg(unix)]
mod group;
#[cfg(not(unix))]
#[path = "no_group.rs"]
mod group;
mod pipes;
mod stream;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub use self::examinee::ProgramExaminee;
pub use self::group::end_programs;
use self::pipes::Pipes;
use self::stream::Received;
use crate::runner::AskError;
use crate::text::shown;

/// The time that a program may take to exit after the end of its output.
const END: Duration = Duration::from_secs(1);

/// A program with its arguments, and its time limit for an answer. It reads questions from its standard input, one line
/// each, and writes a line for each to its standard output.
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    arguments: Vec<String>,
    timeout: Duration,
}

impl Program {
    /// Creates a program with its arguments. It is started directly, not by a shell.
    #[must_use]
    pub fn new(name: String, arguments: Vec<String>, timeout: Duration) -> Self {
        Self { name, arguments, timeout }
    }

    /// Returns the program's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the paths that the command can refer to: the program in each folder of the search path, and the
    /// arguments. Not all of these are files.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let program = Path::new(&self.name);
        // The system looks up a bare name only in the folders of `PATH`.
        let is_name = program.components().count() == 1 && !program.has_root();
        let folders = if is_name { std::env::var_os("PATH") } else { Some(OsString::new()) };
        let folders: Vec<PathBuf> = std::env::split_paths(&folders.unwrap_or_default()).collect();
        let arguments = self.arguments.iter().map(PathBuf::from);
        folders.into_iter().map(move |folder| folder.join(program)).chain(arguments)
    }

    /// Starts the program and ends it at once.
    ///
    /// # Errors
    /// Returns [`AskError::Start`] if it cannot be started.
    pub fn check_starts(&self) -> Result<(), AskError> {
        self.start().map(drop)
    }

    fn start(&self) -> Result<Running, AskError> {
        let mut command = Command::new(&self.name);
        command.args(&self.arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started =
            group::start(&mut command).and_then(|child| Running::new(child, self.timeout));
        started.map_err(|source| {
            let is_assignment = self.name.contains('=');
            let hint = if is_assignment { " (no shell runs it: use `sh -c '…'`)" } else { "" };
            AskError::Start { program: self.name.clone(), hint, source }
        })
    }
}

/// A running program. Dropping it ends the program and its children.
struct Running {
    child: Child,
    pipes: Pipes,
    timeout: Duration,
    is_waited_for: bool,
}

/// The reason for a missing answer.
enum Silence {
    /// The program has ended, or has closed its output.
    Ended(Option<ExitStatus>),
    Late,
    TooLong,
}

impl Running {
    fn new(mut child: Child, timeout: Duration) -> io::Result<Self> {
        match Pipes::new(&mut child) {
            Ok(pipes) => Ok(Self { child, pipes, timeout, is_waited_for: false }),
            Err(error) => {
                group::end(&mut child);
                child.wait()?;
                Err(error)
            }
        }
    }

    /// Writes a question, a whole line, and returns the line that comes back.
    fn ask(&mut self, question: &[u8]) -> io::Result<Result<Vec<u8>, Silence>> {
        let deadline = Instant::now() + self.timeout;
        let received = self.pipes.ask(question, deadline, || group::has_exited(&mut self.child))?;
        Ok(match received {
            Received::Line(line) => Ok(line),
            Received::End => Err(Silence::Ended(self.status()?)),
            Received::Late => Err(Silence::Late),
            Received::TooLong => Err(Silence::TooLong),
        })
    }

    /// Whether the program has written more than its answers, now or within `wait`.
    fn has_more(&mut self, wait: Option<Duration>) -> bool {
        self.pipes.has_more(wait.map(|wait| Instant::now() + wait))
    }

    /// Lets the program end. If it has written more than its answers, returns the next line, which may be unfinished.
    fn finish(mut self) -> io::Result<Option<String>> {
        let until = Instant::now() + self.timeout.min(END);
        let more = self.pipes.finish(until, || group::has_exited(&mut self.child))?;
        Ok(more.map(shown))
    }

    /// The start of an unfinished line.
    fn unfinished(&mut self) -> Option<String> {
        self.pipes.unfinished().map(shown)
    }

    fn last_errors(&mut self) -> Vec<String> {
        self.pipes.last_errors()
    }

    /// The exit status of a program after the end of its output; `None` if it keeps running.
    fn status(&mut self) -> io::Result<Option<ExitStatus>> {
        let until = Instant::now() + self.timeout.min(END);
        let mut pause = Duration::from_micros(50);
        while !group::has_exited(&mut self.child)? {
            if Instant::now() >= until {
                return Ok(None);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        // Ends its children first: after the wait, the system can give the group's number to another process.
        group::end(&mut self.child);
        self.is_waited_for = true;
        self.child.wait().map(Some)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_waited_for {
            group::end(&mut self.child);
            let _ = self.child.wait();
        }
    }
}
