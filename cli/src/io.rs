//! Files and standard streams.

use std::fmt::Display;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, BufWriter, Read, StdoutLock, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use warpload_binary::file_kind::FileKind;
use warpload_binary::lines::{LineError, Lines};

use super::name::{Name, visible};
use super::options::Progress;
use super::terminal::{Escapes, Shown};
use super::{diagnostic, inputs, system};
use crate::process::Status;

pub(crate) use warpload::json::write_line as write_json;

/// Buffered standard output. Any write can fail, because the reader may have closed it.
pub(crate) struct Output {
    stdout: BufWriter<Shown<Stdout>>,
    status: Status,
}

/// The process's own standard output.
struct Stdout(StdoutLock<'static>);

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        system::check_stdout()?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Output {
    pub(crate) fn new() -> Self {
        let stdout = Shown::new(Stdout(io::stdout().lock()), Escapes::Text);
        Self { stdout: BufWriter::new(stdout), status: Status::Done }
    }

    /// Raises the status of the command, and returns the new one. Called before writing, because the status holds even
    /// if the reader has gone.
    pub(crate) fn raise(&mut self, status: Status) -> Status {
        self.status = self.status.max(status);
        status
    }

    /// Reports an error after the output so far, and raises the status.
    pub(crate) fn fail(&mut self, status: Status, message: impl Display) -> io::Result<Status> {
        self.raise(status);
        self.flush()?;
        diagnostic::error(message);
        Ok(status)
    }

    /// Writes a note after the output so far, because a terminal shows both streams.
    pub(crate) fn note(&mut self, message: impl Display) -> io::Result<()> {
        self.flush()?;
        diagnostic::note(message);
        Ok(())
    }

    pub(crate) fn warning(&mut self, message: impl Display) -> io::Result<()> {
        self.flush()?;
        diagnostic::warning(message);
        Ok(())
    }

    /// Reports the error of one of several inputs. Returns it instead if it is standard output's.
    pub(crate) fn fail_input(&mut self, error: anyhow::Error) -> anyhow::Result<Status> {
        if is_output_error(&error) {
            return Err(error);
        }
        let status = self.raise(Status::Unreadable);
        self.flush()?;
        diagnostic::failure(&error);
        Ok(status)
    }

    /// The status so far, which is the command's if its reader has gone.
    pub(crate) fn status(&self) -> Status {
        self.status
    }

    pub(crate) fn line(&mut self, line: impl Display) -> io::Result<()> {
        self.write(Escapes::Text, |to| writeln!(to, "{line}"))
    }

    /// Writes text of several lines.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.bytes(text.as_bytes(), Escapes::Text)
    }

    /// Writes one object on one line.
    pub(crate) fn json(&mut self, object: &impl Serialize) -> io::Result<()> {
        self.write(Escapes::Json, |to| write_json(to, object))
    }

    /// Writes JSON that is already serialized, on one line.
    pub(crate) fn json_text(&mut self, json: &str) -> io::Result<()> {
        self.write(Escapes::Json, |to| writeln!(to, "{json}"))
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8], escapes: Escapes) -> io::Result<()> {
        self.write(escapes, |to| to.write_all(bytes))
    }

    /// Writes the output of `write`.
    pub(crate) fn write(
        &mut self,
        escapes: Escapes,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.writer(escapes).and_then(|to| write(to)).map_err(output_error)
    }

    /// Standard output, to write piece by piece. The caller has to convert errors with [`output_error`].
    pub(crate) fn writer(&mut self, escapes: Escapes) -> io::Result<&mut impl Write> {
        if self.stdout.get_ref().escapes() != escapes {
            // The buffered text still needs the previous escapes.
            self.stdout.flush()?;
            self.stdout.get_mut().set_escapes(escapes);
        }
        Ok(&mut self.stdout)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush().map_err(output_error)
    }
}

/// Standard output failed. Unlike an error of one input, it ends the command, because all further work would be lost.
#[derive(Debug, thiserror::Error)]
#[error("standard output cannot be written: {0}")]
struct OutputError(io::Error);

pub(crate) fn output_error(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), OutputError(error))
}

pub(crate) fn is_output_error(error: &anyhow::Error) -> bool {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    inner.is_some_and(|inner| inner.is::<OutputError>())
}

