//! [`Page`] and [`html`]: the parts of the page, in order.

use super::text::{bytes, count, escape, name, of, per, percent};
use super::{chart, faults, heat, table};
use crate::trace::{
    Contents, Counts, Digest, FaultCounts, HeatMap, KernelSummary, ProgramCounter, Replayed,
    Summary, Survey,
};

/// What a page shows: a replay, its summary and its survey.
#[derive(Clone, Copy, Debug)]
pub struct Page<'p> {
    title: &'p str,
    data: &'p str,
    contents: &'p Contents,
    replayed: &'p Replayed<'p>,
    summary: &'p Summary,
    survey: &'p Survey,
}

impl<'p> Page<'p> {
    /// Creates the page of a replay, with its summary and its survey.
    #[must_use]
    pub fn new(replayed: &'p Replayed<'p>, summary: &'p Summary, survey: &'p Survey) -> Self {
        let contents = replayed.trace().contents();
        Self { title: "Trace", data: "", contents, replayed, summary, survey }
    }

    /// Sets the name of the trace, by default `Trace`.
    #[must_use]
    pub fn title(mut self, title: &'p str) -> Self {
        self.title = title;
        self
    }

    /// Sets what the page says about the origin of the data, by default nothing.
    #[must_use]
    pub fn data(mut self, data: &'p str) -> Self {
        self.data = data;
        self
    }
}

/// The style sheet.
const STYLE: &str = include_str!("page.css");
/// Sorts tables; nothing else needs a script.
const SCRIPT: &str = include_str!("page.js");
/// Nothing is fetched, whatever names in the trace contain.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// Returns the page, to be stored as UTF-8.
#[must_use]
pub fn html(page: &Page<'_>) -> String {
    let rows: Vec<_> = page.replayed.program_counters().collect();
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{} – warpload replay</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escape(page.title)
    );
    html += &header(page);
    html += &headline(page);
    html += &mismatches(page.summary);
    let is_single = page.contents.kernels.len() == 1;
    if let Some(chart) = chart::chart(&rows).filter(|_| is_single) {
        html += &format!("<section id=\"sectors\"><h2>Sectors per load</h2>\n{chart}</section>\n");
    }
    let begins: Vec<u64> = page.survey.records.iter().map(|records| records.start).collect();
    // More lines would hide the map.
    let begins = if begins.len() <= 40 { begins } else { Vec::new() };
    html += &heat_section(&page.survey.whole, &begins);
    html += &faults::faults(&page.survey.faulty, &rows, page.contents).unwrap_or_default();
    if !is_single {
        html += &table::kernels(page.summary, page.contents);
        html += &kernels(page, &rows);
    }
    html += &table::program_counters(&rows);
    html += &format!(
        "<footer>A sector is 32 bytes of global memory. The ideal is the fewest sectors that the \
         distinct bytes of a load fit into. warpload {}</footer>\n<script>\n{SCRIPT}</script>\n\
         </body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    html
}

fn header(page: &Page<'_>) -> String {
    let mut lines = Vec::new();
    if let [kernel] = page.contents.kernels.as_slice() {
        let dimensions = |[x, y, z]: [u32; 3]| format!("{x} × {y} × {z}");
        lines.push(format!(
            "<code>{}</code> <span class=\"dim\">grid {}, block {}</span>",
            name(&kernel.name),
            dimensions(kernel.grid),
            dimensions(kernel.block)
        ));
    }
    let mut facts = vec![escape(page.data)];
    if let Some(shard) = page.replayed.options().get_shard() {
        facts.push(format!("shard {} of {}", shard.index(), shard.count()));
    }
    if !page.contents.source.is_empty() {
        facts.push(format!("trace made by {}", escape(&page.contents.source)));
    }
    lines.push(format!("<span class=\"dim\">{}</span>", facts.join(" · ")));
    lines.extend(page.contents.notes.iter().map(|note| format!("Note: {}", escape(note))));
    let lines: Vec<String> = lines.into_iter().map(|line| format!("<p>{line}</p>\n")).collect();
    format!("<header><h1>{}</h1>\n{}</header>\n", escape(page.title), lines.concat())
}

