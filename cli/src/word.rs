//! Single instructions on the command line or one a line: words, or words and texts.

use std::path::Path;

use warpload::encoding::{
    Instruction, ParseErrorKind, Sm, Spa5Instruction, Spa5TextError, Spa5TextErrorKind,
    later_syntax, parse_control_prefix,
};
use warpload_binary::lines::LineError;
use warpload_binary::names::{did_you_mean, nearest};
use warpload_binary::sass::names_a_load;
use warpload_binary::word::{self, NotALoad, ReadLoad};
use warpload_report::message::{Message, MessageLevel};

use super::diagnostic::{self, Origin};
use super::io::{self, Output};
use super::options::Progress;
use crate::process::Status;

/// The address of the first instruction of a function of SM 5.0 to 6.2.
pub(crate) const FIRST: u64 = 8;

/// Written in place of a word or of a load.
pub(crate) const ERROR: &str = "error";

/// Joins arguments that are the words of one instruction without quotes.
pub(crate) fn unquoted(given: Vec<String>) -> Vec<String> {
    let is_part = |text: &&String| {
        !text.contains(char::is_whitespace) && !word::is_word(text) && text.as_str() != "-"
    };
    match given.first().filter(is_part) {
        Some(_) => vec![given.join(" ")],
        None => given,
    }
}

/// Whether the instructions are lines of standard input: there is no argument, or `-` alone.
pub(crate) fn is_stdin(given: &[String]) -> bool {
    given.is_empty() || given == ["-"]
}

/// Passes on each argument with its origin; without arguments, or for `-`, each line of standard input.
pub(crate) fn each_given(
    given: &[String],
    mut each: impl FnMut(Origin<'_>, Result<&str, LineError>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if is_stdin(given) {
        let stdin = Path::new("-");
        let file = io::name(stdin);
        return io::each_line_of(io::INSTRUCTIONS, stdin, Progress::Never, |line, text| {
            each(Origin { file: &file, line: line as usize, column: 1 }, text)
        });
    }
    (1..).zip(given).try_for_each(|(number, text)| {
        let file = match given.len() {
            1 => ORIGIN.file.to_owned(),
            _ => format!("<argument {number}>"),
        };
        each(Origin { file: &file, ..ORIGIN }, Ok(text))
    })
}

/// The origin of an argument.
pub(crate) const ORIGIN: Origin<'_> = Origin { file: "<argument>", line: 1, column: 1 };

pub(crate) fn is_argument(origin: Origin<'_>) -> bool {
    origin.file.starts_with("<argument")
}

/// Reports why an input is not a load. Returns the status, which is raised: a malformed input is a mistake, another
/// instruction a finding.
pub(crate) fn refuse(
    error: &NotALoad,
    origin: Origin<'_>,
    text: &str,
    sm: Option<Sm>,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let status = match error.is_malformed() {
        true => Status::Unreadable,
        false => Status::Failed,
    };
    match error {
        NotALoad::Text(error) => {
            output.raise(status);
            output.flush()?;
            let missing = matches!(error.kind, ParseErrorKind::UnknownMnemonic { .. });
            match missing && is_argument(origin) && Path::new(text).is_file() {
                true => diagnostic::error(format_args!(
                    "{text}: is a file, not an instruction: `warpload decode` reads files"
                )),
                false => diagnostic::parse_error(origin, text, error, sm.unwrap_or(Sm::SPA5)),
            }
        }
        error => {
            output.fail(status, format_args!("{}{}", place(origin), with_option(error)))?;
        }
    }
    Ok(status)
}

/// Whether a text that is no load may be another instruction, of SM 5.0 to 6.2.
pub(crate) fn may_be_other(error: &NotALoad, text: &str, sm: Sm) -> bool {
    let start = parse_control_prefix(text).map_or(0, |(_, start)| start);
    matches!(error, NotALoad::Text(_)) && !sm.has_wide_words() && !names_a_load(&text[start..], sm)
}

/// Reports why a text is no instruction, where `load` is why it is no load. Returns the status, which is raised.
pub(crate) fn refuse_other(
    error: &Spa5TextError,
    load: &NotALoad,
    origin: Origin<'_>,
    text: &str,
    sm: Sm,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let rest = text.get(error.at..).unwrap_or_default();
    let at = error.at + (rest.len() - rest.trim_start().len());
    let rest = rest.trim_start();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let is_unknown = error.kind == Spa5TextErrorKind::Mnemonic;
    let is_file = is_argument(origin) && Path::new(text).is_file();
    if is_unknown && (length == 0 || is_file || later_syntax(text).is_some()) {
        return refuse(load, origin, text, Some(sm), output);
    }
    let help = is_unknown.then(|| {
        let name = rest[..length].split('.').next().unwrap_or_default();
        let known = Spa5Instruction::mnemonics(sm).chain(Instruction::mnemonics(sm));
        did_you_mean(&nearest(name, known.map(str::to_owned)))
    });
    let help = help.as_deref().map(|help| help.trim_start_matches([';', ' ']));
    let title = match is_unknown {
        true => format!("SM {sm} has no instruction of this name"),
        false => error.to_string(),
    };
    let status = output.raise(Status::Unreadable);
    output.flush()?;
    let message = Message::new(MessageLevel::Error, title).help(help);
    let end = at + length.max(usize::from(!rest.is_empty()));
    diagnostic::in_line(&message, origin, text, (at, end));
    Ok(status)
}

/// The message of an error, with the option that helps.
pub(crate) fn with_option(error: &NotALoad) -> String {
    let option = if let NotALoad::NoSm { .. } = error { ", for example `--sm 80`" } else { "" };
    format!("{error}{option}")
}

/// The origin of a word as the beginning of a message; empty for an argument.
pub(crate) fn place(origin: Origin<'_>) -> String {
    let Origin { file, line, .. } = origin;
    if is_argument(origin) { String::new() } else { format!("{file}: line {line}: ") }
}

/// Reads a word or a text, or reports why it is not a load.
pub(crate) fn read_load(
    origin: Origin<'_>,
    text: &str,
    sm: Option<Sm>,
    output: &mut Output,
) -> anyhow::Result<Result<ReadLoad, Status>> {
    // Flushed, so that on a terminal the message follows the output before it.
    output.flush()?;
    match word::read_load(text, sm) {
        Ok(load) => {
            if let Some(alias) = load.alias {
                diagnostic::alias_note(origin, text, &alias);
            }
            Ok(Ok(load))
        }
        Err(error) => Ok(Err(refuse(&error, origin, text, sm, output)?)),
    }
}
