//! [`Cursor`]: reads a line token by token.

use super::error::{Expected, ParseError, ParseErrorKind};
use super::lexer::{Lexer, Token, TokenKind};
use super::modifier::Alias;
use super::span::LineSpan;
use crate::eight::Eight;
use crate::impossible::OrImpossible;

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
        let text = line.get(span.range());
        let text = text.or_impossible("", "spans of tokens are within their line");
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
    alias: Option<Alias>,
}

impl<'t> Cursor<'t> {
    /// Begins at byte `position` of `text`.
    pub(crate) fn new(text: &'t str, position: usize) -> Self {
        let lexer = Lexer::new(text);
        Self { lexer, position, here: lexer.token(position), alias: None }
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

    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Returns the word that is here, if one is.
    #[inline]
    pub(crate) fn peek_word(&self) -> Option<Word<'t>> {
        (self.here.kind == TokenKind::Word).then(|| Word::of(self.lexer.text(), self.here.span))
    }

    /// Returns the last alias that was noted.
    pub(crate) fn alias(&self) -> Option<Alias> {
        self.alias
    }

    pub(crate) fn note_alias(&mut self, alias: Alias) {
        self.alias = Some(alias);
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
        // Nearly all numbers are `0x` and at most eight digits.
        let digits = word.text.len().wrapping_sub(2);
        let number = match digits {
            1..=8 if word.upper.first(2) == Eight::of(b"0X") => {
                Eight::at(self.lexer.text().as_bytes(), word.span.start + 2).hexadecimal(digits)
            }
            _ => None,
        };
        Ok((number.map_or_else(|| word.number(), |number| Ok(Some(number.into())))?, word.span))
    }
}
