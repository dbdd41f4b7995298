//! [`Printing`]: shows the text of `printf` while a kernel runs.

use std::fs::File;
use std::io::{self, BufWriter};

use warpload_ptx::machine::{LaunchTrace, MemoryAccess, MemoryObserver};
use warpload_replay::LaunchCounter;

use crate::io::Output;
use crate::terminal::Escapes;

/// Passes the memory instructions of a launch on to its counter and its trace, and prints the text of `printf` at once, so
/// that a launch that does not end has printed it, too.
pub(super) struct Printing<'p, 'm> {
    counter: &'p mut LaunchCounter<'m>,
    trace: Option<&'p mut LaunchTrace<'m, BufWriter<File>>>,
    /// Standard output, if the text goes there.
    output: Option<&'p mut Output>,
    ends_line: bool,
    failed: Option<io::Error>,
}

impl<'p, 'm> Printing<'p, 'm> {
    pub(super) fn new(
        counter: &'p mut LaunchCounter<'m>,
        trace: Option<&'p mut LaunchTrace<'m, BufWriter<File>>>,
        output: Option<&'p mut Output>,
    ) -> Self {
        Self { counter, trace, output, ends_line: true, failed: None }
    }

    /// Ends the last line of the text. Returns the first error of standard output.
    pub(super) fn finish(self) -> io::Result<()> {
        match (self.failed, self.output) {
            (Some(error), _) => Err(error),
            (None, Some(output)) if !self.ends_line => output.line(""),
            _ => Ok(()),
        }
    }
}

impl MemoryObserver for Printing<'_, '_> {
    fn access(&mut self, access: &MemoryAccess<'_>) {
        self.counter.access(access);
        if let Some(trace) = &mut self.trace {
            trace.access(access);
        }
    }

    fn needs_values(&self) -> bool {
        self.trace.is_some()
    }

    fn printed(&mut self, text: &[u8]) {
        self.ends_line = text.last() == Some(&b'\n');
        if self.failed.is_none()
            && let Some(output) = &mut self.output
        {
            self.failed = output.bytes(text, Escapes::Text).err();
        }
    }
}
