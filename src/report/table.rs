//! The tables of program counters and of kernels.

use super::rows::{heaviest, ideal};
use super::text::{bytes, coordinate, count, cut, name, of, per, percent};
use crate::sass::SourceLine;
use crate::trace::{Contents, FaultCounts, ProgramCounter, Summary};

/// The most program counters in the table.
const MAX_ROWS: usize = 300;
/// The most kernels in the table.
const MAX_KERNELS: usize = 100;

/// A column's heading: its key for sorting, its text, and whether it holds numbers.
type Heading = (&'static str, &'static str, bool);

/// Returns the head of a table whose rows are sorted by the column and in the order of `sorted`.
fn head(id: &str, headings: &[Heading], sorted: (&str, &str)) -> String {
    let mut html =
        format!("<div class=\"scroll\"><table class=\"sortable\" id=\"{id}\">\n<thead><tr>");
    for (key, text, is_number) in headings {
        let class = if *is_number { " class=\"n\"" } else { "" };
        let order =
            if *key == sorted.0 { format!(" aria-sort=\"{}\"", sorted.1) } else { String::new() };
        html += &format!("<th scope=\"col\" data-key=\"{key}\"{class}{order}>{text}</th>");
    }
    html + "</tr></thead>\n<tbody>\n"
}

/// Returns a cell with a number, which has an attribute for sorting if `shown` differs.
fn number(value: impl std::fmt::Display, shown: &str) -> String {
    let value = value.to_string();
    if value == shown {
        return format!("<td class=\"n\">{shown}</td>");
    }
    format!("<td class=\"n\" data-v=\"{value}\">{shown}</td>")
}

/// Returns the table of program counters, those with most excessive sectors first.
pub(super) fn program_counters(rows: &[ProgramCounter<'_>]) -> String {
    let mut shown = heaviest(rows, MAX_ROWS, ProgramCounter::waste);
    shown.sort_by(|one, other| other.waste().total_cmp(&one.waste()));
    let has_sass = shown.iter().any(|row| row.sass().is_some());
    let has_source = shown.iter().any(|row| row.source().is_some());
    let mut headings: Vec<Heading> =
        vec![("kernel", "kernel", false), ("pc", "pc", true), ("opcode", "opcode", false)];
    if has_sass {
        headings.push(("sass", "SASS", false));
    }
    if has_source {
        headings.push(("source", "source", false));
    }
    headings.extend([
        ("loads", "loads", true),
        ("lanes", "lanes/load", true),
        ("mean", "sectors/load", true),
        ("ideal", "ideal", true),
        ("min", "min", true),
        ("max", "max", true),
        ("waste", "wasted sectors", true),
        ("faults", "lane faults", true),
    ]);
    let mut html = "<section id=\"pcs\"><h2>Program counters</h2>\n".to_owned();
    if shown.len() < rows.len() {
        html += &format!(
            "<p class=\"note\">Of {}, the {MAX_ROWS} that waste most sectors.</p>\n",
            of(rows.len() as u64, "program counter")
        );
    }
    html += &head("program-counters", &headings, ("waste", "descending"));
    for row in &shown {
        html += &program_counter(row, has_sass, has_source);
    }
    html + "</tbody></table></div></section>\n"
}

fn program_counter(row: &ProgramCounter<'_>, has_sass: bool, has_source: bool) -> String {
    let summary = &row.summary;
    let sectors = &summary.sectors;
    // The style sheet shows less; the table of kernels has the full name.
    let kernel = cut(&summary.kernel, 48);
    let mut html =
        format!("<tr><td class=\"name\" data-v=\"{0}\">{0} <code>{kernel}</code></td>", row.kernel);
    html += &number(row.pc, &format!("<code>{:#x}</code>", row.pc));
    html += &format!("<td><code>{}</code></td>", cut(&summary.opcode, 48));
    if has_sass {
        let sass = row.sass().unwrap_or_default();
        html += &format!("<td><code>{}</code></td>", cut(&sass, 80));
    }
    if has_source {
        html += &source(row);
    }
    html += &number(summary.loads, &count(summary.loads));
    let lanes = per(summary.lanes, summary.loads);
    html += &number(lanes, &format!("{lanes:.1}"));
    if row.has_sectors() {
        html += &number(sectors.mean, &format!("{:.2}{}", sectors.mean, bar(row)));
        html += &number(ideal(row), &format!("{:.2}", ideal(row)));
        html += &number(sectors.min, &sectors.min.to_string());
        html += &number(sectors.max, &sectors.max.to_string());
        let waste = row.waste().max(0.0).round() as u64;
        html += &number(waste, &count(waste));
    } else {
        // Sorted below zero.
        html += &"<td class=\"n dim\" data-v=\"-1\">-</td>".repeat(5);
    }
    html += &faults(&summary.lane_faults);
    html + "</tr>\n"
}

/// Returns a cell with the source line, sorted by file and line.
fn source(row: &ProgramCounter<'_>) -> String {
    let Some(SourceLine { file, line, .. }) = row.source() else {
        return "<td class=\"dim\" data-v=\"\">-</td>".to_owned();
    };
    // The whole path would hide the other columns.
    let short = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let shown = name(file);
    format!(
        "<td class=\"name\" data-v=\"{shown}:{line:010}\" title=\"{shown}:{line}\"><code>{}:{line}</code></td>",
        cut(short, 48)
    )
}

fn faults(kinds: &FaultCounts) -> String {
    let all = kinds.all();
    if all == 0 {
        return "<td class=\"n dim\">0</td>".to_owned();
    }
    format!(
        "<td class=\"n bad\" data-v=\"{all}\" title=\"outside window {}, outside allocation {}, \
         misaligned {}\">{}</td>",
        kinds.outside_window,
        kinds.outside_allocation,
        kinds.misaligned_address,
        count(all)
    )
}

/// Draws sectors per load, out of 32: the ideal, the mean and the range.
fn bar(row: &ProgramCounter<'_>) -> String {
    let sectors = &row.summary.sectors;
    if sectors.max == 0 {
        return "<svg class=\"bar\" viewBox=\"0 0 64 8\" aria-hidden=\"true\"></svg>".to_owned();
    }
    let scaled = |sectors: f64| coordinate(2.0 * sectors);
    let range = if sectors.min < sectors.max {
        format!(
            "<path class=\"range\" d=\"M{} 4H{}\"/>",
            scaled(sectors.min as f64),
            scaled(sectors.max as f64)
        )
    } else {
        String::new()
    };
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 64 8\" aria-hidden=\"true\"><path class=\"waste\" \
         d=\"M0 4h{}\"/><path class=\"ideal\" d=\"M0 4h{}\"/>{range}</svg>",
        scaled(sectors.mean),
        scaled(ideal(row).min(sectors.mean))
    )
}

