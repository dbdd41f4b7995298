//! [`replay_text`]: a replay on a screen: the counts, then tables of the program counters and the launches with the
//! most waste. [`replay_csv`] writes all program counters as CSV.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::io::{self, Write};

use warpload::text::visible;
use warpload_binary::names::Demangled;
use warpload_replay::{
    KernelSummary, LoadCounts, PcColumn, PcSharedCounts, PcSummary, PcValue, ProgramCounter,
    ReplayData, Replayed, SectorSummary, Summary, TrafficCounts,
};
use warpload_trace::OperationKind;

use super::text::plural;
use super::text_table::{self, Column, Value, cell};

/// The default number of rows of a table. With the counts, it fills a screen of 24 lines.
const ROWS: usize = 8;
/// The most faults and mismatches to show; JSON has more of them.
const LISTED: usize = 5;

/// The order of the rows of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum TableOrder {
    /// Most sectors of global memory beyond the ideal
    #[default]
    Excess,
    /// Most sectors of global memory
    Sectors,
    /// Most loads
    Loads,
    /// Most lanes
    Lanes,
    /// Most bank conflicts of shared memory
    Conflicts,
    /// The lowest program counter, kernel by kernel in launch order
    Pc,
}

/// The order and the maximum number of a table's rows; without a number, 8 in text and all in CSV.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableRows {
    /// Their order.
    pub order: TableOrder,
    /// The most rows.
    pub most: Option<usize>,
}

/// Returns the summary of a replay as text. For a summary without a digest, `data_options` names the options that would
/// provide data.
#[must_use]
pub fn replay_text(
    summary: &Summary,
    replayed: &Replayed<'_>,
    demangled: &Demangled,
    rows: TableRows,
    data_options: &str,
) -> String {
    let mut text = head(summary);
    for (name, value) in facts(summary, replayed, data_options) {
        if let Some(value) = value {
            text += &format!("{name:<11} {value}\n");
        }
    }
    let mut loads: Vec<PcRow<'_>> = replayed
        .program_counters()
        .map(|counter| PcRow::new(counter, replayed, demangled))
        .collect();
    sort_program_counters(&mut loads, rows.order);
    text += &table(&pc_columns(), loads, rows.most, "load");
    let mut kernels = kernels(summary);
    if kernels.len() > 1 {
        sort_kernels(&mut kernels, rows.order);
        text += &table(&kernel_columns(), kernels, rows.most, "load");
    }
    text + &first_ones(summary, demangled)
}

/// Returns tables of the loads, stores, atomics and copies of a replay by program counter. [`replay_text`] only has
/// room for the loads.
#[must_use]
pub fn memory_tables(replayed: &Replayed<'_>, demangled: &Demangled, rows: TableRows) -> String {
    let accesses = replayed.program_counters().chain(replayed.stores()).chain(replayed.copies());
    let mut accesses: Vec<PcRow<'_>> =
        accesses.map(|counter| PcRow::new(counter, replayed, demangled)).collect();
    sort_program_counters(&mut accesses, rows.order);
    let kinds =
        [OperationKind::Load, OperationKind::Store, OperationKind::Atomic, OperationKind::Copy];
    let mut columns = pc_columns();
    if replayed.trace().contents().kernels.len() == 1 {
        columns.retain(|column| column.heading != "kernel");
    }
    let each = kinds.map(|of| {
        let rows_of_kind = accesses.extract_if(.., |row| row.counter.operation.kind == of);
        table(&columns, rows_of_kind.collect(), rows.most, kind(of))
    });
    each.concat()
}

/// Returns the first rows as a table, and how many more there are.
/// `noun` is the word for an access in the headings.
fn table<R>(columns: &[Column<R>], mut rows: Vec<R>, most: Option<usize>, noun: &str) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let most = most.unwrap_or(ROWS);
    let more = rows.len().saturating_sub(most);
    rows.truncate(most);
    let more = if more > 0 { format!("          and {more} more\n") } else { String::new() };
    format!("\n{}{more}", text_table::text_about(columns, &rows, noun))
}

