//! `replay`, and whether an output is what it would write, for `--resume`.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, anyhow, bail};
use clap::{ArgAction, ValueEnum};

use crate::choice::NothingSelected;
use crate::demangled::Demangled;
use crate::destination::Destination;
use crate::io::{self, Output};
use crate::name::plural;
use crate::options::{Progress, positive};
use crate::output_file::OutputTarget;
use crate::process::Status;
use crate::replaying::{Read, Replaying};
use crate::rows::Sort;
use crate::summary_text::{self, Shape};
use crate::terminal::Escapes;
use crate::trace::{self, Input};
use crate::{choice, cubins, diagnostic};
use warpload::memory::Memory;
use warpload_replay::{
    PartialSummary, ReplayData, ReplayError, Replayed, Selection, Summary, replay,
};
use warpload_report::{ReportPage, Survey, html, survey};
use warpload_trace::{BinaryTrace, Shard};

/// Execute every load of a trace and show what it read and how well it was coalesced
///
/// Takes binary traces, sets of them, and text traces of the kinds that `import` takes. What loads read comes
/// from a memory image or from a fill; with neither, everything but values is computed. If the trace
/// holds expected values they are compared, and a mismatch is exit status 1.
///
/// A binary trace or the parts of a set, a file with cubins, and one that holds all bytes of an image, are
/// mapped: they must not change or become shorter while they are read.
///
/// Misaligned addresses are rounded down and reported as faults, whatever the manifest's
/// `misaligned` is.
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
    pub(crate) trace: PathBuf,

    /// Only part I, from 0, of N; `merge` merges the results
    #[arg(long, value_name = "I/N", value_parser = read_shard)]
    shard: Option<Shard>,

    /// How the result is written
    #[arg(long, value_enum, default_value_t, hide_default_value = true, help_heading = OUTPUT)]
    format: Format,

    /// What comes first in the tables of text and CSV
    #[arg(long, value_enum, value_name = "KEY", help_heading = OUTPUT)]
    sort: Option<Sort>,

    /// The most rows of a table; without, 8 of text and all of CSV
    #[arg(long, value_name = "N", value_parser = positive, help_heading = OUTPUT)]
    top: Option<usize>,

    /// Also write a page for a browser, with pictures: one file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    html: Option<PathBuf>,

    /// Write the result to this file instead of standard output
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    output: Option<PathBuf>,

    /// Do nothing if the output is the result of this shard already
    #[arg(
        long,
        requires = "output",
        requires = "shard",
        conflicts_with = "html",
        help_heading = OUTPUT
    )]
    resume: bool,

    /// Print help; `warpload help replay` has more
    #[arg(short, long, action = ArgAction::HelpShort)]
    help: Option<bool>,

    // Last, because its heading holds for all options after it.
    #[command(flatten)]
    pub(crate) options: Replaying,
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
    if arguments.html.as_deref().is_some_and(io::is_stdin) {
        bail!("standard output holds the summary; expected a file for the page, not `-`");
    }
    if arguments.resume && !matches!(arguments.format, Format::Json) {
        bail!("only JSON says which replay it is of; `--resume` needs `--format json`");
    }
    if arguments.resume && arguments.output.as_deref().is_some_and(io::is_stdin) {
        bail!("`--resume` looks at the output; expected a file, not `-`");
    }
    let shapes = arguments.sort.is_some() || arguments.top.is_some();
    if shapes && matches!(arguments.format, Format::Json) {
        bail!("`--sort` and `--top`: JSON has all program counters, in their order");
    }
    let threads = trace::threads(arguments.options.threads);
    arguments.options.check_stdin(&arguments.trace)?;
    // First what fails at once, then the import, which can take long.
    let input = Input::new(&arguments.trace)?.shard(arguments.shard).map()?;
    let read = arguments.options.read()?;
    let page = arguments.html.as_deref().map(OutputTarget::new).transpose()?;
    let to = Destination::new(arguments.output.as_deref())?;
    if let Some(page) = &page
        && to.is_same_file(page)
    {
        bail!("{}: is the file of the page; expected another one for the summary", page.name());
    }
    let trace = input.open(progress, threads)?;
    if arguments.resume
        && let Some(done) = to.partial()
        && arguments.is_done(&done, &trace, &read)
    {
        return to.say_done(status(done.mismatches(), output), output);
    }
    let bar = io::progress_bar(progress, block_bytes(&trace), &arguments.trace);
    let with = With {
        image: None,
        is_surveyed: page.is_some(),
        observer: &|bytes| bar.inc(bytes),
        interrupt: None,
    };
    let replayed = arguments.replay(&trace, &read, with, |found| {
        bar.finish();
        found.check_selection()?;
        if let (Some(page_to), Some(html)) = (page, found.page()) {
            page_to.write(html.as_bytes())?;
        }
        found.write(to, output)
    });
    match replayed {
        Err(error) if error.is::<NothingSelected>() => Ok(output.fail(Status::Failed, error)?),
        replayed => replayed,
    }
}