/// Returns the table of kernels, in launch order.
pub(super) fn kernels(summary: &Summary, contents: &Contents) -> String {
    let headings: [Heading; 10] = [
        ("kernel", "kernel", false),
        ("grid", "grid", false),
        ("block", "block", false),
        ("records", "instructions", true),
        ("loads", "loads", true),
        ("sectors", "sectors", true),
        ("mean", "sectors/load", true),
        ("efficiency", "sector efficiency", true),
        ("footprint", "footprint", true),
        ("faults", "lane faults", true),
    ];
    let mut html = "<section id=\"kernels\"><h2>Kernels</h2>\n".to_owned();
    if summary.kernels.len() > MAX_KERNELS {
        html += &format!(
            "<p class=\"note\">The first {MAX_KERNELS} of {}.</p>\n",
            of(summary.kernels.len() as u64, "kernel")
        );
    }
    html += &head("kernel-launches", &headings, ("kernel", "ascending"));
    let kernels = summary.kernels.iter().zip(&contents.kernels).enumerate().take(MAX_KERNELS);
    for (i, (kernel, launch)) in kernels {
        let counts = &kernel.counts;
        let dimensions = |[x, y, z]: [u32; 3]| format!("{x} × {y} × {z}");
        let shown = name(&kernel.name);
        html += &format!(
            "<tr><td class=\"name\" data-v=\"{i}\" title=\"{shown}\">{i} <code>{shown}</code></td>\
             <td>{}</td><td>{}</td>",
            dimensions(launch.grid),
            dimensions(launch.block)
        );
        html += &number(counts.records, &count(counts.records));
        html += &number(counts.loads, &count(counts.loads));
        html += &number(counts.sectors, &count(counts.sectors));
        let mean = per(counts.sectors, counts.by_space.global);
        html += &number(mean, &format!("{mean:.2}"));
        let efficiency = per(counts.ideal_sectors, counts.sectors);
        html += &number(efficiency, &percent(counts.ideal_sectors, counts.sectors));
        let footprint = counts.footprint.lines * 128;
        html += &number(footprint, &bytes(footprint));
        html += &faults(&counts.lane_faults);
        html += "</tr>\n";
    }
    html + "</tbody></table></div></section>\n"
}
