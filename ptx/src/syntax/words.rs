//! [`Words`], the cursor over the words of PTX: of a module, a statement or an expression; and
//! [`SyntaxError`], what it finds in place of the word that it expects.

use super::lexer::{Lexer, Token, TokenKind};
use crate::syntax::Span;

/// What is wrong with one statement: the rest of the module can still be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("expected {expected}")]
#[non_exhaustive]
pub struct SyntaxError {
    /// What was expected.
    pub expected: &'static str,
    /// The word at fault.
    pub span: Span,
}

/// A place in a text, one word ahead.
#[derive(Clone, Debug)]
pub(crate) struct Words<'s> {
    source: &'s str,
    lexer: Lexer<'s>,
    /// The words that follow the current one, if they have been found before.
    found: Option<&'s [Token]>,
    current: Token,
    /// The word before it; an empty one at the start if none was taken.
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

    /// Goes over words that have been found before, those of a part of the text.
    pub(crate) fn of_tokens(source: &'s str, part: Span, tokens: &'s [Token]) -> Self {
        let after = Self::new(source, Span::empty_at(part.end));
        let mut words = Self { found: Some(tokens), ..after };
        words.advance();
        words
    }

    /// Returns what the current word is.
    #[inline]
    pub(crate) fn kind(&self) -> TokenKind {
        self.current.kind
    }

    /// Returns the current word.
    pub(crate) fn current(&self) -> Token {
        self.current
    }

    /// Returns the place of the current word.
    #[inline]
    pub(crate) fn span(&self) -> Span {
        self.current.span
    }

    /// Returns the text of the current word.
    #[inline]
    pub(crate) fn text(&self) -> &'s str {
        self.current.span.text(self.source)
    }

    /// Whether the current word is this one.
    #[inline]
    pub(crate) fn is(&self, text: &str) -> bool {
        let Span { start, end } = self.current.span;
        // Most words have another length.
        (end - start) as usize == text.len() && self.text() == text
    }

    /// Goes on to the next word and returns the one that was current.
    #[inline]
    pub(crate) fn advance(&mut self) -> Token {
        let token = self.current;
        self.previous = token;
        self.current = match &mut self.found {
            None => self.lexer.token(),
            // At the end the lexer has nothing left but the end.
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

    /// Returns the end of the word that was taken last.
    #[inline]
    pub(crate) fn taken(&self) -> u32 {
        self.previous.span.end
    }

    /// Whether the word that was taken last is a name; `WARP_SZ` is a constant.
    pub(crate) fn is_after_name(&self) -> bool {
        self.previous.kind == TokenKind::Word && self.text_of(self.previous.span) != "WARP_SZ"
    }

    /// Returns the text of a word that was taken.
    pub(crate) fn text_of(&self, span: Span) -> &'s str {
        span.text(self.source)
    }

    /// Whether the current word is this mark.
    #[inline]
    pub(crate) fn is_mark(&self, mark: u8) -> bool {
        self.current.kind == TokenKind::Punctuation(mark)
    }

    /// Takes a mark, if it is the current word; returns whether it was.
    #[inline]
    pub(crate) fn eat(&mut self, mark: u8) -> bool {
        let is_mark = self.is_mark(mark);
        if is_mark {
            self.advance();
        }
        is_mark
    }

    /// Takes a mark and returns its place.
    ///
    /// # Errors
    /// Returns [`SyntaxError`] at the current word if it is another one.
    #[inline]
    pub(crate) fn expect(&mut self, mark: u8, expected: &'static str) -> Result<Span, SyntaxError> {
        if self.is_mark(mark) { Ok(self.advance().span) } else { Err(self.expected(expected)) }
    }

    /// Takes a name and returns its place.
    ///
    /// # Errors
    /// Returns [`SyntaxError`] at the current word if it is not a name.
    #[inline]
    pub(crate) fn word(&mut self, expected: &'static str) -> Result<Span, SyntaxError> {
        let is_word = self.current.kind == TokenKind::Word;
        if is_word { Ok(self.advance().span) } else { Err(self.expected(expected)) }
    }

    /// Takes the current word and the qualifiers after it, nearly always without a blank between;
    /// returns their place.
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

    /// Takes the current word and up to three numbers after it, and passes over further ones; 0 for a
    /// number that is missing or not a decimal one.
    pub(crate) fn take_with_numbers(&mut self) -> [u32; 3] {
        let numbers = self.lexer.decimals().unwrap_or_default();
        self.advance();
        self.pass_numbers();
        numbers
    }

    /// Passes over numbers.
    pub(crate) fn pass_numbers(&mut self) {
        while self.kind() == TokenKind::Number {
            self.lexer.pass_decimals();
            self.advance();
        }
    }

    /// Lets [`Self::advance`] pass the current word, a character that begins none.
    pub(crate) fn pass_stray(&mut self) {
        self.lexer.skip_to(self.current.span.end);
    }

    /// Continues in the next line; the current word is in this one, unless it ends the text.
    pub(crate) fn skip_line(&mut self) {
        self.lexer.skip_line();
        self.advance();
    }

    /// Returns an error at the current word.
    pub(crate) fn expected(&self, expected: &'static str) -> SyntaxError {
        SyntaxError { expected, span: self.current.span }
    }
}
