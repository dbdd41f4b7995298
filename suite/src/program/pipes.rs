//! [`Pipes`]: a program's three streams. Neither a program that does not read nor one that never stops writing keeps
//! the caller waiting beyond its deadline, and memory is bounded.

use std::io;
use std::process::Child;
use std::time::{Duration, Instant};

use super::stream::{OutputLines, Received};

/// How long to wait for output before checking whether the program has ended.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// The streams of a program, none of which blocks. Systems differ in how several are waited for.
pub(super) trait Streams: Sized {
    /// Takes the streams of a program that was started with pipes.
    fn new(child: &mut Child) -> io::Result<Self>;

    /// Returns what is still to be sent; nothing if the program does not read any more.
    fn send<'q>(&mut self, question: &'q [u8]) -> io::Result<&'q [u8]>;

    /// Ends the program's input.
    fn end_input(&mut self);

    /// Whether the program's output has ended.
    fn has_ended(&self) -> bool;

    /// Waits until a stream is ready, its input only if there is something to send, and adds the output that is there
    /// to `lines`; `false` if none was ready in time.
    fn wait(
        &mut self,
        has_unsent: bool,
        at_most: Duration,
        lines: &mut OutputLines,
    ) -> io::Result<bool>;

    /// Forgets the program's standard error so far.
    fn clear_errors(&mut self);

    /// Returns the last lines of the program's standard error.
    fn last_errors(&mut self) -> Vec<String>;
}

/// The streams of a program, and the output that was not taken yet.
pub(super) struct Pipes<S> {
    streams: S,
    lines: OutputLines,
}

impl<S: Streams> Pipes<S> {
    pub(super) fn new(child: &mut Child) -> io::Result<Self> {
        Ok(Self { streams: S::new(child)?, lines: OutputLines::default() })
    }

    /// Writes a question, a whole line, and reads until a line comes back. What the program started may
    /// keep its output open: that it `has_exited` ends it too.
    pub(super) fn ask(
        &mut self,
        question: &[u8],
        deadline: Instant,
        mut has_exited: impl FnMut() -> io::Result<bool>,
    ) -> io::Result<Received> {
        self.streams.clear_errors();
        let mut unsent = question;
        loop {
            unsent = self.streams.send(unsent)?;
            // What comes before the whole question is not an answer to it, but may be all that comes.
            if unsent.is_empty()
                && let Some(line) = self.lines.take()
            {
                return Ok(line);
            }
            if self.lines.is_full() {
                return Ok(Received::TooLong);
            }
            if self.streams.has_ended() {
                return Ok(Received::End);
            }
            let Some(left) = left(deadline) else { return Ok(Received::Late) };
            // What it wrote before is ready.
            if !self.wait(!unsent.is_empty(), left.min(LOOK))?
                && has_exited()?
                && !self.wait(false, LOOK)?
            {
                return Ok(Received::End);
            }
        }
    }

    /// Returns whether there is more than was taken, now or until then.
    pub(super) fn has_more(&mut self, until: Option<Instant>) -> io::Result<bool> {
        self.wait(false, Duration::ZERO)?;
        while self.lines.is_empty()
            && !self.streams.has_ended()
            && let Some(left) = until.and_then(left)
        {
            self.wait(false, left)?;
        }
        Ok(!self.lines.is_empty())
    }

    /// Ends the program's input and reads its output until there is another line, or to the end, until then
    /// at most. Returns what there is of that line.
    pub(super) fn finish(
        &mut self,
        until: Instant,
        mut has_exited: impl FnMut() -> io::Result<bool>,
    ) -> io::Result<Option<&[u8]>> {
        self.streams.end_input();
        while !self.streams.has_ended()
            && !self.lines.has_line()
            && let Some(left) = left(until)
        {
            if !self.wait(false, left.min(LOOK))? && has_exited()? {
                break;
            }
        }
        Ok(self.lines.rest())
    }

    /// Returns what there is of a line that has not ended.
    pub(super) fn unfinished(&mut self) -> Option<&[u8]> {
        self.lines.rest()
    }

    /// Returns the last lines of the program's standard error since the last question.
    pub(super) fn last_errors(&mut self) -> Vec<String> {
        self.streams.last_errors()
    }

    fn wait(&mut self, has_unsent: bool, at_most: Duration) -> io::Result<bool> {
        self.streams.wait(has_unsent, at_most, &mut self.lines)
    }
}

/// Returns the time until then; `None` if it has come.
fn left(deadline: Instant) -> Option<Duration> {
    deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
}
