//! [`replay_text`]: a replay on a screen: what is wasted, the counts, then tables of the instructions and the kernels
//! with the most waste. [`replay_csv`] writes all rows as CSV.

use std::cmp::Reverse;
use std::io::{self, Write};

use warpload::text::visible;
use warpload_replay::{
    AccessCounts, AccessKind, ConstantCounts, LaunchSummary, Row, SharedCounts, Summary,
    TraceCounts,
};

use super::findings::findings;
use super::text::of;
use super::text_table::{self, Column, Value, cell};
use warpload::text::plural;

/// The default number of rows of a table. With the counts, it fills a screen.
const ROWS: usize = 8;
/// The most findings, faults and mismatches to show; JSON has more of them.
const LISTED: usize = 5;

/// The order of the rows of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum TableOrder {
    /// Most sectors, wavefronts and repeats beyond the ideal
    #[default]
    Excess,
    /// Most sectors of global and local memory
    Sectors,
    /// Most accesses
    Accesses,
    /// Most lanes
    Lanes,
    /// Most bank conflicts of shared memory
    Conflicts,
    /// The lowest program counter, kernel by kernel in launch order
    Pc,
}

impl TableOrder {
    fn weight(self, counts: &AccessCounts) -> u64 {
        match self {
            Self::Excess => counts.excess(),
            Self::Sectors => counts.sectors(),
            Self::Accesses => counts.accesses,
            Self::Lanes => counts.lanes,
            Self::Conflicts => counts.conflicts(),
            Self::Pc => 0,
        }
    }
}

/// The order and the maximum number of a table's rows; without a number, 8 in text and all in CSV.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableRows {
    /// Their order.
    pub order: TableOrder,
    /// The most rows.
    pub most: Option<usize>,
}

impl TableRows {
    /// Sorts rows. Equal ones keep their order.
    fn sort<R>(self, rows: &mut [R], counts: impl Fn(&R) -> &AccessCounts) {
        rows.sort_by_key(|row| Reverse(self.order.weight(counts(row))));
    }
}

/// Returns a summary as text; `data` says what the loads read, such as `memory image app.json`. To show the launches of
/// a kernel as one, take [`Summary::by_kernel`].
#[must_use]
pub fn replay_text(summary: &Summary, rows: TableRows, data: &str) -> String {
    let mut text = head(summary);
    for (name, value) in facts(summary, data) {
        text += &format!("{name:<11} {value}\n");
    }
    text += &access_table(summary, TableRows { most: Some(rows.most.unwrap_or(ROWS)), ..rows });
    let mut kernels: Vec<KernelRow<'_>> = summary.launches.iter().map(KernelRow::new).collect();
    kernels.retain(|kernel| kernel.counts.accesses > 0);
    if kernels.len() > 1 {
        rows.sort(&mut kernels, |kernel| &kernel.counts);
        text += &table(&kernel_columns(), kernels, rows.most.unwrap_or(ROWS));
    }
    text + &first_ones(summary)
}

/// Returns the table of the instructions that access memory.
#[must_use]
pub fn access_table(summary: &Summary, rows: TableRows) -> String {
    let mut all: Vec<Shown<'_>> = summary.rows.iter().map(|row| Shown { row, summary }).collect();
    rows.sort(&mut all, |shown| &shown.row.counts);
    let mut columns = access_columns();
    if summary.launches.len() == 1 {
        columns.retain(|column| column.heading != "kernel");
    }
    table(&columns, all, rows.most.unwrap_or(usize::MAX))
}

/// Returns the first rows as a table, and how many more there are.
fn table<R>(columns: &[Column<R>], mut rows: Vec<R>, most: usize) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let more = rows.len().saturating_sub(most);
    rows.truncate(most);
    let more = if more > 0 { format!("          and {more} more\n") } else { String::new() };
    format!("\n{}{more}", text_table::text(columns, &rows))
}

