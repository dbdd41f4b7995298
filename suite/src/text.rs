//! Foreign text, from cases and from programs that are asked: it can hold any character and be of any length,
//! and is made fit for a line of a report.

pub use warpload::text::{escape, is_invisible, visible};

use std::error::Error;
use std::fmt::Display;

use crate::json::JsonError;

/// Returns `text`, its end left out if it has more characters than that.
#[must_use]
pub fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// How many characters of an answer are shown.
pub(crate) const MAX_CHARACTERS: usize = 200;

/// Returns a line of an answer made visible, its end left out if it is long.
pub(crate) fn shown(line: &[u8]) -> String {
    shortened(&visible(&String::from_utf8_lossy(line)), MAX_CHARACTERS)
}

/// Returns the message of an error in a line of JSON after its column, if that is known.
pub(crate) fn with_column(error: &JsonError) -> String {
    match error.position {
        Some((_, column)) => format!("column {column}: {error}"),
        None => error.to_string(),
    }
}

/// Returns the message of an error with those of its causes.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", with_causes(cause)),
        None => error.to_string(),
    }
}

/// Returns the line of a report that says how something differs from what is expected.
pub(crate) fn difference(place: &dyn Display, expected: &dyn Display, got: &dyn Display) -> String {
    format!("{place}: expected {expected}, got {got}")
}
