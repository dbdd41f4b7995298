//! How well loads of global memory are coalesced.

use super::chart::{Bar, chart};
use super::context::{Context, LONG_NAME};
use super::heat;
use super::panel::Panel;
use super::rows::ideal;
use super::table::{Cell, PcTable, bar};
use super::text::{count, of, per, percent};
use crate::{KernelSummary, ProgramCounter};

const TABLE: PcTable = PcTable {
    id: "program-counters",
    caption: "Loads of global memory by program counter",
    space: "global",
    counts: ["loads", "lanes/load"],
    columns: &[
        ("mean", "sectors/load", |row| {
            let sectors = &row.summary.sectors;
            let bar = bar(ideal(row), sectors.mean, sectors.min, sectors.max);
            Cell::Shown(sectors.mean, format!("{:.2}{bar}", sectors.mean))
        }),
        ("ideal", "ideal", |row| Cell::Mean(ideal(row))),
        ("min", "min", |row| Cell::Count(row.summary.sectors.min)),
        ("max", "max", |row| Cell::Count(row.summary.sectors.max)),
        ("waste", "wasted sectors", |row| Cell::Count(row.waste().max(0.0).round() as u64)),
    ],
    sorted: "waste",
    weight: |row| row.waste(),
    heaviest: "that waste most sectors",
};

pub(super) fn answer(context: &Context<'_>) -> Panel {
    let (page, rows) = (context.page, &context.rows.global);
    let counts = &page.summary.counts;
    let mut body = format!(
        "<p class=\"note\">{} touched {}, and {} would do: efficiency {}.</p>\n",
        of(counts.by_space.global, "load"),
        of(counts.sectors, "sector"),
        count(counts.ideal_sectors),
        percent(counts.ideal_sectors, counts.sectors)
    );
    if context.kernels.is_none() {
        body += &sectors_chart(rows).unwrap_or_default();
    }
    let begins: Vec<u64> = page.survey.records.iter().map(|records| records.start).collect();
    // More lines would hide the map.
    let begins = if begins.len() <= 40 { begins } else { Vec::new() };
    body += "<h3>Global memory over time</h3>\n";
    body += &heat::heat_map(&page.survey.whole, 360.0, &begins)
        .unwrap_or_else(|| "<p class=\"note\">No load touched global memory.</p>\n".to_owned());
    if !rows.is_empty() {
        body += "<h3>Program counters</h3>\n";
        body += &TABLE.html(rows, context);
    }
    if context.kernels.is_some() {
        body += &kernels(context);
    }
    let title = "Global memory: sectors of loads";
    Panel { id: "global", tab: "Global", title, rows: Some(rows.len()), body }
}

fn sectors_chart(rows: &[ProgramCounter<'_>]) -> Option<String> {
    let bar = |row| Bar::new(row, row.summary.loads, row.summary.sectors, ideal(row));
    chart(&rows.iter().map(bar).collect::<Vec<_>>(), "sector")
}

/// Returns a part for each of the busiest kernels.
fn kernels(context: &Context<'_>) -> String {
    let page = context.page;
    let shown = page.survey.kernels.len();
    let mut html = String::new();
    let loading = page.summary.kernels.iter().filter(|kernel| kernel.counts.loads > 0).count();
    if shown > 0 && shown < loading {
        html += &format!(
            "<p class=\"note\">Of {} with loads, the {shown} that touch most sectors follow one by \
             one.</p>\n",
            of(loading as u64, "launch")
        );
    }
    for (kernel, map) in &page.survey.kernels {
        let Some(KernelSummary { counts, .. }) = page.summary.kernels.get(*kernel) else {
            continue;
        };
        let number = context.number(*kernel);
        html += &format!(
            "<section id=\"kernel-{number}\" data-k=\"{number}\"><h3>Kernel {number} <code>{}</code></h3>\n\
             <p class=\"note\">{}, {:.1} lanes per load; {}, efficiency {}; {}.</p>\n",
            context.name(*kernel, LONG_NAME),
            of(counts.loads, "load"),
            per(counts.lanes, counts.loads),
            of(counts.sectors, "sector"),
            percent(counts.ideal_sectors, counts.sectors),
            of(counts.footprint.pages, "page")
        );
        let all = &context.rows.global;
        let own = all.partition_point(|row| row.kernel < *kernel)
            ..all.partition_point(|row| row.kernel <= *kernel);
        html += &sectors_chart(&all[own]).unwrap_or_default();
        html += &heat::heat_map(map, 220.0, &[]).unwrap_or_default();
        html += "</section>\n";
    }
    html
}