/// The name of a kernel, with the number of its launch if others have the same name.
fn numbered(summary: &Summary, launch: &LaunchSummary) -> String {
    let name = launch.shown_name();
    let is_alone = summary.launches.iter().filter(|other| other.kernel == launch.kernel).nth(1);
    if is_alone.is_none() { name.to_owned() } else { format!("#{} {name}", launch.launch) }
}

/// The numbers of instructions, and what is wasted.
fn head(summary: &Summary) -> String {
    let counts = &summary.counts;
    let kinds = AccessKind::ALL.into_iter().map(|kind| (kind, counts.kind(kind).accesses));
    // Every kind that a kernel usually has, so that none of them is missed.
    let is_shown = |(kind, accesses): &(AccessKind, u64)| {
        *accesses > 0 || matches!(kind, AccessKind::Load | AccessKind::Store)
    };
    let kinds: Vec<String> = kinds
        .filter(is_shown)
        .map(|(kind, accesses)| {
            format!("{accesses} {}", if accesses == 1 { kind.name() } else { kind.plural() })
        })
        .collect();
    let unselected = match counts.unselected {
        0 => String::new(),
        accesses => format!("{accesses} not selected, "),
    };
    let mut text = format!(
        "{}: {}, {unselected}{}\n",
        plural(counts.instructions, "instruction"),
        kinds.join(", "),
        plural(counts.others, "other")
    );
    if !counts.not_replayed.is_empty() {
        let names: Vec<(&str, u64)> =
            counts.not_replayed.iter().map(|(name, times)| (&**name, *times)).collect();
        text += &format!("not replayed: {}\n", nonzero(&names));
    }
    let transfers = counts.transfers;
    if transfers.instructions > 0 {
        text += &format!(
            "TMA: {} with {} addresses moved {} bytes\n",
            plural(transfers.instructions, "instruction"),
            transfers.addresses,
            transfers.bytes
        );
    }
    text.push('\n');
    let findings = findings(summary);
    for finding in findings.iter().take(LISTED) {
        let kernel = match summary.launches.len() {
            1 => String::new(),
            _ => format!("{}: ", cell(&numbered(summary, finding.launch))),
        };
        text += &format!("{kernel}{}: {}\n", finding.in_words(), finding.place());
    }
    if findings.len() > LISTED {
        text +=
            &format!("and {}, which cost less\n", plural(findings.len() - LISTED, "other finding"));
    }
    if text.ends_with("\n\n") { text } else { text + "\n" }
}

/// The lines of a summary by name.
fn facts(summary: &Summary, data: &str) -> Vec<(&'static str, String)> {
    let counts = &summary.counts;
    let all = counts.all();
    let mut facts = Vec::new();
    let mut add = |name: &'static str, value: Option<String>| {
        facts.extend(value.map(|value| (name, value)));
    };
    if let [launch] = &summary.launches[..] {
        let times = match launch.launches {
            1 => String::new(),
            launches => format!(", {}", of(launches, "launch")),
        };
        add("kernel", Some(cell(launch.shown_name()) + &times));
    }
    add("opcodes", Some(opcodes(counts)));
    let space = all.by_space;
    add(
        "memories",
        Some(nonzero(&[
            ("global", space.global),
            ("local", space.local),
            ("shared", space.shared),
            ("constant", space.constant),
            ("unresolved", space.unresolved),
        ])),
    );
    for kind in AccessKind::ALL {
        add(kind.plural(), cost(counts.kind(kind)));
    }
    add(
        "footprint",
        counts.footprint.map(|footprint| {
            let pages = plural(footprint.pages, "page");
            format!("{pages} of 4 KiB, {} of 128 bytes", plural(footprint.lines, "line"))
        }),
    );
    let faults = all.lane_faults.iter().map(|(kind, lanes)| (kind.name(), *lanes));
    add("lane faults", Some(nonzero(&faults.collect::<Vec<_>>())));
    let selected = summary.selected.as_ref();
    add("selected", selected.map(|all| visible(&all.to_string()).into_owned()));
    add("shards", summary.shard.as_ref().map(ToString::to_string));
    let uniform = all.uniform;
    add(
        "uniform",
        (uniform.broadcast.max(uniform.divergent) > 0)
            .then(|| format!("{} broadcast, {} divergent", uniform.broadcast, uniform.divergent)),
    );
    add(
        "widths",
        (all.width_disagreements > 0).then(|| {
            format!(
                "of {} differ in the trace and in the opcode",
                of(all.width_disagreements, "access")
            )
        }),
    );
    add(
        "lanes",
        (all.unattributable > 0)
            .then(|| format!("of {} are unknown: not executed", of(all.unattributable, "access"))),
    );
    let values = all.values;
    add(
        "checked",
        (values.checked > 0).then(|| {
            let words = (values.checked_words, values.mismatched_words);
            format!(
                "{}, {} mismatches; {} values, {} of them differ",
                plural(values.checked, "load"),
                values.mismatches,
                words.0,
                words.1
            )
        }),
    );
    add(
        "values",
        (values.checked == 0 && values.accesses > 0)
            .then(|| format!("in the trace for {}, not compared", of(values.accesses, "access"))),
    );
    add("data", Some(data.to_owned()).filter(|data| !data.is_empty()));
    add("digest", summary.digest.map(|digest| digest.to_string()));
    facts.extend(summary.notes.iter().map(|note| ("note", visible(note).into_owned())));
    facts
}

