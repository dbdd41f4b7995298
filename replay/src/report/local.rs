//! What spills and local arrays cost.

use super::context::Context;
use super::panel::Panel;
use super::table::{Cell, PcTable};
use super::text::{count, of, per, percent};
use crate::{LocalCounts, ProgramCounter};

const TABLE: PcTable = PcTable {
    id: "local-loads",
    caption: "Loads of local memory by program counter",
    space: "local",
    counts: ["loads", "lanes/load"],
    columns: &[
        ("mean", "sectors/load", |row| {
            cell(row, |local| Cell::Mean(per(local.sectors, local.loads)))
        }),
        ("ideal", "ideal", |row| {
            cell(row, |local| Cell::Mean(per(local.ideal_sectors, local.loads)))
        }),
        ("all", "sectors", |row| cell(row, |local| Cell::Count(local.sectors))),
        ("waste", "wasted sectors", |row| Cell::Count(waste(row) as u64)),
    ],
    sorted: "waste",
    weight: waste,
    heaviest: "that waste most sectors",
};

fn cell(row: &ProgramCounter<'_>, cell: fn(LocalCounts) -> Cell) -> Cell {
    row.summary.local.map_or(Cell::Unknown, cell)
}

/// Returns the sectors beyond the ideal.
fn waste(row: &ProgramCounter<'_>) -> f64 {
    let waste = |local: LocalCounts| local.sectors.saturating_sub(local.ideal_sectors);
    row.summary.local.map_or(0, waste) as f64
}

pub(super) fn answer(context: &Context<'_>) -> Panel {
    let rows = &context.rows.local;
    let local = context.page.summary.counts.local;
    let mut body = format!(
        "<p class=\"note\">{} touched {}, and {} would do: efficiency {}. Local memory is taken to be \
         interleaved: word w of the 32 lanes lies side by side.</p>\n",
        of(local.loads, "load"),
        of(local.sectors, "sector"),
        count(local.ideal_sectors),
        percent(local.ideal_sectors, local.sectors)
    );
    if !rows.is_empty() {
        body += &TABLE.html(rows, context);
    }
    Panel {
        id: "local",
        tab: "Local",
        title: "Local memory: sectors of spills and arrays",
        rows: Some(rows.len()),
        body,
    }
}
