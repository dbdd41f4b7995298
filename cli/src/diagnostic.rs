//! Messages on standard error.

use std::fmt::Display;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use warpload::encoding::{Alias, Hint, ParseError, Sm};
use warpload_ptx::syntax::LineIndex;

use super::remedy;

pub(crate) use warpload_report::message::{Labelled, Message, MessageLevel, Origin};

/// Whether to suppress notes.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Suppresses the notes of this process from now on, or enables them.
pub(crate) fn be_quiet(is_quiet: bool) {
    IS_QUIET.store(is_quiet, Ordering::Relaxed);
}

pub(crate) fn error(message: impl Display) {
    alone(MessageLevel::Error, message);
}

/// Reports an error with its causes.
pub(crate) fn failure(error: &anyhow::Error) {
    alone(MessageLevel::Error, remedy::with_causes(error));
}

/// The lines that [`error`] writes, without colours.
pub(crate) fn plain_error(message: &str) -> String {
    format!("{}\n", Message::new(MessageLevel::Error, message).draw(false))
}

pub(crate) fn warning(message: impl Display) {
    alone(MessageLevel::Warning, message);
}

pub(crate) fn note(message: impl Display) {
    alone(MessageLevel::Note, message);
}

/// Writes a message without a place in a text.
fn alone(level: MessageLevel, message: impl Display) {
    write(&Message::new(level, message), |message| message.draw(true));
}

/// Writes a message to standard error, unless it is a suppressed note.
fn write(message: &Message, draw: impl FnOnce(&Message) -> String) {
    if message.level() != MessageLevel::Note || !IS_QUIET.load(Ordering::Relaxed) {
        // If standard error is closed, the message has no reader.
        let _ = writeln!(anstream::stderr(), "{}", draw(message));
    }
}

/// Suggests a fix for a line of SASS, or the option that names its SM.
pub(crate) fn sass_help(hint: Hint) -> String {
    if hint.is_later_syntax() { format!("{hint}, for example `--sm 80`") } else { hint.to_string() }
}

/// Reports an error in a line of SASS: the line, the place, the hint.
pub(crate) fn parse_error(origin: Origin<'_>, text: &str, error: &ParseError, sm: Sm) {
    let help = error.hint_in(text, sm).map(sass_help);
    let message = Message::new(MessageLevel::Error, error).help(help.as_deref());
    in_line(&message, origin, text, (error.span.start, error.span.end));
}

/// Notes a modifier that assembles as another one.
pub(crate) fn alias_note(origin: Origin<'_>, text: &str, alias: &Alias) {
    let title = format!("`.{}` assembles as `.{}`", alias.written, alias.becomes);
    let message = Message::new(MessageLevel::Note, title);
    in_line(&message, origin, text, (alias.span.start, alias.span.end));
}

/// Writes a message about the bytes `span` of a line.
pub(crate) fn in_line(message: &Message, origin: Origin<'_>, text: &str, span: (usize, usize)) {
    write(message, |message| message.draw_in_line(origin, text, span, true));
}

/// Reports an error in a module.
pub(crate) fn in_source(file: &str, source: &str, lines: &LineIndex, label: Labelled<'_>) {
    let draw = |message: &Message| message.draw_in_source(file, source, lines, label.span, true);
    write(&label.into(), draw);
}