/// The numbers of stores and of atomic operations: of the selected ones if there is a selection.
pub(crate) fn stores_and_atomics(summary: &Summary) -> [u64; 2] {
    let LoadCounts { skipped, stores, atomics, .. } = &summary.counts;
    match summary.selected {
        None => [skipped.store, skipped.atomic],
        Some(_) => [stores, atomics].map(|traffic| traffic.map_or(0, |traffic| traffic.count)),
    }
}

/// The instructions and lanes.
fn head(summary: &Summary) -> String {
    let counts = &summary.counts;
    let LoadCounts { records, loads, skipped, lanes, bytes, .. } = counts;
    let [stores, atomics] = stores_and_atomics(summary);
    let mut text = format!(
        "{records} instructions: {loads} loads, {stores} stores, {atomics} atomics, {} others\n",
        skipped.other
    );
    let not_replayed: Vec<(&str, u64)> = counts.not_replayed().collect();
    if !not_replayed.is_empty() {
        text += &format!("not replayed: {}\n", nonzero(&not_replayed));
    }
    if let Some(tma) = counts.tma.filter(|tma| tma.records > 0) {
        text += &format!(
            "TMA: {} with {} addresses moved {} bytes\n",
            plural(tma.records, "instruction"),
            tma.addresses,
            tma.bytes
        );
    }
    text + &format!("{lanes} lanes asked for {bytes} bytes\n\n")
}

/// The lines of a summary by name; `None` leaves a line out.
fn facts<'s>(
    summary: &'s Summary,
    replayed: &Replayed<'_>,
    data_options: &str,
) -> Vec<(&'s str, Option<String>)> {
    let counts = &summary.counts;
    let space = &counts.by_space;
    let faults: Vec<(&str, u64)> =
        counts.lane_faults.iter().map(|(kind, lanes)| (kind.name(), *lanes)).collect();
    let options = replayed.options();
    let allocated = match options.get_data() {
        ReplayData::Image(_) => "the image's memory".to_owned(),
        _ => format!("every address below 2^{}", options.get_address_bits()),
    };
    let digest = match &summary.digest {
        Some(digest) => digest.to_string(),
        None => format!("none, because there were no data ({data_options})"),
    };
    let mut facts = vec![
        ("opcodes", Some(opcodes(counts))),
        (
            "memories",
            Some(nonzero(&[
                ("global", space.global),
                ("local", space.local),
                ("shared", space.shared),
                ("constant", space.constant),
                ("unresolved", space.unresolved),
            ])),
        ),
        (
            "global",
            Some(format!(
                "{} sectors of 32 bytes, {} lines of 128; ideal {} sectors{}",
                counts.sectors,
                counts.lines,
                counts.ideal_sectors,
                ratio(counts.ideal_sectors, counts.sectors)
            )),
        ),
        ("shared", shared(counts)),
        ("local", local(counts)),
        ("constant", constant(counts)),
        ("stores", traffic(counts.stores)),
        ("atomics", traffic(counts.atomics)),
        ("copies", copies(counts)),
        (
            "footprint",
            Some(format!(
                "{} of 4 KiB, {}",
                plural(counts.footprint.pages, "page"),
                plural(counts.footprint.lines, "line")
            )),
        ),
        ("lane faults", Some(nonzero(&faults))),
        ("selected", summary.selected.as_ref().map(|all| visible(&all.to_string()).into_owned())),
        ("allocated", Some(allocated)),
        ("uniform", uniform(counts)),
        ("widths", widths(counts)),
        ("lanes", unattributable(counts)),
        ("checked", checked(counts)),
        ("values", not_compared(counts)),
        ("digest", Some(digest)),
    ];
    facts.extend(summary.notes.iter().map(|note| ("note", Some(visible(note).into_owned()))));
    facts
}

fn shared(counts: &LoadCounts) -> Option<String> {
    let shared = Some(counts.shared).filter(|shared| shared.loads > 0)?;
    let ratio = ratio(shared.ideal_wavefronts, shared.wavefronts);
    let (wavefronts, ideal) = (shared.wavefronts, shared.ideal_wavefronts);
    let conflicts = shared.conflicts;
    Some(format!("{wavefronts} wavefronts; ideal {ideal}{ratio}, {conflicts} are bank conflicts"))
}

