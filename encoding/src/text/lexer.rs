//! Text to tokens: words, punctuation, and nothing for space and comments.

use super::error::{ParseError, ParseErrorKind, Span};
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

/// The token that starts at or after byte `from` of `text`.
pub(crate) fn token(text: &str, from: usize) -> Result<Token, ParseError> {
    let bytes = text.as_bytes();
    let start = skip_blank(bytes, from)?;
    let Some(&first) = bytes.get(start) else {
        let span = Span { start: bytes.len(), end: bytes.len() };
        return Ok(Token { kind: TokenKind::End, span });
    };
    if is_word(first) {
        let length = bytes[start..].iter().take_while(|byte| is_word(**byte)).count();
        return Ok(Token { kind: TokenKind::Word, span: Span { start, end: start + length } });
    }
    if is_punctuation(first) {
        let span = Span { start, end: start + 1 };
        return Ok(Token { kind: TokenKind::Punctuation(first), span });
    }
    // `start` is a character's first byte: everything skipped so far was ASCII or a comment.
    let length = text[start..].chars().next().map_or(1, char::len_utf8);
    let span = Span { start, end: start + length };
    Err(ParseError { kind: ParseErrorKind::UnexpectedCharacter, span })
}

/// Where the next token starts: behind white space, `// …` and `/* … */`.
pub(crate) fn skip_blank(bytes: &[u8], from: usize) -> Result<usize, ParseError> {
    let mut rest = bytes.get(from..).or_impossible(&[], "tokens end inside the text");
    loop {
        let at = bytes.len() - rest.len();
        match rest {
            [byte, after @ ..] if byte.is_ascii_whitespace() => rest = after,
            [b'/', b'/', comment @ ..] => {
                let length = comment.iter().take_while(|byte| **byte != b'\n').count();
                rest = &comment[length..];
            }
            [b'/', b'*', comment @ ..] => match comment.windows(2).position(|pair| pair == b"*/") {
                Some(length) => rest = &comment[length + 2..],
                None => {
                    let span = Span { start: at, end: bytes.len() };
                    return Err(ParseError { kind: ParseErrorKind::UnclosedComment, span });
                }
            },
            _ => return Ok(at),
        }
    }
}
