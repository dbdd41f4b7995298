//! `export`: converts a trace for other tools. Parquet is written by the program that embeds this library, if it
//! supports it, because Parquet would triple the build of this one.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use anyhow::Context;
use clap::ValueEnum;
use indicatif::ProgressBar;

use crate::destination::{self, Form, JSON, PARQUET};
use crate::io::{self, Output};
use crate::options::{Progress, positive};
use crate::process::Status;
use crate::replay;
use crate::terminal::Escapes;
use crate::trace::{self, Input};
use warpload_trace::{BinaryTrace, ExportError, export_jsonl};

/// Write every memory instruction of a trace for other tools
///
/// Takes binary traces, and text traces of the kinds that `import` takes. The format `jsonl` has a line of
/// JSON for the trace, one for each kernel, and one for each memory instruction with the addresses of its lanes;
/// `import` reads it back. The output appears under its name when it is complete.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload export app.wlt -o app.jsonl
  warpload export kernelslist.g -o - | head")]
pub(crate) struct Arguments {
    /// The trace
    trace: PathBuf,

    /// Output format; by default the one that the name of the output says, else jsonl
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// File to write, or `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Number of threads to use; defaults to the available parallelism
    #[arg(long, value_name = "N", value_parser = positive)]
    threads: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines of JSON
    #[value(alias = "json")]
    Jsonl,
    /// A table: a row for each access, with its addresses and costs; only in the build of `arrow/`
    Parquet,
}

/// A format's writer.
enum Writer {
    Jsonl,
    Parquet(WriteParquet, NonZero<usize>),
}

/// Why an export failed.
enum Failed {
    /// The output cannot be written.
    Output(std::io::Error),
    /// Anything else.
    Input(anyhow::Error),
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Arguments { trace: from, format, output: to, threads } = arguments;
    let threads = trace::threads(threads);
    const FORMS: [(Format, Form); 2] = [(Format::Jsonl, JSON), (Format::Parquet, PARQUET)];
    let writer = match destination::format_of(format, Some(&to), &FORMS)?.unwrap_or(Format::Jsonl) {
        Format::Jsonl => Writer::Jsonl,
        Format::Parquet => {
            let threads = NonZero::new(threads).unwrap_or(NonZero::<usize>::MIN);
            Writer::Parquet(parquet_writer()?, threads)
        }
    };
    let input = Input::new(&from)?;
    let target = if io::is_stdin(&to) { None } else { Some(destination::target(&to)?) };
    let trace = Arc::new(input.open(progress, threads)?);
    let bar = io::progress_bar(progress, replay::block_bytes(&trace), &from);
    let name = || io::name(&from);
    let Some(target) = target else {
        let written = writer.write_stream(&trace, output, &bar)?;
        bar.finish();
        return written.map(|()| Status::Done).map_err(|failed| match failed {
            Failed::Output(error) => io::output_error(error).into(),
            Failed::Input(error) => error.context(name()),
        });
    };
    let file = target.create()?;
    writer.write_file(&trace, file.file(), &bar).map_err(|failed| match failed {
        Failed::Output(error) => file.target().write_error(error).into(),
        Failed::Input(error) => error.context(name()),
    })?;
    bar.finish();
    destination::persist(file, output)?;
    Ok(Status::Done)
}

impl Writer {
    fn write_file(
        &self,
        trace: &Arc<BinaryTrace>,
        file: &File,
        bar: &ProgressBar,
    ) -> Result<(), Failed> {
        let mut buffered = BufWriter::with_capacity(1 << 18, file);
        match *self {
            Self::Jsonl => jsonl(trace, &mut buffered, bar)?,
            Self::Parquet(write, threads) => {
                let (output, progress) = (&mut buffered, &|bytes| bar.inc(bytes));
                let trace = Arc::clone(trace);
                write(ParquetExport { trace, threads, output, progress }).map_err(|error| {
                    match parquet_output_error(error) {
                        Ok(error) => Failed::Output(error),
                        Err(error) => Failed::Input(anyhow::Error::from_boxed(error)),
                    }
                })?;
            }
        }
        buffered.flush().map_err(Failed::Output)
    }

    /// Writes to standard output. A table goes to a temporary file until it is complete, because the end of a Parquet
    /// file describes its contents.
    ///
    /// # Errors
    /// Fails if that temporary file cannot be created.
    fn write_stream(
        &self,
        trace: &Arc<BinaryTrace>,
        output: &mut Output,
        bar: &ProgressBar,
    ) -> anyhow::Result<Result<(), Failed>> {
        if let Self::Jsonl = self {
            return Ok(match output.writer(Escapes::Json) {
                Ok(to) => jsonl(trace, to, bar),
                Err(error) => Err(Failed::Output(error)),
            });
        }
        let mut file = tempfile::tempfile().context("no temporary file for the table")?;
        if let Err(failed) = self.write_file(trace, &file, bar) {
            return match failed {
                Failed::Output(error) => {
                    Err(anyhow::Error::new(error).context("the temporary file cannot be written"))
                }
                failed => Ok(Err(failed)),
            };
        }
        file.rewind().context("the temporary file cannot be read")?;
        let to = output.writer(Escapes::None);
        let written = to.and_then(|to| std::io::copy(&mut file, to));
        Ok(written.map(drop).map_err(Failed::Output))
    }
}

fn jsonl(
    trace: &BinaryTrace,
    mut output: &mut impl Write,
    bar: &ProgressBar,
) -> Result<(), Failed> {
    export_jsonl(trace, &mut output, |bytes| bar.inc(bytes)).map_err(|error| match error {
        ExportError::Io(error) => Failed::Output(error),
        error => Failed::Input(error.into()),
    })
}

/// A trace to write as Parquet.
#[non_exhaustive]
pub struct ParquetExport<'a> {
    /// The trace.
    pub trace: Arc<BinaryTrace>,
    /// The most threads to use.
    pub threads: NonZero<usize>,
    /// Receives the file.
    pub output: &'a mut (dyn Write + Send),
    /// To call with the number of bytes of blocks read since the previous call.
    pub progress: &'a dyn Fn(u64),
}

/// Writes a trace as Parquet. An [`std::io::Error`] counts as an error of the output, any other as one of the trace.
pub type WriteParquet = fn(ParquetExport<'_>) -> Result<(), Box<dyn Error + Send + Sync>>;

static PARQUET_WRITER: OnceLock<WriteParquet> = OnceLock::new();

/// Sets the function behind `export --format parquet`; without it the command says that this build lacks Parquet. Only
/// the first call has an effect.
pub fn set_parquet(write: WriteParquet) {
    // A second writer is ignored.
    let _ = PARQUET_WRITER.set(write);
}

/// The writer of Parquet.
///
/// # Errors
/// Says how to build the command with Parquet, if this build lacks it.
pub(crate) fn parquet_writer() -> anyhow::Result<WriteParquet> {
    PARQUET_WRITER.get().copied().context(
        "this build of warpload does not write Parquet; in Python `polars.DataFrame(trace).write_parquet(FILE)` does, \
         and so does the command that `cargo install --path arrow --features command` builds in its sources",
    )
}

/// The output's error among the causes of another error, if there is one.
pub(crate) fn parquet_output_error(
    error: Box<dyn Error + Send + Sync>,
) -> Result<std::io::Error, Box<dyn Error + Send + Sync>> {
    error.downcast::<std::io::Error>().map(|error| *error)
}
