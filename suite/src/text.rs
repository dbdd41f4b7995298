//! Foreign text, from cases and from programs that are asked: it can hold any character and be of any length,
//! and is made fit for a line of a report.

use std::borrow::Cow;

use crate::json::JsonError;

/// Returns `text` with the characters escaped that would do something other than appear: control
/// characters, line breaks, and marks that turn the direction of writing.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_invisible) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_invisible(character) {
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

/// Returns `text`, its end left out if it has more characters than that.
#[must_use]
pub fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the message of an error in a line of JSON after its column, if that is known.
pub(crate) fn with_column(error: &JsonError) -> String {
    match error.position {
        Some((_, column)) => format!("column {column}: {error}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_does_not_appear() {
        assert!(matches!(visible("plain, ä, 日本"), Cow::Borrowed("plain, ä, 日本")));
        assert_eq!(
            visible("a\n\r\t\u{1b}[31m\u{7}\0\u{9b}\u{202e}\u{2028}\u{2029}\u{200f}"),
            "a\\n\\r\\t\\u{1b}[31m\\u{7}\\u{0}\\u{9b}\\u{202e}\\u{2028}\\u{2029}\\u{200f}"
        );
    }
}
