//! [`Cursor`]: reads the tokens of a line in order, each with its [`LineSpan`].

use core::ops::Range;

use super::error::{Expected, ParseError, ParseErrorKind};
use crate::eight::Eight;

/// A range of bytes of the parsed line; `end` is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LineSpan {
    /// The first byte's offset.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
}

impl LineSpan {
    /// Returns the range, to slice the line with: `&line[span.range()]`.
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Letters, digits, `_` and `$`: a mnemonic, a register, a number, a name.
    Word,
    /// One character of punctuation.
    Punctuation(u8),
    /// The end of the text.
    End,
    /// A character that begins no token.
    Unexpected,
    /// `/*` without `*/`.
    UnclosedComment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: LineSpan,
}

impl Token {
    /// The error of an invalid token, otherwise `kind`, at this token.
    pub(crate) fn error(self, kind: ParseErrorKind) -> ParseError {
        let kind = match self.kind {
            TokenKind::Unexpected => ParseErrorKind::UnexpectedCharacter,
            TokenKind::UnclosedComment => ParseErrorKind::UnclosedComment,
            _ => kind,
        };
        ParseError { kind, span: self.span }
    }
}

/// The first token of `text` at or after byte `from`.
pub(crate) fn token(text: &str, from: usize) -> Token {
    let bytes = text.as_bytes();
    let start = match skip_blank(bytes, from) {
        Ok(start) => start,
        Err(span) => return Token { kind: TokenKind::UnclosedComment, span },
    };
    let word_end = word_end(bytes, start);
    let (kind, end) = match bytes.get(start) {
        None => (TokenKind::End, start),
        Some(_) if word_end > start => (TokenKind::Word, word_end),
        Some(
            mark @ (b'@' | b'!' | b'.' | b',' | b'[' | b']' | b'+' | b'-' | b';' | b'&' | b'?'
            | b'=' | b'{' | b'}'),
        ) => (TokenKind::Punctuation(*mark), start + 1),
        Some(_) => {
            // The first byte of a character, because everything before it was ASCII or a comment.
            let character = text.get(start..).and_then(|rest| rest.chars().next());
            (TokenKind::Unexpected, start + character.map_or(1, char::len_utf8))
        }
    };
    Token { kind, span: LineSpan { start, end } }
}

/// The end of the word at byte `start`; `start` itself if there is none.
fn word_end(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    loop {
        match Eight::at(bytes, end).word() {
            (_, 8) => end += 8,
            (_, length) => return end + length,
        }
    }
}

/// The start of the next token, after white space, `// …` and `/* … */`; or the place of a comment without an end.
#[inline(never)]
pub(crate) fn skip_blank(bytes: &[u8], from: usize) -> Result<usize, LineSpan> {
    let mut at = from;
    while let Some(rest) = bytes.get(at..) {
        match rest {
            [byte, ..] if byte.is_ascii_whitespace() => at += 1,
            [b'/', b'/', comment @ ..] => {
                let end = comment.iter().position(|byte| *byte == b'\n');
                at = end.map_or(bytes.len(), |end| at + 2 + end);
            }
            [b'/', b'*', comment @ ..] => {
                let end = comment.windows(2).position(|pair| pair == b"*/");
                at += 4 + end.ok_or(LineSpan { start: at, end: bytes.len() })?;
            }
            _ => break,
        }
    }
    Ok(at)
}

/// A word of a line.
#[derive(Clone, Copy)]
pub(crate) struct Word<'t> {
    pub(crate) line: &'t str,
    pub(crate) span: LineSpan,
    /// The first eight bytes, with letters in upper case.
    pub(crate) upper: Eight,
}

impl<'t> Word<'t> {
    #[inline]
    pub(crate) fn of(line: &'t str, span: LineSpan) -> Self {
        let upper = Eight::at(line.as_bytes(), span.start).first(span.end - span.start);
        Self { line, span, upper: upper.to_upper() }
    }

