//! Foreign text, from cases and from programs that are asked: it can hold any character and be of any length,
//! and is made fit for a line of a report.

pub use warpload::text::{escape, is_invisible, visible};

use crate::json::JsonError;

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
