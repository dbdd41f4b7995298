//! [`Cursor`]: reads the tokens of a line one after the other, each with its place, a [`LineSpan`].

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
    /// Returns the error of a token that no line has, or else that of `kind` at this token.
    pub(crate) fn error(self, kind: ParseErrorKind) -> ParseError {
        let kind = match self.kind {
            TokenKind::Unexpected => ParseErrorKind::UnexpectedCharacter,
            TokenKind::UnclosedComment => ParseErrorKind::UnclosedComment,
            _ => kind,
        };
        ParseError { kind, span: self.span }
    }
}

/// Whether each byte is part of a word.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const IS_WORD: [bool; 256] = {
    let mut is_word = [false; 256];
    let mut rest = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$".as_slice();
    while let [byte, after @ ..] = rest {
        is_word[*byte as usize] = true;
        rest = after;
    }
    is_word
};

fn is_word(byte: u8) -> bool {
    IS_WORD.get(usize::from(byte)).copied().unwrap_or_default()
}

/// A text, and which of its bytes are parts of words.
#[derive(Clone, Copy)]
pub(crate) struct Lexer<'t> {
    text: &'t str,
    /// Bit `i` is that of byte `i`, the lowest bit that of the first byte: no branch finds where a
    /// word ends.
    words: u64,
}

impl<'t> Lexer<'t> {
    #[inline]
    pub(crate) fn new(text: &'t str) -> Self {
        let bits = text.bytes().take(64).zip(0u32..);
        Self { text, words: bits.fold(0, |words, (byte, i)| words | u64::from(is_word(byte)) << i) }
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// Returns the end of the word that starts at byte `start`, or `start` if there is none.
    #[inline]
    fn word_end(&self, start: usize) -> usize {
        let end = start + self.words.unbounded_shr(start as u32).trailing_ones() as usize;
        if end < 64 {
            return end;
        }
        let after = self.text.as_bytes().get(end..).unwrap_or_default();
        end + after.iter().take_while(|byte| is_word(**byte)).count()
    }

    /// Returns the token that starts at or after byte `from`. Inlined into every reader, which knows
    /// better than a common copy what comes next: a third of the time of a line.
    #[inline(always)]
    pub(crate) fn token(&self, from: usize) -> Token {
        let bytes = self.text.as_bytes();
        let start = match skip_blank(bytes, from) {
            Ok(start) => start,
            Err(span) => return Token { kind: TokenKind::UnclosedComment, span },
        };
        let end = self.word_end(start);
        let (kind, end) = match bytes.get(start) {
            None => (TokenKind::End, start),
            Some(_) if end > start => (TokenKind::Word, end),
            Some(
                mark @ (b'@' | b'!' | b'.' | b',' | b'[' | b']' | b'+' | b'-' | b';' | b'&' | b'?'
                | b'=' | b'{' | b'}'),
            ) => (TokenKind::Punctuation(*mark), start + 1),
            Some(_) => {
                // The first byte of a character: everything before it was ASCII or a comment.
                let character = self.text.get(start..).and_then(|rest| rest.chars().next());
                (TokenKind::Unexpected, start + character.map_or(1, char::len_utf8))
            }
        };
        Token { kind, span: LineSpan { start, end } }
    }
}

/// Returns where the next token starts: after white space, `// …` and `/* … */`; or else where the
/// comment is that has no end.
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
    pub(crate) text: &'t str,
    pub(crate) span: LineSpan,
    /// The first eight bytes, with letters in upper case.
    pub(crate) upper: Eight,
}

impl<'t> Word<'t> {
    /// Returns the bytes `span` of `line`.
    #[inline]
    pub(crate) fn of(line: &'t str, span: LineSpan) -> Self {
        let text = line.get(span.range()).unwrap_or_default();
        let upper = Eight::at(line.as_bytes(), span.start).first(text.len()).to_upper();
        Self { text, span, upper }
    }

    /// Returns whether this is `name`, in either case.
    #[inline]
    pub(crate) fn is(self, name: &str) -> bool {
        self.text.eq_ignore_ascii_case(name)
    }

