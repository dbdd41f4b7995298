//! `replay`: replays a trace.

use std::borrow::Cow;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{ArgAction, ValueEnum};

use crate::destination::{self, CSV, Destination, Form, HTML, JSON, OutputTarget, TEXT};
use crate::diagnostic;
use crate::io::{self, Output};
use crate::options::{Progress, positive};
use crate::process::Status;
use crate::replaying::{self, Read};
use crate::terminal::Escapes;
use crate::trace::{self, Input};
use warpload_replay::{
    NothingSelected, ReplayError, ReplayOptions, ReplayRemark, ReplayRequest, Summary, replay,
};
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

    #[command(flatten)]
    shape: Shape,

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
pub(crate) const OUTPUT: &str = "Output";

/// How a summary is shown.
#[derive(clap::Args)]
pub(crate) struct Shape {
    /// Output format; by default the one that the name of the output says, else text
    #[arg(long, value_enum, help_heading = OUTPUT)]
    format: Option<Format>,

    /// Order of the tables in text and CSV
    #[arg(long, value_enum, value_name = "KEY", help_heading = OUTPUT)]
    sort: Option<TableOrder>,

    /// Maximum number of rows of a table; by default 8 in text and all in CSV
    #[arg(long, value_name = "N", value_parser = positive, help_heading = OUTPUT)]
    top: Option<usize>,

    /// Show each launch in text and on the page, instead of the sum of a kernel's launches
    #[arg(long, help_heading = OUTPUT)]
    by_launch: bool,

    /// Also write a page for a browser, in one file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    html: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    /// One object
    Json,
    /// A line of headings, then a line for each row
    Csv,
}

impl Shape {
    /// Checks the options against each other and the names of outputs. Returns the format.
    pub(crate) fn format(&self, output: Option<&Path>) -> anyhow::Result<Format> {
        const FORMS: [(Format, Form); 3] =
            [(Format::Text, TEXT), (Format::Json, JSON), (Format::Csv, CSV)];
        let format = destination::format_of(self.format, output, &FORMS)?.unwrap_or(Format::Text);
        if self.html.as_deref().is_some_and(io::is_stdin) {
            bail!("the summary goes to standard output; expected a file for the page, not `-`");
        }
        if (self.sort.is_some() || self.top.is_some()) && format == Format::Json {
            bail!("`--sort` and `--top`: JSON has all rows, in their order");
        }
        Ok(format)
    }

    /// Checks the places of the result and of the page.
    pub(crate) fn targets(
        &self,
        output: Option<&Path>,
    ) -> anyhow::Result<(Destination, Option<OutputTarget>)> {
        let page =
            self.html.as_deref().map(|page| destination::target_as(page, HTML)).transpose()?;
        let to = Destination::new(output)?;
        if let Some(page) = &page
            && to.is_same_file(page)
        {
            bail!(
                "{}: is the file of the page; expected another one for the summary",
                page.asked().display()
            );
        }
        Ok((to, page))
    }

    /// Writes a summary: the page if there is one, and the result. `title` and `data` say what was replayed.
    pub(crate) fn write(
        &self,
        summary: &Summary,
        format: Format,
        (title, data): (&str, &str),
        (to, page): (Destination, Option<OutputTarget>),
        output: &mut Output,
    ) -> anyhow::Result<Status> {
        let status = output.raise(match summary.counts.loads.values.mismatches {
            0 => Status::Done,
            _ => Status::Failed,
        });
        if let Some(target) = page {
            let page = ReportPage::new(summary).by_launch(self.by_launch);
            target.write(html(&page.title(title).data(data)).as_bytes())?;
        }
        let rows = TableRows { order: self.sort.unwrap_or_default(), most: self.top };
        match format {
            Format::Json => to.json(summary, output)?,
            Format::Csv => {
                to.write(Escapes::Text, output, |to| replay_csv(summary, rows, to))?;
            }
            Format::Text => {
                let shown =
                    if self.by_launch { Cow::Borrowed(summary) } else { summary.by_kernel() };
                to.text(&replay_text(&shown, rows, data), output)?;
            }
        }
        Ok(status)
    }
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Arguments { trace: path, shard, request, shape, .. } = &arguments;
    let format = shape.format(arguments.output.as_deref())?;
    let threads = trace::threads(request.threads.map(NonZero::get));
    replaying::check_stdin(request, path)?;
    // Checks that fail at once come before the import, which can take long; a binary trace in a file opens at once.
    let input = Input::new(path)?;
    let is_at_once = input.is_binary() && !io::is_stdin(path);
    let opened = if is_at_once { Ok(input.open(progress, threads)?) } else { Err(input) };
    let read = Read::new(request)?;
    let targets = shape.targets(arguments.output.as_deref())?;
    let trace = opened.or_else(|input| input.open(progress, threads))?;
    let selection = request.selection(trace.contents());
    let options = request.options(read.image(), read.functions.as_ref(), selection.as_ref());
    let bar = io::progress_bar(progress, block_bytes(&trace), path);
    let observe = |bytes| bar.inc(bytes);
    let options = ReplayOptions { shard: *shard, on_progress: Some(&observe), ..options };
    let summary = request.on_threads(|| replay(&trace, &options));
    let summary = summary.map_err(with_hint).with_context(|| io::name(path))?;
    bar.finish();
    if let Some(nothing) = NothingSelected::find(&summary, &trace, &options) {
        return Err(nothing.into());
    }
    let title = path.file_name().unwrap_or_default().to_string_lossy();
    let data = request.data_in_words();
    let status = shape.write(&summary, format, (&title, &data), targets, output)?;
    for remark in ReplayRemark::all(&summary, &options) {
        output.flush()?;
        diagnostic::note(remark);
    }
    Ok(status)
}

/// The bytes that a replay or an export of the whole trace reports as its progress.
pub(crate) fn block_bytes(trace: &BinaryTrace) -> u64 {
    trace.blocks().iter().map(|block| u64::from(block.length)).sum()
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