/// Returns how many bytes a replay or an export of the whole trace reports as its progress.
pub(crate) fn block_bytes(trace: &BinaryTrace) -> u64 {
    trace.blocks().iter().map(|block| u64::from(block.length)).sum()
}

/// What a replay needs besides its trace, its options and the files that they name.
pub(crate) struct With<'a> {
    /// What loads read instead of what the options say.
    pub(crate) image: Option<&'a Memory>,
    pub(crate) is_surveyed: bool,
    pub(crate) observer: &'a (dyn Fn(u64) + Sync),
    pub(crate) interrupt: Option<&'a AtomicBool>,
}

/// The names of a trace's kernels as they are shown, and which loads are chosen by them.
struct Named {
    demangled: Demangled,
    selection: Option<Selection>,
}

/// What a replay found.
pub(crate) struct ReplayFindings<'f> {
    arguments: &'f Arguments,
    pub(crate) replayed: &'f Replayed<'f>,
    /// If one was asked for.
    survey: Option<Survey>,
    /// Made when it is asked for: of a shard as JSON it is not, and has all kernels of the trace.
    summary: OnceCell<Summary>,
    named: &'f Named,
}

impl Arguments {
    /// Refuses files that only [`execute`] writes; `--resume` is not given without one.
    pub(crate) fn check_writes_nothing(&self) -> anyhow::Result<()> {
        for (name, file) in [("output", &self.output), ("html", &self.html)] {
            if file.is_some() {
                bail!("`--{name}`: the result is returned, not written to a file");
            }
        }
        Ok(())
    }

    fn named(&self, trace: &BinaryTrace) -> Named {
        let contents = trace.contents();
        let demangled = Demangled::new(contents.kernels.iter().map(|kernel| &kernel.name));
        let selection = self.options.choice.selection(contents, &demangled);
        let demangled = if self.options.no_demangle { Demangled::default() } else { demangled };
        Named { demangled, selection }
    }

    /// Returns whether a summary is that of this replay already.
    fn is_done(&self, done: &PartialSummary, trace: &BinaryTrace, read: &Read) -> bool {
        let Named { selection, .. } = self.named(trace);
        let options = self.options.options(read, None, selection.as_ref());
        self.shard.is_some_and(|shard| {
            done.replay() == options.identity(trace.content_hash())
                && done.of() == shard.count()
                && done.shards() == (shard.index()..=shard.index())
        })
    }

