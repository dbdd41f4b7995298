//! Comments, which hold offsets and words.

use memchr::memmem;

use super::shape::{Fault, Read, fault};
use crate::sass::error::ListingErrorKind as Kind;

/// Returns the trimmed content of the comment that begins at `start`, and the end of the comment if
/// there is one.
pub(super) fn comment(text: &str, start: usize) -> (&str, Option<usize>) {
    let content = &text[start + 2..];
    match memmem::find(content.as_bytes(), b"*/") {
        Some(length) => (content[..length].trim(), Some(start + 2 + length + 2)),
        None => (content.trim(), None),
    }
}

pub(super) fn is_word(content: &str) -> bool {
    content.starts_with("0x") || content.starts_with("0X")
}

/// Parses the word in a comment whose content begins with `0x`.
pub(super) fn word(text: &str, start: usize, content: &str, end: Option<usize>) -> Read<u64> {
    let at = skip_space(text, start + 2);
    if end.is_none() {
        return fault(start, Kind::UnclosedComment);
    }
    parse_word(content).ok_or(Fault { at, kind: Kind::BadWord })
}

pub(super) fn parse_word(text: &str) -> Option<u64> {
    hexadecimal(text.get(2..).filter(|digits| digits.len() == 16)?)
}

pub(super) fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the number that the digits spell; a sign, which `from_str_radix` takes, is not one.
fn hexadecimal(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal(digits))
}

/// Parses the offset in a comment.
pub(super) fn offset(text: &str, start: usize, content: &str) -> Read<u64> {
    let at = skip_space(text, start + 2);
    let offset = hexadecimal(content).filter(|_| (4..=16).contains(&content.len()));
    offset.ok_or(Fault { at, kind: Kind::BadOffset })
}

/// Returns whether only a comment up to the end of the line is left.
pub(super) fn ends_line(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with("//") || rest.starts_with('#')
}

pub(super) fn skip_space(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}