/// Returns a tile: a number, its name and what it means.
fn tile(class: &str, label: &str, value: &str, detail: &str) -> String {
    format!(
        "<div class=\"tile {class}\"><span class=\"label\">{label}</span><strong>{value}</strong>\
         <span class=\"detail\">{detail}</span></div>\n"
    )
}

fn headline(page: &Page<'_>) -> String {
    let counts = &page.summary.counts;
    let skipped = &counts.skipped;
    let mut html = "<section class=\"tiles\">\n".to_owned();
    html += &tile(
        "",
        "loads",
        &count(counts.loads),
        &format!(
            "of {}: {} stores, {} atomics, {} others",
            of(counts.records, "instruction"),
            count(skipped.store),
            count(skipped.atomic),
            count(skipped.other)
        ),
    );
    html += &tile(
        "",
        "lanes per load",
        &format!("{:.1}", per(counts.lanes, counts.loads)),
        &format!("{} asked for {}", of(counts.lanes, "lane"), bytes(counts.bytes)),
    );
    html += &tile(
        "",
        "sector efficiency",
        &percent(counts.ideal_sectors, counts.sectors),
        &format!("{}; {} would do", of(counts.sectors, "sector"), count(counts.ideal_sectors)),
    );
    html += &tile(
        "",
        "footprint",
        &bytes(counts.footprint.lines * 128),
        &format!(
            "{} in {}",
            of(counts.footprint.lines, "line"),
            of(counts.footprint.pages, "page")
        ),
    );
    html += &faults_tile(&counts.lane_faults);
    if counts.checked > 0 {
        html += &tile(
            if counts.mismatches > 0 { "bad" } else { "" },
            "mismatches",
            &count(counts.mismatches),
            &format!("of {} with expected values", of(counts.checked, "load")),
        );
    }
    html += "</section>\n";
    html + &breakdown(counts, page.summary.digest)
}

fn faults_tile(faults: &FaultCounts) -> String {
    tile(
        if faults.all() > 0 { "bad" } else { "" },
        "lane faults",
        &count(faults.all()),
        &format!(
            "{} outside window, {} outside allocation, {} misaligned",
            count(faults.outside_window),
            count(faults.outside_allocation),
            count(faults.misaligned_address)
        ),
    )
}

/// Returns the list of loads by opcode and by memory, and the digest.
fn breakdown(counts: &Counts, digest: Option<Digest>) -> String {
    const MAX_OPCODES: usize = 24;
    let mut opcodes: Vec<_> = counts.by_opcode.iter().collect();
    opcodes.sort_by_key(|(_, loads)| std::cmp::Reverse(**loads));
    let chip = |text: &str, number: u64| {
        format!("<span class=\"chip\"><code>{}</code> {}</span>", escape(text), count(number))
    };
    let mut html = "<dl><dt>Opcodes</dt><dd>".to_owned();
    for (opcode, loads) in opcodes.iter().take(MAX_OPCODES) {
        html += &chip(opcode, **loads);
    }
    if opcodes.len() > MAX_OPCODES {
        html += &format!("and {} more", opcodes.len() - MAX_OPCODES);
    }
    html += "</dd><dt>Memories</dt><dd>";
    let space = &counts.by_space;
    for (name, loads) in [
        ("global", space.global),
        ("local", space.local),
        ("shared", space.shared),
        ("constant", space.constant),
        ("unresolved", space.unresolved),
    ] {
        if loads > 0 {
            html += &chip(name, loads);
        }
    }
    let mut not_replayed = counts.not_replayed().peekable();
    if not_replayed.peek().is_some() {
        html += "</dd><dt>Not replayed</dt><dd>";
        not_replayed.for_each(|(name, records)| html += &chip(name, records));
    }
    if counts.uniform.broadcast + counts.uniform.divergent > 0 {
        html += "</dd><dt>Uniform loads</dt><dd>";
        html += &chip("broadcast", counts.uniform.broadcast);
        html += &chip("divergent", counts.uniform.divergent);
    }
    if counts.width_disagreements > 0 {
        html += &format!(
            "</dd><dt>Widths</dt><dd>{} whose width in the trace was not the opcode's",
            of(counts.width_disagreements, "load")
        );
    }
    html += "</dd><dt>Digest</dt><dd>";
    match digest {
        Some(digest) => html += &format!("<code>{digest}</code>"),
        None => html += "none: there were no data",
    }
    html + "</dd></dl>\n"
}

