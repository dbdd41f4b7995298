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
    /// A character that begins no token.
    Unexpected,
    /// `/*` without `*/`.
    UnclosedComment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
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

/// What a token can begin with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Word,
    Punctuation,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0u8;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'$' => Class::Word,
            b'@' | b'!' | b'.' | b',' | b'[' | b']' | b'+' | b'-' | b';' | b'&' | b'?' | b'='
            | b'{' | b'}' => Class::Punctuation,
            _ if byte.is_ascii_whitespace() => Class::Blank,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> Class {
    CLASSES.get(usize::from(byte)).copied().or_impossible(Class::Other, "a byte is below 256")
}

/// Returns the token that starts at or after byte `from` of `text`.
pub(crate) fn token(text: &str, from: usize) -> Token {
    let bytes = text.as_bytes();
    let start = match skip_blank(bytes, from) {
        Ok(start) => start,
        Err(span) => return Token { kind: TokenKind::UnclosedComment, span },
    };
    let rest = bytes.get(start..).unwrap_or_default();
    let (kind, length) = match rest {
        [] => (TokenKind::End, 0),
        [first, after @ ..] => match class(*first) {
            Class::Word => {
                let more = after.iter().take_while(|byte| class(**byte) == Class::Word).count();
                (TokenKind::Word, 1 + more)
            }
            Class::Punctuation => (TokenKind::Punctuation(*first), 1),
            // `start` is the first byte of a character: everything skipped was ASCII or a comment.
            _ => {
                let character = text.get(start..).and_then(|rest| rest.chars().next());
                (TokenKind::Unexpected, character.map_or(1, char::len_utf8))
            }
        },
    };
    Token { kind, span: Span { start, end: start + length } }
}

/// Returns where the next token starts: after white space, `// …` and `/* … */`; or else where the
/// comment is that has no end.
pub(crate) fn skip_blank(bytes: &[u8], from: usize) -> Result<usize, Span> {
    let mut at = from;
    while let Some(rest) = bytes.get(at..) {
        match rest {
            [byte, ..] if class(*byte) == Class::Blank => at += 1,
            [b'/', b'/', comment @ ..] => {
                let end = comment.iter().position(|byte| *byte == b'\n');
                at = end.map_or(bytes.len(), |end| at + 2 + end);
            }
            [b'/', b'*', comment @ ..] => {
                let end = comment.windows(2).position(|pair| pair == b"*/");
                at += 4 + end.ok_or(Span { start: at, end: bytes.len() })?;
            }
            _ => break,
        }
    }
    Ok(at)
}
