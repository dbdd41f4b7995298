//! The tables by program counter and by kernel: their rows, columns and order.

use std::io::{self, Write};

use clap::ValueEnum;
use warpload_replay::{
    KernelSummary, LoadCounts, PcColumn, PcSharedCounts, PcSummary, PcValue, ProgramCounter,
    Replayed, SectorSummary, Summary,
};
use warpload_trace::OperationKind;

use super::table::{self, Column, Value};
use warpload_binary::names::Demangled;

/// What comes first in a table.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
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

/// A program counter, and how its kernel is named.
pub(crate) struct PcRow<'r> {
    counter: ProgramCounter<'r>,
    /// The number of its kernel in the whole trace.
    launch: usize,
    demangled: Option<&'r str>,
}

/// The rows of a replay.
pub(crate) struct PcRows<'r> {
    pub(crate) loads: Vec<PcRow<'r>>,
    /// Of stores, atomics and copies.
    pub(crate) others: Vec<PcRow<'r>>,
}

pub(crate) fn program_counters<'r>(
    replayed: &'r Replayed<'_>,
    demangled: &'r Demangled,
) -> PcRows<'r> {
    let names = &replayed.trace().contents().kernels;
    let row = |counter: ProgramCounter<'r>| {
        let name = names.get(counter.kernel).map_or("", |kernel| &kernel.name);
        let launch = replayed.trace().first_kernel() + counter.kernel;
        PcRow { demangled: demangled.get(name).map(|form| &**form), launch, counter }
    };
    PcRows {
        loads: replayed.program_counters().map(row).collect(),
        others: replayed.stores().chain(replayed.copies()).map(row).collect(),
    }
}

/// Sorts rows; those without what is asked for come last, and equal ones stay as they are.
pub(crate) fn sort_program_counters(rows: &mut [PcRow<'_>], by: Sort) {
    let weight = |row: &PcRow<'_>| {
        let counter = &row.counter;
        let summary = &counter.summary;
        let unless_global = |number| if counter.has_sectors() { number } else { LAST };
        match by {
            Sort::Excess => counter.waste(),
            Sort::Sectors => unless_global(counter.sectors()),
            Sort::Loads => summary.loads as f64,
            Sort::Lanes => summary.lanes as f64,
            Sort::Conflicts => conflicts(row).map_or(LAST, |conflicts| conflicts as f64),
            Sort::Pc => 0.0,
        }
    };
    rows.sort_by(|one, other| weight(other).total_cmp(&weight(one)));
}

const LAST: f64 = f64::NEG_INFINITY;

/// What a program counter's accesses took in shared memory, and their wavefronts; `None` for others, and if the
/// wavefronts of an atomic are not known.
fn wavefronts(row: &PcRow<'_>) -> Option<(PcSharedCounts, SectorSummary)> {
    let shared = row.counter.summary.shared?;
    Some((shared, shared.wavefronts?))
}

fn conflicts(row: &PcRow<'_>) -> Option<u64> {
    row.counter.summary.shared?.conflicts
}

fn kind(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Store => "store",
        OperationKind::Atomic => "atomic",
        OperationKind::Copy => "copy",
        _ => "load",
    }
}

fn count(count: Option<u64>) -> Value<'static> {
    count.map_or(Value::None, Value::Count)
}

/// Returns a mean with two digits; none without anything of which it is one.
fn mean(sum: u64, of: u64) -> Value<'static> {
    if of == 0 { Value::None } else { Value::Number(sum as f64 / of as f64, 2) }
}

macro_rules! columns {
    ($($heading:literal, $value:expr;)*) => {
        vec![$(Column { heading: $heading, value: $value }),*]
    };
}

/// Writes the table by program counter as CSV: the columns that name a row, then its counters, then its source.
pub(crate) fn pc_csv(rows: &[PcRow<'_>], to: &mut dyn Write) -> io::Result<()> {
    let counters = PcSummary::columns();
    let before: Vec<Column<PcRow<'_>>> = columns! {
    "kind", |row| Value::Text(kind(row.counter.operation.kind).into());
    "launch", |row| Value::Count(row.launch as u64);
    "pc", |row| Value::Hex(row.counter.pc.into());
    "opcode", |row| Value::Text((&*row.counter.summary.opcode).into());
    };
    let after: Vec<Column<PcRow<'_>>> = columns! {
    "sass", |row| row.counter.sass().map_or(Value::None, |sass| Value::Text(sass.into()));
    "source_file", |row| match row.counter.source() {
        Some(source) => Value::Text((&*source.file).into()),
        None => Value::None,
    };
    "source_line", |row| count(row.counter.source_line().map(u64::from));
    "kernel", |row| Value::Text((&*row.counter.summary.kernel).into());
    "demangled", |row| row.demangled.map_or(Value::None, |form| Value::Text(form.into()));
    };
    let keys: Vec<&str> = (before.iter().map(|column| column.heading))
        .chain(counters.iter().map(|column| column.name))
        .chain(after.iter().map(|column| column.heading))
        .collect();
    let counted = |row: &PcRow<'_>, column: &PcColumn| match (column.value)(&row.counter.summary) {
        PcValue::Count(count) => Value::Count(count),
        PcValue::Mean(mean) => Value::Number(mean, 2),
        _ => Value::None,
    };
    let values = rows.iter().map(|row| {
        let before = before.iter().map(|column| (column.value)(row));
        let counters = counters.iter().map(|column| counted(row, column));
        before.chain(counters).chain(after.iter().map(|column| (column.value)(row))).collect()
    });
    table::csv(&keys, values, to)
}

