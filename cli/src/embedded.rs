//! The command for a program that it is part of: [`call`] runs it without the process's streams.

use std::ffi::OsString;

use clap::Parser;

use crate::diagnostic::{self, Message};
use crate::inputs;
use crate::io::{self, Output};
use crate::options::Progress;

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
