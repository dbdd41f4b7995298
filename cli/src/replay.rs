//! `replay`: replays a trace.

use std::num::NonZero;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::{ArgAction, ValueEnum};

use crate::destination::{self, Destination};
use crate::diagnostic;
use crate::io::{self, Output};
use crate::options::{Progress, positive};
use crate::process::Status;
use crate::replaying::{self, Read};
use crate::terminal::Escapes;
use crate::trace::{self, Input};
use warpload_binary::names::Demangled;
use warpload_replay::{ReplayError, ReplayRequest, Replayed, replay};
use warpload_report::{ReportPage, TableOrder, TableRows, html, replay_csv, replay_text};
use warpload_trace::{BinaryTrace, Shard};

/// Execute every load of a trace and report costs, faults and wrong values
///
/// Takes binary traces, and text traces of the kinds that `import` takes. Loads read from a memory image or
/// a fill; without either, everything but values is computed. If the trace has expected values they are compared, and a
/// mismatch is exit status 1.
///
/// A binary trace, a file with cubins, and a file with all bytes of an image are mapped: they must not change or become
/// shorter while they are read.
///
/// Misaligned addresses are rounded down and reported as faults, regardless of the manifest's `misaligned`.
#[derive(clap::Args)]
#[command(
    disable_help_flag = true,
    after_help = "\
Examples:
  warpload replay app.wlt --fill address
  warpload replay app.wlt --image memory.json --format json
  warpload replay app.wlt --html app.html
  warpload replay app.wlt --kernel 'transpose<float' --space shared --sort conflicts
  warpload replay app.wlt --format csv --sort pc > app.csv
  warpload replay app.wlt --fill address --shard 0/3 --format json -o 0.json"
)]
pub(crate) struct Arguments {
    /// The trace
    trace: PathBuf,

    /// Only shard I, from 0, of N; `merge` merges the results
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,

    /// Output format
    #[arg(long, value_enum, default_value_t, hide_default_value = true, help_heading = OUTPUT)]
    format: Format,

    /// Order of the tables in text and CSV
    #[arg(long, value_enum, value_name = "KEY", help_heading = OUTPUT)]
    sort: Option<TableOrder>,

    /// Maximum number of rows of a table; by default 8 in text and all in CSV
    #[arg(long, value_name = "N", value_parser = positive, help_heading = OUTPUT)]
    top: Option<usize>,

    /// Also write a page for a browser, with pictures, in one file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    html: Option<PathBuf>,

    /// File for the result, instead of standard output
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    output: Option<PathBuf>,

    /// Print help; `warpload help replay` has more
    #[arg(short, long, action = ArgAction::HelpShort)]
    help: Option<bool>,

    // Last, because its heading applies to all options after it.
    #[command(flatten)]
    request: ReplayRequest,
}

/// The heading of options about the result.
const OUTPUT: &str = "Output";

#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    #[default]
    Text,
    /// One object
    Json,
    /// A line of headings, then a line for each program counter
    Csv,
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    if arguments.html.as_deref().is_some_and(io::is_stdin) {
        bail!("the summary goes to standard output; expected a file for the page, not `-`");
    }
    let Arguments { trace: path, shard, request, .. } = &arguments;
    let shapes = arguments.sort.is_some() || arguments.top.is_some();
    if shapes && matches!(arguments.format, Format::Json) {
        bail!("`--sort` and `--top`: JSON has all program counters, in their order");
    }
    let threads = trace::threads(request.threads.map(NonZero::get));
    replaying::check_stdin(request, path)?;
    // Checks that fail at once come before the import, which can take long; a binary trace in a file opens at once.
    let input = Input::new(path)?;
    let is_at_once = input.is_binary() && !io::is_stdin(path);
    let opened = if is_at_once { Ok(input.open(progress, threads)?) } else { Err(input) };
    let read = Read::new(request)?;
    let page = arguments.html.as_deref().map(destination::target).transpose()?;
    let to = Destination::new(arguments.output.as_deref())?;
    if let Some(page) = &page
        && to.is_same_file(page)
    {
        bail!(
            "{}: is the file of the page; expected another one for the summary",
            page.asked().display()
        );
    }
    let trace = opened.or_else(|input| input.open(progress, threads))?;
    let selection = request.selection(trace.contents());
    let options = request.options(read.image(), read.functions.as_ref(), selection.as_ref());
    let bar = io::progress_bar(progress, block_bytes(&trace), path);
    let observe = |bytes| bar.inc(bytes);
    let options = options.shard(*shard).on_progress(&observe);
    let replayed = request.on_threads(|| replay(&trace, &options));
    let replayed = replayed.map_err(with_hint).with_context(|| io::name(path))?;
    bar.finish();
    if let Some(nothing) = replayed.nothing_selected() {
        return Ok(output.fail(Status::Failed, nothing)?);
    }
    if let Some(page_to) = page {
        let title = path.file_name().unwrap_or_default().to_string_lossy();
        let image =
            request.image.as_ref().map(|manifest| format!("memory image {}", manifest.display()));
        let summary = replayed.summary();
        let mut page = ReportPage::new(&replayed, &summary).title(&title);
        if let Some(image) = &image {
            page = page.data(image);
        }
        page_to.write(html(&page).as_bytes())?;
    }
    arguments.write(&replayed, to, output)
}

/// The bytes that a replay or an export of the whole trace reports as its progress.
pub(crate) fn block_bytes(trace: &BinaryTrace) -> u64 {
    trace.blocks().iter().map(|block| u64::from(block.length)).sum()
}

impl Arguments {
    /// Writes the summary in the requested format, and notes for the user.
    fn write(
        &self,
        replayed: &Replayed<'_>,
        to: Destination,
        output: &mut Output,
    ) -> anyhow::Result<Status> {
        let status = status(replayed.mismatches(), output);
        let kernels = replayed.trace().contents().kernels.iter();
        let names = kernels.map(|kernel| &kernel.name).filter(|_| self.request.demangle);
        let demangled = Demangled::new(names);
        let rows = TableRows { order: self.sort.unwrap_or_default(), most: self.top };
        match self.format {
            Format::Json => match replayed.partial() {
                Some(shard) => to.json(&shard, output)?,
                None => to.json(&replayed.summary(), output)?,
            },
            Format::Csv => {
                to.write(Escapes::Text, output, |to| replay_csv(replayed, &demangled, rows, to))?;
            }
            Format::Text => {
                let summary = replayed.summary();
                let options = "--image or --fill";
                to.text(&replay_text(&summary, replayed, &demangled, rows, options), output)?;
            }
        }
        for remark in replayed.remarks() {
            output.flush()?;
            diagnostic::note(remark);
        }
        Ok(status)
    }
}

pub(crate) fn status(mismatches: u64, output: &mut Output) -> Status {
    output.raise(if mismatches > 0 { Status::Failed } else { Status::Done })
}

/// Adds the options that place windows to an error about windows.
fn with_hint(error: ReplayError) -> anyhow::Error {
    let is_windows = matches!(error, ReplayError::Windows { .. });
    let error = anyhow::Error::new(error);
    if is_windows {
        let hint = "--shared-window BASE,SIZE and --local-window BASE,SIZE set the address windows";
        return anyhow::anyhow!("{error:#}; {hint}");
    }
    error
}
