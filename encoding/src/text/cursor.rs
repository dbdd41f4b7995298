//! [`Cursor`]: reads a line token by token.

use super::error::{Expected, ParseError, ParseErrorKind};
use super::lexer::{Token, TokenKind, skip_blank, token};
use super::modifier::Alias;
use super::span::Span;
use crate::impossible::OrImpossible;

/// A position in a line.
///
/// `eat` takes what may be here and returns whether it was, `expect` takes what must be here.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    position: usize,
    alias: Option<Alias>,
}

impl<'t> Cursor<'t> {
    /// Begins at byte `position` of `text`.
    pub(crate) fn new(text: &'t str, position: usize) -> Self {
        Self { text, position, alias: None }
    }

    /// Returns the token that is here, without taking it.
    pub(crate) fn peek(&self) -> Result<Token, ParseError> {
        token(self.text, self.position)
    }

    pub(crate) fn advance(&mut self, token: Token) {
        self.position = token.span.end;
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
    pub(crate) fn error(&self, kind: ParseErrorKind) -> Result<ParseError, ParseError> {
        Ok(ParseError { kind, span: self.peek()?.span })
    }

    /// Takes the character if it is here; returns whether it was.
    pub(crate) fn eat(&mut self, character: u8) -> Result<bool, ParseError> {
        // Only this one byte matters: no need to read a whole word.
        let start = skip_blank(self.text.as_bytes(), self.position)?;
        let found = self.text.as_bytes().get(start) == Some(&character);
        if found {
            self.position = start + 1;
        }
        Ok(found)
    }

    /// Takes the character, which must be here.
    pub(crate) fn expect(&mut self, character: u8) -> Result<(), ParseError> {
        if self.eat(character)? {
            return Ok(());
        }
        let expected = Expected::Character(char::from(character));
        Err(self.error(ParseErrorKind::Expected(expected))?)
    }

    /// Takes a word, which must be here.
    pub(crate) fn word(&mut self, expected: Expected) -> Result<(&'t str, Span), ParseError> {
        let token = self.peek()?;
        if token.kind != TokenKind::Word {
            return Err(ParseError { kind: ParseErrorKind::Expected(expected), span: token.span });
        }
        self.advance(token);
        Ok((self.str(token.span), token.span))
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
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        let kind = if is_digit_first(word) {
            ParseErrorKind::BadNumber
        } else {
            ParseErrorKind::Expected(Expected::Number)
        };
        return Err(ParseError { kind, span });
    }
    // Only digits are left, so the only possible error is too many of them.
    Ok(u64::from_str_radix(digits, radix).ok())
}

/// Returns whether `word` begins with a digit.
pub(crate) fn is_digit_first(word: &str) -> bool {
    word.as_bytes().first().is_some_and(u8::is_ascii_digit)
}
