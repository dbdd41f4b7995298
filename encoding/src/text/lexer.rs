//! Splits text into tokens: words and punctuation; white space and comments are skipped.

use super::error::{ParseError, ParseErrorKind};
use super::span::Span;
use crate::impossible::OrImpossible;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Letters, digits, `_` and `$`: a mnemonic, a register, a number, a name.
    Word,
    /// One character of punctuation.
    Punctuation(u8),
    /// The end of the text.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

fn is_punctuation(byte: u8) -> bool {
    matches!(
        byte,
        b'@' | b'!'
            | b'.'
            | b','
            | b'['
            | b']'
            | b'+'
            | b'-'
            | b';'
            | b'&'
            | b'?'
            | b'='
            | b'{'
            | b'}'
    )
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Returns the token that starts at or after byte `from` of `text`.
pub(crate) fn token(text: &str, from: usize) -> Result<Token, ParseError> {
    let bytes = text.as_bytes();
    let start = skip_blank(bytes, from)?;
    let rest = bytes.get(start..).unwrap_or_default();
    let Some(&first) = rest.first() else {
        let span = Span { start: bytes.len(), end: bytes.len() };
        return Ok(Token { kind: TokenKind::End, span });
    };
    if is_word(first) {
        let length = rest.iter().take_while(|byte| is_word(**byte)).count();
        return Ok(Token { kind: TokenKind::Word, span: Span { start, end: start + length } });
    }
    if is_punctuation(first) {
        let span = Span { start, end: start + 1 };
        return Ok(Token { kind: TokenKind::Punctuation(first), span });
    }
    // `start` is the first byte of a character: everything skipped was ASCII or a comment.
    let length = text.get(start..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
    let span = Span { start, end: start + length };
    Err(ParseError { kind: ParseErrorKind::UnexpectedCharacter, span })
}

/// Returns where the next token starts: after white space, `// …` and `/* … */`.
pub(crate) fn skip_blank(bytes: &[u8], from: usize) -> Result<usize, ParseError> {
    let mut rest = bytes.get(from..).or_impossible(&[], "tokens end inside the text");
    loop {
        let at = bytes.len() - rest.len();
        match rest {
            [byte, after @ ..] if byte.is_ascii_whitespace() => rest = after,
            [b'/', b'/', comment @ ..] => {
                let end = comment.iter().position(|byte| *byte == b'\n');
                rest = end.and_then(|end| comment.get(end..)).unwrap_or_default();
            }
            [b'/', b'*', comment @ ..] => {
                let end = comment.windows(2).position(|pair| pair == b"*/");
                let Some(after) = end.and_then(|end| comment.get(end + 2..)) else {
                    let span = Span { start: at, end: bytes.len() };
                    return Err(ParseError { kind: ParseErrorKind::UnclosedComment, span });
                };
                rest = after;
            }
            _ => return Ok(at),
        }
    }
}
