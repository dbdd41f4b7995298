//! [`Streams`] on Unix, with `poll`.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::pipes::Streams;
use super::stream::{OutputLines, Tail};

pub(super) struct PolledStreams {
    /// `None` if the program does not read any more.
    stdin: Option<ChildStdin>,
    /// `None` at its end.
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    tail: Tail,
}

impl Streams for PolledStreams {
    fn new(child: &mut Child) -> io::Result<Self> {
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
        Ok(Self { stdin, stdout, stderr, tail: Tail::default() })
    }

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

    fn end_input(&mut self) {
        self.stdin = None;
    }

    fn has_ended(&self) -> bool {
        self.stdout.is_none()
    }

    fn wait(
        &mut self,
        has_unsent: bool,
        at_most: Duration,
        lines: &mut OutputLines,
    ) -> io::Result<bool> {
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
        let mut buffer = [0; 1 << 14];
        if has_output && let Some(read) = read_from(&mut self.stdout, &mut buffer)? {
            lines.extend(read);
        }
        if has_errors {
            self.read_errors()?;
        }
        Ok(true)
    }

    fn clear_errors(&mut self) {
        self.tail.clear();
    }

    fn last_errors(&mut self) -> Vec<String> {
        let _ = self.read_errors();
        self.tail.lines()
    }
}

impl PolledStreams {
    /// Reads what there is of the standard error, as much as fits in a buffer.
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