fn local(counts: &LoadCounts) -> Option<String> {
    let local = Some(counts.local).filter(|local| local.loads > 0)?;
    let ratio = ratio(local.ideal_sectors, local.sectors);
    let (sectors, ideal) = (local.sectors, local.ideal_sectors);
    Some(format!("{sectors} sectors of 32 bytes; ideal {ideal} sectors{ratio}"))
}

fn constant(counts: &LoadCounts) -> Option<String> {
    let constant = Some(counts.constant).filter(|constant| constant.loads > 0)?;
    Some(format!("{} addresses in {}", constant.addresses, plural(constant.loads, "load")))
}

/// The cost of stores or atomics in global memory.
fn traffic(traffic: Option<TrafficCounts>) -> Option<String> {
    let TrafficCounts { lanes, bytes, sectors, ideal_sectors, .. } =
        traffic.filter(|traffic| traffic.count > 0)?;
    let ratio = ratio(ideal_sectors, sectors);
    Some(format!(
        "{lanes} lanes, {bytes} bytes; {sectors} global sectors, ideal {ideal_sectors}{ratio}"
    ))
}

/// The cost of copies from global to shared memory on each side that the trace has.
fn copies(counts: &LoadCounts) -> Option<String> {
    let copies = counts.ldgsts.filter(|copies| copies.records > 0)?;
    let global = || {
        let (sectors, ideal) = (copies.sectors.0?, copies.ideal_sectors.0?);
        let ratio = ratio(ideal, sectors);
        let bytes = copies.bytes.0?;
        Some(format!("{bytes} bytes; {sectors} global sectors, ideal {ideal}{ratio}"))
    };
    let shared = || {
        let (wavefronts, conflicts) = (copies.wavefronts.0?, copies.conflicts.0?);
        Some(format!("{wavefronts} shared wavefronts, {conflicts} are bank conflicts"))
    };
    let costs: Vec<String> = global().into_iter().chain(shared()).collect();
    (!costs.is_empty()).then(|| costs.join("; "))
}

fn uniform(counts: &LoadCounts) -> Option<String> {
    let uniform = &counts.uniform;
    let is_there = uniform.broadcast + uniform.divergent > 0;
    is_there.then(|| format!("{} broadcast, {} divergent", uniform.broadcast, uniform.divergent))
}

fn widths(counts: &LoadCounts) -> Option<String> {
    let count = counts.width_disagreements;
    (count > 0).then(|| format!("{count} loads with another width in the trace than the opcode's"))
}

fn unattributable(counts: &LoadCounts) -> Option<String> {
    let count = counts.unattributable;
    (count > 0).then(|| format!("of {} are unknown: not executed", plural(count, "load")))
}

fn checked(counts: &LoadCounts) -> Option<String> {
    let LoadCounts { checked, mismatches, checked_words, mismatched_words, .. } = counts;
    (*checked > 0).then(|| {
        format!(
            "{checked} loads, {mismatches} mismatches; {checked_words} values, {mismatched_words} of them differ"
        )
    })
}

fn not_compared(counts: &LoadCounts) -> Option<String> {
    let is_there = counts.checked == 0 && counts.valued_loads > 0;
    is_there
        .then(|| format!("in the trace for {}, not compared", plural(counts.valued_loads, "load")))
}