/// The lanes of accesses of one kind, and their cost in each memory.
fn cost(counts: &AccessCounts) -> Option<String> {
    if counts.accesses == 0 {
        return None;
    }
    let mut parts = vec![format!("{}, {} bytes", plural(counts.lanes, "lane"), counts.bytes)];
    if let Some(global) = counts.global.filter(|global| global.sectors.sum > 0) {
        let (sectors, ideal) = (global.sectors.sum, global.ideal_sectors);
        let share = ratio(ideal, sectors);
        parts.push(format!("global {}, ideal {ideal}{share}", plural(sectors, "sector")));
    }
    let shared = counts.shared.as_deref();
    if let Some(shared) = shared.filter(|shared| shared.accesses > 0) {
        let SharedCounts { ideal_wavefronts: ideal, conflicts, .. } = *shared;
        let wavefronts = shared.wavefronts.sum;
        parts.push(format!(
            "shared {}, ideal {ideal}{}, {}",
            plural(wavefronts, "wavefront"),
            ratio(ideal, wavefronts),
            plural(conflicts, "bank conflict")
        ));
    }
    if let Some(shared) = shared.filter(|shared| shared.unknown > 0) {
        let unknown = of(shared.unknown, "access");
        parts.push(format!("wavefronts of {unknown} with lanes that share a word are unknown"));
    }
    if let Some(local) = counts.local.as_deref().filter(|local| local.accesses > 0) {
        let (sectors, ideal) = (local.sectors, local.ideal_sectors);
        let share = ratio(ideal, sectors);
        parts.push(format!("local {}, ideal {ideal}{share}", plural(sectors, "sector")));
    }
    if let Some(constant) = counts.constant.as_deref().filter(|constant| constant.accesses > 0) {
        let ConstantCounts { accesses, addresses, .. } = *constant;
        parts.push(format!("constant {addresses} addresses in {}", plural(accesses, "load")));
    }
    Some(parts.join("; "))
}

/// The first mismatches and faults.
fn first_ones(summary: &Summary) -> String {
    let name = |kernel: &str| {
        let launch = summary.launches.iter().find(|launch| &*launch.kernel == kernel);
        cell(launch.map_or(kernel, LaunchSummary::shown_name))
    };
    let mismatches = summary.first_mismatches.iter().take(LISTED).map(|one| {
        format!(
            "instruction {} {}+{} lane {} register {}: expected {}, got {}\n",
            one.instruction,
            name(&one.kernel),
            one.pc,
            one.lane,
            one.register,
            one.expected,
            one.got
        )
    });
    let faults = summary.first_faults.iter().take(LISTED).map(|one| {
        format!(
            "instruction {} {}+{} lane {}: {} at {}\n",
            one.instruction,
            name(&one.kernel),
            one.pc,
            one.lane,
            one.kind,
            one.address
        )
    });
    let mut text = String::new();
    let lists: [(&str, Vec<String>); 2] =
        [("mismatches", mismatches.collect()), ("lane faults", faults.collect())];
    for (name, lines) in lists {
        if !lines.is_empty() {
            text += &format!("\nfirst {name}\n{}", lines.concat());
        }
    }
    text
}

