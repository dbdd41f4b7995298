//! [`Message`]: an error, a warning or a note, drawn as rustc draws it: with the line of a text, the place in it, and
//! the remedy.

use std::borrow::Cow;
use std::fmt::Display;

use annotate_snippets::renderer::Renderer;
use annotate_snippets::{AnnotationKind, Group, Level, Report, Snippet};
use warpload::text::{is_invisible, visible, visible_lines};
use warpload_ptx::syntax::{LineIndex, Span};

/// The most characters of a message to show.
const MAX_CHARACTERS: usize = 4000;
/// The bytes of a long line that are drawn on either side of the place at fault.
const CONTEXT: usize = 200;

/// The origin of a text.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'o> {
    /// The name of the file.
    pub file: &'o str,
    /// The line, from 1.
    pub line: usize,
    /// The column of the text's first character in its line, from 1.
    pub column: usize,
}

/// The severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageLevel {
    /// The result is missing or wrong.
    Error,
    /// The result may not be the intended one.
    Warning,
    /// A fact for the reader of the result.
    Note,
}

/// A message to a person. Its text may come from inputs, so it is made visible and bounded.
#[derive(Clone, Debug)]
pub struct Message {
    level: MessageLevel,
    title: String,
    rule: Option<String>,
    help: Option<String>,
}

impl Message {
    /// Creates a message with the text `title`.
    #[must_use]
    pub fn new(level: MessageLevel, title: impl Display) -> Self {
        Self { level, title: bounded(&title.to_string()), rule: None, help: None }
    }

    /// Adds the name of the broken rule.
    #[must_use]
    pub fn rule(self, rule: Option<&str>) -> Self {
        Self { rule: rule.map(str::to_owned), ..self }
    }

    /// Adds the remedy.
    #[must_use]
    pub fn help(self, help: Option<&str>) -> Self {
        Self { help: help.map(bounded), ..self }
    }

    /// Returns its severity.
    #[must_use]
    pub fn level(&self) -> MessageLevel {
        self.level
    }

    /// Draws the message without a place. With `is_coloured`, it has escapes for a terminal with colours.
    #[must_use]
    pub fn draw(&self, is_coloured: bool) -> String {
        render(&[Group::with_title(self.level.drawn().primary_title(&self.title))], is_coloured)
    }

    /// Draws the message with a part of the line around the bytes `start..end`, which are at fault.
    #[must_use]
    pub fn draw_in_line(
        &self,
        origin: Origin<'_>,
        text: &str,
        (start, end): (usize, usize),
        is_coloured: bool,
    ) -> String {
        let start = floor_char_boundary(text, start);
        let column = origin.column + text[..start].chars().count();
        let (shown, from, to) = around(text, start, end);
        let snippet = Snippet::source(of_equal_width(shown))
            .line_start(origin.line)
            .annotation(AnnotationKind::Primary.span(from..to));
        let mut title = self.level.drawn().primary_title(&self.title);
        if let Some(rule) = &self.rule {
            title = title.id(rule);
        }
        let mut group = if origin.column == 1 && from == start {
            title.element(snippet.path(visible(origin.file)))
        } else {
            // The column counts from the beginning of the line, although only a part of it is drawn.
            let place = annotate_snippets::Origin::path(visible(origin.file))
                .line(origin.line)
                .char_column(column);
            title.element(place).element(snippet)
        };
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help));
        }
        render(&[group], is_coloured)
    }

    /// Draws the message with the line of a module that has the bytes at fault.
    #[must_use]
    pub fn draw_in_source(
        &self,
        file: &str,
        source: &str,
        lines: &LineIndex,
        span: Span,
        is_coloured: bool,
    ) -> String {
        let [start, end] =
            [span.start, span.end].map(|at| floor_char_boundary(source, at as usize));
        let position = lines.position(span.start);
        let first = (start + 1).saturating_sub(position.column as usize);
        // A line may be as long as the whole text, so only the part to draw is searched for its end.
        let window = floor_char_boundary(source, end.saturating_add(CONTEXT));
        let last = source[end..window].find('\n').map_or(window, |at| end + at);
        let origin = Origin { file, line: position.line as usize, column: 1 };
        let place = (start - first, end - first);
        self.draw_in_line(origin, &source[first..last], place, is_coloured)
    }
}