    #[inline]
    pub(crate) fn text(self) -> &'t str {
        self.line.get(self.span.range()).unwrap_or_default()
    }

    #[inline(always)]
    pub(crate) fn length(self) -> usize {
        self.span.end - self.span.start
    }

    /// Ignores case.
    #[inline]
    pub(crate) fn is(self, name: &str) -> bool {
        self.text().eq_ignore_ascii_case(name)
    }

    /// Like [`is`](Self::is), but compares `first` before the rest: the first eight bytes of `name` in upper case.
    #[inline(always)]
    pub(crate) fn is_named(self, name: &str, first: Eight) -> bool {
        let is_alike = self.upper == first && self.length() == name.len();
        is_alike && (name.len() <= 8 || self.is(name))
    }

    /// The first byte must be ASCII.
    pub(crate) fn after_first(self) -> Self {
        let start = self.span.end.min(self.span.start + 1);
        let span = LineSpan { start, end: self.span.end };
        Self { span, upper: self.upper.after(1), ..self }
    }

    #[inline]
    pub(crate) fn is_digit_first(self) -> bool {
        self.line.as_bytes().get(self.span.start).is_some_and(u8::is_ascii_digit)
    }

    pub(crate) fn error(self, kind: ParseErrorKind) -> ParseError {
        ParseError { kind, span: self.span }
    }

    /// Reads `0x` and at most eight digits.
    #[inline(always)]
    fn short_hexadecimal(self) -> Option<u64> {
        let count = self.length().checked_sub(2).filter(|count| *count <= 8)?;
        let digits = Eight::at(self.line.as_bytes(), self.span.start + 2).to_upper();
        let is_prefixed = self.upper.first(2) == const { Eight::of(b"0X") };
        if is_prefixed { digits.hexadecimal(count) } else { None }
    }

    /// `None` if the number has more than 64 bits.
    #[inline(always)]
    pub(crate) fn number(self) -> Result<Option<u64>, ParseError> {
        match self.short_hexadecimal() {
            Some(number) => Ok(Some(number)),
            None => self.long_number(),
        }
    }

    #[inline(never)]
    fn long_number(self) -> Result<Option<u64>, ParseError> {
        let text = self.text();
        let (digits, radix) = match text.split_at_checked(2) {
            Some(("0x" | "0X", digits)) => (digits, 16),
            _ => (text, 10),
        };
        match u64::from_str_radix(digits, radix) {
            Ok(number) => Ok(Some(number)),
            // Digits only, so there are too many.
            Err(_) if !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix)) => Ok(None),
            Err(_) if self.is_digit_first() => Err(self.error(ParseErrorKind::BadNumber)),
            Err(_) => Err(self.error(ParseErrorKind::Expected(Expected::Number))),
        }
    }
}

/// A position in a line, before a token. Tokens are read when they are asked for.
///
/// `eat` takes a token if it is next, and returns whether it was; `expect` takes a token that must be next.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'t> {
    line: &'t str,
    /// The end of the last token taken.
    position: usize,
    /// The start of the next token.
    start: usize,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(line: &'t str, position: usize) -> Self {
        let mut cursor = Self { line, position, start: position };
        cursor.go_to(position);
        cursor
    }

    /// Moves to the token at or after byte `position`.
    #[inline(always)]
    fn go_to(&mut self, position: usize) {
        let bytes = self.line.as_bytes();
        self.position = position;
        let begins = |at| bytes.get(at).is_some_and(|byte| *byte > b' ' && *byte != b'/');
        self.start = if begins(position) {
            position
        } else if begins(position + 1) && bytes.get(position) == Some(&b' ') {
            position + 1
        } else {
            skip_blank(bytes, position).unwrap_or_else(|unclosed| unclosed.start)
        };
    }

    pub(crate) fn peek(&self) -> Token {
        token(self.line, self.start)
    }

    pub(crate) fn advance(&mut self) {
        self.go_to(self.peek().span.end);
    }

    pub(crate) fn position(&self) -> usize {
        self.position
    }

    pub(crate) fn start(&self) -> usize {
        self.start
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.start >= self.line.len()
    }

    #[inline(always)]
    pub(crate) fn is_at(&self, character: u8) -> bool {
        self.line.as_bytes().get(self.start) == Some(&character)
    }

    #[inline(always)]
    pub(crate) fn peek_word(&self) -> Option<Word<'t>> {
        let (bytes, start) = (self.line.as_bytes(), self.start);
        let (eight, length) = Eight::at(bytes, start).word();
        let end = match length {
            0 => return None,
            8 => word_end(bytes, start + 8),
            length => start + length,
        };
        Some(Word { line: self.line, span: LineSpan { start, end }, upper: eight.to_upper() })
    }

    #[inline(always)]
    pub(crate) fn take(&mut self, word: Word<'t>) {
        self.go_to(word.span.end);
    }

    /// An error at the next token.
    #[cold]
    #[inline(never)]
    pub(crate) fn error(&self, kind: ParseErrorKind) -> ParseError {
        self.peek().error(kind)
    }

    /// Takes the character if it is next; returns whether it was.
    #[inline(always)]
    pub(crate) fn eat(&mut self, character: u8) -> bool {
        let found = self.is_at(character);
        if found {
            self.go_to(self.start + 1);
        }
        found
    }

    pub(crate) fn expect(&mut self, character: u8) -> Result<(), ParseError> {
        if self.eat(character) {
            return Ok(());
        }
        Err(self.error(ParseErrorKind::Expected(Expected::Character(char::from(character)))))
    }

    #[inline(always)]
    pub(crate) fn word(&mut self, expected: Expected) -> Result<Word<'t>, ParseError> {
        let word = self.peek_word();
        let word = word.ok_or_else(|| self.error(ParseErrorKind::Expected(expected)))?;
        self.take(word);
        Ok(word)
    }

    /// `None` if the number has more than 64 bits.
    pub(crate) fn number(&mut self) -> Result<(Option<u64>, LineSpan), ParseError> {
        let word = self.word(Expected::Number)?;
        Ok((word.number()?, word.span))
    }
}
