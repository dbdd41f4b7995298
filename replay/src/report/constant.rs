//! How many times loads of constant memory are issued.

use super::context::Context;
use super::panel::Panel;
use super::table::{Cell, PcTable};
use super::text::{of, per};
use crate::ProgramCounter;

const TABLE: PcTable = PcTable {
    id: "constant-loads",
    caption: "Loads of constant memory by program counter",
    space: "constant",
    counts: ["loads", "lanes/load"],
    columns: &[
        ("mean", "addresses/load", |row| {
            row.summary.constant.map_or(Cell::Unknown, |constant| {
                Cell::Mean(per(constant.addresses, constant.loads))
            })
        }),
        ("repeats", "repeats", |row| Cell::Count(repeats(row) as u64)),
    ],
    sorted: "repeats",
    weight: repeats,
    heaviest: "that repeat most",
};

/// Returns the addresses beyond one of each load.
fn repeats(row: &ProgramCounter<'_>) -> f64 {
    row.summary.constant.map_or(0, |constant| constant.addresses.saturating_sub(constant.loads))
        as f64
}

pub(super) fn answer(context: &Context<'_>) -> Panel {
    let rows = &context.rows.constant;
    let constant = context.page.summary.counts.constant;
    let mut body = format!(
        "<p class=\"note\">{} asked for {}. One address serves all lanes at once; each further one \
         repeats the load.</p>\n",
        of(constant.loads, "load"),
        of(constant.addresses, "different address")
    );
    if !rows.is_empty() {
        body += &TABLE.html(rows, context);
    }
    let title = "Constant memory: addresses of loads";
    Panel { id: "constant", tab: "Constant", title, rows: Some(rows.len()), body }
}