/// Opens a file, or standard input for `-`. Reading moves the progress bar, if there is one. The caller adds the file's
/// name to errors.
pub(crate) fn open(path: &Path, progress: Progress) -> anyhow::Result<Box<dyn BufRead>> {
    if is_stdin(path) {
        return Ok(Box::new(BufReader::new(Observed::new(stdin(), progress, path))));
    }
    let (input, metadata) = open_file(path)?;
    let bar = Bar::new(progress, Some(metadata.len()), path);
    Ok(Box::new(BufReader::with_capacity(1 << 16, Observed { input, bar })))
}

/// Standard input. Outputs must not replace it either, so it is remembered as an input.
pub(crate) fn stdin() -> Box<dyn Read + Send> {
    inputs::remember_stdin();
    Box::new(io::stdin())
}

/// Opens a file that is not a folder, and returns its metadata too. The caller adds the file's name to errors.
pub(crate) fn open_file(path: &Path) -> anyhow::Result<(File, Metadata)> {
    let file = File::open(path).context("cannot be read")?;
    let metadata = file.metadata().context("cannot be read")?;
    if metadata.is_dir() {
        anyhow::bail!("is a folder; expected a file");
    }
    inputs::remember(path, &metadata);
    Ok((file, metadata))
}

/// The most bytes of a pipe or a device that are held in memory, because some never end.
const MAX_STREAM: u64 = 1 << 30;

/// Reads an input to its end. A regular file has one; other inputs are read up to a limit.
pub(crate) fn read_all(input: impl Read, is_regular: bool) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = if is_regular { u64::MAX } else { MAX_STREAM + 1 };
    // `read_to_end` returns an error if memory runs out.
    input.take(most).read_to_end(&mut bytes).context("cannot be read")?;
    if !is_regular && bytes.len() as u64 > MAX_STREAM {
        anyhow::bail!(
            "has more than {} MiB and is not a regular file, so it may have no end; expected a file",
            MAX_STREAM >> 20
        );
    }
    Ok(bytes)
}

/// A text that a command reads.
#[derive(Clone, Copy)]
pub(crate) struct Expected {
    /// Its name with an article.
    name: &'static str,
    kinds: &'static [FileKind],
}

pub(crate) const CASES: Expected =
    Expected { name: "a suite or test vectors", kinds: &[FileKind::Cases] };
pub(crate) const INSTRUCTIONS: Expected =
    Expected { name: "lines of words or instructions", kinds: &[] };
pub(crate) const PTX: Expected = Expected { name: "PTX", kinds: &[FileKind::Ptx] };
pub(crate) const SUMMARY: Expected = Expected {
    name: "the summary of a replay",
    kinds: &[FileKind::Summary, FileKind::ShardSummary],
};

/// Opens a text as [`open`] does; refuses a file of another kind. Errors name the file.
pub(crate) fn open_text(
    path: &Path,
    progress: Progress,
    expected: Expected,
) -> anyhow::Result<Box<dyn BufRead>> {
    expect_text(path, open(path, progress).with_context(|| name(path))?, expected)
}

/// Checks that an input can be the expected text. Errors name the file.
pub(crate) fn expect_text<R: BufRead>(
    path: &Path,
    mut input: R,
    expected: Expected,
) -> anyhow::Result<R> {
    let failed = || name(path);
    match FileKind::recognize(input.fill_buf().context("cannot be read").with_context(failed)?) {
        Some(kind) if !expected.kinds.contains(&kind) => {
            Err(anyhow::anyhow!(kind.instead_of(expected.name)).context(name(path)))
        }
        _ => Ok(input),
    }
}