/// The first mismatches and faults.
fn first_ones(summary: &Summary, demangled: &Demangled) -> String {
    let mismatches = summary.first_mismatches.iter().take(LISTED).map(|one| {
        let kernel = cell(demangled.or_name(&one.kernel));
        format!(
            "record {} {kernel}+{} lane {} register {}: expected {}, got {}\n",
            one.record, one.pc, one.lane, one.register, one.expected, one.got
        )
    });
    let faults = summary.first_faults.iter().take(LISTED).map(|one| {
        let kernel = cell(demangled.or_name(&one.kernel));
        format!(
            "record {} {kernel}+{} lane {}: {} at {}\n",
            one.record, one.pc, one.lane, one.kind, one.address
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

/// The opcodes with the most loads, as many as fit on a line or two.
fn opcodes(counts: &LoadCounts) -> String {
    let opcodes = counts.by_opcode.iter().map(|(opcode, loads)| (&**opcode, *loads));
    let mut opcodes: Vec<(&str, u64)> = opcodes.collect();
    opcodes.sort_by_key(|(_, loads)| Reverse(*loads));
    let more = opcodes.len().saturating_sub(ROWS);
    opcodes.truncate(ROWS);
    nonzero(&opcodes) + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

fn nonzero(counts: &[(&str, u64)]) -> String {
    let shown = counts.iter().filter(|(_, count)| *count > 0);
    let shown: Vec<String> = shown.map(|(name, count)| format!("{} {count}", cell(name))).collect();
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}

fn ratio(ideal: u64, sectors: u64) -> String {
    if sectors == 0 {
        return String::new();
    }
    format!(" ({:.0} %)", 100.0 * ideal as f64 / sectors as f64)
}

/// A program counter, and its kernel's name.
struct PcRow<'r> {
    counter: ProgramCounter<'r>,
    /// The number of its kernel in the whole trace.
    launch: usize,
    demangled: Option<&'r str>,
}

impl<'r> PcRow<'r> {
    fn new(
        counter: ProgramCounter<'r>,
        replayed: &'r Replayed<'_>,
        demangled: &'r Demangled,
    ) -> Self {
        let trace = replayed.trace();
        let name = trace.contents().kernels.get(counter.kernel).map_or("", |kernel| &kernel.name);
        let launch = counter.kernel;
        Self { demangled: demangled.get(name).map(|form| &**form), launch, counter }
    }

    fn summary(&self) -> &PcSummary {
        &self.counter.summary
    }

    /// The instruction from the code, or else its opcode.
    fn shown(&self) -> String {
        let code = self.counter.code();
        code.map_or_else(|| self.summary().opcode.to_string(), Cow::into_owned)
    }

    /// The accesses to shared memory and their wavefronts; `None` without such accesses, or if the wavefronts of an
    /// atomic are unknown.
    fn wavefronts(&self) -> Option<(&PcSharedCounts, SectorSummary)> {
        let shared = self.summary().shared.as_ref()?;
        Some((shared, shared.wavefronts?))
    }

    fn conflicts(&self) -> Option<(&PcSharedCounts, u64)> {
        let shared = self.summary().shared.as_ref()?;
        Some((shared, shared.conflicts?))
    }

    /// A value about global memory, if the accesses can reach it.
    fn of_global(&self, value: fn(&PcSummary) -> Value<'static>) -> Value<'static> {
        if self.counter.has_sectors() { value(self.summary()) } else { Value::None }
    }
}

/// Sorts rows. Rows without the value in question come last, and equal ones keep their order.
fn sort_program_counters(rows: &mut [PcRow<'_>], by: TableOrder) {
    const LAST: f64 = f64::NEG_INFINITY;
    let weight = |row: &PcRow<'_>| match by {
        TableOrder::Excess => row.counter.waste(),
        TableOrder::Sectors if row.counter.has_sectors() => row.counter.sectors(),
        TableOrder::Sectors => LAST,
        TableOrder::Loads => row.summary().loads as f64,
        TableOrder::Lanes => row.summary().lanes as f64,
        TableOrder::Conflicts => row.conflicts().map_or(LAST, |(_, conflicts)| conflicts as f64),
        TableOrder::Pc => 0.0,
    };
    rows.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
}

fn kind(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Store => "store",
        OperationKind::Atomic => "atomic",
        OperationKind::Copy => "copy",
        _ => "load",
    }
}

/// A mean with two digits; no value if the count is zero.
fn mean(sum: u64, of: u64) -> Value<'static> {
    if of == 0 { Value::None } else { Value::Number(sum as f64 / of as f64, 2) }
}

/// `amount`; no value if there are no such accesses, because 0 would look like a measurement.
fn of(has_some: bool, amount: u64) -> Value<'static> {
    if has_some { Value::Count(amount) } else { Value::None }
}

fn text<'r>(text: Option<impl Into<Cow<'r, str>>>) -> Value<'r> {
    text.map_or(Value::None, |text| Value::Text(text.into()))
}

