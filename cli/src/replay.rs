//! `replay`.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::ValueEnum;
use warpload::report::{self, Page};
use warpload::trace::{ReplayError, Shard, Summary, replay};

use super::demangled::Demangled;
use super::destination::Destination;
use super::io::{self, Output};
use super::options::{Progress, positive};
use super::output_file::Target;
use super::replaying::Replaying;
use super::rows::Sort;
use super::status::Status;
use super::summary_text::{self, Shape};
use super::trace::{self, Input};
use super::{choice, cubins, diagnostic, resume};

/// Execute every load of a trace and show what it read and how well it was coalesced
///
/// Takes binary traces, sets of them, and text traces of the kinds that `import` takes. What loads read comes
/// from a memory image or from a fill; with neither, everything but values is computed. If the trace
/// holds expected values they are compared, and a mismatch is exit status 1.
///
/// A binary trace or the parts of a set, a file with cubins, and one that holds all bytes of an image, are mapped: they must not change or
/// become shorter while they are read.
///
/// Misaligned addresses are rounded down and reported as faults, whatever the manifest's
/// `misaligned` is.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload replay app.wlt --fill address
  warpload replay app.wlt --image memory.json --format json
  warpload replay app.wlt --html app.html
  warpload replay app.wlt --kernel 'transpose<float' --space shared --sort conflicts
  warpload replay app.wlt --format csv --sort pc > app.csv
  warpload replay app.wlt --cubin app.sm_61.cubin
  warpload replay app.wlt --fill address --shard 0/3 --format json -o 0.json")]
pub(crate) struct Arguments {
    /// The trace
    trace: PathBuf,

    /// Replay part I, from 0, of N parts; `merge` merges the results
    #[arg(long, value_name = "I/N", value_parser = read_shard)]
    shard: Option<Shard>,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// What comes first in the tables of text and CSV; JSON is always in the order of `pc`
    #[arg(long, value_enum, value_name = "KEY", default_value_t)]
    sort: Sort,

    /// The most rows of a table: 8 of text and all of CSV, if not given
    #[arg(long, value_name = "N", value_parser = positive)]
    top: Option<usize>,

    /// Also write the result as a page for a browser: one file, with pictures
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// The file to write the result to, or `-` for standard output, the default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Do nothing if the output is the whole result of this shard of this replay already
    #[arg(long, requires = "output", requires = "shard", conflicts_with = "html")]
    resume: bool,

    // Last, because its heading holds for all options after it.
    #[command(flatten)]
    options: Replaying,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    #[default]
    Text,
    /// One object
    Json,
    /// A line of headings, then a line for each program counter
    Csv,
}

fn read_shard(text: &str) -> Result<Shard, String> {
    text.split_once('/')
        .and_then(|(index, count)| Shard::new(index.parse().ok()?, count.parse().ok()?))
        .ok_or_else(|| "expected I/N, with I at least 0 and below N".to_owned())
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Arguments { trace: path, shard, format, sort, top, html, output: to, resume, options } =
        arguments;
    if html.as_deref().is_some_and(io::is_stdin) {
        bail!("standard output holds the summary; expected a file for the page, not `-`");
    }
    if resume && !matches!(format, Format::Json) {
        bail!("only JSON says which replay it is of; `--resume` needs `--format json`");
    }
    let name = || io::name(&path);
    let threads = trace::threads(options.threads);
    options.check_stdin(&path)?;
    // First what fails at once, then the import, which can take long.
    let input = Input::new(&path)?.shard(shard).map()?;
    let read = options.read()?;
    let page = html.as_deref().map(Target::new).transpose()?;
    let to = Destination::new(to.as_deref())?;
    let trace = input.open(progress, threads)?;
    let contents = trace.contents();
    let demangled = Demangled::new(contents.kernels.iter().map(|kernel| &kernel.name));
    let selection = options.choice.selection(contents, &demangled);
    let demangled = if options.no_demangle { Demangled::default() } else { demangled };
    let blocks = trace.blocks().iter().map(|block| u64::from(block.length)).sum();
    let bar = io::progress_bar(progress, blocks, &path);
    let observer = |bytes| bar.inc(bytes);
    let data = options.data_in_words();
    let options = options
        .options(&read, selection.as_ref())
        .shard(shard)
        .survey(page.is_some())
        .on_progress(&observer);
    if resume && let Some(done) = to.summary() {
        let kernels = contents.kernels.iter().map(|kernel| &kernel.name);
        let kernels = kernels.map(|name| (name, demangled.get(name)));
        if resume::is_shard(&done, shard, &options.identity(trace.checksum()), kernels) {
            return to.say_done(status(&done, output), output);
        }
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let replayed =
        pool.install(|| replay(&trace, &options)).map_err(with_hint).with_context(name)?;
    bar.finish();
    let mut summary = replayed.summary();
    for kernel in &mut summary.kernels {
        kernel.demangled = demangled.get(&kernel.name).cloned();
    }
    if let (Some(page_to), Some(survey)) = (page, replayed.survey()) {
        let title = path.file_name().unwrap_or_default().to_string_lossy();
        let page = Page::new(&replayed, &summary, survey).title(&title).data(&data);
        page_to.write(report::html(&page).as_bytes())?;
    }
    let status = status(&summary, output);
    let shape = Shape { sort, top };
    match format {
        Format::Json => to.json(&summary, output)?,
        Format::Csv => {
            to.text(&summary_text::csv(&replayed, &demangled, shape), output)?;
        }
        Format::Text => {
            to.text(&summary_text::text(&summary, &replayed, &demangled, shape), output)?;
        }
    }
    if let Some(selection) = selection.as_ref().filter(|_| summary.counts.loads == 0) {
        output.flush()?;
        diagnostic::note(choice::nothing(selection, &trace));
    }
    if let Some(check) = replayed.code_check() {
        output.flush()?;
        cubins::note(&check);
    }
    Ok(status)
}

pub(crate) fn status(summary: &Summary, output: &mut Output) -> Status {
    let failed = summary.counts.mismatches > 0;
    output.raise(if failed { Status::Failed } else { Status::Done })
}

/// Says which options place windows, if these are what is wrong.
fn with_hint(error: ReplayError) -> anyhow::Error {
    let is_windows = matches!(error, ReplayError::Windows { .. });
    let error = anyhow::Error::new(error);
    if is_windows {
        let hint = "--shared-window BASE,SIZE and --local-window BASE,SIZE set the address windows";
        return anyhow::anyhow!("{error:#}; {hint}");
    }
    error
}
