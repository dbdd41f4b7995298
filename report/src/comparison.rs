//! The changes between two replays: [`comparison_html`], a page, and [`comparison_text`].

use super::html::{LONG_NAME, begin_page};
use super::table::{SECTION_END, begin_section};
use super::text::{count, cut, escape, of};
use super::text_table::{self, Column, Value};
use warpload_replay::{ComparedRow, Comparison, percent_change};

/// The maximum number of program counters in the table.
const MAX_ROWS: usize = 1000;
/// Returns the page of a comparison of two replays with these names, to be stored as UTF-8.
#[must_use]
pub fn comparison_html(comparison: &Comparison, names: [&str; 2]) -> String {
    let [a, b] = names.map(escape);
    let title = format!("{a} and {b}");
    let mut html = begin_page(&format!("{title} – warpload compare"), "");
    html += &format!("<header><h1>{title}</h1>\n<p>A is {a}, B is {b}.</p>\n</header>\n<main>\n");
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

fn whole(comparison: &Comparison) -> String {
    let Comparison { loads, sectors, wavefronts, copies, .. } = comparison;
    let headings = [("", false), ("A", true), ("B", true), ("change", true)];
    let mut html = begin_section("The whole", &headings);
    let mut rows = vec![("loads", loads), ("sectors", sectors), ("wavefronts", wavefronts)];
    if comparison.stores != [0; 2] {
        rows.extend([
            ("stores and atomics", &comparison.stores),
            ("sectors of stores", &comparison.store_sectors),
            ("wavefronts of stores", &comparison.store_wavefronts),
        ]);
    }
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
    html + SECTION_END
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
        ("accesses A", true),
        ("accesses B", true),
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
    html += &begin_section("Program counters", &headings);
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
    html + SECTION_END
}

fn side(number: Option<u64>) -> String {
    match number {
        Some(number) => format!("<td class=\"n\">{}</td>", count(number)),
        None => "<td class=\"n dim\">-</td>".to_owned(),
    }
}

fn change(change: Option<f64>) -> String {
    let class = if change.is_none_or(|percent| percent > 0.0) { "n bad" } else { "n" };
    format!("<td class=\"{class}\">{}</td>", signed(change))
}

/// Returns the changes as text: the changes of the whole, and a table of the `most` program counters with the largest
/// changes.
#[must_use]
pub fn comparison_text(comparison: &Comparison, most: usize) -> String {
    let line = |name: &str, amounts: [u128; 2]| {
        let change = signed(percent_change(amounts));
        format!("{name:<11} {} -> {} ({change})\n", amounts[0], amounts[1])
    };
    let Comparison { loads, sectors, wavefronts, copies, .. } = comparison;
    let mut text = String::new();
    for (name, amounts) in [("loads", loads), ("sectors", sectors), ("wavefronts", wavefronts)] {
        text += &line(name, amounts.map(u128::from));
    }
    if comparison.stores != [0; 2] {
        text += &line("stores", comparison.stores.map(u128::from));
        let costs =
            [("sectors", comparison.store_sectors), ("wavefronts", comparison.store_wavefronts)];
        for (name, amounts) in costs {
            text += &format!("  {}", line(name, amounts.map(u128::from)));
        }
    }
    if *copies != [0; 2] {
        text += &line("copies", copies.map(u128::from));
        let costs =
            [("sectors", comparison.copy_sectors), ("wavefronts", comparison.copy_wavefronts)];
        for (name, amounts) in costs {
            text += &format!("  {}", line(name, amounts.map(u128::from)));
        }
    }
    text += &line("together", comparison.together());
    let changed: Vec<&ComparedRow> = comparison.changed().collect();
    if changed.is_empty() {
        return text + "\nno program counter has changed\n";
    }
    let rows = &changed[..most.min(changed.len())];
    text += &format!("\n{}", text_table::text(&text_columns(), rows));
    if rows.len() < changed.len() {
        text += &format!("          and {} more\n", changed.len() - rows.len());
    }
    text
}

fn signed(change: Option<f64>) -> String {
    change.map_or_else(|| "new".to_owned(), |percent| format!("{percent:+.1} %"))
}

fn text_columns<'r>() -> Vec<Column<&'r ComparedRow>> {
    fn pair([a, b]: [Option<u64>; 2]) -> Value<'static> {
        if a.unwrap_or(0) == 0 && b.unwrap_or(0) == 0 {
            return Value::None;
        }
        let side = |side: Option<u64>| side.map_or_else(|| "-".to_owned(), |n| n.to_string());
        Value::Shown(format!("{} -> {}", side(a), side(b)))
    }
    vec![
        Column { heading: "pc", value: |row| Value::Hex(row.pc.0) },
        Column { heading: "access", value: |row| Value::Text((&*row.opcode).into()) },
        Column { heading: "change", value: |row| Value::Shown(signed(row.change)) },
        Column { heading: "accesses", value: |row| pair(row.loads) },
        Column { heading: "sectors", value: |row| pair(row.sectors) },
        Column { heading: "wavefronts", value: |row| pair(row.wavefronts) },
        Column { heading: "kernel", value: |row| Value::Text(row.shown_kernel().into()) },
    ]
}
