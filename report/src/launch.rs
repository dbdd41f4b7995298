//! The part of a page that is about the launch of a kernel: its faults, and notes on what was not counted or checked.

use super::table::{Cell, LONG_NAME, section, table};
use super::text::{count, cut, escape};
use warpload_ptx::launch::{FaultTotal, KernelFault, KernelResult};

/// The most rows of the table.
const MAX_ROWS: usize = 1000;

/// Lines about the launch: what is wrong, and what is not known.
pub(crate) fn notes(result: &KernelResult, notes: &[String]) -> Vec<String> {
    let skipped =
        result.skipped.iter().take(MAX_ROWS).map(|skipped| {
            format!("{}: not executed: {}", skipped.at, cut(&skipped.text, LONG_NAME))
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

/// A row for each kind of fault at each instruction, most faults first; `None` if there are none.
pub(crate) fn faults(result: &KernelResult) -> Option<String> {
    let totals = &result.fault_totals;
    let rows = totals.iter().take(MAX_ROWS);
    let mut rows: Vec<_> =
        rows.filter_map(|total| Some((total, result.faults.get(total.first)?))).collect();
    if rows.is_empty() {
        return None;
    }
    rows.sort_by_key(|(total, _)| std::cmp::Reverse(total.count));
    let note = match totals.len() > MAX_ROWS {
        true => format!(
            "The first {} of {} kinds and instructions.",
            count(MAX_ROWS as u64),
            count(totals.len() as u64)
        ),
        false => String::new(),
    };
    let body = table(
        "fault-totals",
        "Faults of the launch",
        &[
            ("place", "PTX", &|(_, fault): &(&FaultTotal, &KernelFault)| {
                let column = f64::from(fault.at.column().unwrap_or(0)) / 1e6;
                let line = f64::from(fault.line()) + column;
                let place = fault.at.offset().map_or(line, |offset| offset as f64);
                Some(Cell::number(place, format!("<code>{}</code>", fault.at)))
            }),
            ("source", "source", &|(_, fault)| {
                fault.source().map(|source| Cell::code(&source, LONG_NAME))
            }),
            ("ptx", "instruction", &|(total, _)| Some(Cell::code(&total.text, 80))),
            ("kind", "kind", &|(total, _)| Some(Cell::text(total.kind.replace('_', " ")))),
            ("faults", "faults", &|(total, _)| Some(Cell::count(total.count).class("bad"))),
            ("first", "the first one", &|(_, fault)| {
                let ([x, y, z], [bx, by, bz]) = (fault.thread, fault.block);
                Some(Cell::text(format!(
                    "{} <span class=\"dim\">by thread ({x}, {y}, {z}) of block ({bx}, {by}, {bz}) in \
                     <code>{}</code></span>",
                    cut(&fault.to_string(), 2 * LONG_NAME),
                    cut(&fault.function, LONG_NAME)
                )).class("wide"))
            }),
        ],
        "",
        &rows,
        |_| String::new(),
    );
    Some(section("launch-faults", "Faults", &note, &body))
}
