//! `replay` and `merge`.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, bail};
use clap::ValueEnum;
use warpload::memory::{Fill, Memory, Window};
use warpload::report::{Page, html};
use warpload::sass::Functions;
use warpload::trace::{
    BinaryTrace, DEFAULT_ADDRESS_BITS, Data, ReplayError, ReplayOptions, Replayed, Selection,
    Shard, Summary, replay,
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
    pub(crate) trace: PathBuf,

    /// The manifest of the memory image that the loads read
    #[arg(long, value_name = "MANIFEST", conflicts_with = "fill")]
    pub(crate) image: Option<PathBuf>,

    /// What memory holds without an image; every address is allocated then
    #[arg(long, value_enum)]
    fill: Option<FillName>,

    /// Number of threads to use; defaults to the available parallelism
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) threads: Option<usize>,

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
    pub(crate) cubin: Vec<PathBuf>,

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
    let bar = io::progress_bar(progress, block_bytes(&trace), &arguments.trace);
    let with = With {
        image: machine.as_ref().map(|machine| &machine.memory),
        functions: functions.as_ref(),
        is_surveyed: page.is_some(),
        observer: &|bytes| bar.inc(bytes),
        interrupt: None,
    };
    arguments.replay(&trace, threads, with, |found| {
        bar.finish();
        if let (Some(to), Some(html)) = (page, found.page()) {
            to.write(html.as_bytes())?;
        }
        found.write(output)
    })
}

/// Returns how many bytes a replay of the whole trace reports as its progress.
pub(crate) fn block_bytes(trace: &BinaryTrace) -> u64 {
    trace.blocks().iter().map(|block| u64::from(block.length)).sum()
}

/// What a replay needs besides its trace and its options.
pub(crate) struct With<'a> {
    pub(crate) image: Option<&'a Memory>,
    pub(crate) functions: Option<&'a Functions>,
    pub(crate) is_surveyed: bool,
    pub(crate) observer: &'a (dyn Fn(u64) + Sync),
    pub(crate) interrupt: Option<&'a AtomicBool>,
}

/// What a replay found.
pub(crate) struct Found<'f> {
    arguments: &'f Arguments,
    pub(crate) replayed: &'f Replayed<'f>,
    pub(crate) summary: Summary,
    selection: Option<&'f Selection>,
    demangled: &'f Demangled,
}

impl Arguments {
    /// Replays a trace that is open, and passes on what is found. Errors of the replay name the trace.
    pub(crate) fn replay<T>(
        &self,
        trace: &BinaryTrace,
        threads: usize,
        with: With<'_>,
        then: impl FnOnce(Found<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let contents = trace.contents();
        let demangled = Demangled::new(contents.kernels.iter().map(|kernel| &kernel.name));
        let selection = self.choice.selection(contents, &demangled);
        let demangled = if self.no_demangle { Demangled::default() } else { demangled };
        let options = ReplayOptions::new(data(with.image, self.fill))
            .address_bits(self.address_bits)
            .shared_window(self.shared_window)
            .local_window(self.local_window)
            .shard(self.shard)
            .select(selection.as_ref())
            .reuse(self.reuse)
            .functions(with.functions)
            .survey(with.is_surveyed)
            .on_progress(with.observer)
            .interrupt(with.interrupt);
        let replayed = pool.install(|| replay(trace, &options)).map_err(with_hint);
        let replayed = replayed.with_context(|| io::name(&self.trace))?;
        let mut summary = replayed.summary();
        for kernel in &mut summary.kernels {
            kernel.demangled = demangled.get(&kernel.name).cloned();
        }
        let (replayed, selection, demangled) = (&replayed, selection.as_ref(), &demangled);
        then(Found { arguments: self, replayed, summary, selection, demangled })
    }
}

impl Found<'_> {
    /// Returns the page of a replay that was surveyed.
    pub(crate) fn page(&self) -> Option<String> {
        let survey = self.replayed.survey()?;
        let title = self.arguments.trace.file_name().unwrap_or_default().to_string_lossy();
        let data = data_in_words(self.arguments);
        let page = Page::new(self.replayed, &self.summary, survey).title(&title).data(&data);
        Some(html(&page))
    }

    /// Writes the summary as it is asked for, and notes for its reader.
    pub(crate) fn write(&self, output: &mut Output) -> anyhow::Result<Status> {
        let Self { arguments, replayed, summary, selection, demangled } = self;
        let status = status(summary, output);
        let shape = Shape { sort: arguments.sort, top: arguments.top };
        match arguments.format {
            Format::Json => output.json(summary)?,
            Format::Csv => {
                output.bytes(summary_text::csv(replayed, demangled, shape).as_bytes())?;
            }
            Format::Text => {
                let text = summary_text::text(summary, replayed, demangled, shape);
                output.bytes(text.as_bytes())?;
            }
        }
        if let Some(selection) = selection.filter(|_| summary.counts.loads == 0) {
            output.flush()?;
            diagnostic::note(choice::nothing(selection, replayed.trace().contents()));
        }
        if let Some(check) = replayed.code_check() {
            output.flush()?;
            cubins::note(&check);
        }
        Ok(status)
    }
}

fn data(image: Option<&Memory>, fill: Option<FillName>) -> Data<'_> {
    match (image, fill) {
        (Some(memory), _) => Data::Image(memory),
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
