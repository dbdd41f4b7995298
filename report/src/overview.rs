//! The overview of the whole trace: its headline, the breakdown of its counts, its kernels and its faults.

use super::html::{Context, LONG_NAME, Panel, ReportPage};
use super::replay_text::stores_and_atomics;
use super::rows::{MAX_KERNELS, SPACES, space};
use super::table::{Cell, Heading, PcTable, Table};
use super::text::{bytes, count, cut, escape, of, per, percent};
use warpload_replay::{Digest, FirstFault, LoadCounts, ProgramCounter, Summary};

/// A tile: a number with its name and an explanation.
fn tile(class: &str, label: &str, value: &str, detail: &str) -> String {
    format!(
        "<div class=\"tile {class}\"><span class=\"label\">{label}</span><strong>{value}</strong>\
         <span class=\"detail\">{detail}</span></div>\n"
    )
}

/// The sectors of loads, stores, atomics and copies together, and the ideal.
fn all_sectors(counts: &LoadCounts) -> [u64; 2] {
    let stores = [counts.stores, counts.atomics].into_iter().flatten();
    let stores = stores.map(|traffic| [traffic.sectors, traffic.ideal_sectors]);
    let copies = counts.ldgsts.iter();
    let copies = copies.map(|copies| [copies.sectors, copies.ideal_sectors]);
    let copies = copies.map(|known| known.map(|sum| sum.0.unwrap_or(0)));
    let loads = [counts.sectors, counts.ideal_sectors];
    stores.chain(copies).fold(loads, |[all, ideal], [more, more_ideal]| {
        [all.saturating_add(more), ideal.saturating_add(more_ideal)]
    })
}

pub(crate) fn headline(page: &ReportPage<'_>) -> String {
    let counts = &page.summary.counts;
    let skipped = &counts.skipped;
    let [stores, atomics] = stores_and_atomics(page.summary);
    let [sectors, ideal] = all_sectors(counts);
    // The efficiency of loads alone would hide a store that touches a sector for each lane.
    let accessed = if sectors == counts.sectors { "" } else { " of all accesses" };
    let mut html = "<section aria-label=\"Overview\">\n<div class=\"tiles\">\n".to_owned();
    let tiles = [
        (
            "loads",
            count(counts.loads),
            format!(
                "of {}: {} stores, {} atomics, {} others",
                of(counts.records, "instruction"),
                count(stores),
                count(atomics),
                count(skipped.other)
            ),
        ),
        (
            "lanes per load",
            format!("{:.1}", per(counts.lanes, counts.loads)),
            format!("{} asked for {}", of(counts.lanes, "lane"), bytes(counts.bytes)),
        ),
        (
            "sector efficiency",
            percent(ideal, sectors),
            format!("{}; {} would do", of(sectors, "sector") + accessed, count(ideal)),
        ),
        (
            "footprint",
            bytes(counts.footprint.lines * 128),
            format!(
                "{} in {}",
                of(counts.footprint.lines, "line"),
                of(counts.footprint.pages, "page")
            ),
        ),
    ];
    tiles.iter().for_each(|(label, value, detail)| html += &tile("", label, value, detail));
    let faults = &counts.lane_faults;
    let detail = format!(
        "{} outside window, {} outside allocation, {} misaligned",
        count(faults.outside_window),
        count(faults.outside_allocation),
        count(faults.misaligned_address)
    );
    let class = |count: u64| if count > 0 { "bad" } else { "" };
    html += &tile(class(faults.all()), "lane faults", &count(faults.all()), &detail);
    if let Some(result) = page.launch {
        let kinds = result.fault_kinds().into_iter();
        let kinds: Vec<String> = kinds
            .map(|(kind, faults)| format!("{} {}", count(faults), kind.replace('_', " ")))
            .collect();
        let detail = if kinds.is_empty() { result.verdict() } else { kinds.join(", ") };
        html += &tile(class(result.fault_count), "faults", &count(result.fault_count), &detail);
    }
    if counts.checked > 0 {
        let detail = format!("of {} with expected values", of(counts.checked, "load"));
        let mismatches = count(counts.mismatches);
        html += &tile(class(counts.mismatches), "mismatches", &mismatches, &detail);
    }
    html += "</div>\n";
    html + &breakdown(counts, page.summary.digest) + "</section>\n"
}

