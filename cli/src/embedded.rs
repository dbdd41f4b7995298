//! The command for a program that it is part of: [`call`] runs it without the process's streams, and traces are
//! opened and replayed as the command does, with its messages, but in steps.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use clap::Parser;

use crate::destination::Destination;
use crate::diagnostic::{self, Message};
use crate::io::{self, Output};
use crate::mapped::Holding;
use crate::options::{Format, Progress};
use crate::replay::{Arguments, With, block_bytes};
use crate::replaying::Read;
use crate::trace::{self, Input};
use crate::{info, inputs};
use warpload::machine::Machine;
use warpload::memory::Memory;
use warpload_replay::{Replayed, Summary};
use warpload_trace::BinaryTrace;

/// What the command wrote, and how it ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The exit status of [`run`](crate::run).
    pub status: u8,
    /// What goes to standard output.
    pub output: Vec<u8>,
    /// What is drawn on standard error.
    pub messages: Vec<Message>,
}

/// Runs the command as [`run`](crate::run) does, but with `input` in place of standard input, and
/// returns what it writes. There is no progress bar.
pub fn call(arguments: impl IntoIterator<Item = OsString>, input: Vec<u8>) -> Answer {
    let _inputs = inputs::InputsScope::new();
    io::with_input(input, || {
        let mut output = Output::captured();
        let (status, messages) =
            diagnostic::collect(|| match crate::Arguments::try_parse_from(arguments) {
                Ok(arguments) => super::execute(
                    crate::Arguments { progress: Progress::Never, ..arguments },
                    &mut output,
                ) as u8,
                Err(error) => {
                    diagnostic::wrong_use(&error);
                    super::Status::Unreadable as u8
                }
            });
        Answer { status, output: output.into_captured(), messages }
    })
}

/// Opens a trace of any kind, and returns the number of its parts too if it is a trace set. A text trace is
/// imported into a temporary file without a name, which `interrupt` stops once it is true; `holding` is for binary
/// ones.
///
/// # Errors
/// Returns the command's message if the trace cannot be read.
pub fn open_trace(
    path: &Path,
    threads: Option<usize>,
    holding: Holding,
    interrupt: &AtomicBool,
) -> Result<(BinaryTrace, Option<usize>), Box<Message>> {
    let _inputs = inputs::InputsScope::new();
    told(|| {
        let input = Input::new(path)?.held(holding).interrupted_by(interrupt).map()?;
        let parts = input.parts();
        Ok((input.open(super::Progress::Never, trace::threads(threads))?, parts))
    })
}

/// Calls a function, and returns its error as a message.
fn told<T>(function: impl FnOnce() -> anyhow::Result<T>) -> Result<T, Box<Message>> {
    function().map_err(|error| Box::new(Message::of_failure(&error)))
}

/// Returns what `info --format json` prints of a trace, or of a set of that many parts.
///
/// # Errors
/// Returns the command's message if something cannot be written as JSON.
pub fn contents(trace: &BinaryTrace, parts: Option<usize>) -> Result<Vec<u8>, Box<Message>> {
    let mut output = Output::captured();
    told(|| info::show_trace(trace, "", parts, Format::Json, &mut output))?;
    Ok(output.into_captured())
}

/// Opens the memory image that a manifest describes; `holding` is for bytes that are all in one file.
///
/// # Errors
/// Returns the command's message if the image cannot be read.
pub fn open_image(manifest: &Path, holding: Holding) -> Result<Machine, Box<Message>> {
    let _inputs = inputs::InputsScope::new();
    told(|| trace::open_machine_held(manifest, holding)).map(|(machine, _)| machine)
}

/// A replay, its options read and its files open.
pub struct Replay {
    arguments: Arguments,
    read: Read,
}

/// What [`Replay::run`] is asked for besides.
#[non_exhaustive]
pub struct Run<'a> {
    /// What loads read instead of what the options say.
    pub image: Option<&'a Memory>,
    /// Whether to draw the page too.
    pub page: bool,
    /// Is called after each block with its bytes, from any thread.
    pub observer: &'a (dyn Fn(u64) + Sync),
    /// Stops the replay once it is true.
    pub interrupt: &'a AtomicBool,
}

impl<'a> Run<'a> {
    /// Creates a run without an image and without a page.
    #[must_use]
    pub fn new(observer: &'a (dyn Fn(u64) + Sync), interrupt: &'a AtomicBool) -> Self {
        Self { image: None, page: false, observer, interrupt }
    }
}

/// What a replay wrote.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finished {
    /// The summary as the options ask for it.
    pub output: Vec<u8>,
    /// Notes for its reader.
    pub messages: Vec<Message>,
    /// The page, if one is asked for.
    pub page: Option<String>,
}

impl Replay {
    /// Reads the options and the trace's name, which messages use, as `warpload replay` does, and opens the
    /// files that they name, but for the trace.
    ///
    /// # Errors
    /// Returns the command's message if an option or a file is wrong, or if an option is for a file to be
    /// written.
    pub fn new(options: impl IntoIterator<Item = OsString>) -> Result<Self, Box<Message>> {
        let _inputs = inputs::InputsScope::new();
        let start = ["warpload", "replay"].map(OsString::from);
        let parsed = super::Arguments::try_parse_from(start.into_iter().chain(options));
        let parsed = parsed.map_err(|error| Box::new(Message::of_wrong_use(&error)))?;
        told(|| {
            let super::Command::Replay(arguments) = parsed.command else {
                anyhow::bail!("expected options of `replay`");
            };
            arguments.check_writes_nothing()?;
            arguments.options.check_stdin(&arguments.trace)?;
            let read = arguments.options.read()?;
            Ok(Self { arguments: *arguments, read })
        })
    }

    /// Returns how many bytes the observer of a replay of the whole trace is told of.
    #[must_use]
    pub fn bytes(trace: &BinaryTrace) -> u64 {
        block_bytes(trace)
    }

    /// Replays a trace, and returns what is written and what `then` makes of the result.
    ///
    /// # Errors
    /// Returns the command's message if the trace cannot be replayed.
    pub fn run<T>(
        &self,
        trace: &BinaryTrace,
        run: &Run<'_>,
        then: impl FnOnce(&Replayed<'_>, &Summary) -> T,
    ) -> Result<(Finished, T), Box<Message>> {
        let with = With {
            image: run.image,
            is_surveyed: run.page,
            observer: run.observer,
            interrupt: Some(run.interrupt),
        };
        let (found, messages) = diagnostic::collect(|| {
            self.arguments.replay(trace, &self.read, with, |found| {
                let mut output = Output::captured();
                found.write(Destination::new(None)?, &mut output)?;
                Ok((output.into_captured(), found.page(), then(found.replayed, found.summary())))
            })
        });
        let (output, page, made) = told(|| found)?;
        Ok((Finished { output, messages, page }, made))
    }
}
