//! [`Program`]: the emulator under test; [`Running`], one run of it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

#[cfg(unix)]
use super::pipes::Pipes;
use super::stream::{Received, shown};
#[cfg(not(unix))]
use super::threads::Pipes;
use crate::system;

/// How long a program may take to end once its output has.
const END: Duration = Duration::from_secs(1);

/// The command of a program, and how long it may take for an answer.
pub(super) struct Program {
    words: Vec<String>,
    pub(super) timeout: Duration,
}

impl Program {
    /// Splits the command into words as a shell would.
    pub(super) fn new(command: &str, timeout: Duration) -> anyhow::Result<Self> {
        let words = shlex::split(command).context("--command: a quotation is not closed")?;
        if words.is_empty() {
            bail!("--command: expected a program and its arguments");
        }
        Ok(Self { words, timeout })
    }

    /// Returns the program's name.
    pub(super) fn name(&self) -> &str {
        &self.words[0]
    }

    /// Returns the files that the command names, if they are there: the program, and what it may be told to read.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let (program, arguments) = self.words.split_first().unzip();
        let program = Path::new(program.map_or("", String::as_str));
        // A name alone is looked for in these folders only.
        let is_name = program.components().count() == 1 && !program.has_root();
        let folders = if is_name { std::env::var_os("PATH") } else { Some(OsString::new()) };
        let folders: Vec<PathBuf> = std::env::split_paths(&folders.unwrap_or_default()).collect();
        let arguments = arguments.into_iter().flatten().map(PathBuf::from);
        folders.into_iter().map(move |folder| folder.join(program)).chain(arguments)
    }

    /// Starts the program.
    pub(super) fn start(&self) -> anyhow::Result<Running> {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = system::start_group(&mut command);
        let started = started.and_then(|child| Running::new(child, self.timeout));
        started.with_context(|| {
            let is_assignment = self.name().contains('=');
            let hint = if is_assignment { " (no shell runs it: use `sh -c '…'`)" } else { "" };
            format!("{}: cannot be started{hint}", self.name())
        })
    }
}

/// A program that runs. Dropping it ends it, and what it started.
pub(super) struct Running {
    child: Child,
    pipes: Pipes,
    timeout: Duration,
    is_waited_for: bool,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Silence {
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
                system::end_group(&mut child);
                child.wait()?;
                Err(error)
            }
        }
    }

    /// Asks a question, a line with its end; returns the line that comes back.
    pub(super) fn ask(&mut self, question: &[u8]) -> io::Result<Result<Vec<u8>, Silence>> {
        let deadline = Instant::now() + self.timeout;
        let received =
            self.pipes.ask(question, deadline, || system::has_exited(&mut self.child))?;
        Ok(match received {
            Received::Line(line) => Ok(line),
            Received::End => Err(Silence::Ended(self.status()?)),
            Received::Late => Err(Silence::Late),
            Received::TooLong => Err(Silence::TooLong),
        })
    }

    /// Returns whether the program has written more than its answers, now or in a while.
    pub(super) fn has_more(&mut self, wait: Option<Duration>) -> io::Result<bool> {
        self.pipes.has_more(wait.map(|wait| Instant::now() + wait))
    }

    /// Lets the program end, unless it has written more than its answers: then returns what there is of
    /// the next line.
    pub(super) fn finish(mut self) -> io::Result<Option<String>> {
        let until = Instant::now() + self.timeout.min(END);
        let more = self.pipes.finish(until, || system::has_exited(&mut self.child))?;
        Ok(more.map(shown))
    }

    /// Returns what the program has written of a line that has not ended.
    pub(super) fn unfinished(&mut self) -> Option<String> {
        self.pipes.unfinished().map(shown)
    }

    pub(super) fn last_errors(&mut self) -> Vec<String> {
        self.pipes.last_errors()
    }

    /// Returns how the program ended whose output has; `None` if it goes on.
    fn status(&mut self) -> io::Result<Option<ExitStatus>> {
        let until = Instant::now() + self.timeout.min(END);
        let mut pause = Duration::from_micros(50);
        while !system::has_exited(&mut self.child)? {
            if Instant::now() >= until {
                return Ok(None);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        // What it started goes before its number is free for others.
        system::end_group(&mut self.child);
        self.is_waited_for = true;
        self.child.wait().map(Some)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_waited_for {
            system::end_group(&mut self.child);
            let _ = self.child.wait();
        }
    }
}
