//! [`Cursor`]: reads a line token by token.

use super::error::{Expected, ParseError, ParseErrorKind};
use super::lexer::{Token, TokenKind, token};
use super::modifier::Alias;
use super::span::Span;
use crate::impossible::OrImpossible;

/// A position in a line: before a token.
///
/// `eat` takes what may be here and returns whether it was, `expect` takes what must be here.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    /// The end of the last token that was taken.
    position: usize,
    here: Token,
    alias: Option<Alias>,
}

impl<'t> Cursor<'t> {
    /// Begins at byte `position` of `text`.
    pub(crate) fn new(text: &'t str, position: usize) -> Self {
        Self { text, position, here: token(text, position), alias: None }
    }

    /// Returns the token that is here, without taking it.
    pub(crate) fn peek(&self) -> Token {
        self.here
    }

    /// Takes the token that is here.
    pub(crate) fn advance(&mut self) {
        self.position = self.here.span.end;
        self.here = token(self.text, self.position);
    }

    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Returns the text of a token of this line.
    pub(crate) fn str(&self, span: Span) -> &'t str {
        self.text.get(span.range()).or_impossible("", "spans of tokens are within their line")
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
    pub(crate) fn word(&mut self, expected: Expected) -> Result<(&'t str, Span), ParseError> {
        let Token { kind: TokenKind::Word, span } = self.here else {
            return Err(self.error(ParseErrorKind::Expected(expected)));
        };
        self.advance();
        Ok((self.str(span), span))
    }

    /// Takes a number, which must be here; `None` if it has more than 64 bits.
    pub(crate) fn number(&mut self) -> Result<(Option<u64>, Span), ParseError> {
        let (word, span) = self.word(Expected::Number)?;
        Ok((read_number(word, span)?, span))
    }
}

/// Reads the number `word`; `None` if it has more than 64 bits.
pub(crate) fn read_number(word: &str, span: Span) -> Result<Option<u64>, ParseError> {
    let (digits, radix) = match word.split_at_checked(2) {
        Some(("0x" | "0X", digits)) => (digits, 16),
        _ => (word, 10),
    };
    match u64::from_str_radix(digits, radix) {
        Ok(number) => Ok(Some(number)),
        // Only digits, so too many of them.
        Err(_) if !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix)) => Ok(None),
        Err(_) if is_digit_first(word) => Err(ParseError { kind: ParseErrorKind::BadNumber, span }),
        Err(_) => Err(ParseError { kind: ParseErrorKind::Expected(Expected::Number), span }),
    }
}

/// Returns whether `word` begins with a digit.
pub(crate) fn is_digit_first(word: &str) -> bool {
    word.as_bytes().first().is_some_and(u8::is_ascii_digit)
}
