//! `replay` and `merge`.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::ValueEnum;
use warpload::machine::Machine;
use warpload::memory::{Fill, Window};
use warpload::report::{Page, html};
use warpload::trace::{
    DEFAULT_ADDRESS_BITS, Data, ReplayError, ReplayOptions, Shard, Summary, replay,
};

use super::choice::{self, Choice};
use super::compare;
use super::demangled::Demangled;
use super::io::{self, Output};
use super::options::{Progress, positive, read_number};
use super::output_file::Target;
use super::rows::Sort;
use super::status::Status;
use super::summary_text::{self, Shape};
use super::trace::{self, Input};
use super::{cubins, diagnostic, image};

/// Execute every load of a trace and show what it read and how well it was coalesced
///
/// Takes binary traces, and text traces of the kinds that `import` takes. What loads read comes
/// from a memory image or from a fill; with neither, everything but values is computed. If the trace
/// holds expected values they are compared, and a mismatch is exit status 1.
///
/// A binary trace, a file with cubins, and one that holds all bytes of an image, are mapped: they must not change or
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
  warpload replay app.wlt --fill address --shard 0/3 --format json > 0.json")]
pub(crate) struct Arguments {
    /// The trace
    trace: PathBuf,

    /// The manifest of the memory image that the loads read
    #[arg(long, value_name = "MANIFEST", conflicts_with = "fill")]
    image: Option<PathBuf>,

    /// What memory holds without an image; every address is allocated then
    #[arg(long, value_enum)]
    fill: Option<FillName>,

    /// Number of threads to use; defaults to the available parallelism
    #[arg(long, value_name = "N", value_parser = positive)]
    threads: Option<usize>,

    /// Replay part I, from 0, of N parts; `merge` merges the results
    #[arg(long, value_name = "I/N", value_parser = read_shard)]
    shard: Option<Shard>,

    /// The width of a generic address, 32 to 64
    #[arg(
        long,
        value_name = "N",
        default_value_t = DEFAULT_ADDRESS_BITS,
        value_parser = clap::value_parser!(u32).range(32..=64),
        conflicts_with = "image"
    )]
    address_bits: u32,

    /// The shared address window, instead of the trace's
    #[arg(long, value_name = "BASE,SIZE", value_parser = read_window, conflicts_with = "image")]
    shared_window: Option<Window>,

    /// The local address window, instead of the trace's
    #[arg(long, value_name = "BASE,SIZE", value_parser = read_window, conflicts_with = "image")]
    local_window: Option<Window>,

    /// Also count how many loads lie between two touches of the same line of global memory; needs
    /// memory for every line touched
    #[arg(long)]
    reuse: bool,

    /// A cubin with kernels of the trace, or a file that holds such cubins, for the SASS of its loads and
    /// the source line of each program counter; can be given several times
    #[arg(long, value_name = "FILE")]
    cubin: Vec<PathBuf>,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// What comes first in the tables of text and CSV; JSON is always in the order of `pc`
    #[arg(long, value_enum, value_name = "KEY", default_value_t)]
    sort: Sort,

    /// The most rows of a table: 8 of text and all of CSV, if not given
    #[arg(long, value_name = "N", value_parser = positive)]
    top: Option<usize>,

    /// Show names of kernels as they are in the trace, instead of demangled
    #[arg(long)]
    no_demangle: bool,

    /// Also write the result as a page for a browser: one file, with pictures
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    // Last, because its heading holds for all options after it.
    #[command(flatten)]
    choice: Choice,
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

#[derive(Clone, Copy, ValueEnum)]
enum FillName {
    /// The eight bytes at address 8k are splitmix64(k)
    Address,
    Zero,
}

fn read_shard(text: &str) -> Result<Shard, String> {
    text.split_once('/')
        .and_then(|(index, count)| Shard::new(index.parse().ok()?, count.parse().ok()?))
        .ok_or_else(|| "expected I/N, with I at least 0 and below N".to_owned())
}

