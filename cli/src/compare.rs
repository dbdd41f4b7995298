//! `compare`: two replays, program counter by program counter.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use serde::Serialize;
use warpload::lines::skip_mark;
use warpload::trace::{Hex, PcSummary, Summary};

use super::demangled::Demangled;
use super::diagnostic;
use super::io::{self, Output};
use super::options::{Format, Progress, positive};
use super::status::Status;
use super::table::{self, Column, Value};

/// Compare the JSON summaries of two replays, program counter by program counter
///
/// Program counters are matched by kernel name, address and opcode; launches of one name are added
/// up. A change is the difference of sectors of global memory and wavefronts of shared memory, in
/// percent of the first replay's. The worst changes come first.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload replay app.wlt --format json > before.json
  warpload compare before.json after.json
  warpload compare before.json after.json --fail-above 5")]
pub(crate) struct Arguments {
    /// The summary of the first replay
    a: PathBuf,

    /// The summary of the second replay
    b: PathBuf,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// The most rows of the table of text
    #[arg(long, value_name = "N", value_parser = positive, default_value = "20")]
    top: usize,

    /// Show names of kernels as they are in the trace, instead of demangled
    #[arg(long)]
    no_demangle: bool,

    /// Exit with status 1 if the change of the whole is above so many percent
    #[arg(long, value_name = "PERCENT", value_parser = percent, allow_negative_numbers = true)]
    fail_above: Option<f64>,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "expected a number of percent, as in 5 or 0.5".to_owned())
}

/// Of each replay; `None` if it does not have that program counter.
type Pair = [Option<u64>; 2];

#[derive(Serialize)]
struct Comparison {
    loads: [u64; 2],
    sectors: [u64; 2],
    wavefronts: [u64; 2],
    per_pc: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    kernel: Arc<str>,
    pc: Hex,
    opcode: Arc<str>,
    loads: Pair,
    sectors: Pair,
    wavefronts: Pair,
    /// `None` if it grew from nothing.
    change: Option<f64>,
    /// By how much it grew, in sectors and wavefronts.
    #[serde(skip)]
    difference: i128,
    #[serde(skip)]
    demangled: Option<Arc<str>>,
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let Arguments { a, b, .. } = &arguments;
    if io::is_stdin(a) && io::is_stdin(b) {
        bail!("standard input is one of the summaries, not both");
    }
    let summaries = [read(a)?, read(b)?];
    let [one, other] = &summaries;
    if one.selected != other.selected {
        diagnostic::warning("the replays counted different loads: their selections differ");
    }
    let comparison = compare(&summaries, !arguments.no_demangle);
    let change = comparison.change();
    // From nothing to something is above any percentage.
    let is_above = |percent: f64| change.is_none_or(|change| change > percent);
    let is_worse = arguments.fail_above.is_some_and(is_above);
    let status = output.raise(if is_worse { Status::Failed } else { Status::Done });
    match arguments.format {
        Format::Json => output.json(&comparison)?,
        Format::Text => output.bytes(comparison.text(arguments.top).as_bytes())?,
    }
    Ok(status)
}

/// Reads the summary of a whole replay.
pub(crate) fn read_summary(path: &Path) -> anyhow::Result<Summary> {
    let name = || io::name(path);
    let input = skip_mark(io::open_text(path, Progress::Never)?).with_context(name)?;
    serde_json::from_reader(input).with_context(|| format!("{}: not a summary of a replay", name()))
}

fn read(path: &Path) -> anyhow::Result<Summary> {
    let summary = read_summary(path)?;
    if let Some(partial) = &summary.partial {
        bail!(
            "{}: the summary of shard {} of {}; expected that of a whole replay, which `warpload merge` \
             makes of all shards",
            io::name(path),
            partial.shard,
            partial.of
        );
    }
    Ok(summary)
}

