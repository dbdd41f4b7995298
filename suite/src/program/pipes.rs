//! [`Pipes`] on Unix, with `poll`: the three streams of a program. Neither a program that does not read
//! nor one that never stops writing keeps the caller waiting beyond its deadline, and memory is bounded.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::stream::{OutputLines, Received, Tail};

/// How long to wait for output before checking whether the program has ended.
const LOOK: Duration = Duration::from_millis(20);

/// The streams of a program, none of which blocks.
pub(super) struct Pipes {
    /// `None` if the program does not read any more.
    stdin: Option<ChildStdin>,
    /// `None` at its end.
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    lines: OutputLines,
    tail: Tail,
}

impl Pipes {
    /// Takes the streams of a program that was started with pipes.
    pub(super) fn new(child: &mut Child) -> io::Result<Self> {
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let streams = [
            stdin.as_ref().map(AsFd::as_fd),
            stdout.as_ref().map(AsFd::as_fd),
            stderr.as_ref().map(AsFd::as_fd),
        ];
        for stream in streams.into_iter().flatten() {
            fcntl_setfl(stream, fcntl_getfl(stream)? | OFlags::NONBLOCK)?;
        }
        Ok(Self { stdin, stdout, stderr, lines: OutputLines::default(), tail: Tail::default() })
    }

    /// Writes a question, a whole line, and reads until a line comes back. What the program started may
    /// keep its output open: that it `has_exited` ends it too.
    pub(super) fn ask(
        &mut self,
        question: &[u8],
        deadline: Instant,
        mut has_exited: impl FnMut() -> io::Result<bool>,
    ) -> io::Result<Received> {
        self.tail.clear();
        let mut unsent = question;
        loop {
            unsent = self.send(unsent)?;
            // What comes before the whole question is not an answer to it, but may be all that comes.
            if unsent.is_empty()
                && let Some(line) = self.lines.take()
            {
                return Ok(line);
            }
            if self.lines.is_full() {
                return Ok(Received::TooLong);
            }
            if self.stdout.is_none() {
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
        loop {
            self.read_output()?;
            let left =
                until.and_then(left).filter(|_| self.lines.is_empty() && self.stdout.is_some());
            let Some(left) = left else { return Ok(!self.lines.is_empty()) };
            self.wait(false, left)?;
        }
    }

    /// Ends the program's input and reads its output until there is another line, or to the end, until then
    /// at most. Returns what there is of that line.
    pub(super) fn finish(
        &mut self,
        until: Instant,
        mut has_exited: impl FnMut() -> io::Result<bool>,
    ) -> io::Result<Option<&[u8]>> {
        self.stdin = None;
        while self.stdout.is_some()
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
        let _ = self.read_errors();
        self.tail.lines()
    }

    /// Returns what is still to be sent; nothing if the program does not read any more.
    fn send<'q>(&mut self, mut question: &'q [u8]) -> io::Result<&'q [u8]> {
        while let (Some(stdin), false) = (&mut self.stdin, question.is_empty()) {
            match stdin.write(question) {
                Ok(sent) => question = &question[sent..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(question),
                Err(error) if error.kind() == ErrorKind::BrokenPipe => self.stdin = None,
                Err(error) => return Err(error),
            }
        }
        Ok(&[])
    }

    /// Waits until a stream is ready, and reads what there is; `false` if none was.
    fn wait(&mut self, has_unsent: bool, at_most: Duration) -> io::Result<bool> {
        let mut ready = Vec::with_capacity(3);
        ready.extend(self.stdout.as_ref().map(|stream| PollFd::new(stream, PollFlags::IN)));
        ready.extend(self.stderr.as_ref().map(|stream| PollFd::new(stream, PollFlags::IN)));
        let stdin = self.stdin.as_ref().filter(|_| has_unsent);
        ready.extend(stdin.map(|stream| PollFd::new(stream, PollFlags::OUT)));
        let timeout = Timespec::try_from(at_most).ok();
        match poll(&mut ready, timeout.as_ref()) {
            Err(rustix::io::Errno::INTR) => return Ok(true),
            Ok(0) => return Ok(false),
            polled => polled?,
        };
        let mut is_ready = ready.iter().map(|stream| !stream.revents().is_empty());
        let has_output = self.stdout.is_some() && is_ready.next() == Some(true);
        let has_errors = self.stderr.is_some() && is_ready.next() == Some(true);
        drop(ready);
        if has_output {
            self.read_output()?;
        }
        if has_errors {
            self.read_errors()?;
        }
        Ok(true)
    }

    /// Reads what there is of the output, as much as fits in a buffer.
    fn read_output(&mut self) -> io::Result<()> {
        let mut buffer = [0; 1 << 14];
        if let Some(read) = read_from(&mut self.stdout, &mut buffer)? {
            self.lines.extend(read);
        }
        Ok(())
    }

    fn read_errors(&mut self) -> io::Result<()> {
        let mut buffer = [0; 1 << 14];
        if let Some(read) = read_from(&mut self.stderr, &mut buffer)? {
            self.tail.extend(read);
        }
        Ok(())
    }
}

/// Reads what there is. At its end the stream becomes `None`.
fn read_from<'b>(
    stream: &mut Option<impl Read>,
    buffer: &'b mut [u8],
) -> io::Result<Option<&'b [u8]>> {
    let Some(open) = stream else { return Ok(None) };
    match open.read(buffer) {
        Ok(0) => *stream = None,
        Ok(read) => return Ok(buffer.get(..read)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
        Err(error) => return Err(error),
    }
    Ok(None)
}

/// Returns the time until then; `None` if it has come.
fn left(deadline: Instant) -> Option<Duration> {
    deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
}