impl MessageLevel {
    fn drawn(self) -> Level<'static> {
        match self {
            Self::Error => Level::ERROR,
            Self::Warning => Level::WARNING,
            Self::Note => Level::NOTE,
        }
    }
}

/// Draws an error in a line of SASS, without colours.
#[must_use]
pub fn draw_in_line(
    file: &str,
    text: &str,
    span: (usize, usize),
    title: &str,
    help: Option<&str>,
) -> String {
    let origin = Origin { file, line: 1, column: 1 };
    Message::new(MessageLevel::Error, title).help(help).draw_in_line(origin, text, span, false)
}

/// An error at a place in a text of many lines.
#[derive(Clone, Copy, Debug)]
pub struct Labelled<'l> {
    /// The text of the message.
    pub title: &'l str,
    /// The name of the broken rule.
    pub rule: Option<&'l str>,
    /// The remedy.
    pub help: Option<&'l str>,
    /// The bytes at fault.
    pub span: Span,
}

/// Draws an error in a module, without colours.
#[must_use]
pub fn draw_in_source(file: &str, source: &str, lines: &LineIndex, label: Labelled<'_>) -> String {
    Message::from(label).draw_in_source(file, source, lines, label.span, false)
}

impl From<Labelled<'_>> for Message {
    fn from(label: Labelled<'_>) -> Self {
        Self::new(MessageLevel::Error, label.title).rule(label.rule).help(label.help)
    }
}

fn render(report: Report<'_>, is_coloured: bool) -> String {
    let plain = Renderer::plain().render(report);
    match visible_lines(&plain) {
        Cow::Borrowed(_) if is_coloured => Renderer::styled().render(report),
        // Without colours, because they are escapes too and could not be told from escapes in the message.
        shown => shown.into_owned(),
    }
}

/// Makes text fit for a message, which can have several lines: visible, and shortened in the middle if it is too long.
fn bounded(text: &str) -> String {
    let lines = text.split('\n').map(visible).collect::<Vec<_>>();
    let shown = lines.join("\n");
    let length = shown.chars().count();
    if length <= MAX_CHARACTERS {
        return shown;
    }
    let side = MAX_CHARACTERS / 2;
    let head = shown.chars().take(side);
    head.chain(['…']).chain(shown.chars().skip(length - side)).collect()
}

/// Replaces characters that [`visible`] would escape with ones of the same number of bytes, so that places in the text
/// stay valid. The renderer itself replaces invisible characters of one byte.
fn of_equal_width(text: &str) -> String {
    let shown = |character: char| match character.len_utf8() {
        2 if is_invisible(character) => '¿',
        3 if is_invisible(character) => char::REPLACEMENT_CHARACTER,
        _ => character,
    };
    text.chars().map(shown).collect()
}

/// The part of the text to draw, and the span in it.
fn around(text: &str, start: usize, end: usize) -> (&str, usize, usize) {
    let from = floor_char_boundary(text, start.saturating_sub(CONTEXT));
    let to = floor_char_boundary(text, start.saturating_add(CONTEXT));
    (&text[from..to], start - from, end.clamp(start, to) - from)
}

/// The last character boundary of `text` at or before `at`.
fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    // Ends at 0, which is a boundary.
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_visible_and_bounded() {
        assert_eq!(bounded("a\nb\u{9b}31m"), "a\nb\\u{9b}31m");
        let long = bounded(&"x".repeat(1 << 20));
        assert_eq!((long.chars().count(), long.contains('…')), (MAX_CHARACTERS + 1, true));
        let text = "a\u{85}\u{2028}b\u{9b}";
        assert_eq!(of_equal_width(text), "a¿\u{fffd}b¿");
        assert_eq!(of_equal_width(text).len(), text.len());
    }
}
