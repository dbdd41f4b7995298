//! What the page shows first: numbers of the whole, and values that differ.

use super::context::{LONG_NAME, ReportPage};
use super::text::{bytes, count, cut, escape, of, per, percent};
use crate::{Digest, FaultCounts, LoadCounts, Summary};

/// Returns a tile: a number, its name and what it means.
fn tile(class: &str, label: &str, value: &str, detail: &str) -> String {
    format!(
        "<div class=\"tile {class}\"><span class=\"label\">{label}</span><strong>{value}</strong>\
         <span class=\"detail\">{detail}</span></div>\n"
    )
}

pub(super) fn headline(page: &ReportPage<'_>) -> String {
    let counts = &page.summary.counts;
    let skipped = &counts.skipped;
    let mut html = "<section aria-label=\"Overview\">\n<div class=\"tiles\">\n".to_owned();
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
    html += "</div>\n";
    html + &breakdown(counts, page.summary.digest) + "</section>\n"
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
            "</dd><dt>Unattributable</dt><dd>{} whose addresses cannot be given to lanes, counted \
             without sectors",
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
pub(super) fn mismatches(summary: &Summary) -> String {
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
