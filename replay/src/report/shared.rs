//! Wavefronts and bank conflicts of shared memory.

use super::banks;
use super::chart::{Bar, chart};
use super::context::Context;
use super::panel::Panel;
use super::rows::conflicts;
use super::table::{Cell, PcTable, bar};
use super::text::{count, of, per};
use crate::{PcSharedCounts, ProgramCounter, SectorSummary};

const TABLE: PcTable = PcTable {
    id: "shared-loads",
    caption: "Loads of shared memory by program counter",
    space: "shared",
    counts: ["loads", "lanes/load"],
    columns: &[
        ("mean", "wavefronts/load", |row| {
            wavefronts(row, |all, ideal| {
                let bar = bar(ideal, all.mean, all.min, all.max);
                Cell::Shown(all.mean, format!("{:.2}{bar}", all.mean))
            })
        }),
        ("ideal", "ideal", |row| wavefronts(row, |_, ideal| Cell::Mean(ideal))),
        ("min", "min", |row| wavefronts(row, |all, _| Cell::Count(all.min))),
        ("max", "max", |row| wavefronts(row, |all, _| Cell::Count(all.max))),
        ("conflicts", "bank conflicts", |row| Cell::Count(conflicts(row) as u64)),
    ],
    sorted: "conflicts",
    weight: conflicts,
    heaviest: "with most bank conflicts",
};

/// Returns a cell of a row's wavefronts and the ideal.
fn wavefronts(row: &ProgramCounter<'_>, cell: fn(SectorSummary, f64) -> Cell) -> Cell {
    let cell = |shared: PcSharedCounts| Some(cell(shared.wavefronts?, ideal(&shared)));
    row.summary.shared.and_then(cell).unwrap_or(Cell::Unknown)
}

fn ideal(shared: &PcSharedCounts) -> f64 {
    per(shared.ideal_wavefronts, shared.loads)
}

pub(super) fn answer(context: &Context<'_>) -> Panel {
    let rows = &context.rows.shared;
    let shared = context.page.summary.counts.shared;
    let mut body = format!(
        "<p class=\"note\">{} took {}, and {} would do: {}.</p>\n",
        of(shared.loads, "load"),
        of(shared.wavefronts, "wavefront"),
        count(shared.ideal_wavefronts),
        of(shared.conflicts, "bank conflict")
    );
    if context.kernels.is_none() {
        let bars: Vec<Bar<'_>> = rows.iter().filter_map(wavefront_bar).collect();
        body += &chart(&bars, "wavefront").unwrap_or_default();
    }
    body += &banks::bank_map(context).unwrap_or_default();
    if !rows.is_empty() {
        body += "<h3>Program counters</h3>\n";
        body += &TABLE.html(rows, context);
    }
    let title = "Shared memory: wavefronts and bank conflicts";
    Panel { id: "shared", tab: "Shared", title, rows: Some(rows.len()), body }
}

fn wavefront_bar<'r>(row: &'r ProgramCounter<'r>) -> Option<Bar<'r>> {
    let shared = row.summary.shared?;
    Some(Bar::new(row, shared.loads, shared.wavefronts?, ideal(&shared)))
}
