//! A map as text: a grid, coloured by thread on a terminal.

use std::fmt::Write;

use warpload_ptx::tensor::{Half, TensorLoad};

use super::drawing::{Panel, base, headings, memory_columns, panels, steps};
use crate::palette;

/// How wide a line is at most.
const LINE: usize = 100;

/// Columns before the cells, for the lanes' numbers.
const MARGIN: usize = 4;

/// The map of a load; each cell is `thread.register`.
pub(super) fn text(load: &TensorLoad, half: Option<Half>, is_coloured: bool) -> String {
    let [name, size] = headings(load, half);
    let mut text = format!("{name}\n{size}\n");
    let registers = (load.registers() - 1).to_string().len();
    let label = 2 + 1 + registers;
    let heading = heading(load, load.columns() / memory_columns(load, 0).len() - 1).len();
    let cell = label.max(heading);
    let widest = (LINE - MARGIN + 1) / (cell + 1);
    // A power of two, so that parts begin where repeats do.
    let widest = 1 << widest.ilog2();
    for panel in panels(load, half, widest) {
        text.push('\n');
        if let Some(base) = base(load, half, &panel) {
            let _ = writeln!(text, "{base}:");
        }
        part(&mut text, load, &panel, cell, is_coloured);
    }
    let [threads, registers] = steps(load);
    let _ = write!(text, "\ncells: thread.register; down: lanes, across: columns");
    if load.is_packed() {
        let _ = write!(text, "; of two columns the first is the low half");
    }
    let _ = writeln!(text, "\n{threads}\n{registers}");
    text
}

/// The columns above a cell: `7`, or `14-15`.
fn heading(load: &TensorLoad, column: usize) -> String {
    let columns = memory_columns(load, column);
    let (first, last) = (columns.start, columns.end - 1);
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

fn part(text: &mut String, load: &TensorLoad, panel: &Panel, cell: usize, is_coloured: bool) {
    let mut row = " ".repeat(MARGIN - 1);
    for column in panel.columns.clone() {
        let _ = write!(row, " {:^cell$}", heading(load, column));
    }
    let _ = writeln!(text, "{}", row.trim_end());
    for lane in 0..load.shape().lanes() {
        let mut row = format!("{lane:>0$}", MARGIN - 1);
        for (thread, register) in panel.row(load.shape(), lane) {
            let label = format!("{thread:>2}.{register}");
            if is_coloured {
                let _ = write!(row, " {}", palette::on_colour(&format!("{label:<cell$}"), thread));
            } else {
                let _ = write!(row, " {label:<cell$}");
            }
        }
        let _ = writeln!(text, "{}", row.trim_end());
    }
}
