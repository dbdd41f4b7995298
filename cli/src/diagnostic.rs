//! Messages on standard error, drawn as rustc draws them.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use annotate_snippets::renderer::Renderer;
use annotate_snippets::{AnnotationKind, Group, Level as Title, Report, Snippet};
use warpload::encoding::{Alias, Hint, ParseError, Sm};
use warpload_ptx::syntax::{LineIndex, Span};

use super::{name, remedy, terminal};

/// Where a text comes from.
#[derive(Clone, Copy)]
pub(crate) struct Origin<'o> {
    pub(crate) file: &'o str,
    /// From 1.
    pub(crate) line: usize,
    /// The column of the text's first character in its line, from 1.
    pub(crate) column: usize,
}

/// The severity of a message.
#[derive(Clone, Copy)]
pub(crate) enum MessageLevel {
    /// The result is missing or wrong.
    Error,
    /// The result may not be what is wanted.
    Warning,
    /// For the reader of the result.
    Note,
}

/// A message of the command.
pub(crate) struct Message {
    level: MessageLevel,
    title: String,
    /// The name of the rule that is broken.
    rule: Option<String>,
    /// What to do.
    help: Option<String>,
}

impl Message {
    /// Adds what to do.
    pub(crate) fn help(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }

    pub(crate) fn new(level: MessageLevel, title: impl Display) -> Self {
        Self { level, title: name::message(&title.to_string()), rule: None, help: None }
    }

    fn is_silent(&self) -> bool {
        matches!(self.level, MessageLevel::Note) && IS_QUIET.load(Ordering::Relaxed)
    }
}

/// Whether notes are left out.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// From now on leaves out the notes of this process, or writes them.
pub(crate) fn be_quiet(is_quiet: bool) {
    IS_QUIET.store(is_quiet, Ordering::Relaxed);
}

pub(crate) fn error(message: impl Display) {
    alone(Message::new(MessageLevel::Error, message));
}

/// An error with its causes.
pub(crate) fn failure(error: &anyhow::Error) {
    alone(Message::new(MessageLevel::Error, remedy::with_causes(error)));
}

/// Returns the lines that [`error`] writes, without colours.
pub(crate) fn plain_error(message: &str) -> String {
    let report = [Group::with_title(Title::ERROR.primary_title(message))];
    format!("{}\n", terminal::shown(&Renderer::plain().render(&report)))
}

pub(crate) fn warning(message: impl Display) {
    alone(Message::new(MessageLevel::Warning, message));
}

pub(crate) fn note(message: impl Display) {
    alone(Message::new(MessageLevel::Note, message));
}

/// Writes a report of several lines to standard error.
pub(crate) fn report(text: &str) {
    if !IS_QUIET.load(Ordering::Relaxed) {
        // If standard error is closed, there is no one to tell.
        let _ = write!(anstream::stderr(), "{}", terminal::shown(text));
    }
}

/// A message without a place in a text that could be drawn.
fn alone(message: Message) {
    if !message.is_silent() {
        let title = message.level.drawn().primary_title(message.title.clone());
        draw(&[Group::with_title(title)]);
    }
}

/// What to write instead in a line of SASS, or the option that says of which SM it is.
pub(crate) fn sass_help(hint: Hint) -> String {
    if hint.is_later_syntax() { format!("{hint}, for example `--sm 80`") } else { hint.to_string() }
}

/// An error in a line of SASS: the line, the place, the hint.
pub(crate) fn parse_error(origin: Origin<'_>, text: &str, error: &ParseError, sm: Sm) {
    let help = error.hint_in(text, sm).map(sass_help);
    let message = Message::new(MessageLevel::Error, error).help(help);
    in_line(message, origin, text, (error.span.start, error.span.end));
}

/// A modifier that assembles as another one.
pub(crate) fn alias_note(origin: Origin<'_>, text: &str, alias: &Alias) {
    let title = format!("`.{}` assembles as `.{}`", alias.written, alias.becomes);
    let (start, end) = (alias.span.start, alias.span.end);
    in_line(Message::new(MessageLevel::Note, title), origin, text, (start, end));
}

/// A message about the bytes `start..end` of a line, with the part of the line that is worth drawing.
pub(crate) fn in_line(message: Message, origin: Origin<'_>, text: &str, span: (usize, usize)) {
    if !message.is_silent() {
        with_line(message, origin, text, span, draw);
    }
}

