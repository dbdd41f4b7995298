//! `export`: a trace for other tools.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::ValueEnum;
use warpload::trace::{ExportError, export_jsonl};

use super::io::{self, Output};
use super::name::visible;
use super::options::{Progress, positive};
use super::output_file::Target;
use super::status::Status;
use super::trace::{self, Input};

/// Write every memory instruction of a trace for other tools
///
/// Takes binary traces, sets of them, and text traces of the kinds that `import` takes. As `jsonl` it writes a line
/// of JSON for the trace, one for each kernel, and one for each memory instruction with the addresses
/// of its lanes. `import` reads that, too. The output appears under its name when it is complete.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload export app.wlt --format jsonl -o app.jsonl
  warpload export kernelslist.g --format jsonl -o - | head")]
pub(crate) struct Arguments {
    /// The trace
    trace: PathBuf,

    /// The form that is written
    #[arg(long, value_enum, default_value = "jsonl")]
    format: Form,

    /// The file to write, or `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Number of threads to use; defaults to the available parallelism
    #[arg(long, value_name = "N", value_parser = positive)]
    threads: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// Lines of JSON
    Jsonl,
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Arguments { trace: from, format: Form::Jsonl, output: to, threads } = arguments;
    let input = Input::new(&from)?.map()?;
    let target = if io::is_stdin(&to) { None } else { Some(Target::new(&to)?) };
    let trace = input.open(progress, trace::threads(threads))?;
    let blocks = trace.blocks().iter().map(|block| u64::from(block.length)).sum();
    let bar = io::progress_bar(progress, blocks, &from);
    let name = || io::name(&from);
    let write = |mut to: &mut dyn Write| export_jsonl(&trace, &mut to, |bytes| bar.inc(bytes));
    let Some(target) = target else {
        let written = write(&mut output.writer());
        bar.finish();
        return written.map(|()| Status::Done).map_err(|error| match error {
            ExportError::Io(error) => io::output_error(error).into(),
            error => anyhow::Error::new(error).context(name()),
        });
    };
    let is_stdout = target.is_stdout();
    let file = target.create()?;
    let failed = file.target().error_context();
    let mut buffered = BufWriter::with_capacity(1 << 18, file.file());
    let written = write(&mut buffered).and_then(|()| Ok(buffered.flush()?));
    written.map_err(|error| match error {
        ExportError::Io(error) => anyhow::Error::new(error).context(failed),
        error => anyhow::Error::new(error).context(name()),
    })?;
    drop(buffered);
    file.persist()?;
    bar.finish();
    if !is_stdout {
        output.line(format_args!("{} written", visible(&to.display().to_string())))?;
    }
    Ok(Status::Done)
}