macro_rules! columns {
    ($($heading:literal, $value:expr;)*) => {
        vec![$(Column { heading: $heading, value: $value }),*]
    };
}

/// Writes the program counters of a replay as CSV: loads, stores, atomics and copies. The first columns name a row,
/// then come its counters and its source line.
///
/// # Errors
/// Returns the error of `to`.
pub fn replay_csv(
    replayed: &Replayed<'_>,
    demangled: &Demangled,
    rows: TableRows,
    to: &mut dyn Write,
) -> io::Result<()> {
    let all = replayed.program_counters().chain(replayed.stores()).chain(replayed.copies());
    let mut all: Vec<PcRow<'_>> =
        all.map(|counter| PcRow::new(counter, replayed, demangled)).collect();
    sort_program_counters(&mut all, rows.order);
    all.truncate(rows.most.unwrap_or(usize::MAX));
    let counters = PcSummary::columns();
    let before: Vec<Column<PcRow<'_>>> = columns! {
        "kind", |row| Value::Text(kind(row.counter.operation.kind).into());
        "launch", |row| Value::Count(row.launch as u64);
        "pc", |row| Value::Hex(row.counter.pc.into());
        "opcode", |row| Value::Text((&*row.summary().opcode).into());
    };
    let after: Vec<Column<PcRow<'_>>> = columns! {
        "sass", |row| text(row.counter.sass());
        "ptx", |row| text(row.summary().ptx.as_deref());
        "ptx_line", |row| row.summary().ptx_line.map_or(Value::None, |line| Value::Count(line.into()));
        "ptx_column", |row| row.summary().ptx_column.map_or(Value::None, |column| Value::Count(column.into()));
        "source_file", |row| text(row.counter.source_file());
        "source_line", |row| row.counter.source_line().map_or(Value::None, |line| Value::Count(line.into()));
        "kernel", |row| Value::Text((&*row.summary().kernel).into());
        "demangled", |row| text(row.demangled);
    };
    let keys: Vec<&str> = (before.iter().map(|column| column.heading))
        .chain(counters.iter().map(|column| column.name))
        .chain(after.iter().map(|column| column.heading))
        .collect();
    let counted = |row: &PcRow<'_>, column: &PcColumn| match (column.value)(row.summary()) {
        PcValue::Count(count) => Value::Count(count),
        PcValue::Mean(mean) => Value::Number(mean, 2),
        _ => Value::None,
    };
    let values = all.iter().map(|row| {
        let before = before.iter().map(|column| (column.value)(row));
        let counters = counters.iter().map(|column| counted(row, column));
        before.chain(counters).chain(after.iter().map(|column| (column.value)(row))).collect()
    });
    text_table::csv(&keys, values, to)
}