fn read_window(text: &str) -> Result<Window, String> {
    text.split_once(',')
        .and_then(|(base, size)| {
            Some(Window { base: read_number(base.trim())?, size: read_number(size.trim())? })
        })
        .ok_or_else(|| "expected BASE,SIZE, as in 0xfe000000,0x1000000".to_owned())
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    if arguments.html.as_deref().is_some_and(io::is_stdin) {
        bail!("standard output holds the summary; expected a file for the page, not `-`");
    }
    let name = || io::name(&arguments.trace);
    let threads = trace::threads(arguments.threads);
    if arguments.image.as_deref().is_some_and(io::is_stdin) && io::is_stdin(&arguments.trace) {
        bail!("standard input is either the trace or the image, not both");
    }
    let cubins = arguments.cubin.iter().filter(|path| io::is_stdin(path)).count();
    let others = [Some(&arguments.trace), arguments.image.as_ref()];
    if cubins > 1 || cubins == 1 && others.into_iter().flatten().any(|path| io::is_stdin(path)) {
        bail!("standard input is one file; expected `-` once");
    }
    // First what fails at once, then the import, which can take long.
    let input = Input::new(&arguments.trace)?.map()?;
    let machine = arguments.image.as_deref().map(image::open).transpose()?;
    let functions = cubins::read(&arguments.cubin)?;
    let page = arguments.html.as_deref().map(Target::new).transpose()?;
    let trace = input.open(progress, threads)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let blocks = trace.blocks().iter().map(|block| u64::from(block.length)).sum();
    let bar = io::progress_bar(progress, blocks, &arguments.trace);
    let observer = |bytes| bar.inc(bytes);
    let contents = trace.contents();
    let demangled = Demangled::new(contents.kernels.iter().map(|kernel| &kernel.name));
    let selection = arguments.choice.selection(contents, &demangled);
    let demangled = if arguments.no_demangle { Demangled::default() } else { demangled };
    let options = ReplayOptions::new(data(machine.as_ref(), arguments.fill))
        .address_bits(arguments.address_bits)
        .shared_window(arguments.shared_window)
        .local_window(arguments.local_window)
        .shard(arguments.shard)
        .select(selection.as_ref())
        .reuse(arguments.reuse)
        .functions(functions.as_ref())
        .survey(page.is_some())
        .on_progress(&observer);
    let replayed =
        pool.install(|| replay(&trace, &options)).map_err(with_hint).with_context(name)?;
    bar.finish();
    let mut summary = replayed.summary();
    for kernel in &mut summary.kernels {
        kernel.demangled = demangled.get(&kernel.name).cloned();
    }
    if let (Some(to), Some(survey)) = (page, replayed.survey()) {
        let title = arguments.trace.file_name().unwrap_or_default().to_string_lossy();
        let data = data_in_words(&arguments);
        let page = Page::new(&replayed, &summary, survey).title(&title).data(&data);
        to.write(html(&page).as_bytes())?;
    }
    let status = status(&summary, output);
    let shape = Shape { sort: arguments.sort, top: arguments.top };
    match arguments.format {
        Format::Json => output.json(&summary)?,
        Format::Csv => {
            output.bytes(summary_text::csv(&replayed, &demangled, shape).as_bytes())?;
        }
        Format::Text => {
            let text = summary_text::text(&summary, &replayed, &demangled, shape);
            output.bytes(text.as_bytes())?;
        }
    }
    if let Some(selection) = selection.as_ref().filter(|_| summary.counts.loads == 0) {
        output.flush()?;
        diagnostic::note(choice::nothing(selection, contents));
    }
    if let Some(check) = replayed.code_check() {
        output.flush()?;
        cubins::note(&check);
    }
    Ok(status)
}

fn data(machine: Option<&Machine>, fill: Option<FillName>) -> Data<'_> {
    match (machine, fill) {
        (Some(machine), _) => Data::Image(&machine.memory),
        (None, Some(FillName::Address)) => Data::Fill(Fill::Address),
        (None, Some(FillName::Zero)) => Data::Fill(Fill::Zero),
        (None, None) => Data::Absent,
    }
}

fn status(summary: &Summary, output: &mut Output) -> Status {
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

fn data_in_words(arguments: &Arguments) -> String {
    match (&arguments.image, arguments.fill) {
        (Some(manifest), _) => format!("memory image {}", manifest.display()),
        (None, Some(FillName::Address)) => "memory filled with a function of the address".into(),
        (None, Some(FillName::Zero)) => "memory filled with zeroes".into(),
        (None, None) => "no data, all addresses allocated".into(),
    }
}

/// Merge the JSON summaries of all shards of a replay
///
/// Prints, byte for byte, what a replay of the whole trace prints with `--format json`.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  warpload merge 0.json 1.json 2.json")]
pub(crate) struct MergeArguments {
    /// The summaries, one of each shard, in any order
    #[arg(required = true)]
    summary: Vec<PathBuf>,

    /// How the result is written; only JSON
    #[arg(long = "format", value_name = "FORMAT", value_parser = ["json"], default_value = "json")]
    _format: String,
}

pub(crate) fn merge(arguments: MergeArguments, output: &mut Output) -> anyhow::Result<Status> {
    let summaries = arguments.summary.iter().map(|path| compare::read_summary(path));
    let summaries = summaries.collect::<anyhow::Result<_>>()?;
    let whole = Summary::merge(summaries)?;
    let status = status(&whole, output);
    output.json(&whole)?;
    Ok(status)
}
