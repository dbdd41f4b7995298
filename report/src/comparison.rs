//! [`comparison_html`]: a page with the changes between two replays.

use super::html::LONG_NAME;
use super::text::{count, cut, escape, of};
use warpload_replay::{ComparedRow, Comparison, percent_change};

/// The maximum number of program counters in the table.
const MAX_ROWS: usize = 1000;
/// Allows no script, because the page has only a table.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
const STYLE: &str = include_str!("page.css");

/// Returns the page of a comparison of two replays with those names, to be stored as UTF-8.
#[must_use]
pub fn comparison_html(comparison: &Comparison, names: [&str; 2]) -> String {
    let [a, b] = names.map(escape);
    let title = format!("{a} and {b}");
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} – warpload compare</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>{title}</h1>\n<p>A is {a}, B is {b}.</p>\n</header>\n<main>\n"
    );
    html += &whole(comparison);
    html += &program_counters(comparison);
    html += &format!(
        "</main>\n<footer>A change is the difference of sectors of global memory and wavefronts of \
         shared memory together, in percent of A's. Launches of kernels with one name are added up. \
         warpload {}</footer>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    html
}

fn head(caption: &str, headings: &[(&str, bool)]) -> String {
    let mut html = format!(
        "<section><h2>{caption}</h2>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" \
         aria-label=\"{caption}\"><table>\n<thead><tr>"
    );
    for (heading, is_number) in headings {
        let class = if *is_number { " class=\"n\"" } else { "" };
        html += &format!("<th scope=\"col\"{class}>{heading}</th>");
    }
    html + "</tr></thead>\n<tbody>\n"
}

const END: &str = "</tbody></table></div></section>\n";

fn whole(comparison: &Comparison) -> String {
    let Comparison { loads, sectors, wavefronts, copies, .. } = comparison;
    let headings = [("", false), ("A", true), ("B", true), ("change", true)];
    let mut html = head("The whole", &headings);
    let mut rows = vec![("loads", loads), ("sectors", sectors), ("wavefronts", wavefronts)];
    if *copies != [0; 2] {
        rows.extend([
            ("copies", copies),
            ("sectors of copies", &comparison.copy_sectors),
            ("wavefronts of copies", &comparison.copy_wavefronts),
        ]);
    }
    for (what, [a, b]) in rows {
        html += &format!(
            "<tr><td class=\"t\">{what}</td>{}{}{}</tr>\n",
            side(Some(*a)),
            side(Some(*b)),
            change(percent_change([*a, *b].map(u128::from)))
        );
    }
    let [a, b] = comparison.together();
    html += &format!(
        "<tr><td class=\"t\">sectors and wavefronts</td><td class=\"n\">{a}</td>\
         <td class=\"n\">{b}</td>{}</tr>\n",
        change(comparison.change())
    );
    html + END
}

fn program_counters(comparison: &Comparison) -> String {
    let changed: Vec<&ComparedRow> = comparison.changed().collect();
    if changed.is_empty() {
        return "<section><h2>Program counters</h2>\n<p class=\"note\">None has changed.</p></section>\n"
            .to_owned();
    }
    let headings = [
        ("kernel", false),
        ("pc", true),
        ("opcode", false),
        ("change", true),
        ("loads A", true),
        ("loads B", true),
        ("sectors A", true),
        ("sectors B", true),
        ("wavefronts A", true),
        ("wavefronts B", true),
    ];
    let mut html = String::new();
    if changed.len() > MAX_ROWS {
        html += &format!(
            "<p class=\"note\">Of {} that changed, the {MAX_ROWS} worst.</p>\n",
            of(changed.len() as u64, "program counter")
        );
    }
    html += &head("Program counters", &headings);
    for row in changed.iter().take(MAX_ROWS) {
        html += &format!(
            "<tr><td class=\"name\" title=\"{}\"><code>{}</code></td><td class=\"n\"><code>{}</code></td>\
             <td class=\"t\"><code>{}</code></td>{}",
            cut(row.shown_kernel(), LONG_NAME),
            cut(row.shown_kernel(), 48),
            row.pc,
            cut(&row.opcode, 48),
            change(row.change)
        );
        for pair in [row.loads, row.sectors, row.wavefronts] {
            html += &pair.map(side).concat();
        }
        html += "</tr>\n";
    }
    html + END
}

fn side(number: Option<u64>) -> String {
    match number {
        Some(number) => format!("<td class=\"n\">{}</td>", count(number)),
        None => "<td class=\"n dim\">-</td>".to_owned(),
    }
}

fn change(change: Option<f64>) -> String {
    match change {
        Some(percent) if percent > 0.0 => format!("<td class=\"n bad\">{percent:+.1} %</td>"),
        Some(percent) => format!("<td class=\"n\">{percent:+.1} %</td>"),
        None => "<td class=\"n bad\">new</td>".to_owned(),
    }
}