/// The columns of the table by program counter in text, with amounts per load.
fn pc_columns<'r>() -> Vec<Column<PcRow<'r>>> {
    columns! {
        "pc", |row| match row.summary().ptx {
            Some(_) => Value::Shown(row.counter.place()),
            None => Value::Hex(row.counter.pc.into()),
        };
        "load", |row| Value::Text(row.shown().into());
        "loads", |row| Value::Count(row.summary().loads);
        "lanes/load", |row| Value::Number(row.summary().lanes as f64 / row.summary().loads as f64, 1);
        "sectors/load", |row| row.of_global(|of| Value::Number(of.sectors.mean, 2));
        "ideal/load", |row| row.of_global(|of| mean(of.ideal_sectors, of.loads));
        "wavefronts/load", |row| match row.wavefronts() {
            Some((shared, wavefronts)) => mean(wavefronts.sum(shared.loads), shared.loads),
            None => Value::None,
        };
        "min..max", |row| match row.wavefronts() {
            Some((shared, wavefronts)) if shared.loads > 0 => {
                Value::Shown(format!("{}..{}", wavefronts.min, wavefronts.max))
            }
            _ => Value::None,
        };
        "ideal wavefronts", |row| match row.wavefronts() {
            Some((shared, _)) => mean(shared.ideal_wavefronts, shared.loads),
            None => Value::None,
        };
        "conflicts/load", |row| match row.conflicts() {
            Some((shared, conflicts)) => mean(conflicts, shared.loads),
            None => Value::None,
        };
        "local/load", |row| match row.summary().local {
            Some(local) => mean(local.sectors, local.loads),
            None => Value::None,
        };
        "ideal local", |row| match row.summary().local {
            Some(local) => mean(local.ideal_sectors, local.loads),
            None => Value::None,
        };
        "addresses/load", |row| match row.summary().constant {
            // One address a load is the minimum and not worth mentioning.
            Some(constant) if constant.addresses > constant.loads => {
                mean(constant.addresses, constant.loads)
            }
            _ => Value::None,
        };
        "kernel", |row| Value::Text(row.demangled.unwrap_or(&row.summary().kernel).into());
        "source", |row| match (row.counter.source_file(), row.counter.source_line()) {
            // Modules of PTX have absolute paths.
            (Some(file), Some(line)) if row.summary().ptx.is_some() => {
                let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
                Value::Text(format!("{name}:{line}").into())
            }
            (Some(file), Some(line)) => Value::Text(format!("{file}:{line}").into()),
            // The trace does not name the file.
            (None, Some(line)) => Value::Text(format!("line {line}").into()),
            (_, None) => Value::None,
        };
    }
}

/// A launch of a kernel, with its number.
struct KernelRow<'r>(usize, &'r KernelSummary);

/// The launches of a summary that have loads.
fn kernels(summary: &Summary) -> Vec<KernelRow<'_>> {
    let launches = summary.kernels.iter().enumerate();
    let launches = launches.filter(|(_, kernel)| kernel.counts.loads > 0);
    launches.map(|(number, kernel)| KernelRow(number, kernel)).collect()
}

/// Sorts launches. Equal ones keep their order.
fn sort_kernels(rows: &mut [KernelRow<'_>], by: TableOrder) {
    let weight = |KernelRow(_, kernel): &KernelRow<'_>| {
        let LoadCounts { sectors, ideal_sectors, loads, lanes, shared, .. } = kernel.counts;
        match by {
            TableOrder::Excess => sectors.saturating_sub(ideal_sectors),
            TableOrder::Sectors => sectors,
            TableOrder::Loads => loads,
            TableOrder::Lanes => lanes,
            TableOrder::Conflicts => shared.conflicts,
            TableOrder::Pc => 0,
        }
    };
    rows.sort_by_key(|row| Reverse(weight(row)));
}

/// The columns of the table by kernel: sums of its loads, then of its stores and atomics.
fn kernel_columns<'r>() -> Vec<Column<KernelRow<'r>>> {
    columns! {
        "launch", |row| Value::Count(row.0 as u64);
        "kernel", |row| Value::Text(row.1.shown_name().into());
        "loads", |row| Value::Count(row.1.counts.loads);
        "sectors", |row| of(row.1.counts.sectors > 0, row.1.counts.sectors);
        "ideal", |row| of(row.1.counts.sectors > 0, row.1.counts.ideal_sectors);
        "wavefronts", |row| of(row.1.counts.shared.loads > 0, row.1.counts.shared.wavefronts);
        "ideal", |row| of(row.1.counts.shared.loads > 0, row.1.counts.shared.ideal_wavefronts);
        "conflicts", |row| of(row.1.counts.shared.loads > 0, row.1.counts.shared.conflicts);
        "local sectors", |row| of(row.1.counts.local.loads > 0, row.1.counts.local.sectors);
        "ideal", |row| of(row.1.counts.local.loads > 0, row.1.counts.local.ideal_sectors);
        "stored sectors", |row| {
            let both = [row.1.counts.stores, row.1.counts.atomics];
            let sectors = both.iter().flatten().map(|traffic| traffic.sectors).sum();
            of(sectors > 0, sectors)
        };
    }
}
