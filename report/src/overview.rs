//! The whole replay: its [`verdict`] in words, the [`facts`] in numbers, and the first [`faults`] and [`mismatches`].

use super::findings::{Cost, Finding};
use super::html::Context;
use super::rows::{self, MAX_ROWS, heading_of_place, place};
use super::table::{Cell, LONG_NAME, section, table};
use super::text::{bytes, count, cut, escape, of, per, percent};
use warpload_replay::{AccessKind, FirstFault, Hex, LINE_BYTES, Row, ValueMismatch};

/// The most findings of the verdict.
pub(crate) const MAX_FINDINGS: usize = 6;

/// The sentences about what is wrong and wasted, worst first.
pub(crate) fn verdict(context: &Context<'_>) -> String {
    let mut lines = Vec::new();
    let values = context.summary.counts.loads.values;
    if values.mismatches > 0 {
        lines.push(format!(
            "<li class=\"bad\"><a href=\"#mismatches\"><strong>{} of {} with expected values got others\
             </strong></a></li>\n",
            count(values.mismatches),
            of(values.checked, "load")
        ));
    }
    let findings = &context.findings;
    lines.extend(findings.iter().take(MAX_FINDINGS).map(|finding| sentence(context, finding)));
    let note = match findings.len().saturating_sub(MAX_FINDINGS) {
        0 => String::new(),
        1 => {
            "<p class=\"note\">Another finding, which costs less, is marked below.</p>\n".to_owned()
        }
        more => format!(
            "<p class=\"note\">{more} more findings, which cost less, are marked below.</p>\n"
        ),
    };
    let body = if lines.is_empty() {
        format!("<p>{}</p>\n", nothing(context))
    } else {
        format!("<ol class=\"verdict\">\n{}</ol>\n{note}", lines.concat())
    };
    section("verdict", "Verdict", "", &body)
}

fn sentence(context: &Context<'_>, finding: &Finding<'_>) -> String {
    let Finding { launch, cost, amount, excess, worst, .. } = *finding;
    let kernel = match context.several {
        true => {
            let name = context.numbered(launch.launch, launch.shown_name());
            format!(" in <code>{}</code>", cut(&name, 80))
        }
        false => String::new(),
    };
    let total = context.totals.of(cost);
    let detail = match cost {
        Cost::Faults => {
            let first = worst.counts.first_fault.as_ref();
            first.map_or(String::new(), |first| {
                let kind = cut(&first.kind.replace('_', " "), LONG_NAME);
                format!("first {kind} at {}", first.address)
            })
        }
        _ => {
            let units = match cost {
                Cost::SharedWavefronts => "wavefronts",
                Cost::ConstantAddresses => "addresses",
                _ => "sectors",
            };
            let [amount, ideal] = [amount, amount - excess].map(count);
            let part = 100.0 * per(excess, total);
            format!("{amount} {units}, {ideal} would do: the difference is {part:.0} % of all")
        }
    };
    let source = worst.code.source().map(|source| format!(" in <code>{}</code>", cut(&source, 80)));
    let code = worst.code.instruction().unwrap_or(&worst.opcode);
    // The trace of a launch lacks the lanes with faults, so their rows have no first one.
    let detail = match detail.is_empty() {
        true => String::new(),
        false => format!("<br><span class=\"dim\">{detail}</span>"),
    };
    format!(
        "<li{}><strong>{}</strong>{kernel}: <a href=\"#row-{}\">{}</a> <code>{}</code>{}{detail}</li>\n",
        if cost == Cost::Faults { " class=\"bad\"" } else { "" },
        finding.in_words(),
        context.place(worst),
        finding.place(),
        cut(code, 120),
        source.unwrap_or_default()
    )
}

/// The sentence of a replay without findings.
fn nothing(context: &Context<'_>) -> String {
    let all = context.summary.counts.all();
    if all.accesses == 0 {
        return "No memory access was counted.".to_owned();
    }
    let mut costs = Vec::new();
    for (amount, ideal, unit) in [
        (all.sectors(), all.ideal_sectors(), "sector"),
        (all.wavefronts(), all.ideal_wavefronts(), "wavefront"),
    ] {
        if amount > ideal {
            costs.push(format!("of {}, {} would do", of(amount, unit), count(ideal)));
        } else if amount > 0 {
            costs.push(format!("{} would do with no fewer", of(amount, unit)));
        }
    }
    let verdict = if all.excess() == 0 { "Nothing is wasted" } else { "Little is wasted" };
    let costs = if costs.is_empty() { String::new() } else { format!(": {}", costs.join(", ")) };
    format!("<strong>{verdict}</strong>{costs}, and no lane faults.")
}

