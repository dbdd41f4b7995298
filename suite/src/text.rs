//! Text of cases and of programs under test. It can hold any character and have any length, and is escaped and
//! shortened for a line of a report.

pub use warpload::text::{escape, is_invisible, visible};

use std::error::Error;
use std::fmt::Display;

use crate::json::JsonError;

/// Returns `text`, cut after `characters` characters.
#[must_use]
pub fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The number of characters of an answer that are shown.
pub(crate) const MAX_CHARACTERS: usize = 200;

/// A line of an answer, escaped and shortened.
pub(crate) fn shown(line: &[u8]) -> String {
    shortened(&visible(&String::from_utf8_lossy(line)), MAX_CHARACTERS)
}

/// The message of an error in a line of JSON, after its column if that is known.
pub(crate) fn with_column(error: &JsonError) -> String {
    match error.position {
        Some((_, column)) => format!("column {column}: {error}"),
        None => error.to_string(),
    }
}

/// The message of an error, followed by the messages of its causes.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", with_causes(cause)),
        None => error.to_string(),
    }
}

/// The line of a report for one difference.
pub(crate) fn difference(place: &dyn Display, expected: &dyn Display, got: &dyn Display) -> String {
    format!("{place}: expected {expected}, got {got}")
}

/// The largest edit distance between a mistyped name and a suggestion.
const MAX_TYPOS: usize = 3;

/// Returns the name that is most like a mistyped one.
pub(crate) fn similar<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let (distance, similar) = known.map(|known| (strsim::levenshtein(known, name), known)).min()?;
    (distance <= MAX_TYPOS).then_some(similar)
}