fn compare(summaries: &[Summary; 2], demangles: bool) -> Comparison {
    let mut rows: BTreeMap<(&Arc<str>, Hex, &Arc<str>), Row> = BTreeMap::new();
    for (side, summary) in summaries.iter().enumerate() {
        for PcSummary { kernel, pc, opcode, loads, sectors, shared, .. } in &summary.per_pc {
            let row = rows.entry((kernel, *pc, opcode)).or_insert_with(|| Row {
                kernel: Arc::clone(kernel),
                pc: *pc,
                opcode: Arc::clone(opcode),
                loads: [None; 2],
                sectors: [None; 2],
                wavefronts: [None; 2],
                change: None,
                difference: 0,
                demangled: None,
            });
            let wavefronts = shared.map_or(0, |shared| shared.wavefronts.sum(shared.loads));
            for (sums, amount) in [
                (&mut row.loads, *loads),
                (&mut row.sectors, sectors.sum(*loads)),
                (&mut row.wavefronts, wavefronts),
            ] {
                sums[side] = Some(sums[side].unwrap_or(0).saturating_add(amount));
            }
        }
    }
    let mut per_pc: Vec<Row> = rows.into_values().collect();
    let names = per_pc.iter().map(|row| &row.kernel);
    let demangled = if demangles { Demangled::new(names) } else { Demangled::default() };
    for row in &mut per_pc {
        row.demangled = demangled.get(&row.kernel).cloned();
        let amounts = [row.sectors, row.wavefronts].map(|pair| pair.map(Option::unwrap_or_default));
        (row.change, row.difference) = change(&amounts);
    }
    per_pc.sort_by(|one, other| {
        let percent = |row: &Row| row.change.unwrap_or(f64::INFINITY);
        let by_change = percent(other).total_cmp(&percent(one));
        by_change.then_with(|| Reverse(one.difference).cmp(&Reverse(other.difference)))
    });
    let both = |amount: fn(&Summary) -> u64| [amount(&summaries[0]), amount(&summaries[1])];
    Comparison {
        loads: both(|summary| summary.counts.loads),
        sectors: both(|summary| summary.counts.sectors),
        wavefronts: both(|summary| summary.counts.shared.wavefronts),
        per_pc,
    }
}

/// Returns the difference of the sums of amounts in percent of the first one's, and the difference; `None`
/// percent if something came of nothing.
fn change(amounts: &[[u64; 2]]) -> (Option<f64>, i128) {
    let sum = |side: usize| amounts.iter().map(|pair| i128::from(pair[side])).sum::<i128>();
    let (before, difference) = (sum(0), sum(1) - sum(0));
    let percent = match (before, difference) {
        (_, 0) => Some(0.0),
        (0, _) => None,
        _ => Some(100.0 * difference as f64 / before as f64),
    };
    (percent, difference)
}

impl Comparison {
    /// Returns the change of sectors and wavefronts together.
    fn change(&self) -> Option<f64> {
        change(&[self.sectors, self.wavefronts]).0
    }

    fn text(&self, top: usize) -> String {
        let line = |name: &str, [a, b]: [u128; 2], change: Option<f64>| {
            format!("{name:<11} {a} -> {b} ({})\n", signed(change))
        };
        let one = |name: &str, pair: [u64; 2]| line(name, pair.map(u128::from), change(&[pair]).0);
        let together =
            [0, 1].map(|side| u128::from(self.sectors[side]) + u128::from(self.wavefronts[side]));
        let mut text = one("loads", self.loads)
            + &one("sectors", self.sectors)
            + &one("wavefronts", self.wavefronts)
            + &line("together", together, self.change());
        let changed = self.per_pc.iter().filter(|row| row.is_different()).collect::<Vec<_>>();
        if changed.is_empty() {
            return text + "\nno program counter has changed\n";
        }
        let rows = &changed[..top.min(changed.len())];
        text += &format!("\n{}", table::text(&columns(), rows));
        if rows.len() < changed.len() {
            text += &format!("          and {} more\n", changed.len() - rows.len());
        }
        text
    }
}

fn signed(change: Option<f64>) -> String {
    change.map_or_else(|| "new".to_owned(), |percent| format!("{percent:+.1} %"))
}

impl Row {
    fn is_different(&self) -> bool {
        [self.loads, self.sectors, self.wavefronts].iter().any(|[a, b]| a != b)
    }
}

fn columns<'r>() -> Vec<Column<&'r Row>> {
    fn pair([a, b]: Pair) -> Value<'static> {
        if a.unwrap_or(0) == 0 && b.unwrap_or(0) == 0 {
            return Value::None;
        }
        let side = |side: Option<u64>| side.map_or_else(|| "-".to_owned(), |n| n.to_string());
        Value::Shown(format!("{} -> {}", side(a), side(b)))
    }
    vec![
        Column { key: "", heading: "pc", value: |row| Value::Hex(row.pc.0) },
        Column { key: "", heading: "load", value: |row| Value::Text((&*row.opcode).into()) },
        Column { key: "", heading: "change", value: |row| Value::Shown(signed(row.change)) },
        Column { key: "", heading: "loads", value: |row| pair(row.loads) },
        Column { key: "", heading: "sectors", value: |row| pair(row.sectors) },
        Column { key: "", heading: "wavefronts", value: |row| pair(row.wavefronts) },
        Column {
            key: "",
            heading: "kernel",
            value: |row| Value::Text(row.demangled.as_ref().unwrap_or(&row.kernel).as_ref().into()),
        },
    ]
}
