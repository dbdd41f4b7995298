//! Splits text into tokens: words and punctuation; white space and comments are skipped.

use super::error::{ParseError, ParseErrorKind};
use super::span::LineSpan;
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
    IS_WORD.get(usize::from(byte)).copied().or_impossible(false, "a byte is below 256")
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