/// The opcodes with the most accesses, as many as fit on a line or two.
fn opcodes(counts: &TraceCounts) -> String {
    let opcodes = counts.by_opcode.iter().map(|(opcode, accesses)| (&**opcode, *accesses));
    let mut opcodes: Vec<(&str, u64)> = opcodes.collect();
    opcodes.sort_by_key(|(_, accesses)| Reverse(*accesses));
    let more = opcodes.len().saturating_sub(ROWS);
    opcodes.truncate(ROWS);
    nonzero(&opcodes) + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

fn nonzero(counts: &[(&str, u64)]) -> String {
    let shown = counts.iter().filter(|(_, count)| *count > 0);
    let shown: Vec<String> = shown.map(|(name, count)| format!("{} {count}", cell(name))).collect();
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}

fn ratio(ideal: u64, amount: u64) -> String {
    if amount == 0 {
        return String::new();
    }
    format!(" ({:.0} %)", 100.0 * ideal as f64 / amount as f64)
}

/// A mean with two digits; no value if the count is zero.
fn mean(sum: u64, of: u64) -> Value<'static> {
    if of == 0 { Value::None } else { Value::Number(sum as f64 / of as f64, 2) }
}

/// `amount`; no value if there is none, because 0 would look like a measurement.
fn nonzero_count(amount: u64) -> Value<'static> {
    if amount > 0 { Value::Count(amount) } else { Value::None }
}

macro_rules! columns {
    ($($heading:literal, $value:expr;)*) => {
        vec![$(Column { heading: $heading, value: $value }),*]
    };
}

/// Writes the rows of a summary as CSV. The first columns name a row, then come its counters and its code.
///
/// # Errors
/// Returns the error of `to`.
pub fn replay_csv(summary: &Summary, rows: TableRows, to: &mut dyn Write) -> io::Result<()> {
    let mut all: Vec<Shown<'_>> = summary.rows.iter().map(|row| Shown { row, summary }).collect();
    rows.sort(&mut all, |shown| &shown.row.counts);
    all.truncate(rows.most.unwrap_or(usize::MAX));
    let number = |number: Option<u32>| number.map_or(Value::None, |of| Value::Count(of.into()));
    let text =
        |text: Option<&str>| text.map_or(Value::None, |of| Value::Text(of.to_owned().into()));
    let keys = AccessCounts::columns();
    let before = ["launch", "kind", "space", "access_bytes", "pc", "opcode"];
    let after = [
        "sass",
        "ptx",
        "ptx_line",
        "ptx_column",
        "source_file",
        "source_line",
        "kernel",
        "demangled",
    ];
    let keys: Vec<&str> =
        before.into_iter().chain(keys.iter().map(String::as_str)).chain(after).collect();
    let values = all.iter().map(|Shown { row, summary }| {
        let code = &row.code;
        let demangled = summary.launch(row.launch).and_then(|launch| launch.demangled.as_deref());
        let mut values = vec![
            Value::Count(row.launch),
            Value::Text(row.kind.name().into()),
            Value::Text(row.space.name().into()),
            number(row.access_bytes),
            Value::Hex(row.pc.0),
            Value::Text((&*row.opcode).into()),
        ];
        let counted = row.counts.values().into_iter();
        values.extend(counted.map(|value| value.map_or(Value::None, Value::Count)));
        values.extend([
            text(code.sass.as_deref()),
            text(code.ptx.as_deref()),
            number(code.ptx_line),
            number(code.ptx_column),
            text(code.source_file.as_deref()),
            number(code.source_line),
            text(Some(&*row.kernel)),
            text(demangled),
        ]);
        values
    });
    text_table::csv(&keys, values, to)
}

/// A row, and the summary with its kernel's names.
struct Shown<'s> {
    row: &'s Row,
    summary: &'s Summary,
}

