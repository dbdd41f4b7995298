//! What text output is made of: names from inputs, which can hold any character and be of any length,
//! made fit for a terminal; and counts.

use std::fmt::{self, Display, Formatter};
use std::ops::Deref;

pub(crate) use warpload_report::text_table::cell;
pub(crate) use warpload_suite::text::{escape, is_invisible, visible};

/// How many characters of a message are shown.
const MAX_MESSAGE: usize = 4000;

/// Returns `text` with what [`visible`] escapes replaced by characters that take as many bytes, so that
/// places in it stay. The renderer of messages replaces those of one byte.
pub(crate) fn replaced(text: &str) -> String {
    let shown = |character: char| match character.len_utf8() {
        2 if is_invisible(character) => '¿',
        3 if is_invisible(character) => char::REPLACEMENT_CHARACTER,
        _ => character,
    };
    text.chars().map(shown).collect()
}

/// Returns `text` as a part of a message, which can have several lines: visible, and shortened in the
/// middle if it is too long.
pub(crate) fn message(text: &str) -> String {
    let lines = text.split('\n').map(visible).collect::<Vec<_>>();
    let shown = lines.join("\n");
    let length = shown.chars().count();
    if length <= MAX_MESSAGE {
        return shown;
    }
    let side = MAX_MESSAGE / 2;
    let head = shown.chars().take(side);
    head.chain(['…']).chain(shown.chars().skip(length - side)).collect()
}

/// Returns the count with what is counted: `1 load`, `2 loads`.
pub(crate) fn plural<N: Display + PartialEq + From<u8>>(count: N, one: &str) -> String {
    format!("{count} {one}{}", if count == N::from(1) { "" } else { "s" })
}

/// The name of a file. As the context of an error it also tells which file the error is about.
#[derive(Clone, Debug)]
pub(crate) struct Name(String);

impl Display for Name {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_visible_and_bounded() {
        assert_eq!(message("a\nb\u{9b}31m"), "a\nb\\u{9b}31m");
        let long = message(&"x".repeat(1 << 20));
        assert_eq!((long.chars().count(), long.contains('…')), (MAX_MESSAGE + 1, true));
        let text = "a\u{85}\u{2028}b\u{9b}";
        assert_eq!(replaced(text), "a¿\u{fffd}b¿");
        assert_eq!(replaced(text).len(), text.len());
    }
}
