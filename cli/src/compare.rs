//! `compare`: compares two replays, instruction by instruction.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use warpload::json::JsonError;
use warpload_binary::lines::skip_mark;
use warpload_replay::{Comparison, Summary, SummaryError};
use warpload_report::{comparison_html, comparison_text};

use super::destination::{self, HTML};
use super::io::{self, Output};
use super::name::visible;
use super::options::{Format, Progress, positive};
use crate::process::Status;

/// Compare the JSON summaries of two replays, instruction by instruction
///
/// Loads, stores, atomics, reductions and copies are matched by kernel name, address, opcode and memory; launches with
/// the same name are added up. A change is the difference of sectors of global and local memory, wavefronts of shared
/// memory and addresses of constant memory, in percent of the first replay's. It is not known if lanes fault, or accesses
/// have an unknown cost, in one replay and not in the other. The worst changes come first.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload replay app.wlt --format json > before.json
  warpload compare before.json after.json
  warpload compare before.json after.json --fail-above 5
  warpload compare before.json after.json --html changes.html")]
pub(crate) struct Arguments {
    /// Summary of the first replay
    a: PathBuf,

    /// Summary of the second replay
    b: PathBuf,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Maximum number of rows of the table in text; 20 by default
    #[arg(long, value_name = "N", value_parser = positive)]
    top: Option<usize>,

    /// Also write the result as a page for a browser, in one file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Show names of kernels as they are in the trace, not demangled
    #[arg(long)]
    no_demangle: bool,

    /// Exit with status 1 if the total change is above this percentage
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    fail_above: Option<f64>,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "expected a number of percent, as in 5 or 0.5".to_owned())
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let Arguments { a, b, .. } = &arguments;
    if arguments.html.as_deref().is_some_and(io::is_stdin) {
        bail!("the comparison goes to standard output; expected a file for the page, not `-`");
    }
    if io::is_stdin(a) && io::is_stdin(b) {
        bail!("standard input is one of the summaries, not both");
    }
    if arguments.top.is_some() && arguments.format == Format::Json {
        bail!("--top: JSON has all rows");
    }
    let page = arguments.html.as_deref();
    let page = page.map(|page| destination::target_as(page, HTML)).transpose()?;
    let [one, other] = [read_whole(a)?, read_whole(b)?];
    let mut comparison = Comparison::new(&one, &other)?;
    if arguments.no_demangle {
        comparison.rows.iter_mut().for_each(|row| row.demangled = None);
    }
    if let Some(to) = page {
        let names = [io::name(a), io::name(b)];
        to.write(comparison_html(&comparison, [&names[0], &names[1]]).as_bytes())?;
    }
    // A change from zero has no percentage, nor has one that is not known. They count as above any limit.
    let is_above = |percent| comparison.change.is_none_or(|change| change > percent);
    let is_worse = arguments.fail_above.is_some_and(is_above);
    let status = output.raise(if is_worse { Status::Failed } else { Status::Done });
    match arguments.format {
        Format::Json => output.json(&comparison)?,
        Format::Text => output.text(&comparison_text(&comparison, arguments.top.unwrap_or(20)))?,
    }
    Ok(status)
}

/// Reads a summary.
pub(crate) fn read(path: &Path) -> anyhow::Result<Summary> {
    parse(&read_bytes(path)?, path)
}

/// Reads a summary from JSON. Errors name the file.
pub(crate) fn parse(json: &[u8], path: &Path) -> anyhow::Result<Summary> {
    Summary::from_json(json).map_err(|error| match error {
        // It does not name the key at fault, because code that keeps track of keys takes a tenth of a megabyte.
        SummaryError::Json(error) => {
            let place = JsonError::from(&error).with_place();
            anyhow!("{}: not a summary of a replay: {place}", io::name(path))
        }
        error => anyhow!("{}: the summary is {}", io::name(path), visible(&error.to_string())),
    })
}

/// Reads the summary of a whole replay.
fn read_whole(path: &Path) -> anyhow::Result<Summary> {
    let summary = read(path)?;
    match &summary.shard {
        None => Ok(summary),
        Some(part) => bail!(
            "{}: the summary of {part}; expected a whole replay: `warpload merge` combines all shards \
             into one",
            io::name(path)
        ),
    }
}

/// Reads a file at once, because serde_json is slower on a reader if strings are long.
fn read_bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    let name = || io::name(path);
    let mut input =
        skip_mark(io::open_text(path, Progress::Never, io::SUMMARY)?).with_context(name)?;
    // A device such as `/dev/zero` is refused before it is held.
    if input.fill_buf().context("cannot be read").with_context(name)?.starts_with(b"\0") {
        bail!("{}: not a summary: a zero byte; expected JSON", name());
    }
    let is_regular = !io::is_stdin(path) && path.is_file();
    io::read_all(input, is_regular).with_context(name)
}
