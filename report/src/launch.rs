//! The part of a page that is about the launch of a kernel: its faults, and notes on what was not counted or checked.

use super::html::{LONG_NAME, Panel};
use super::table::{Cell, Heading, Table};
use super::text::{count, cut, escape};
use warpload_ptx::machine::KernelResult;

/// The most rows of the table.
const MAX_ROWS: usize = 1000;

/// Lines about the launch: what is wrong, and what is not known.
pub(crate) fn notes(result: &KernelResult, notes: &[String]) -> Vec<String> {
    let skipped = result.skipped.iter().take(MAX_ROWS).map(|skipped| {
        format!("line {}: not executed: {}", skipped.line, cut(&skipped.text, LONG_NAME))
    });
    let unknown = result.unknown.iter().take(MAX_ROWS).map(|unknown| {
        let cause = cut(&unknown.cause.to_string(), LONG_NAME);
        format!(
            "{}: {} unknown bytes: {cause}",
            escape(&unknown.purpose.to_string()),
            count(unknown.bytes)
        )
    });
    let verdict = std::iter::once(escape(&result.verdict()));
    let findings = skipped.chain(unknown);
    verdict.chain(notes.iter().map(|note| escape(note))).chain(findings).collect()
}

/// A row for each kind of fault at each instruction; `None` if there are none.
pub(crate) fn faults(result: &KernelResult) -> Option<Panel> {
    const HEADINGS: [Heading<'_>; 6] = [
        ("place", "PTX line", true),
        ("source", "source", false),
        ("ptx", "PTX", false),
        ("kind", "kind", false),
        ("faults", "faults", true),
        ("first", "the first one", false),
    ];
    let totals = &result.fault_totals;
    if totals.is_empty() {
        return None;
    }
    let mut body = String::new();
    if totals.len() > MAX_ROWS {
        body += &format!(
            "<p class=\"note\">The first {} of {} kinds and instructions.</p>\n",
            count(MAX_ROWS as u64),
            count(totals.len() as u64)
        );
    }
    let order = ("faults", "descending");
    let mut table = Table::new("fault-totals", "Faults of the launch", &HEADINGS, order, "");
    let mut rows: Vec<_> = totals.iter().take(MAX_ROWS).collect();
    rows.sort_by_key(|total| std::cmp::Reverse(total.count));
    for total in rows {
        let Some(fault) = result.faults.get(total.first) else { continue };
        let ([x, y, z], [bx, by, bz]) = (fault.thread, fault.block);
        table.start(0, "");
        let place = f64::from(fault.line) + f64::from(fault.column.unwrap_or(0)) / 1e6;
        table.cell(&Cell::Shown(place, format!("<code>{}</code>", fault.place())));
        let source = fault.source();
        table.text(&source.map_or("-".to_owned(), |source| cut(&source, LONG_NAME)));
        table.text(&format!("<code>{}</code>", cut(&total.text, LONG_NAME)));
        table.text(&total.kind.replace('_', " "));
        table.cell(&Cell::Count(total.count));
        table.text(&format!(
            "{} <span class=\"dim\">by thread ({x}, {y}, {z}) of block ({bx}, {by}, {bz}) in \
             <code>{}</code></span>",
            cut(&fault.to_string(), 2 * LONG_NAME),
            cut(&fault.function, LONG_NAME)
        ));
        table.end();
    }
    body += &table.finish();
    let rows = Some(totals.len());
    Some(Panel { id: "launch-faults", tab: "Faults", title: "Faults", rows, body })
}
