//! What stores and atomics cost.

use super::context::Context;
use super::panel::Panel;
use super::rows::conflicts;
use super::table::{Cell, PcTable};
use super::text::{bytes, count, of, per};
use crate::trace::{ProgramCounter, TrafficCounts};

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
            row.summary.shared.map_or(Cell::Unknown, |shared| Cell::Mean(shared.wavefronts.mean))
        }),
        ("ideal", "ideal", |row| {
            let of_wavefronts = row.summary.shared.map(|shared| shared.ideal_wavefronts);
            let ideal = of_wavefronts.or(sectors(row).map(|(_, ideal)| ideal));
            ideal.map_or(Cell::Unknown, |ideal| each(row, ideal))
        }),
        ("excess", "beyond the ideal", |row| Cell::Count(excess(row) as u64)),
    ],
    sorted: "excess",
    weight: excess,
    heaviest: "with most sectors or wavefronts beyond the ideal",
};

/// Returns the sectors of global or of local memory and the ideal; `None` if it is neither.
fn sectors(row: &ProgramCounter<'_>) -> Option<(u64, u64)> {
    if let Some(local) = row.summary.local {
        return Some((local.sectors, local.ideal_sectors));
    }
    row.has_sectors().then(|| (row.sectors().round() as u64, row.summary.ideal_sectors))
}

fn each(row: &ProgramCounter<'_>, all: u64) -> Cell {
    Cell::Mean(per(all, row.summary.loads))
}

/// Returns the sectors, or in shared memory the wavefronts, beyond the ideal.
fn excess(row: &ProgramCounter<'_>) -> f64 {
    sectors(row).map_or_else(|| conflicts(row), |(all, ideal)| all.saturating_sub(ideal) as f64)
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
