//! Lines of untrusted text: bounded, numbered, UTF-8.

use std::io::{self, BufRead, Read};

/// The maximum length of a line in bytes; a longer line is refused without being held in memory.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// The byte order mark of UTF-8, which some editors write before a text.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Returns a whole text without the byte order mark before it, if there is one.
#[must_use]
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Returns `input` from its current position on, without the byte order mark there, if there is one.
///
/// # Errors
/// Returns an error if the first bytes cannot be read.
pub fn skip_mark<R: BufRead>(mut input: R) -> io::Result<impl BufRead> {
    let mut start = Vec::new();
    input.by_ref().take(MARK.len() as u64).read_to_end(&mut start)?;
    if start == MARK {
        start.clear();
    }
    Ok(io::Cursor::new(start).chain(input))
}

/// Reads lines one by one into one buffer. Line ends are `\n` and `\r\n`; the last line may have none. A byte order
/// mark before the first line is skipped.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    limit: usize,
    buffer: Vec<u8>,
    number: u64,
    offset: u64,
    ended: bool,
    failed: bool,
}

/// One line without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'l> {
    /// Its number, from 1.
    pub number: u64,
    /// The offset of its first byte in the input.
    pub offset: u64,
    /// The text.
    pub text: &'l str,
}

/// The reason why a line could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The line is longer than [`MAX_LINE_BYTES`]. Reading stops there.
    #[error(
        "line {line} (byte offset {offset}) is longer than {MAX_LINE_BYTES} bytes; \
         expected lines of text"
    )]
    TooLong {
        /// The line, from 1.
        line: u64,
        /// The offset of its first byte in the input.
        offset: u64,
    },
    /// The line is not UTF-8.
    #[error(
        "line {line}, column {column} (byte offset {offset}) is not UTF-8; a text in Latin-1 can \
         be converted with `iconv -f LATIN1 -t UTF-8`"
    )]
    NotUtf8 {
        /// The line, from 1.
        line: u64,
        /// The column in bytes, from 1.
        column: usize,
        /// The offset of the first bad byte in the input.
        offset: u64,
    },
    /// The input could not be read.
    #[error("line {line} could not be read")]
    Io {
        /// The line, from 1.
        line: u64,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
}

impl<R: BufRead> Lines<R> {
    /// Creates a reader of the lines of `input`, from its current position on.
    pub fn new(input: R) -> Self {
        Self::with_limit(input, MAX_LINE_BYTES)
    }

    /// Creates a reader of lines of at most `limit` bytes each instead of [`MAX_LINE_BYTES`]. The message of
    /// [`LineError::TooLong`] names [`MAX_LINE_BYTES`] all the same.
    pub fn with_limit(input: R, limit: usize) -> Self {
        let (buffer, number, offset) = (Vec::new(), 0, 0);
        Self { input, limit, buffer, number, offset, ended: false, failed: false }
    }

    /// Reads the next line; `None` at the end of the input. Reading stops after
    /// [`LineError::TooLong`] and [`LineError::Io`], and continues after [`LineError::NotUtf8`].
    ///
    /// # Errors
    /// Returns [`LineError`] if the line is too long, not UTF-8, or cannot be read.
    pub fn next_line(&mut self) -> Option<Result<Line<'_>, LineError>> {
        if self.failed {
            return None;
        }
        self.number += 1;
        self.buffer.clear();
        let (line, offset) = (self.number, self.offset);
        self.ended = match self.fill() {
            Ok(Filled::LastLine) if line == 1 && self.buffer == MARK => return None,
            Ok(Filled::Nothing) => return None,
            Ok(Filled::Line) => true,
            Ok(Filled::LastLine) => false,
            Ok(Filled::TooMuch) => {
                self.failed = true;
                return Some(Err(LineError::TooLong { line, offset }));
            }
            Err(source) => {
                self.failed = true;
                return Some(Err(LineError::Io { line, source }));
            }
        };
        self.offset += self.buffer.len() as u64 + u64::from(self.ended);
        let bytes = self.buffer.strip_suffix(b"\r").unwrap_or(&self.buffer);
        let (bytes, offset) = match bytes.strip_prefix(MARK) {
            Some(text) if line == 1 => (text, MARK.len() as u64),
            _ => (bytes, offset),
        };
        Some(match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Line { number: line, offset, text }),
            Err(error) => Err(LineError::NotUtf8 {
                line,
                column: error.valid_up_to() + 1,
                offset: offset + error.valid_up_to() as u64,
            }),
        })
    }

    /// Returns whether a line end followed the last line that was read.
    #[must_use]
    pub fn line_ended(&self) -> bool {
        self.ended
    }

    /// Returns the offset of the next line in the input.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the input, from the next line on.
    #[must_use]
    pub fn into_inner(self) -> R {
        self.input
    }

    /// Moves bytes into the buffer up to the next line end, which is consumed but not stored.
    fn fill(&mut self) -> io::Result<Filled> {
        loop {
            let available = match self.input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                let nothing = self.buffer.is_empty();
                return Ok(if nothing { Filled::Nothing } else { Filled::LastLine });
            }
            let end = memchr::memchr(b'\n', available);
            let length = end.unwrap_or(available.len());
            if self.buffer.len() + length > self.limit {
                return Ok(Filled::TooMuch);
            }
            self.buffer.extend_from_slice(&available[..length]);
            self.input.consume(length + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(Filled::Line);
            }
        }
    }
}