/// The loads by opcode and by memory, and the digest.
fn breakdown(counts: &LoadCounts, digest: Option<Digest>) -> String {
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
    if counts.unattributable > 0 {
        html += &format!(
            "</dd><dt>Unattributable</dt><dd>{} without an address per lane, counted without \
             sectors",
            of(counts.unattributable, "load")
        );
    }
    if let Some(tma) = counts.tma.filter(|tma| tma.records > 0) {
        html += &format!(
            "</dd><dt>TMA</dt><dd>{}: {}, {}",
            of(tma.records, "instruction"),
            of(tma.addresses, "address"),
            bytes(tma.bytes)
        );
    }
    if counts.width_disagreements > 0 {
        html += &format!(
            "</dd><dt>Widths</dt><dd>{} with another width in the trace than the opcode's",
            of(counts.width_disagreements, "load")
        );
    }
    html += "</dd><dt>Digest</dt><dd>";
    match digest {
        Some(digest) => html += &format!("<code>{digest}</code>"),
        None => html += "none, because there were no data",
    }
    html + "</dd></dl>\n"
}

/// A table of the first values that differ from the expected ones; empty if none do.
pub(crate) fn mismatches(summary: &Summary) -> String {
    if summary.first_mismatches.is_empty() {
        return String::new();
    }
    let mut html = "<section id=\"mismatches\"><h2>Mismatches</h2>\n<p class=\"note\">The first \
                    values that differ from the expected ones.</p>\n<div class=\"scroll\" \
                    role=\"region\" tabindex=\"0\" aria-label=\"Mismatches\"><table>\n<thead><tr>"
        .to_owned();
    for heading in ["instruction", "kernel", "pc", "lane", "register", "expected", "got"] {
        let class = if heading == "kernel" { "" } else { " class=\"n\"" };
        html += &format!("<th scope=\"col\"{class}>{heading}</th>");
    }
    html += "</tr></thead>\n<tbody>\n";
    for mismatch in &summary.first_mismatches {
        html += &format!(
            "<tr><th scope=\"row\">{}</th><td class=\"name\"><code>{}</code></td><td><code>{}</code></td>\
             <td>{}</td><td>{}</td><td><code>{}</code></td><td class=\"bad\"><code>{}</code></td>\
             </tr>\n",
            count(mismatch.record),
            cut(&mismatch.kernel, LONG_NAME),
            mismatch.pc,
            mismatch.lane,
            mismatch.register,
            mismatch.expected,
            mismatch.got
        );
    }
    html + "</tbody></table></div></section>\n"
}

/// The maximum length of a name.
const NAME: usize = 120;

const HEADINGS: [Heading<'_>; 12] = [
    ("kernel", "kernel", false),
    ("grid", "grid", false),
    ("block", "block", false),
    ("records", "instructions", true),
    ("loads", "loads", true),
    ("sectors", "sectors", true),
    ("efficiency", "sector efficiency", true),
    ("footprint", "footprint", true),
    ("stores", "stores, atomics", true),
    ("conflicts", "bank conflicts", true),
    ("local", "local sectors", true),
    ("faults", "lane faults", true),
];

