//! Messages on standard error.

use std::fmt::Display;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use warpload::encoding::{Alias, Hint, ParseError, Sm};
use warpload_ptx::syntax::LineIndex;

use super::{remedy, terminal};

pub(crate) use warpload_report::message::{Labelled, Message, MessageLevel, Origin};

/// Whether notes are left out.
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// From now on leaves out the notes of this process, or writes them.
pub(crate) fn be_quiet(is_quiet: bool) {
    IS_QUIET.store(is_quiet, Ordering::Relaxed);
}

pub(crate) fn error(message: impl Display) {
    alone(MessageLevel::Error, message);
}

/// An error with its causes.
pub(crate) fn failure(error: &anyhow::Error) {
    alone(MessageLevel::Error, remedy::with_causes(error));
}

/// Returns the lines that [`error`] writes, without colours.
pub(crate) fn plain_error(message: &str) -> String {
    format!("{}\n", Message::new(MessageLevel::Error, message).draw(false))
}

pub(crate) fn warning(message: impl Display) {
    alone(MessageLevel::Warning, message);
}

pub(crate) fn note(message: impl Display) {
    alone(MessageLevel::Note, message);
}

/// Writes a report of several lines to standard error.
pub(crate) fn report(text: &str) {
    if !IS_QUIET.load(Ordering::Relaxed) {
        // If standard error is closed, there is no one to tell.
        let _ = write!(anstream::stderr(), "{}", terminal::shown(text));
    }
}

/// A message without a place in a text that could be drawn.
fn alone(level: MessageLevel, message: impl Display) {
    write(&Message::new(level, message), |message| message.draw(true));
}

/// Writes what is drawn of a message to standard error, unless it is a note that nobody wants.
fn write(message: &Message, draw: impl FnOnce(&Message) -> String) {
    if message.level() != MessageLevel::Note || !IS_QUIET.load(Ordering::Relaxed) {
        // If standard error is closed, there is no one to tell.
        let _ = writeln!(anstream::stderr(), "{}", draw(message));
    }
}

/// What to write instead in a line of SASS, or the option that says of which SM it is.
pub(crate) fn sass_help(hint: Hint) -> String {
    if hint.is_later_syntax() { format!("{hint}, for example `--sm 80`") } else { hint.to_string() }
}

/// An error in a line of SASS: the line, the place, the hint.
pub(crate) fn parse_error(origin: Origin<'_>, text: &str, error: &ParseError, sm: Sm) {
    let help = error.hint_in(text, sm).map(sass_help);
    let message = Message::new(MessageLevel::Error, error).help(help.as_deref());
    in_line(&message, origin, text, (error.span.start, error.span.end));
}

/// A modifier that assembles as another one.
pub(crate) fn alias_note(origin: Origin<'_>, text: &str, alias: &Alias) {
    let title = format!("`.{}` assembles as `.{}`", alias.written, alias.becomes);
    let message = Message::new(MessageLevel::Note, title);
    in_line(&message, origin, text, (alias.span.start, alias.span.end));
}

/// A message about the bytes `start..end` of a line.
pub(crate) fn in_line(message: &Message, origin: Origin<'_>, text: &str, span: (usize, usize)) {
    write(message, |message| message.draw_in_line(origin, text, span, true));
}

/// An error in a module.
pub(crate) fn in_source(file: &str, source: &str, lines: &LineIndex, label: Labelled<'_>) {
    let draw = |message: &Message| message.draw_in_source(file, source, lines, label.span, true);
    write(&label.into(), draw);
}