/// Calls a function with each line of cases that is not blank and its number. A line that is not UTF-8 is passed on as
/// an error. Other errors end the reading, and name the file.
pub(crate) fn each_line(
    path: &Path,
    progress: Progress,
    each: impl FnMut(u64, Result<&str, LineError>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    each_line_of(CASES, path, progress, each)
}

/// Calls a function with each line of a text as [`each_line`] does.
pub(crate) fn each_line_of(
    expected: Expected,
    path: &Path,
    progress: Progress,
    mut each: impl FnMut(u64, Result<&str, LineError>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut lines = Lines::new(open_text(path, progress, expected)?);
    while let Some(line) = lines.next_line() {
        match line {
            Ok(line) if line.text.trim().is_empty() => {}
            Ok(line) => each(line.number, Ok(line.text))?,
            Err(error @ LineError::NotUtf8 { line, .. }) => each(line, Err(error))?,
            Err(error) => return Err(error).with_context(|| name(path)),
        }
    }
    Ok(())
}

pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of a path in messages.
pub(crate) fn name(path: &Path) -> Name {
    if is_stdin(path) {
        Name::from("standard input")
    } else {
        Name::from(&*path.display().to_string())
    }
}

/// A progress bar over `bytes`, hidden if it is not wanted or standard error is not a terminal.
pub(crate) fn progress_bar(progress: Progress, bytes: u64, path: &Path) -> ProgressBar {
    Bar::new(progress, Some(bytes), path).bar
}

/// A progress bar over bytes. Their number may become known later, or never. It is drawn only for many bytes.
pub(crate) struct Bar {
    bar: ProgressBar,
    progress: Progress,
    is_drawn: AtomicBool,
}

impl Bar {
    /// Creates a bar over `bytes`; `None` if their number is not known yet.
    pub(crate) fn new(progress: Progress, bytes: Option<u64>, path: &Path) -> Self {
        let bar = ProgressBar::with_draw_target(bytes, ProgressDrawTarget::hidden())
            .with_prefix(visible(&name(path)).into_owned())
            .with_finish(indicatif::ProgressFinish::AndLeave);
        let bar = Self { bar, progress, is_drawn: AtomicBool::new(false) };
        bar.set_style();
        if bytes.is_some() {
            bar.draw_if_worth();
        }
        bar
    }

    /// Adds bytes that will be read.
    pub(crate) fn expect(&self, bytes: u64) {
        let expected = self.bar.length().unwrap_or_else(|| self.bar.position());
        self.bar.set_length(expected.saturating_add(bytes));
        self.set_style();
        self.draw_if_worth();
    }

    /// Adds bytes that were read.
    pub(crate) fn read(&self, bytes: u64) {
        self.bar.inc(bytes);
        if let Some(length) = self.bar.length() {
            self.bar.set_length(length.max(self.bar.position()));
        }
        self.draw_if_worth();
    }

    pub(crate) fn finish(&self) {
        self.bar.finish();
    }

    /// Shows the remaining time only if the number of bytes is known.
    fn set_style(&self) {
        let template = match self.bar.length() {
            Some(_) => "{prefix} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
            None => "{prefix} {bytes} {bytes_per_sec}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }

    fn draw_if_worth(&self) {
        // A bar that flashes by is no help.
        const WORTH_A_BAR: u64 = 4 << 20;
        let is_wanted = match self.progress {
            Progress::Never => false,
            Progress::Auto => {
                self.bar.length().unwrap_or_else(|| self.bar.position()) >= WORTH_A_BAR
            }
            Progress::Always => true,
        };
        if is_wanted && !self.is_drawn.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Whether the bar would be drawn if standard error were a terminal.
    #[cfg(test)]
    pub(crate) fn is_drawn(&self) -> bool {
        self.is_drawn.load(Ordering::Relaxed)
    }
}

/// An input that moves a progress bar.
pub(crate) struct Observed<R> {
    input: R,
    bar: Bar,
}

impl<R> Observed<R> {
    /// Observes an input of unknown length, such as standard input.
    pub(crate) fn new(input: R, progress: Progress, path: &Path) -> Self {
        Self { input, bar: Bar::new(progress, None, path) }
    }
}

impl<R: Read> Read for Observed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.bar.read(read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes count as they are read, because their total need not be known.
    #[test]
    fn reading_moves_a_bar() {
        let bytes = vec![0; 6 << 20];
        for (progress, is_drawn) in [
            (Progress::Auto, [false, true]),
            (Progress::Always, [true; 2]),
            (Progress::Never, [false; 2]),
        ] {
            let mut input = Observed::new(&bytes[..], progress, Path::new("-"));
            for (i, is_drawn) in is_drawn.into_iter().enumerate() {
                input.read_exact(&mut vec![0; 3 << 20]).unwrap();
                assert_eq!(input.bar.is_drawn(), is_drawn);
                assert_eq!(input.bar.bar.position(), (i as u64 + 1) * (3 << 20));
            }
        }
    }
}