/// The table of the listed kernels, in launch order; `None` if the trace has a single one.
pub(crate) fn kernel_table(context: &Context<'_>) -> Option<String> {
    let listed = context.kernels.as_ref()?;
    let all = &context.page.summary.kernels;
    let mut html = "<section id=\"kernels\"><h2>Kernels</h2>\n".to_owned();
    if listed.len() < all.len() {
        html += &format!(
            "<p class=\"note\">Of {}, the {} with most accesses.</p>\n",
            of(all.len() as u64, "kernel"),
            count(MAX_KERNELS as u64)
        );
    }
    let caption = "Kernels in launch order";
    let mut table = Table::new("kernel-launches", caption, &HEADINGS, ("kernel", "ascending"), "");
    let spaces = spaces(context, all.len());
    for &i in listed {
        let (Some(kernel), Some(launch)) = (all.get(i), context.page.contents.kernels.get(i))
        else {
            continue;
        };
        let counts = &kernel.counts;
        let has = |place: &usize| spaces[i] >> place & 1 == 1;
        let names: Vec<&str> = (0..SPACES.len()).filter(has).map(|place| SPACES[place]).collect();
        table.start(i, &names.join(" "));
        // The filter matches both names.
        let mangled = kernel.demangled.as_ref().map(|_| cut(&kernel.name, NAME));
        table.kernel(i, &context.name(i, NAME), mangled.as_deref());
        for [x, y, z] in [launch.grid, launch.block] {
            table.text(&format!("{x}×{y}×{z}"));
        }
        table.cell(&Cell::Count(counts.records));
        table.cell(&Cell::Count(counts.loads));
        table.cell(&Cell::Count(counts.sectors));
        let efficiency = per(counts.ideal_sectors, counts.sectors);
        let shown = percent(counts.ideal_sectors, counts.sectors);
        table.cell(&Cell::Shown(efficiency, shown));
        let footprint = counts.footprint.lines * 128;
        table.cell(&Cell::Shown(footprint as f64, bytes(footprint)));
        table.cell(&Cell::Count(counts.skipped.store + counts.skipped.atomic));
        table.cell(&Cell::Count(counts.shared.conflicts));
        table.cell(&Cell::Count(counts.local.sectors));
        table.faults(&counts.lane_faults);
        table.end();
    }
    Some(html + &table.finish() + "</section>\n")
}

/// The [`SPACES`] that each kernel accesses, one bit for each.
fn spaces(context: &Context<'_>, kernels: usize) -> Vec<u8> {
    let mut spaces = vec![0; kernels];
    for row in context.rows.all() {
        let place = SPACES.iter().position(|name| *name == space(row));
        if let (Some(place), Some(bits)) = (place, spaces.get_mut(row.kernel)) {
            *bits |= 1u8 << place;
        }
    }
    spaces
}

const FAULTS_TABLE: PcTable = PcTable {
    id: "faults-by-pc",
    caption: "Lane faults by program counter",
    space: "global",
    counts: ["accesses", "lanes each"],
    columns: &[
        ("first", "first in instruction", |row| first(row, |fault| Cell::Count(fault.record))),
        ("lane", "by lane", |row| first(row, |fault| Cell::Count(fault.lane as u64))),
        ("address", "at address", |row| {
            first(row, |FirstFault { kind, address, .. }| {
                let kind = kind.name().replace('_', " ");
                Cell::Shown(address.0 as f64, format!("<code>{address}</code> {kind}"))
            })
        }),
    ],
    sorted: "faults",
    weight: |row| row.summary.lane_faults.all() as f64,
    heaviest: "with most lane faults",
};

fn first(row: &ProgramCounter<'_>, cell: fn(FirstFault) -> Cell) -> Cell {
    row.summary.first_fault.map_or(Cell::Unknown, cell)
}

/// The faults of each program counter and its first one; `None` if there are none.
pub(crate) fn faults(context: &Context<'_>) -> Option<Panel> {
    let rows = context.rows.all().filter(|row| row.summary.first_fault.is_some());
    let rows: Vec<ProgramCounter<'_>> = rows.cloned().collect();
    if rows.is_empty() {
        return None;
    }
    let all = rows.iter().map(|row| row.summary.lane_faults.all()).fold(0, u64::saturating_add);
    let body = format!(
        "<p class=\"note\">{} at {}, each with its first one.</p>\n",
        of(all, "lane fault"),
        of(rows.len() as u64, "program counter")
    );
    Some(FAULTS_TABLE.panel(["faults", "Lane faults", "Lane faults"], &rows, body, context))
}
