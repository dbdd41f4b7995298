//! [`Printing`]: shows the text of `printf` while a kernel runs.

use std::io;

use warpload_ptx::launch::{MemoryAccess, MemoryObserver};

use crate::io::Output;
use crate::terminal::Escapes;

/// Passes the memory instructions of a launch on to their observer, and prints the text of `printf` at once, so that a launch
/// that does not end has printed it, too.
pub(super) struct Printing<'p, T> {
    observer: &'p mut T,
    /// Standard output, if the text goes there.
    output: Option<&'p mut Output>,
    ends_line: bool,
    failed: Option<io::Error>,
}

impl<'p, T> Printing<'p, T> {
    pub(super) fn new(observer: &'p mut T, output: Option<&'p mut Output>) -> Self {
        Self { observer, output, ends_line: true, failed: None }
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

impl<T: MemoryObserver> MemoryObserver for Printing<'_, T> {
    fn access(&mut self, access: &MemoryAccess<'_>) {
        self.observer.access(access);
    }

    fn needs_values(&self) -> bool {
        self.observer.needs_values()
    }

    fn divide(&mut self, count: usize) -> Option<Vec<Box<dyn MemoryObserver + Send + '_>>> {
        self.observer.divide(count)
    }

    fn unite(&mut self, is_kept: bool) {
        self.observer.unite(is_kept);
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
