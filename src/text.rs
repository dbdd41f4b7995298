//! Text between people and programs: numbers as people write them, the same everywhere; and foreign text, which can
//! hold any character, made fit for a terminal or a line of JSON.

use std::borrow::Cow;
use std::fmt::Display;

/// Returns the number in `text`, decimal or hexadecimal with `0x`; `None` if there is none.
///
/// ```
/// use warpload::text::parse_number;
///
/// assert_eq!(["16", "0x1F"].map(parse_number), [16, 31].map(Some));
/// // A hexadecimal number says that it is one, and there are no signs.
/// assert_eq!(["1f", "+1", "0x", ""].map(parse_number), [None; 4]);
/// ```
#[must_use]
pub fn parse_number(text: &str) -> Option<u64> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    hexadecimal.map_or_else(|| parse_decimal(text), parse_hexadecimal)
}

/// Returns the number of these decimal digits, without a sign.
#[must_use]
#[inline]
pub fn parse_decimal(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|_| !digits.starts_with('+'))
}

/// Returns the number of these hexadecimal digits, without a sign and `0x`.
#[must_use]
#[inline]
pub fn parse_hexadecimal(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
}

/// Returns `text` with the characters escaped that would do something other than appear: control
/// characters, line breaks, and marks that turn the direction of writing.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_invisible)
}

/// Returns `text` escaped as [`visible`] does, but with its line breaks and tabs.
#[must_use]
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| !matches!(character, '\n' | '\t') && is_invisible(character))
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_escaped(character) {
            shown += &escape(character);
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Returns the escape of a character that [is invisible](is_invisible).
#[must_use]
pub fn escape(character: char) -> String {
    match character {
        '\n' | '\r' | '\t' => character.escape_default().collect(),
        _ => character.escape_unicode().collect(),
    }
}

/// Returns whether a character would do something other than appear.
#[must_use]
pub fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// Returns a count with its noun: `1 load`, `2 loads`.
#[must_use]
pub fn plural<N: Display + PartialEq + From<u8>>(count: N, one: &str) -> String {
    format!("{count} {one}{}", if count == N::from(1) { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_signs() {
        assert_eq!(["0", "17", "0x1F", "0Xff"].map(parse_number), [0, 17, 31, 255].map(Some));
        for text in ["", "+0", "-1", "0x", "0x+0", "0x-1", "+0x1", "0x 1", "1f", "1_0"] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }

    #[test]
    fn nothing_reaches_the_terminal_that_does_not_appear() {
        assert!(matches!(visible("plain, ä, 日本"), Cow::Borrowed("plain, ä, 日本")));
        assert_eq!(
            visible("a\n\r\t\u{1b}[31m\u{7}\0\u{9b}\u{202e}\u{2028}\u{2029}\u{200f}"),
            "a\\n\\r\\t\\u{1b}[31m\\u{7}\\u{0}\\u{9b}\\u{202e}\\u{2028}\\u{2029}\\u{200f}"
        );
    }
}
