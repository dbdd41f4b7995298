//! `import`: a text trace into a binary one.

use std::path::PathBuf;

use super::io::{self, Output};
use super::name::visible;
use super::options::{Progress, positive};
use super::output_file::Target;
use super::status::Status;
use super::trace::{self, Input};

/// Turn a trace of another tool into a binary trace
///
/// Reads Accel-Sim's traces (.trace, .traceg, .tracez, or a kernelslist.g with all files that it lists),
/// the traces of NVBit's mem_trace tool, as a log or as JSON, and those of CUTracer, as NDJSON or as
/// a text log. Each may be compressed by gzip, xz or zstd. The output appears under its name when it is complete; a file that it replaces
/// passes on its mode.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  warpload import kernelslist.g -o app.wlt")]
pub(crate) struct Arguments {
    /// The trace, or the list of traces
    input: PathBuf,

    /// The binary trace to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Number of threads to use; defaults to the available parallelism
    #[arg(long, value_name = "N", value_parser = positive)]
    threads: Option<usize>,
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Arguments { input: from, output: to, threads } = arguments;
    let input = Input::new(&from)?;
    if input.is_binary() {
        anyhow::bail!("{}: is a binary trace already", io::name(&from));
    }
    if io::is_stdin(&to) {
        anyhow::bail!("a binary trace is written from both ends; expected a file, not `-`");
    }
    let target = Target::new(&to)?;
    // The trace itself can go there.
    let is_stdout = target.is_stdout();
    let file = target.create()?;
    let failed = file.target().error_context();
    input.import_into(file.file(), &failed, progress, trace::threads(threads))?;
    file.persist()?;
    if !is_stdout {
        output.line(format_args!("{} written", visible(&to.display().to_string())))?;
    }
    Ok(Status::Done)
}
