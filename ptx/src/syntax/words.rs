//! [`Words`], a cursor over words of PTX, and [`SyntaxError`], the error at a word that is not the expected one.

use super::lexer::{Lexer, Token, TokenKind};
use crate::syntax::Span;

/// An error in one statement. The rest of the module can still be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("expected {expected}")]
#[non_exhaustive]
pub struct SyntaxError {
    /// A description of the expected word.
    pub expected: &'static str,
    /// The word at fault.
    pub span: Span,
}

/// A position in a text, with one word of lookahead.
#[derive(Clone, Debug)]
pub(crate) struct Words<'s> {
    source: &'s str,
    lexer: Lexer<'s>,
    /// The words after the current one, if they were split before.
    found: Option<&'s [Token]>,
    current: Token,
    /// The word before the current one; at the start, an empty one.
    previous: Token,
}

impl<'s> Words<'s> {
    /// Begins at the first word of a part of the text.
    pub(crate) fn new(source: &'s str, part: Span) -> Self {
        let mut lexer = Lexer::within(source, part);
        let current = lexer.token();
        let start = Span { start: part.start, end: part.start };
        let previous = Token { kind: TokenKind::End, span: start };
        Self { source, lexer, found: None, current, previous }
    }

    /// Begins at the first of `tokens`, the words of `part` split before.
    pub(crate) fn of_tokens(source: &'s str, part: Span, tokens: &'s [Token]) -> Self {
        let after = Self::new(source, Span::empty_at(part.end));
        let mut words = Self { found: Some(tokens), ..after };
        words.advance();
        words
    }

    /// The kind of the current word.
    #[inline]
    pub(crate) fn kind(&self) -> TokenKind {
        self.current.kind
    }

    pub(crate) fn current(&self) -> Token {
        self.current
    }

    #[inline]
    pub(crate) fn span(&self) -> Span {
        self.current.span
    }

    #[inline]
    pub(crate) fn text(&self) -> &'s str {
        self.current.span.text(self.source)
    }

    #[inline]
    pub(crate) fn is(&self, text: &str) -> bool {
        let Span { start, end } = self.current.span;
        // Comparing lengths first is enough for most words.
        (end - start) as usize == text.len() && self.text() == text
    }

    /// Takes the current word, and makes the next one current.
    #[inline]
    pub(crate) fn advance(&mut self) -> Token {
        let token = self.current;
        self.previous = token;
        self.current = match &mut self.found {
            None => self.lexer.token(),
            // After the last token, the lexer is at the end of the part.
            Some(found) => match found.split_first() {
                Some((next, rest)) => {
                    *found = rest;
                    *next
                }
                None => self.lexer.token(),
            },
        };
        token
    }

    /// The end of the last word taken.
    #[inline]
    pub(crate) fn taken(&self) -> u32 {
        self.previous.span.end
    }

    /// Whether the last word taken is a name; `WARP_SZ` is a constant.
    pub(crate) fn is_after_name(&self) -> bool {
        self.previous.kind == TokenKind::Word && self.text_of(self.previous.span) != "WARP_SZ"
    }

    pub(crate) fn text_of(&self, span: Span) -> &'s str {
        span.text(self.source)
    }

    #[inline]
    pub(crate) fn is_mark(&self, mark: u8) -> bool {
        self.current.kind == TokenKind::Punctuation(mark)
    }

    /// Takes a mark if it is the current word, and returns whether it was.
    #[inline]
    pub(crate) fn eat(&mut self, mark: u8) -> bool {
        let is_mark = self.is_mark(mark);
        if is_mark {
            self.advance();
        }
        is_mark
    }

    /// Takes a mark. The result is its place.
    ///
    /// # Errors
    /// Returns [`SyntaxError`] if the current word is another one.
    #[inline]
    pub(crate) fn expect(&mut self, mark: u8, expected: &'static str) -> Result<Span, SyntaxError> {
        if self.is_mark(mark) { Ok(self.advance().span) } else { Err(self.expected(expected)) }
    }

    /// Takes a name. The result is its place.
    ///
    /// # Errors
    /// Returns [`SyntaxError`] if the current word is not a name.
    #[inline]
    pub(crate) fn word(&mut self, expected: &'static str) -> Result<Span, SyntaxError> {
        let is_word = self.current.kind == TokenKind::Word;
        if is_word { Ok(self.advance().span) } else { Err(self.expected(expected)) }
    }

    /// Takes the current word and the qualifiers after it, and returns the place of both. Qualifiers nearly always
    /// follow without a blank, so they are skipped without splitting them into words.
    #[inline]
    pub(crate) fn take_qualified(&mut self) -> Span {
        let start = self.current.span.start;
        self.current.span.end = self.lexer.pass_qualifiers();
        self.advance();
        while self.current.kind == TokenKind::Dotted {
            self.advance();
        }
        Span { start, end: self.taken() }
    }

    /// Takes the current word and up to three numbers after it, and skips further ones. A missing or non-decimal number
    /// is 0.
    pub(crate) fn take_with_numbers(&mut self) -> [u32; 3] {
        let (mut numbers, mut count) = self.lexer.decimals().unwrap_or_default();
        self.advance();
        // The rest of them, if a comment is between.
        while let (TokenKind::Number, Some(number)) = (self.kind(), numbers.get_mut(count)) {
            *number = self.text().parse().unwrap_or_default();
            count += 1;
            self.advance();
        }
        self.pass_numbers();
        numbers
    }

    pub(crate) fn pass_numbers(&mut self) {
        while self.kind() == TokenKind::Number {
            self.lexer.pass_decimals();
            self.advance();
        }
    }

    /// Makes [`Self::advance`] skip the current word, a stray character.
    pub(crate) fn pass_stray(&mut self) {
        self.lexer.skip_to(self.current.span.end);
    }

    /// Continues after the current line. The current word must be in it, unless it is the end of the text.
    pub(crate) fn skip_line(&mut self) {
        self.lexer.skip_line();
        self.advance();
    }

    /// The error at the current word.
    pub(crate) fn expected(&self, expected: &'static str) -> SyntaxError {
        SyntaxError { expected, span: self.current.span }
    }
}
