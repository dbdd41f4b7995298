//! The changes between two replays: [`comparison_html`], a page, and [`comparison_text`].

use super::html::{begin_page, footer};
use super::table::{Cell, section, table};
use super::text::{count, escape, of};
use super::text_table::{self, Column, Value};
use warpload_replay::{ComparedRow, Comparison, percent_change};

/// The most instructions in the table.
const MAX_ROWS: usize = 1000;

/// Returns the page of a comparison of two replays with these names, to be stored as UTF-8.
#[must_use]
pub fn comparison_html(comparison: &Comparison, names: [&str; 2]) -> String {
    let [a, b] = names.map(escape);
    let title = format!("{a} and {b}");
    let mut html = begin_page(&format!("{title} – warpload compare"), "");
    html += &format!(
        "<header><h1>Comparison</h1>\n<p>A is <code>{a}</code>, B is <code>{b}</code>.</p>\n</header>\n\
         <main>\n"
    );
    let mut words = verdict(comparison);
    words[..1].make_ascii_uppercase();
    html += &section("verdict", "Verdict", "", &format!("<p><strong>{words}.</strong></p>\n"));
    html += &whole(comparison);
    html += &instructions(comparison);
    html += "</main>\n";
    html += &footer(
        "A change is the difference of sectors of global and local memory and wavefronts of shared memory \
         together, in percent of A's. Launches of kernels with one name are added up.",
    );
    html + "</body>\n</html>\n"
}

/// How many instructions have changed, in words.
fn verdict(comparison: &Comparison) -> String {
    let changed = comparison.changed().count() as u64;
    if changed == 0 {
        return "no instruction has changed".to_owned();
    }
    let only =
        |side: usize| comparison.changed().filter(|row| row.accesses[1 - side].is_none()).count();
    let only = [(only(1), "new"), (only(0), "gone")];
    let only: Vec<String> = only
        .iter()
        .filter(|(rows, _)| *rows > 0)
        .map(|(rows, what)| format!("{rows} {what}"))
        .collect();
    let only = if only.is_empty() { String::new() } else { format!(" ({})", only.join(", ")) };
    let verb = if changed == 1 { "has" } else { "have" };
    let cost = signed_if(comparison.is_known(), comparison.change);
    format!(
        "{} {verb} changed{only}; all sectors, wavefronts and addresses: {cost}",
        of(changed, "instruction")
    )
}

/// The sums of the kinds in both replays, as far as either has some, and their changes.
fn sums(comparison: &Comparison) -> Vec<(String, [u128; 2], String)> {
    let mut sums = Vec::new();
    let mut add = |name: String, amounts: [u128; 2], change: Option<String>| {
        let change = change.unwrap_or_else(|| signed(percent_change(amounts)));
        sums.push((name, amounts, change));
    };
    let mut together = [0; 2];
    for kind in &comparison.kinds {
        add(kind.kind.plural().to_owned(), kind.accesses.map(u128::from), None);
        let name = kind.kind.name();
        for (unit, amounts) in [
            ("sectors", kind.sectors),
            ("wavefronts", kind.wavefronts),
            ("addresses", kind.addresses),
        ] {
            if amounts != [0, 0] {
                add(format!("{name} {unit}"), amounts.map(u128::from), None);
            }
            together = [0, 1].map(|side| together[side] + u128::from(amounts[side]));
        }
        for (what, amounts) in
            [("faulty lanes", kind.faults), ("accesses of unknown cost", kind.unknown)]
        {
            if amounts != [0, 0] {
                add(format!("{name} {what}"), amounts.map(u128::from), None);
            }
        }
    }
    let change = signed_if(comparison.is_known(), comparison.change);
    add("together".to_owned(), together, Some(change));
    sums
}

fn whole(comparison: &Comparison) -> String {
    let amount = |amount: u128| Some(Cell::count(u64::try_from(amount).unwrap_or(u64::MAX)));
    let body = table(
        "sums",
        "The sums of both replays",
        &[
            ("what", "", &|(what, ..): &(String, [u128; 2], String)| {
                Some(Cell::text(what.clone()))
            }),
            ("a", "A", &|(_, [a, _], _)| amount(*a)),
            ("b", "B", &|(_, [_, b], _)| amount(*b)),
            ("change", "change", &|(_, amounts, shown)| {
                Some(change(percent_change(*amounts), shown))
            }),
        ],
        "",
        &sums(comparison),
        |_| String::new(),
    );
    section("whole", "The whole", "", &body)
}

