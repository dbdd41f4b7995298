//! A module that was read from a file, and messages about its places.

use std::cell::Cell;
use std::io::{BufRead, Cursor};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use warpload_binary::container::{GpuCode, GpuCodeKind};
use warpload_binary::lines::{LineError, Lines};
use warpload_ptx::module::StatementText;
use warpload_ptx::rules::{Rule, Unit};
use warpload_ptx::syntax::{LineIndex, Span};
use warpload_ptx::{Module, StatementVerdict, check_as, read};

use crate::binary::{self, Opened};
use crate::diagnostic::{self, Labelled};
use crate::io::{self, Output};
use crate::name::visible;
use crate::options::Progress;
use crate::process::Status;

/// A module that was read, and its origin.
pub(super) struct File<'f> {
    pub(super) name: &'f str,
    pub(super) module: &'f Module<'f>,
    pub(super) lines: &'f LineIndex,
    /// The number of errors so far, including ones beyond [`MAX_DRAWN`].
    errors: Cell<u64>,
}

/// The most errors of a module to draw. The rest are only counted.
const MAX_DRAWN: u64 = 100;

/// The loads of a module.
#[derive(serde::Serialize)]
pub(super) struct FileJson<'f, Load> {
    pub(super) file: &'f str,
    pub(super) loads: Vec<Load>,
}