    /// Replays a trace that is open, and passes on what is found. Errors of the replay name the trace.
    pub(crate) fn replay<T>(
        &self,
        trace: &BinaryTrace,
        read: &Read,
        with: With<'_>,
        then: impl FnOnce(ReplayFindings<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let threads = trace::threads(self.options.threads);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        // Only its text: its source says the same.
        let pool =
            pool.map_err(|error| anyhow!("--threads: {threads} cannot be started: {error}"))?;
        let named = self.named(trace);
        let options = self.options.options(read, with.image, named.selection.as_ref());
        let options =
            options.shard(self.shard).on_progress(with.observer).interrupt(with.interrupt);
        let replayed = pool.install(|| {
            if with.is_surveyed {
                survey(trace, &options).map(|(replayed, survey)| (replayed, Some(survey)))
            } else {
                replay(trace, &options).map(|replayed| (replayed, None))
            }
        });
        let (replayed, survey) =
            replayed.map_err(with_hint).with_context(|| io::name(&self.trace))?;
        let summary = OnceCell::new();
        then(ReplayFindings {
            arguments: self,
            replayed: &replayed,
            survey,
            summary,
            named: &named,
        })
    }
}

impl ReplayFindings<'_> {
    pub(crate) fn summary(&self) -> &Summary {
        self.summary.get_or_init(|| {
            let mut summary = self.replayed.summary();
            for kernel in &mut summary.kernels {
                kernel.demangled = self.named.demangled.get(&kernel.name).cloned();
            }
            summary
        })
    }

    /// Returns the page of a replay that was surveyed.
    pub(crate) fn page(&self) -> Option<String> {
        let survey = self.survey.as_ref()?;
        let title = self.arguments.trace.file_name().unwrap_or_default().to_string_lossy();
        let data = self.arguments.options.data_in_words(self.replayed.options().get_data());
        let page = ReportPage::new(self.replayed, self.summary(), survey).title(&title).data(&data);
        Some(html(&page))
    }

    /// Refuses options that select nothing, which would be a result of zeros.
    fn check_selection(&self) -> anyhow::Result<()> {
        let Named { demangled, selection } = self.named;
        let selection = selection.as_ref().filter(|_| self.replayed.loads() == 0);
        match selection.and_then(|one| choice::nothing(one, self.replayed, demangled)) {
            Some(nothing) => Err(nothing.into()),
            None => Ok(()),
        }
    }

    /// Writes the summary as it is asked for, and notes for its reader.
    pub(crate) fn write(&self, to: Destination, output: &mut Output) -> anyhow::Result<Status> {
        self.check_selection()?;
        let Self { arguments, replayed, named: Named { demangled, selection }, .. } = self;
        let status = status(replayed.mismatches(), output);
        let shape = Shape { sort: arguments.sort.unwrap_or_default(), top: arguments.top };
        match arguments.format {
            Format::Json => match replayed.partial() {
                Some(shard) => {
                    to.json(&shard.demangled(|name| demangled.get(name).cloned()), output)?;
                }
                None => to.json(self.summary(), output)?,
            },
            Format::Csv => {
                to.write(Escapes::Text, output, |to| {
                    summary_text::csv(replayed, demangled, shape, to)
                })?;
            }
            Format::Text => {
                to.text(&summary_text::text(self.summary(), replayed, demangled, shape), output)?;
            }
        }
        if selection.is_some() && replayed.loads() == 0 {
            output.flush()?;
            diagnostic::note("no load is selected");
        }
        if let Some(message) = stores_outside(replayed) {
            output.flush()?;
            diagnostic::note(message);
        }
        if let Some(check) = replayed.code_check() {
            output.flush()?;
            cubins::note(&check);
        }
        Ok(status)
    }
}

/// Returns what is said of stores and atomics to memory that an image does not have; `None` if there are none.
fn stores_outside(replayed: &Replayed<'_>) -> Option<String> {
    let ReplayData::Image(_) = replayed.options().get_data() else { return None };
    let lanes: u64 = replayed.stores().map(|row| row.summary.lane_faults.outside_allocation).sum();
    (lanes > 0).then(|| {
        format!(
            "{} of stores and atomics outside what the image names: sectors and wavefronts are without them",
            plural(lanes, "lane")
        )
    })
}

pub(crate) fn status(mismatches: u64, output: &mut Output) -> Status {
    output.raise(if mismatches > 0 { Status::Failed } else { Status::Done })
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