enum Filled {
    /// The input ended before the line began.
    Nothing,
    Line,
    /// The last line, without a line end.
    LastLine,
    /// More bytes than a line may have.
    TooMuch,
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn all(input: &[u8]) -> Vec<Result<(u64, u64, String), String>> {
        let mut lines = Lines::new(BufReader::with_capacity(3, input));
        let mut all = Vec::new();
        while let Some(line) = lines.next_line() {
            all.push(match line {
                Ok(line) => Ok((line.number, line.offset, line.text.to_owned())),
                Err(error) => Err(error.to_string()),
            });
        }
        all
    }

    #[test]
    fn line_ends() {
        let lines = all(b"one\ntwo\r\n\nlast");
        let expected = [(1, 0, "one"), (2, 4, "two"), (3, 9, ""), (4, 10, "last")];
        assert_eq!(lines, expected.map(|(n, at, text)| Ok((n, at, text.to_owned()))));
        assert_eq!(all(b""), []);
    }

    #[test]
    fn a_byte_order_mark_is_skipped_at_the_beginning() {
        let expected = [(1, 3, "one"), (2, 7, "\u{feff}two")];
        let expected = expected.map(|(n, at, text)| Ok((n, at, text.to_owned())));
        assert_eq!(all("\u{feff}one\n\u{feff}two".as_bytes()), expected);
        assert_eq!(all("\u{feff}".as_bytes()), []);
        assert_eq!(all("\u{feff}\r\n".as_bytes()), [Ok((1, 3, String::new()))]);
        assert_eq!(
            all(b"\xef\xbb"),
            [Err("line 1, column 1 (byte offset 0) is not UTF-8; a text \
            in Latin-1 can be converted with `iconv -f LATIN1 -t UTF-8`"
                .to_owned())]
        );
        let error = all(b"\xef\xbb\xbfa\xe9");
        assert!(
            error[0].as_ref().is_err_and(|e| e.starts_with("line 1, column 2 (byte offset 4)"))
        );
        let mut rest = String::new();
        skip_mark("\u{feff}\u{feff}".as_bytes()).unwrap().read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "\u{feff}");
    }

    #[test]
    fn latin_1_is_located_and_skipped() {
        let lines = all(b"a\nb\xe9c\nd");
        assert!(
            lines[1].as_ref().is_err_and(|e| e.starts_with("line 2, column 2 (byte offset 3)"))
        );
        assert_eq!(lines[2], Ok((3, 6, "d".to_owned())));
    }

    #[test]
    fn an_endless_line_is_refused_early() {
        let mut lines = Lines::new(BufReader::new(io::repeat(b'x')));
        assert!(matches!(lines.next_line(), Some(Err(LineError::TooLong { line: 1, offset: 0 }))));
        assert!(lines.buffer.capacity() <= 4 * MAX_LINE_BYTES);
        assert!(lines.next_line().is_none());
    }

    #[test]
    fn the_longest_line_is_read() {
        let mut input = vec![b'x'; MAX_LINE_BYTES];
        input.push(b'\n');
        assert!(all(&input)[0].is_ok());
        input.insert(0, b'x');
        assert!(all(&input)[0].is_err());
    }
}