/// Returns the columns of the table by program counter in text, with amounts of one load.
pub(crate) fn pc_columns<'r>() -> Vec<Column<PcRow<'r>>> {
    columns! {
    "pc", |row| Value::Hex(row.counter.pc.into());
    "load", |row| match row.counter.sass() {
        Some(sass) => Value::Text(sass.into()),
        None => Value::Text((&*row.counter.summary.opcode).into()),
    };
    "loads", |row| Value::Count(row.counter.summary.loads);
    "lanes/load", |row| {
        let summary = &row.counter.summary;
        Value::Number(summary.lanes as f64 / summary.loads as f64, 1)
    };
    "sectors/load", |row| match row.counter.has_sectors() {
        true => Value::Number(row.counter.summary.sectors.mean, 2),
        false => Value::None,
    };
    "ideal/load", |row| match row.counter.has_sectors() {
        true => mean(row.counter.summary.ideal_sectors, row.counter.summary.loads),
        false => Value::None,
    };
    "wavefronts/load", |row| match wavefronts(row) {
        Some((shared, wavefronts)) => mean(wavefronts.sum(shared.loads), shared.loads),
        None => Value::None,
    };
    "min..max", |row| match wavefronts(row) {
        Some((shared, wavefronts)) if shared.loads > 0 => {
            Value::Shown(format!("{}..{}", wavefronts.min, wavefronts.max))
        }
        _ => Value::None,
    };
    "ideal wavefronts", |row| match wavefronts(row) {
        Some((shared, _)) => mean(shared.ideal_wavefronts, shared.loads),
        None => Value::None,
    };
    "conflicts/load", |row| match (row.counter.summary.shared, conflicts(row)) {
        (Some(shared), Some(conflicts)) => mean(conflicts, shared.loads),
        _ => Value::None,
    };
    "local/load", |row| match row.counter.summary.local {
        Some(local) => mean(local.sectors, local.loads),
        None => Value::None,
    };
    "ideal local", |row| match row.counter.summary.local {
        Some(local) => mean(local.ideal_sectors, local.loads),
        None => Value::None,
    };
    "addresses/load", |row| match row.counter.summary.constant {
        // One address a load goes without saying.
        Some(constant) if constant.addresses > constant.loads => {
            mean(constant.addresses, constant.loads)
        }
        _ => Value::None,
    };
    "kernel", |row| Value::Text(row.demangled.unwrap_or(&row.counter.summary.kernel).into());
    "source", |row| match (row.counter.source(), row.counter.source_line()) {
        (Some(source), _) => Value::Text(format!("{}:{}", source.file, source.line).into()),
        // The trace does not name the file.
        (None, Some(line)) => Value::Text(format!("line {line}").into()),
        (None, None) => Value::None,
    };
    }
}

/// A launch of a kernel, with its number.
pub(crate) struct KernelRow<'r>(usize, &'r KernelSummary);

/// Returns the launches of a summary that have loads.
pub(crate) fn kernels(summary: &Summary) -> Vec<KernelRow<'_>> {
    let launches = summary.kernels.iter().enumerate();
    let launches = launches.filter(|(_, kernel)| kernel.counts.loads > 0);
    launches.map(|(number, kernel)| KernelRow(number, kernel)).collect()
}

/// Sorts launches; equal ones stay as they are.
pub(crate) fn sort_kernels(rows: &mut [KernelRow<'_>], by: Sort) {
    let weight = |KernelRow(_, kernel): &KernelRow<'_>| {
        let LoadCounts { sectors, ideal_sectors, loads, lanes, shared, .. } = kernel.counts;
        match by {
            Sort::Excess => sectors.saturating_sub(ideal_sectors),
            Sort::Sectors => sectors,
            Sort::Loads => loads,
            Sort::Lanes => lanes,
            Sort::Conflicts => shared.conflicts,
            Sort::Pc => 0,
        }
    };
    rows.sort_by_key(|row| std::cmp::Reverse(weight(row)));
}

/// Returns an amount, if there is something of which it is one.
fn of(has_some: bool, amount: u64) -> Value<'static> {
    if has_some { Value::Count(amount) } else { Value::None }
}

/// Returns the columns of the table by kernel: sums of its loads, and of its stores and atomics at the
/// end.
pub(crate) fn kernel_columns<'r>() -> Vec<Column<KernelRow<'r>>> {
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
