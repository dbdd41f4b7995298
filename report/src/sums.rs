//! Sums of the accesses by kernel and by line of the source.

use std::collections::BTreeMap;

use super::chart::share;
use super::findings::Cost;
use super::html::{Context, dimensions};
use super::rows::{MAX_KERNELS, MAX_ROWS, Totals, faults, listed, source};
use super::table::{Cell, by_weight, section, table};
use super::text::{bytes, count, of, per, percent};
use warpload_replay::{AccessCounts, LINE_BYTES, LaunchSummary, Row};

/// The sectors, and a bar on the scale of the most.
fn sectors(counts: &AccessCounts, most: &Totals) -> Option<Cell> {
    let amount = counts.sectors();
    let bar = share(amount, counts.excess_sectors(), most.of(Cost::GlobalSectors));
    (amount > 0).then(|| Cell::number(amount as f64, count(amount) + &bar))
}

fn sector_efficiency(counts: &AccessCounts) -> Option<Cell> {
    let [ideal, amount] = [counts.ideal_sectors(), counts.sectors()];
    (amount > 0).then(|| Cell::number(per(ideal, amount), percent(ideal, amount)))
}

fn wavefronts(counts: &AccessCounts, most: &Totals) -> Option<Cell> {
    let amount = counts.wavefronts();
    let excess = amount.saturating_sub(counts.ideal_wavefronts());
    let bar = share(amount, excess, most.of(Cost::SharedWavefronts));
    (amount > 0).then(|| Cell::number(amount as f64, count(amount) + &bar))
}

fn conflicts(counts: &AccessCounts) -> Option<Cell> {
    (counts.wavefronts() > 0).then(|| Cell::count(counts.conflicts()))
}

/// The section by kernel, or by launch, in launch order; nothing with a single one.
pub(crate) fn kernels(context: &Context<'_>) -> String {
    if !context.several {
        return String::new();
    }
    let all = &context.summary.launches;
    let rows = listed(context).filter_map(|number| context.summary.launch(number));
    let rows: Vec<(&LaunchSummary, AccessCounts)> =
        rows.map(|launch| (launch, launch.counts.all())).collect();
    let most = Totals::most(rows.iter().map(|(_, counts)| counts));
    let (one, heading) =
        if context.page.by_launch { ("launch", "Launches") } else { ("kernel", "Kernels") };
    let note = match all.len() - rows.len() {
        0 => String::new(),
        _ => format!(
            "Of {}, the {} with most accesses.",
            of(all.len() as u64, one),
            count(MAX_KERNELS as u64)
        ),
    };
    let several = |launches: u64| (launches > 1).then(|| Cell::count(launches));
    let body = table(
        "kernel-sums",
        "The sums of each kernel, in launch order",
        &[
            ("kernel", one, &|(launch, _): &(&LaunchSummary, AccessCounts)| {
                let name = context.numbered(launch.launch, launch.shown_name());
                let cell = Cell::code(&name, 80).sorted(launch.launch);
                // The filter matches both names.
                Some(if launch.demangled.is_some() { cell.title(&launch.kernel) } else { cell })
            }),
            ("launches", "launches", &|(launch, _)| several(launch.launches)),
            ("grid", "grid", &|(launch, _)| Some(Cell::text(dimensions(launch.grid)))),
            ("block", "block", &|(launch, _)| Some(Cell::text(dimensions(launch.block)))),
            ("accesses", "accesses", &|(_, counts)| Some(Cell::count(counts.accesses))),
            ("sectors", "sectors", &|(_, counts)| sectors(counts, &most)),
            ("efficiency", "sector efficiency", &|(_, counts)| sector_efficiency(counts)),
            ("wavefronts", "wavefronts", &|(_, counts)| wavefronts(counts, &most)),
            ("conflicts", "bank conflicts", &|(_, counts)| conflicts(counts)),
            ("footprint", "footprint", &|(launch, _)| {
                let lines = launch.counts.footprint?.lines.saturating_mul(LINE_BYTES);
                (lines > 0).then(|| Cell::number(lines as f64, bytes(lines)))
            }),
            ("faults", "faulty lanes", &|(_, counts)| faults(counts)),
        ],
        "kernel",
        &rows,
        |(launch, _)| format!(" data-k=\"{}\"", launch.launch),
    );
    section("kernels", heading, &note, &body)
}

/// The accesses of a line of the source.
struct SourceLine<'c> {
    /// A row of it.
    row: &'c Row,
    counts: AccessCounts,
    kinds: Vec<&'static str>,
}

/// The section by line of the source, worst first; nothing if no line is known.
pub(crate) fn source_lines(context: &Context<'_>) -> String {
    let mut lines: BTreeMap<_, SourceLine<'_>> = BTreeMap::new();
    for row in context.summary.rows.iter().filter(|row| row.code.source_line.is_some()) {
        let new = || SourceLine { row, counts: AccessCounts::default(), kinds: Vec::new() };
        let line = lines.entry((&row.code.source_file, row.code.source_line)).or_insert_with(new);
        line.counts += &row.counts;
        if !line.kinds.contains(&row.kind.plural()) {
            line.kinds.push(row.kind.plural());
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let lines: Vec<SourceLine<'_>> = lines.into_values().collect();
    let all = lines.len();
    let order = by_weight(&lines, |line| (line.counts.excess(), line.counts.sectors()));
    let lines: Vec<&SourceLine<'_>> =
        order.into_iter().take(MAX_ROWS).map(|place| &lines[place]).collect();
    let most = Totals::most(lines.iter().map(|line| &line.counts));
    let note = match all - lines.len() {
        0 => String::new(),
        _ => format!(
            "Of {}, the {MAX_ROWS} that cost most beyond the ideal.",
            of(all as u64, "line")
        ),
    };
    let body = table(
        "source-sums",
        "The sums of each line of the source, worst first",
        &[
            ("source", "line", &|line: &&SourceLine<'_>| source(line.row)),
            ("kinds", "accesses", &|line| Some(Cell::text(line.kinds.join(", ")))),
            ("accesses", "number", &|line| Some(Cell::count(line.counts.accesses))),
            ("sectors", "sectors", &|line| sectors(&line.counts, &most)),
            ("efficiency", "sector efficiency", &|line| sector_efficiency(&line.counts)),
            ("wavefronts", "wavefronts", &|line| wavefronts(&line.counts, &most)),
            ("conflicts", "bank conflicts", &|line| conflicts(&line.counts)),
            ("faults", "faulty lanes", &|line| faults(&line.counts)),
        ],
        "",
        &lines,
        |_| String::new(),
    );
    section("lines", "Source lines", &note, &body)
}