    /// Returns this without its first byte, which is ASCII.
    pub(crate) fn after_first(self) -> Self {
        let text = self.text.get(1..).unwrap_or_default();
        let span = LineSpan { start: self.span.end - text.len(), end: self.span.end };
        Self { text, span, upper: self.upper.after(1) }
    }

    /// Returns whether this begins with a digit.
    #[inline]
    pub(crate) fn is_digit_first(self) -> bool {
        self.text.as_bytes().first().is_some_and(u8::is_ascii_digit)
    }

    /// Returns the error `kind` at this word.
    pub(crate) fn error(self, kind: ParseErrorKind) -> ParseError {
        ParseError { kind, span: self.span }
    }

    /// Reads this as a number; `None` if it has more than 64 bits.
    #[inline]
    pub(crate) fn number(self) -> Result<Option<u64>, ParseError> {
        let (digits, radix) = match self.text.split_at_checked(2) {
            Some(("0x" | "0X", digits)) => (digits, 16),
            _ => (self.text, 10),
        };
        match u64::from_str_radix(digits, radix) {
            Ok(number) => Ok(Some(number)),
            // Only digits, so too many of them.
            Err(_) if !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix)) => Ok(None),
            Err(_) if self.is_digit_first() => Err(self.error(ParseErrorKind::BadNumber)),
            Err(_) => Err(self.error(ParseErrorKind::Expected(Expected::Number))),
        }
    }
}

/// A position in a line: before a token.
///
/// `eat` takes what may be here and returns whether it was, `expect` takes what must be here.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'t> {
    lexer: Lexer<'t>,
    /// The end of the last token that was taken.
    position: usize,
    here: Token,
}

impl<'t> Cursor<'t> {
    /// Begins at byte `position` of `text`.
    pub(crate) fn new(text: &'t str, position: usize) -> Self {
        let lexer = Lexer::new(text);
        Self { lexer, position, here: lexer.token(position) }
    }

    /// Returns the token that is here, without taking it.
    pub(crate) fn peek(&self) -> Token {
        self.here
    }

    /// Takes the token that is here.
    #[inline(always)]
    pub(crate) fn advance(&mut self) {
        self.position = self.here.span.end;
        self.here = self.lexer.token(self.position);
    }

    /// Returns the whole line.
    pub(crate) fn line(&self) -> &'t str {
        self.lexer.text()
    }

    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Returns the word that is here, if one is.
    #[inline]
    pub(crate) fn peek_word(&self) -> Option<Word<'t>> {
        (self.here.kind == TokenKind::Word).then(|| Word::of(self.lexer.text(), self.here.span))
    }

    /// Returns an error at the token that is here.
    pub(crate) fn error(&self, kind: ParseErrorKind) -> ParseError {
        self.here.error(kind)
    }

    /// Takes the character if it is here; returns whether it was.
    #[inline]
    pub(crate) fn eat(&mut self, character: u8) -> bool {
        let found = self.here.kind == TokenKind::Punctuation(character);
        if found {
            self.advance();
        }
        found
    }

    /// Takes the character, which must be here.
    pub(crate) fn expect(&mut self, character: u8) -> Result<(), ParseError> {
        if self.eat(character) {
            return Ok(());
        }
        Err(self.error(ParseErrorKind::Expected(Expected::Character(char::from(character)))))
    }

    /// Takes a word, which must be here.
    #[inline(always)]
    pub(crate) fn word(&mut self, expected: Expected) -> Result<Word<'t>, ParseError> {
        let word = self.peek_word();
        let word = word.ok_or_else(|| self.error(ParseErrorKind::Expected(expected)))?;
        self.advance();
        Ok(word)
    }

    /// Takes a number, which must be here; `None` if it has more than 64 bits.
    pub(crate) fn number(&mut self) -> Result<(Option<u64>, LineSpan), ParseError> {
        let word = self.word(Expected::Number)?;
        Ok((word.number()?, word.span))
    }
}
