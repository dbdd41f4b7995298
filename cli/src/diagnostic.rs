//! Messages on standard error, drawn as rustc draws them.

use std::fmt::Display;
use std::io::Write;

use annotate_snippets::renderer::Renderer;
use annotate_snippets::{AnnotationKind, Group, Level, Report, Snippet, Title};
use warpload::encoding::{Alias, ParseError, Sm};
use warpload_ptx::syntax::{Lines, Span};

use super::name;

/// Where a text comes from.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'o> {
    pub(crate) file: &'o str,
    /// From 1.
    pub(crate) line: usize,
    /// The column of the text's first character in its line, from 1.
    pub(crate) column: usize,
}

pub(crate) fn error(message: impl Display) {
    draw(&[Group::with_title(Level::ERROR.primary_title(message.to_string()))]);
}

/// Returns the lines that [`error`] writes, without colours.
#[cfg(unix)]
pub(crate) fn plain_error(message: &str) -> String {
    let report = [Group::with_title(Level::ERROR.primary_title(message))];
    format!("{}\n", Renderer::plain().render(&report))
}

pub(crate) fn warning(message: impl Display) {
    draw(&[Group::with_title(Level::WARNING.primary_title(message.to_string()))]);
}

pub(crate) fn note(message: impl Display) {
    draw(&[Group::with_title(Level::NOTE.primary_title(message.to_string()))]);
}

/// An error in a line of SASS: the line, the place, the hint.
pub(crate) fn parse_error(origin: Origin<'_>, text: &str, error: &ParseError, sm: Sm) {
    let title = Level::ERROR.primary_title(error.to_string());
    let mut group = at(title, origin, text, error.span.start, error.span.end);
    let hint = if sm.has_wide_words() { error.hint() } else { error.hint_in(text) };
    if let Some(hint) = hint {
        group = group.element(Level::HELP.message(hint.to_string()));
    }
    draw(&[group]);
}

/// A warning about the bytes `from..to` of a line of SASS.
pub(crate) fn warning_in_line(
    origin: Origin<'_>,
    text: &str,
    (from, to): (usize, usize),
    title: &str,
    help: &str,
) {
    let title = Level::WARNING.primary_title(title);
    draw(&[at(title, origin, text, from, to).element(Level::HELP.message(help))]);
}

/// A modifier that assembles as another one.
pub(crate) fn alias_note(origin: Origin<'_>, text: &str, alias: &Alias) {
    let title = format!("`.{}` assembles as `.{}`", alias.written, alias.becomes);
    let title = Level::NOTE.primary_title(title);
    draw(&[at(title, origin, text, alias.span.start, alias.span.end)]);
}

/// The title, where it is, and the part of the line that is worth drawing.
fn at<'d>(
    title: Title<'d>,
    origin: Origin<'d>,
    text: &'d str,
    start: usize,
    end: usize,
) -> Group<'d> {
    let (shown, from, to) = visible(text, start, end);
    let snippet = Snippet::source(shown)
        .line_start(origin.line)
        .annotation(AnnotationKind::Primary.span(from..to));
    if origin.column == 1 && from == start {
        return title.element(snippet.path(name::visible(origin.file)));
    }
    // Columns are those of the line, of which a part is drawn.
    let column = origin.column + text[..start].chars().count();
    let place = annotate_snippets::Origin::path(name::visible(origin.file))
        .line(origin.line)
        .char_column(column);
    title.element(place).element(snippet)
}

/// What is said of a place in a text of many lines.
#[derive(Clone, Copy)]
pub(crate) struct Labelled<'l> {
    pub(crate) title: &'l str,
    /// The name of the rule that is broken.
    pub(crate) rule: Option<&'l str>,
    pub(crate) help: Option<&'l str>,
    pub(crate) span: Span,
}

/// An error in a module: the lines of the place, drawn without the others.
pub(crate) fn in_source(file: &str, source: &str, lines: &Lines, label: Labelled<'_>) {
    let (start, end) = (label.span.start as usize, label.span.end as usize);
    let position = lines.position(label.span.start);
    let first = start + 1 - position.column as usize;
    // A line may be as long as the text: what is not drawn is not scanned either.
    let window = floor_char_boundary(source, end.saturating_add(CONTEXT));
    let last = source[end..window].find('\n').map_or(window, |at| end + at);
    let mut title = Level::ERROR.primary_title(label.title);
    if let Some(rule) = label.rule {
        title = title.id(rule);
    }
    let line = position.line as usize;
    let origin = Origin { file, line, column: 1 };
    let mut group = at(title, origin, &source[first..last], start - first, end - first);
    if let Some(help) = label.help {
        group = group.element(Level::HELP.message(help));
    }
    draw(&[group]);
}

/// How much of a long line is drawn on either side of the place at fault, in bytes.
const CONTEXT: usize = 200;

/// The part of the text that is worth drawing, and the span in it.
fn visible(text: &str, start: usize, end: usize) -> (&str, usize, usize) {
    let from = floor_char_boundary(text, start.saturating_sub(CONTEXT));
    let to = floor_char_boundary(text, start.saturating_add(CONTEXT));
    (&text[from..to], start - from, end.min(to) - from)
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

fn draw(report: Report<'_>) {
    let drawing = Renderer::styled().render(report);
    // If standard error is closed, there is no one to tell.
    let _ = writeln!(anstream::stderr(), "{drawing}");
}