/// Returns the table of the first values that differ from the expected ones; empty if none do.
fn mismatches(summary: &Summary) -> String {
    if summary.first_mismatches.is_empty() {
        return String::new();
    }
    let mut html = "<section id=\"mismatches\"><h2>Mismatches</h2>\n<p class=\"note\">The first \
                    values that differ from the expected ones.</p>\n<div class=\"scroll\"><table>\n\
                    <thead><tr><th>instruction</th><th>kernel</th><th>pc</th><th>lane</th>\
                    <th>register</th><th>expected</th><th>got</th></tr></thead>\n<tbody>\n"
        .to_owned();
    for mismatch in &summary.first_mismatches {
        html += &format!(
            "<tr><td>{}</td><td class=\"name\"><code>{}</code></td><td><code>{}</code></td>\
             <td>{}</td><td>{}</td><td><code>{}</code></td><td class=\"bad\"><code>{}</code></td>\
             </tr>\n",
            count(mismatch.record),
            name(&mismatch.kernel),
            mismatch.pc,
            mismatch.lane,
            mismatch.register,
            mismatch.expected,
            mismatch.got
        );
    }
    html + "</tbody></table></div></section>\n"
}

fn heat_section(map: &HeatMap, kernels: &[u64]) -> String {
    let picture = heat::heat_map(map, 360.0, kernels)
        .unwrap_or_else(|| "<p class=\"note\">No load touched global memory.</p>\n".to_owned());
    format!("<section id=\"heat\"><h2>Global memory over time</h2>\n{picture}</section>\n")
}

/// Returns a section for each of the busiest kernels.
fn kernels(page: &Page<'_>, rows: &[ProgramCounter<'_>]) -> String {
    let shown = page.survey.kernels.len();
    let mut html = String::new();
    let loading = page.summary.kernels.iter().filter(|kernel| kernel.counts.loads > 0).count();
    if shown < loading {
        html += &format!(
            "<p class=\"note\">Of {loading} launches with loads, the {shown} that touch most \
             sectors follow one by one.</p>\n"
        );
    }
    for (kernel, map) in &page.survey.kernels {
        let Some(KernelSummary { name: kernel_name, counts, .. }) =
            page.summary.kernels.get(*kernel)
        else {
            continue;
        };
        html += &format!(
            "<section id=\"kernel-{kernel}\"><h2>Kernel {kernel} <code>{}</code></h2>\n\
             <p class=\"note\">{}, {:.1} lanes per load; {}, efficiency {}; {}.</p>\n",
            name(kernel_name),
            of(counts.loads, "load"),
            per(counts.lanes, counts.loads),
            of(counts.sectors, "sector"),
            percent(counts.ideal_sectors, counts.sectors),
            of(counts.footprint.pages, "page")
        );
        let own: Vec<ProgramCounter<'_>> =
            rows.iter().filter(|row| row.kernel == *kernel).cloned().collect();
        html += &chart::chart(&own).unwrap_or_default();
        html += &heat::heat_map(map, 220.0, &[]).unwrap_or_default();
        html += "</section>\n";
    }
    html
}
