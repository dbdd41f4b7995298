//! Tokens of an instruction's operands.

use warpload_encoding::Span;

use super::{LoadTextError, LoadTextErrorKind, Result};

/// Walks over a text; blanks and comments between tokens are passed over.
pub(super) struct Scanner<'t> {
    text: &'t str,
    /// Where the next token begins.
    at: usize,
    /// Where the last one ended.
    end: usize,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut scanner = Self { text, at: 0, end: 0 };
        scanner.skip_blank();
        scanner
    }

    /// The offset of the next token, or of the end.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// The offset behind the last token.
    pub(super) fn end_of_last(&self) -> usize {
        self.end
    }

    /// What is left, where something is.
    pub(super) fn rest(&self) -> Option<Span> {
        let rest = self.remaining().trim_end();
        (!rest.is_empty()).then_some(Span { start: self.at, end: self.at + rest.len() })
    }

    /// Takes this character, where it is the next one.
    pub(super) fn take(&mut self, character: char) -> bool {
        let is_next = self.remaining().starts_with(character);
        if is_next {
            self.advance(character.len_utf8());
        }
        is_next
    }

    pub(super) fn expect(&mut self, character: char, what: &'static str) -> Result<()> {
        if self.take(character) { Ok(()) } else { Err(self.expected(what)) }
    }

    /// A name as PTX has them.
    pub(super) fn identifier(&mut self, what: &'static str) -> Result<&'t str> {
        let is_first = |byte: u8| byte.is_ascii_alphabetic() || b"_$%".contains(&byte);
        if !self.remaining().bytes().next().is_some_and(is_first) {
            return Err(self.expected(what));
        }
        Ok(self.word(|byte| byte.is_ascii_alphanumeric() || b"_$%".contains(&byte)))
    }

    /// Everything from here on that can be part of an opcode.
    pub(super) fn opcode(&mut self) -> &'t str {
        self.word(|byte| byte.is_ascii_alphanumeric() || b"._:".contains(&byte))
    }

    /// An integer constant of PTX: decimal, or hexadecimal (`0x`), octal (`0`) or binary (`0b`),
    /// with or without a `U` behind it.
    pub(super) fn integer(&mut self, what: &'static str) -> Result<i64> {
        let start = self.at;
        let negative = self.take('-');
        if !self.remaining().bytes().next().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.expected(what));
        }
        let word = self.word(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let span = Span { start, end: self.end };
        let digits = word.strip_suffix('U').unwrap_or(word);
        let (digits, radix) = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
            [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
            [b'0', _, ..] => (&digits[1..], 8),
            _ => (digits, 10),
        };
        if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
            return Err(LoadTextError { kind: LoadTextErrorKind::Expected(what), span });
        }
        let signed = |value: i64| if negative { -value } else { value };
        i64::from_str_radix(digits, radix)
            .map(signed)
            .map_err(|_| LoadTextError { kind: LoadTextErrorKind::IntegerTooWide, span })
    }

    fn remaining(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The bytes from here on of which `is_part` holds; they are all ASCII.
    fn word(&mut self, is_part: impl Fn(u8) -> bool) -> &'t str {
        let rest = self.remaining();
        let length = rest.bytes().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        self.advance(length);
        &rest[..length]
    }

    fn advance(&mut self, bytes: usize) {
        self.at += bytes;
        self.end = self.at;
        self.skip_blank();
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = self.remaining();
            let shorter = rest.trim_start();
            let shorter = if let Some(comment) = shorter.strip_prefix("//") {
                comment.find('\n').map_or("", |end| &comment[end..])
            } else if let Some(comment) = shorter.strip_prefix("/*") {
                // Without an end it is no comment.
                comment.find("*/").map_or(shorter, |end| &comment[end + 2..])
            } else {
                shorter
            };
            if shorter.len() == rest.len() {
                return;
            }
            self.at += rest.len() - shorter.len();
        }
    }

    /// The character that stands here is not what was expected.
    fn expected(&self, what: &'static str) -> LoadTextError {
        let next = self.remaining().chars().next();
        // Where the text ends, the place is right behind the last token.
        let span = match next {
            Some(next) => Span { start: self.at, end: self.at + next.len_utf8() },
            None => Span { start: self.end, end: self.end },
        };
        LoadTextError { kind: LoadTextErrorKind::Expected(what), span }
    }
}
