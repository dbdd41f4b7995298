//! The words of one statement, read one after the other.

use super::lexer::{Lexer, Token, TokenKind};
use crate::syntax::{Span, SyntaxError};

/// A place in a part of a module, one word ahead.
#[derive(Clone, Debug)]
pub(crate) struct Words<'s> {
    source: &'s str,
    lexer: Lexer<'s>,
    current: Token,
}

impl<'s> Words<'s> {
    pub(crate) fn new(source: &'s str, part: Span) -> Self {
        let mut lexer = Lexer::of(source, part);
        let current = lexer.token();
        Self { source, lexer, current }
    }

    pub(crate) fn kind(&self) -> TokenKind {
        self.current.kind
    }

    pub(crate) fn span(&self) -> Span {
        self.current.span
    }

    pub(crate) fn text(&self) -> &'s str {
        self.current.span.text(self.source)
    }

    pub(crate) fn advance(&mut self) -> Token {
        let token = self.current;
        self.current = self.lexer.token();
        token
    }

    pub(crate) fn is_mark(&self, mark: u8) -> bool {
        self.current.kind == TokenKind::Punctuation(mark)
    }

    pub(crate) fn took_mark(&mut self, mark: u8) -> bool {
        let is_mark = self.is_mark(mark);
        if is_mark {
            self.advance();
        }
        is_mark
    }

    pub(crate) fn take_mark(
        &mut self,
        mark: u8,
        expected: &'static str,
    ) -> Result<Span, SyntaxError> {
        if self.is_mark(mark) { Ok(self.advance().span) } else { Err(self.expected(expected)) }
    }

    /// An error at the current word.
    pub(crate) fn expected(&self, expected: &'static str) -> SyntaxError {
        SyntaxError { expected, span: self.current.span }
    }
}
