//! [`Problem`]: an error in a field of a form.

use std::fmt::Display;

use serde::Serialize;
use warpload::encoding::{ParseError, Sm};
use warpload_report::message::draw_in_line;

/// An error in a field of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
pub struct Problem {
    /// The field.
    pub field: &'static str,
    /// The error, in one line.
    pub title: String,
    /// The line with the place underlined; empty if there is no place.
    pub drawing: String,
    /// The remedy. It is not part of the drawing, because it can be long, and lines of a drawing do not wrap.
    pub help: Option<String>,
}

impl Problem {
    pub(crate) fn new(field: &'static str, title: impl Display) -> Self {
        Self { field, title: title.to_string(), ..Self::default() }
    }

    /// Underlines the invalid bytes `start..end`.
    pub(crate) fn in_line(
        field: &'static str,
        text: &str,
        (start, end): (usize, usize),
        title: impl Display,
        help: Option<String>,
    ) -> Self {
        let title = title.to_string();
        let drawing = draw_in_line(field, text, (start, end), &title, None);
        Self { field, title, drawing, help }
    }

    pub(crate) fn of_instruction(
        field: &'static str,
        text: &str,
        error: &ParseError,
        sm: Sm,
    ) -> Self {
        let help = error.hint_in(text, sm).map(|hint| hint.to_string());
        Self::in_line(field, text, (error.span.start, error.span.end), error, help)
    }
}

/// Reads the SM of a form.
pub(crate) fn read_sm(text: &str) -> Result<Sm, Problem> {
    text.trim().parse().map_err(|unknown| Problem::new("sm", unknown))
}