/// The columns of the table of instructions in text, with amounts per access.
fn access_columns<'s>() -> Vec<Column<Shown<'s>>> {
    columns! {
        "pc", |of| match of.row.code.ptx {
            Some(_) => Value::Shown(of.row.place()),
            None => Value::Hex(of.row.pc.0),
        };
        "instruction", |of| Value::Text(of.row.code.instruction().unwrap_or(&of.row.opcode).into());
        "access", |of| Value::Text(of.row.kind.of_space(of.row.space).into());
        "accesses", |of| Value::Count(of.row.counts.accesses);
        "lanes each", |of| {
            Value::Number(of.row.counts.lanes as f64 / of.row.counts.accesses.max(1) as f64, 1)
        };
        "sectors each", |of| of.row.counts.global.map_or(Value::None, |global| mean(global.sectors.sum, global.accesses));
        "ideal", |of| of.row.counts.global.map_or(Value::None, |global| mean(global.ideal_sectors, global.accesses));
        "wavefronts each", |of| shared(of, |shared| mean(shared.wavefronts.sum, shared.accesses));
        "min..max", |of| shared(of, |shared| {
            Value::Shown(format!("{}..{}", shared.wavefronts.min(), shared.wavefronts.max))
        });
        "ideal wavefronts", |of| shared(of, |shared| mean(shared.ideal_wavefronts, shared.accesses));
        "conflicts each", |of| shared(of, |shared| mean(shared.conflicts, shared.accesses));
        "local each", |of| of.row.counts.local.as_ref().map_or(Value::None, |local| mean(local.sectors, local.accesses));
        "ideal local", |of| of.row.counts.local.as_ref().map_or(Value::None, |local| mean(local.ideal_sectors, local.accesses));
        "addresses each", |of| match of.row.counts.constant.as_deref() {
            // One address is the minimum and not worth mentioning.
            Some(constant) if constant.addresses > constant.accesses => {
                mean(constant.addresses, constant.accesses)
            }
            _ => Value::None,
        };
        "kernel", |of| {
            let launch = of.summary.launch(of.row.launch);
            Value::Text(launch.map_or(of.row.kernel.to_string(), |launch| numbered(of.summary, launch)).into())
        };
        "source", |of| of.row.code.source().map_or(Value::None, |source| Value::Text(source.into()));
    }
}

/// A value about shared memory. None if an access does not reach it, or if its wavefronts are unknown.
fn shared<'v>(of: &Shown<'_>, value: fn(&SharedCounts) -> Value<'static>) -> Value<'v> {
    let shared = of.row.counts.shared.as_deref();
    let shared = shared.filter(|shared| shared.accesses > 0 && shared.unknown == 0);
    shared.map_or(Value::None, value)
}

/// A launch, or the launches of a kernel, with the counts of all accesses.
struct KernelRow<'s> {
    launch: &'s LaunchSummary,
    counts: AccessCounts,
}

impl<'s> KernelRow<'s> {
    fn new(launch: &'s LaunchSummary) -> Self {
        Self { launch, counts: launch.counts.all() }
    }
}

/// The columns of the table by kernel: sums of all accesses.
fn kernel_columns<'s>() -> Vec<Column<KernelRow<'s>>> {
    columns! {
        "launch", |of| Value::Count(of.launch.launch);
        "launches", |of| match of.launch.launches {
            1 => Value::None,
            launches => Value::Count(launches),
        };
        "kernel", |of| Value::Text(of.launch.shown_name().into());
        "accesses", |of| Value::Count(of.counts.accesses);
        "sectors", |of| nonzero_count(of.counts.sectors());
        "ideal", |of| nonzero_count(of.counts.ideal_sectors());
        "wavefronts", |of| nonzero_count(of.counts.wavefronts());
        "ideal", |of| nonzero_count(of.counts.ideal_wavefronts());
        "conflicts", |of| match of.counts.wavefronts() {
            0 => Value::None,
            _ => Value::Count(of.counts.conflicts()),
        };
    }
}
