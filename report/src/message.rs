//! [`Message`]: what is wrong, drawn as rustc draws it: with the line of a text, the place in it, and what to do.

use std::borrow::Cow;
use std::fmt::Display;

use annotate_snippets::renderer::Renderer;
use annotate_snippets::{AnnotationKind, Group, Level, Report, Snippet};
use warpload::text::{is_invisible, visible, visible_lines};
use warpload_ptx::syntax::{LineIndex, Span};

/// How many characters of a message are shown.
const MAX_CHARACTERS: usize = 4000;
/// How much of a long line is drawn on either side of the place at fault, in bytes.
const CONTEXT: usize = 200;

/// Where a text comes from.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'o> {
    /// The name of the file.
    pub file: &'o str,
    /// From 1.
    pub line: usize,
    /// The column of the text's first character in its line, from 1.
    pub column: usize,
}

/// The severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageLevel {
    /// The result is missing or wrong.
    Error,
    /// The result may not be what is wanted.
    Warning,
    /// For the reader of the result.
    Note,
}

/// A message to a person. Text in it can be foreign, and is made visible and bounded.
#[derive(Clone, Debug)]
pub struct Message {
    level: MessageLevel,
    title: String,
    rule: Option<String>,
    help: Option<String>,
}

impl Message {
    /// Creates a message that says `title`.
    #[must_use]
    pub fn new(level: MessageLevel, title: impl Display) -> Self {
        Self { level, title: bounded(&title.to_string()), rule: None, help: None }
    }

    /// Adds the name of the rule that is broken.
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

    /// Returns the message without a place; with `is_coloured`, for a terminal with colours.
    #[must_use]
    pub fn draw(&self, is_coloured: bool) -> String {
        render(&[Group::with_title(self.level.drawn().primary_title(&self.title))], is_coloured)
    }

    /// Returns the message with the part of a line that is worth drawing; `start..end` are the bytes at fault.
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
            // Columns are those of the line, of which a part is drawn.
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

    /// Returns the message with the line of a module in which bytes are at fault, drawn without the others.
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
        // A line may be as long as the text: what is not drawn is not scanned either.
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

/// Returns an error about bytes of a line of SASS, without colours.
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
    /// The name of the rule that is broken.
    pub rule: Option<&'l str>,
    /// The remedy.
    pub help: Option<&'l str>,
    /// The bytes at fault.
    pub span: Span,
}

/// Returns an error at a place of a module, without colours.
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
        // Colours are escapes too, from which the message's own could not be told.
        shown => shown.into_owned(),
    }
}

/// Returns text as a part of a message, which can have several lines: visible, and shortened in the middle if it is too
/// long.
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

/// Returns text with what [`visible`] escapes replaced by characters that take as many bytes, so that places in it stay.
/// The renderer replaces those of one byte.
fn of_equal_width(text: &str) -> String {
    let shown = |character: char| match character.len_utf8() {
        2 if is_invisible(character) => '¿',
        3 if is_invisible(character) => char::REPLACEMENT_CHARACTER,
        _ => character,
    };
    text.chars().map(shown).collect()
}

/// The part of the text that is worth drawing, and the span in it.
fn around(text: &str, start: usize, end: usize) -> (&str, usize, usize) {
    let from = floor_char_boundary(text, start.saturating_sub(CONTEXT));
    let to = floor_char_boundary(text, start.saturating_add(CONTEXT));
    (&text[from..to], start - from, end.clamp(start, to) - from)
}

/// Returns the last character boundary of `text` at or before `at`.
fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    // 0 is one.
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
