//! What stores and atomics cost.

use super::context::Context;
use super::panel::Panel;
use super::rows::conflicts;
use super::table::{Cell, PcTable};
use super::text::{bytes, count, of, per};
use crate::{ProgramCounter, TrafficCounts};

const TABLE: PcTable = PcTable {
    id: "stores-atomics",
    caption: "Stores and atomics by program counter",
    space: "global",
    counts: ["count", "lanes each"],
    columns: &[
        ("mean", "sectors each", |row| {
            sectors(row).map_or(Cell::Unknown, |(all, _)| each(row, all))
        }),
        ("wavefronts", "wavefronts each", |row| {
            let wavefronts = row.summary.shared.and_then(|shared| shared.wavefronts);
            wavefronts.map_or(Cell::Unknown, |wavefronts| Cell::Mean(wavefronts.mean))
        }),
        ("ideal", "ideal", |row| {
            let of_sectors = sectors(row).map(|(_, ideal)| ideal);
            let ideal = of_sectors.or_else(|| {
                let shared = row.summary.shared.filter(|shared| shared.wavefronts.is_some())?;
                Some(shared.ideal_wavefronts)
            });
            ideal.map_or(Cell::Unknown, |ideal| each(row, ideal))
        }),
        ("excess", "sectors beyond the ideal, bank conflicts", |row| match is_known(row) {
            true => Cell::Count(excess(row) as u64),
            false => Cell::Unknown,
        }),
    ],
    sorted: "excess",
    weight: excess,
    heaviest: "with most sectors beyond the ideal or bank conflicts",
};

/// Returns whether it is known what a row costs: of atomics whose lanes share words of shared memory it is not.
fn is_known(row: &ProgramCounter<'_>) -> bool {
    sectors(row).is_some() || row.summary.shared.is_some_and(|shared| shared.conflicts.is_some())
}

/// Returns the sectors of global and of local memory and the ideal; `None` if it is neither.
fn sectors(row: &ProgramCounter<'_>) -> Option<(u64, u64)> {
    let global =
        row.has_sectors().then(|| (row.sectors().round() as u64, row.summary.ideal_sectors));
    let local = row.summary.local.map(|local| (local.sectors, local.ideal_sectors));
    // Generic addresses can be in both.
    [global, local]
        .into_iter()
        .flatten()
        .reduce(|(all, ideal), more| (all + more.0, ideal + more.1))
}

fn each(row: &ProgramCounter<'_>, all: u64) -> Cell {
    Cell::Mean(per(all, row.summary.loads))
}

/// Returns the sectors beyond the ideal and the bank conflicts.
fn excess(row: &ProgramCounter<'_>) -> f64 {
    sectors(row).map_or(0.0, |(all, ideal)| all.saturating_sub(ideal) as f64) + conflicts(row)
}

pub(super) fn answer(context: &Context<'_>) -> Panel {
    let rows = &context.rows.stores;
    let counts = &context.page.summary.counts;
    let mut body = match (counts.stores, counts.atomics) {
        (Some(stores), Some(atomics)) => traffic("store", stores) + &traffic("atomic", atomics),
        _ => format!(
            "<p class=\"note\">{} and {}: this trace has no addresses of them.</p>\n",
            of(counts.skipped.store, "store"),
            of(counts.skipped.atomic, "atomic")
        ),
    };
    if !rows.is_empty() {
        body += &TABLE.html(rows, context);
    }
    let title = "Stores and atomics";
    Panel { id: "stores", tab: "Stores, atomics", title, rows: Some(rows.len()), body }
}

fn traffic(one: &str, traffic: TrafficCounts) -> String {
    format!(
        "<p class=\"note\">{}: {}, {}; {} of global memory, and {} would do.</p>\n",
        of(traffic.count, one),
        of(traffic.lanes, "lane"),
        bytes(traffic.bytes),
        of(traffic.sectors, "sector"),
        count(traffic.ideal_sectors)
    )
}