fn instructions(comparison: &Comparison) -> String {
    let changed: Vec<&ComparedRow> = comparison.changed().collect();
    if changed.is_empty() {
        return String::new();
    }
    let note = match changed.len() > MAX_ROWS {
        true => format!(
            "Of {} that changed, the {MAX_ROWS} worst.",
            of(changed.len() as u64, "instruction")
        ),
        false => String::new(),
    };
    let pair = |pair: [Option<u64>; 2]| {
        let side = |side: Option<u64>| side.map_or_else(|| "-".to_owned(), count);
        let is_counted = pair.iter().any(|side| side.unwrap_or(0) > 0);
        let shown = if pair[0] == pair[1] { side(pair[0]) } else { pair.map(side).join(" → ") };
        is_counted.then(|| Cell::number(pair[1].unwrap_or(0) as f64, shown))
    };
    let body = table(
        "instructions",
        "The instructions that have changed, the largest change first",
        &[
            ("kernel", "kernel", &|row: &&ComparedRow| Some(Cell::code(row.shown_kernel(), 48))),
            ("pc", "pc", &|row| {
                Some(Cell::number(row.pc.0 as f64, format!("<code>{}</code>", escape(&row.place))))
            }),
            ("opcode", "opcode", &|row| Some(Cell::code(&row.opcode, 48))),
            ("access", "access", &|row| Some(Cell::text(row.kind.of_space(row.space)))),
            ("change", "change", &|row| Some(change(row.change, &change_of(row)))),
            ("accesses", "accesses", &|row| pair(row.accesses)),
            ("sectors", "sectors", &|row| pair(row.sectors)),
            ("wavefronts", "wavefronts", &|row| pair(row.wavefronts)),
            ("addresses", "addresses", &|row| pair(row.addresses)),
            ("faults", "faulty lanes", &|row| pair(row.faults)),
            ("unknown", "unknown cost", &|row| pair(row.unknown)),
        ],
        "",
        &changed[..changed.len().min(MAX_ROWS)],
        |_| String::new(),
    );
    section("rows", "Changed instructions", &note, &body)
}

fn change(percent: Option<f64>, shown: &str) -> Cell {
    let cell = Cell::number(percent.unwrap_or(f64::MAX), shown.to_owned());
    if percent.is_none_or(|percent| percent > 0.0) { cell.class("bad") } else { cell }
}

/// The change of an instruction: `new` if only B has it, `gone` if only A has it.
fn change_of(row: &ComparedRow) -> String {
    match row.accesses {
        [None, _] => "new".to_owned(),
        [_, None] => "gone".to_owned(),
        _ => signed_if(row.is_known(), row.change),
    }
}

/// A change, if it is known: accesses whose cost is unknown and lanes that fault hide it.
fn signed_if(is_known: bool, change: Option<f64>) -> String {
    if is_known { signed(change) } else { "not known".to_owned() }
}

/// A change in percent; `new` if there was nothing before.
fn signed(change: Option<f64>) -> String {
    change.map_or_else(|| "new".to_owned(), |percent| format!("{percent:+.1} %"))
}

/// Returns the changes as text: the changes of the whole, and a table of the `most` instructions with the largest
/// changes.
#[must_use]
pub fn comparison_text(comparison: &Comparison, most: usize) -> String {
    let sums = sums(comparison);
    let width = sums.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, [a, b], change) in &sums {
        text += &format!("{name:<width$}  {a} -> {b} ({change})\n");
    }
    text += &format!("\n{}\n", verdict(comparison));
    let changed: Vec<&ComparedRow> = comparison.changed().collect();
    if changed.is_empty() {
        return text;
    }
    let rows = &changed[..most.min(changed.len())];
    text += &format!("\n{}", text_table::text(&text_columns(), rows));
    if rows.len() < changed.len() {
        text += &format!("          and {} more\n", changed.len() - rows.len());
    }
    text
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
        Column { heading: "pc", value: |row| Value::Shown(row.place.clone()) },
        Column { heading: "instruction", value: |row| Value::Text((&*row.opcode).into()) },
        Column { heading: "access", value: |row| Value::Whole(row.kind.of_space(row.space)) },
        Column { heading: "change", value: |row| Value::Shown(change_of(row)) },
        Column { heading: "accesses", value: |row| pair(row.accesses) },
        Column { heading: "sectors", value: |row| pair(row.sectors) },
        Column { heading: "wavefronts", value: |row| pair(row.wavefronts) },
        Column { heading: "addresses", value: |row| pair(row.addresses) },
        Column { heading: "faulty lanes", value: |row| pair(row.faults) },
        Column { heading: "unknown cost", value: |row| pair(row.unknown) },
        Column { heading: "kernel", value: |row| Value::Text(row.shown_kernel().into()) },
    ]
}