/// The counts of the whole replay.
pub(crate) fn facts(context: &Context<'_>) -> String {
    let summary = context.summary;
    let counts = &summary.counts;
    let all = counts.all();
    let mut html =
        "<dl class=\"facts\" aria-label=\"The counts of the whole replay\">\n".to_owned();
    let mut add = |name: &str, value: String, detail: String| {
        html += &format!(
            "<div><dt>{name}</dt><dd>{value} <span class=\"dim\">{detail}</span></dd></div>\n"
        );
    };
    let kinds = AccessKind::ALL.into_iter().map(|kind| (kind, counts.kind(kind).accesses));
    let kinds: Vec<String> = kinds
        .filter(|(_, accesses)| *accesses > 0)
        .map(|(kind, accesses)| {
            format!(
                "{} {}",
                count(accesses),
                if accesses == 1 { kind.name() } else { kind.plural() }
            )
        })
        .collect();
    let kinds = if kinds.is_empty() { "0".to_owned() } else { kinds.join(", ") };
    add("Accesses", kinds, format!("of {}", of(counts.instructions, "instruction")));
    for (name, amount, ideal) in [
        ("Sectors", all.sectors(), all.ideal_sectors()),
        ("Wavefronts", all.wavefronts(), all.ideal_wavefronts()),
    ] {
        if amount > 0 {
            add(
                name,
                count(amount),
                format!("ideal {}, efficiency {}", count(ideal), percent(ideal, amount)),
            );
        }
    }
    if all.wavefronts() > 0 {
        add("Bank conflicts", count(all.conflicts()), String::new());
    }
    if let Some(footprint) = counts.footprint.filter(|footprint| footprint.lines > 0) {
        let parts = [of(footprint.lines, "line"), of(footprint.pages, "page")];
        add("Footprint", bytes(footprint.lines.saturating_mul(LINE_BYTES)), parts.join(" in "));
    }
    add("Lane faults", count(all.lane_faults.all()), String::new());
    if all.values.checked > 0 {
        add(
            "Mismatches",
            count(all.values.mismatches),
            format!("in {}", of(all.values.checked, "checked load")),
        );
    }
    let uniform = all.uniform;
    if uniform.broadcast.saturating_add(uniform.divergent) > 0 {
        add(
            "Uniform loads",
            count(uniform.broadcast),
            format!("broadcast, {} divergent", count(uniform.divergent)),
        );
    }
    for (name, amount, detail) in [
        ("Without lane addresses", all.unattributable, "counted without cost"),
        ("Other width", all.width_disagreements, "in the trace than in the opcode"),
        ("Not selected", counts.unselected, ""),
    ] {
        if amount > 0 {
            add(name, of(amount, "access"), detail.to_owned());
        }
    }
    if counts.transfers.instructions > 0 {
        let transfers = counts.transfers;
        add(
            "TMA",
            of(transfers.instructions, "instruction"),
            format!("{}, {}", of(transfers.addresses, "address"), bytes(transfers.bytes)),
        );
    }
    let not_replayed = counts.not_replayed.iter().take(MAX_ROWS);
    let not_replayed: Vec<String> = not_replayed
        .map(|(name, times)| format!("<code>{}</code> {}", cut(name, 48), count(*times)))
        .collect();
    if !not_replayed.is_empty() {
        add("Not replayed", not_replayed.join(", "), String::new());
    }
    if let Some(digest) = summary.digest {
        add("Digest", format!("<code>{digest}</code>"), String::new());
    }
    html += "</dl>\n";
    let notes = summary.notes.iter().take(MAX_ROWS);
    html + &notes
        .map(|note| format!("<p class=\"note\">{}</p>\n", escape(note)))
        .collect::<String>()
}

/// The first fault of each row that has one.
pub(crate) fn faults(context: &Context<'_>) -> String {
    let rows = context.summary.rows.iter().filter(|row| row.counts.first_fault.is_some());
    let rows: Vec<&Row> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    let note = if rows.len() > MAX_ROWS {
        format!("Of {}, the first {MAX_ROWS}.", of(rows.len() as u64, "instruction"))
    } else {
        String::new()
    };
    let first = |row: &&Row, cell: &dyn Fn(&FirstFault) -> Cell| {
        row.counts.first_fault.as_ref().map(|first| cell(first))
    };
    let body = table(
        "first-faults",
        "The first fault of each instruction",
        &[
            ("kernel", "kernel", &|row: &&Row| context.several.then(|| context.kernel(row, 48))),
            ("pc", heading_of_place(&rows), &|row| Some(place(row))),
            ("code", "instruction", &|row| {
                Some(Cell::code(row.code.instruction().unwrap_or(&row.opcode), 60))
            }),
            ("faults", "faulty lanes", &|row| rows::faults(&row.counts)),
            ("kind", "the first", &|row| {
                first(row, &|fault| Cell::text(cut(&fault.kind.replace('_', " "), 48)))
            }),
            ("lane", "lane", &|row| first(row, &|fault| Cell::count(fault.lane as u64))),
            ("address", "address", &|row| {
                first(row, &|fault| {
                    Cell::number(fault.address.0 as f64, format!("<code>{}</code>", fault.address))
                })
            }),
            ("number", "instruction of the trace", &|row| {
                first(row, &|fault| Cell::count(fault.instruction))
            }),
        ],
        if context.several { "kernel" } else { "pc" },
        &rows[..rows.len().min(MAX_ROWS)],
        |_| String::new(),
    );
    section("faults", "Lane faults", &note, &body)
}

/// The first values that differ from the expected ones.
pub(crate) fn mismatches(context: &Context<'_>) -> String {
    let all = &context.summary.first_mismatches;
    if all.is_empty() {
        return String::new();
    }
    let hex = |number: Hex| Cell::number(number.0 as f64, format!("<code>{number}</code>"));
    let body = table(
        "first-mismatches",
        "The first values that differ from the expected ones",
        &[
            ("number", "instruction of the trace", &|of: &ValueMismatch| {
                Some(Cell::count(of.instruction))
            }),
            ("kernel", "kernel", &|of| Some(Cell::code(&of.kernel, 48))),
            ("pc", "pc", &|of| Some(hex(of.pc))),
            ("lane", "lane", &|of| Some(Cell::count(of.lane as u64))),
            ("register", "register", &|of| Some(Cell::count(of.register as u64))),
            ("expected", "expected", &|of| Some(hex(of.expected))),
            ("got", "got", &|of| Some(hex(of.got).class("bad"))),
        ],
        "number",
        &all[..all.len().min(MAX_ROWS)],
        |_| String::new(),
    );
    section(
        "mismatches",
        "Mismatches",
        "The first values that differ from the expected ones.",
        &body,
    )
}
