//! [`Input`]: a buffered input with offsets, of which a number of bytes can be inspected at once.

use std::io::{self, ErrorKind, Read};

/// How many bytes are read at once.
const BUFFER: usize = 1 << 16;

pub(super) struct Input<R> {
    inner: R,
    buffer: Vec<u8>,
    /// What is left of `buffer`: bytes of the input from `offset`.
    from: usize,
    to: usize,
    offset: u64,
}

impl<R: Read> Input<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, buffer: vec![0; BUFFER], from: 0, to: 0, offset: 0 }
    }

    /// Returns the offset of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the next bytes, at least `count`; fewer at the end of the input.
    pub(super) fn at_least(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.to - self.from < count {
            self.buffer.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
            while self.to < count {
                match self.inner.read(&mut self.buffer[self.to..]) {
                    Ok(0) => break,
                    Ok(read) => self.to += read,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(&self.buffer[self.from..self.to])
    }

    /// Moves past `count` bytes that [`Self::at_least`] returned.
    pub(super) fn consume(&mut self, count: usize) {
        self.from += count;
        self.offset += count as u64;
    }

    /// Moves past all zeros that follow.
    pub(super) fn skip_zeros(&mut self) -> io::Result<()> {
        loop {
            let next = self.at_least(1)?;
            let zeros = next.iter().take_while(|byte| **byte == 0).count();
            let is_all = zeros == next.len();
            self.consume(zeros);
            if zeros == 0 || !is_all {
                return Ok(());
            }
        }
    }
}