/// Passes on what [`in_line`] draws.
fn with_line<T>(
    mut message: Message,
    origin: Origin<'_>,
    text: &str,
    (start, end): (usize, usize),
    finish: impl FnOnce(Report<'_>) -> T,
) -> T {
    let column = origin.column + text[..start].chars().count();
    message.help = message.help.as_deref().map(name::message);
    let (shown, from, to) = visible(text, start, end);
    let snippet = Snippet::source(name::replaced(shown))
        .line_start(origin.line)
        .annotation(AnnotationKind::Primary.span(from..to));
    let mut title = message.level.drawn().primary_title(message.title.clone());
    if let Some(rule) = &message.rule {
        title = title.id(rule.clone());
    }
    let mut group = if origin.column == 1 && from == start {
        title.element(snippet.path(name::visible(origin.file)))
    } else {
        // Columns are those of the line, of which a part is drawn.
        let place = annotate_snippets::Origin::path(name::visible(origin.file))
            .line(origin.line)
            .char_column(column);
        title.element(place).element(snippet)
    };
    if let Some(help) = &message.help {
        group = group.element(Title::HELP.message(help.clone()));
    }
    finish(&[group])
}

/// Returns an error about bytes of a line of SASS as the command draws it, without colours.
#[must_use]
pub fn draw_in_line(
    file: &str,
    text: &str,
    span: (usize, usize),
    title: &str,
    help: Option<&str>,
) -> String {
    let message = Message::new(MessageLevel::Error, title).help(help.map(str::to_owned));
    let origin = Origin { file, line: 1, column: 1 };
    with_line(message, origin, text, span, plain)
}

/// What is said of a place in a text of many lines.
#[derive(Clone, Copy, Debug)]
pub struct Labelled<'l> {
    /// What it says.
    pub title: &'l str,
    /// The name of the rule that is broken.
    pub rule: Option<&'l str>,
    /// What to do.
    pub help: Option<&'l str>,
    /// The bytes at fault.
    pub span: Span,
}

/// An error in a module: the lines of the place, drawn without the others.
pub(crate) fn in_source(file: &str, source: &str, lines: &LineIndex, label: Labelled<'_>) {
    with_source(file, source, lines, label, draw);
}

/// Returns an error at a place of a module as the command draws it, without colours.
#[must_use]
pub fn draw_in_source(file: &str, source: &str, lines: &LineIndex, label: Labelled<'_>) -> String {
    with_source(file, source, lines, label, plain)
}

/// Passes on what [`in_source`] draws.
fn with_source<T>(
    file: &str,
    source: &str,
    lines: &LineIndex,
    label: Labelled<'_>,
    finish: impl FnOnce(Report<'_>) -> T,
) -> T {
    let (start, end) = (label.span.start as usize, label.span.end as usize);
    let position = lines.position(label.span.start);
    let first = start + 1 - position.column as usize;
    // A line may be as long as the text: what is not drawn is not scanned either.
    let window = floor_char_boundary(source, end.saturating_add(CONTEXT));
    let last = source[end..window].find('\n').map_or(window, |at| end + at);
    let line = position.line as usize;
    let message = Message {
        rule: label.rule.map(str::to_owned),
        help: label.help.map(str::to_owned),
        ..Message::new(MessageLevel::Error, label.title)
    };
    let origin = Origin { file, line, column: 1 };
    with_line(message, origin, &source[first..last], (start - first, end - first), finish)
}

/// Renders a report without colours.
fn plain(report: Report<'_>) -> String {
    terminal::shown(&Renderer::plain().render(report)).into_owned()
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

/// Writes a message to standard error.
fn draw(report: Report<'_>) {
    let plain = Renderer::plain().render(report);
    let shown = terminal::shown(&plain);
    let drawing = match shown {
        Cow::Borrowed(_) => Renderer::styled().render(report),
        // Colours are escapes too, of which the message's own could not be told.
        Cow::Owned(shown) => shown,
    };
    // If standard error is closed, there is no one to tell.
    let _ = writeln!(anstream::stderr(), "{drawing}");
}

impl MessageLevel {
    fn drawn(self) -> Title<'static> {
        match self {
            Self::Error => Title::ERROR,
            Self::Warning => Title::WARNING,
            Self::Note => Title::NOTE,
        }
    }
}