/// Reads modules and passes each on. Returns the worst status. Reports files that are not modules.
pub(super) fn each_file(
    paths: &[PathBuf],
    progress: Progress,
    output: &mut Output,
    use_file: impl FnMut(&File<'_>, &mut Output) -> anyhow::Result<Status>,
) -> anyhow::Result<Status> {
    each_module(paths, progress, output, |_| Ok(()), use_file)
}

/// Reads modules as [`each_file`] does. Before the first module of a file `admit` is called with their number, and can
/// refuse the file.
pub(super) fn each_module(
    paths: &[PathBuf],
    progress: Progress,
    output: &mut Output,
    admit: impl Fn(usize) -> anyhow::Result<()>,
    mut use_file: impl FnMut(&File<'_>, &mut Output) -> anyhow::Result<Status>,
) -> anyhow::Result<Status> {
    let mut status = Status::Done;
    for path in paths {
        status = status.max(match with_file(path, progress, output, &admit, &mut use_file) {
            Ok(status) => status,
            Err(error) => output.fail_input(error)?,
        });
    }
    Ok(status)
}

/// Passes on a module, or each module of a file that contains PTX. These are named `FILE#N` after the number of their
/// image.
fn with_file(
    path: &Path,
    progress: Progress,
    output: &mut Output,
    admit: &dyn Fn(usize) -> anyhow::Result<()>,
    mut use_file: impl FnMut(&File<'_>, &mut Output) -> anyhow::Result<Status>,
) -> anyhow::Result<Status> {
    let name = io::name(path);
    let binary = match binary::open(path, progress).with_context(|| name.clone())? {
        Opened::Text(input) => {
            let source = read_text(path, input)?;
            return with_source(&name, &source, output, use_file);
        }
        Opened::Binary(binary) => binary,
    };
    let is_module = |image: &GpuCode<'_>| image.kind == GpuCodeKind::Ptx;
    let modules = binary::numbered(binary.bytes()).filter_map(|(_, image)| image.ok());
    admit(modules.filter(is_module).count()).with_context(|| name.clone())?;
    let (mut status, mut is_empty) = (Status::Done, true);
    for (number, image) in binary::numbered(binary.bytes()) {
        let (name, read) = match image {
            Ok(image) if image.kind != GpuCodeKind::Ptx => continue,
            Ok(image) => (format!("{name}#{number}"), image.read()),
            Err(error) => (name.to_string(), Err(error)),
        };
        is_empty = false;
        let source = read.map_err(anyhow::Error::from).and_then(|read| text_of(&read.bytes));
        let used = source
            .with_context(|| name.clone())
            .and_then(|source| with_source(&name, &source, output, &mut use_file));
        status = status.max(match used {
            Ok(status) => status,
            Err(error) => output.fail_input(error)?,
        });
    }
    if is_empty {
        // Reading it as a module finds out its kind, for the message.
        let source = read_text(path, Box::new(Cursor::new(binary.bytes())))?;
        return with_source(&name, &source, output, use_file);
    }
    Ok(status)
}

/// The text of a module in memory.
fn text_of(bytes: &[u8]) -> anyhow::Result<String> {
    if bytes.len() >= MAX_MODULE_BYTES {
        bail!("more than 4 GiB; expected a module of PTX");
    }
    let text = std::str::from_utf8(bytes).context("is not UTF-8; expected a module of PTX")?;
    Ok(text.replace("\r\n", "\n"))
}

/// Parses a text and passes on the module.
pub(super) fn with_source(
    name: &str,
    source: &str,
    output: &mut Output,
    use_file: impl FnOnce(&File<'_>, &mut Output) -> anyhow::Result<Status>,
) -> anyhow::Result<Status> {
    let lines = LineIndex::new(source);
    match read(source) {
        Ok(module) => {
            let file = File { name, module: &module, lines: &lines, errors: Cell::new(0) };
            let status = use_file(&file, output)?;
            let more = file.errors.get().saturating_sub(MAX_DRAWN);
            if more > 0 {
                output.note(format_args!("{name}: and {more} more errors"))?;
            }
            Ok(status)
        }
        Err(error) => {
            let status = output.raise(Status::Unreadable);
            output.flush()?;
            let title = error.kind.to_string();
            let label = Labelled { title: &title, rule: None, help: None, span: error.span };
            diagnostic::in_source(name, source, &lines, label);
            Ok(status)
        }
    }
}

/// Places in a module are 32-bit numbers.
const MAX_MODULE_BYTES: usize = u32::MAX as usize;

/// Large enough for an initializer on one long line. A file without line ends is refused before all of it is read.
const MAX_LINE_BYTES: usize = 1 << 25;

/// The text of a module, with `\n` as line ends. Errors name the file.
fn read_text<'i>(path: &Path, input: Box<dyn BufRead + 'i>) -> anyhow::Result<String> {
    let name = || io::name(path);
    let mut lines = Lines::with_limit(io::expect_text(path, input, io::PTX)?, MAX_LINE_BYTES);
    let mut text = String::new();
    while let Some(line) = lines.next_line() {
        let line = line.map_err(|error| match error {
            LineError::TooLong { line, offset } => anyhow!(
                "line {line} (byte offset {offset}) is longer than {MAX_LINE_BYTES} bytes; \
                 expected a module of PTX"
            ),
            other => other.into(),
        });
        let line = line.with_context(name)?;
        if text.len() + line.text.len() >= MAX_MODULE_BYTES {
            bail!("{}: line {}: more than 4 GiB; expected a module of PTX", name(), line.number);
        }
        text += line.text;
        if lines.line_ended() {
            text.push('\n');
        }
    }
    Ok(text)
}

impl File<'_> {
    /// Draws an error at a place.
    pub(super) fn draw(&self, label: Labelled<'_>, output: &mut Output) -> anyhow::Result<()> {
        self.errors.set(self.errors.get() + 1);
        if self.errors.get() > MAX_DRAWN {
            return Ok(());
        }
        // Flushed, so that on a terminal the drawing follows the line about this place.
        output.flush()?;
        diagnostic::in_source(self.name, self.module.source(), self.lines, label);
        Ok(())
    }

    /// A line about a statement: its place, `what`, and its text.
    pub(super) fn line_about(&self, statement: &StatementText, what: &str) -> String {
        let StatementText { line, column, text } = statement;
        format!("{}:{line}:{column}: {what}{}", visible(self.name), visible(text))
    }

    /// Draws the rules that a load breaks.
    pub(super) fn draw_verdict(
        &self,
        verdict: &StatementVerdict<'_>,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        for violation in &verdict.violations {
            // The library cannot name options of the command.
            let help = violation.help.as_deref().map(|help| match violation.rule {
                Rule::CompileOnly => format!("{help}: `ptx check --compile-only`"),
                _ => help.to_owned(),
            });
            let label = Labelled {
                title: &violation.message,
                rule: Some(violation.rule.name()),
                help: help.as_deref(),
                span: violation.span,
            };
            self.draw(label, output)?;
        }
        Ok(())
    }

    /// Whether the module is not legal, as `ptx check --compile-only` says. Draws the rules that it breaks. Functions
    /// that the module leaves to others are not a reason, because a launch makes their results unknown.
    pub(super) fn is_refused(&self, output: &mut Output) -> anyhow::Result<bool> {
        let mut is_refused = false;
        for verdict in check_as(self.module, Unit::Part).filter(|verdict| !verdict.is_legal()) {
            is_refused = true;
            self.draw_verdict(&verdict, output)?;
        }
        Ok(is_refused)
    }

    /// The place of a statement, and its text on one line without comments.
    pub(super) fn statement(&self, span: Span) -> StatementText {
        self.module.statement(span, self.lines)
    }
}
