//! What the drawings of a load have in common, their parts and the words around them; and the drawing as text: a grid,
//! coloured by thread on a terminal.

use std::fmt::Write;
use std::ops::Range;

use warpload_ptx::tensor::{CellOffset, CellStep, Half, Shape, TensorLoad};

use crate::name::plural;
use crate::palette;

/// Returns the columns of Tensor Memory, from the base, that make this column of registers: one or two.
pub(super) fn memory_columns(load: &TensorLoad, column: usize) -> Range<usize> {
    load.memory_columns(column)
}

/// Returns how many columns of Tensor Memory make a register.
pub(super) fn width(load: &TensorLoad) -> usize {
    if load.is_packed() { 2 } else { 1 }
}

/// A part of a drawing: all lanes of some columns, of registers, of one half.
#[derive(Clone)]
pub(super) struct Panel {
    pub(super) second_half: bool,
    pub(super) columns: Range<usize>,
}

/// Returns the parts of a drawing, each at most `widest` columns of registers wide; of the one half, if
/// there is one.
pub(super) fn panels(load: &TensorLoad, half: Option<Half>, widest: usize) -> Vec<Panel> {
    let columns = load.columns() / width(load);
    let mut panels = Vec::new();
    for second_half in [false, true].into_iter().take(load.shape().halves()) {
        if half.is_some_and(|half| (half == Half::Second) != second_half) {
            continue;
        }
        for first in (0..columns).step_by(widest) {
            let columns = first..columns.min(first + widest);
            panels.push(Panel { second_half, columns });
        }
    }
    panels
}

impl Panel {
    /// The threads and registers of a lane's cells, from left to right.
    pub(super) fn row(&self, shape: Shape, lane: usize) -> impl Iterator<Item = (usize, usize)> {
        let second_half = self.second_half;
        self.columns
            .clone()
            .map(move |column| shape.owner(CellOffset { second_half, lane, column }))
    }
}

/// Returns the instruction and its size, in one line each.
pub(super) fn headings(load: &TensorLoad, half: Option<Half>) -> [String; 2] {
    let threads = match half {
        None => "32 threads",
        Some(_) => "16 threads",
    };
    let size = format!(
        "{} lanes × {}, {} for each of {threads}",
        load.shape().lanes(),
        plural(load.columns(), "column"),
        plural(load.registers(), "register"),
    );
    let halves = match half {
        Some(Half::First) => "the first half: ",
        Some(Half::Second) => "the second half: ",
        None if load.shape().halves() == 2 => "two halves, each ",
        None => "",
    };
    [load.to_string(), format!("{halves}{size}")]
}

/// Returns where the lanes and columns of a part are counted from, if there are two halves.
pub(super) fn base(load: &TensorLoad, half: Option<Half>, panel: &Panel) -> Option<&'static str> {
    // A half by itself has an address of its own.
    let is_further = half.is_none() && panel.second_half;
    let base = if is_further { "address plus half offset" } else { "address" };
    (load.shape().halves() == 2).then_some(base)
}

/// Returns the row of the table of shapes in words: what the bits of threads and registers add.
pub(super) fn steps(load: &TensorLoad) -> [String; 2] {
    let layout = load.shape().layout();
    let scaled = |step: &CellStep| match step {
        CellStep::Columns(columns) => CellStep::Columns(columns * width(load)).to_string(),
        other => other.to_string(),
    };
    let list = |steps: &[CellStep]| steps.iter().map(scaled).collect::<Vec<_>>().join(", ");
    let repeat = format!("{} for each repeat", scaled(&CellStep::Columns(layout.repeat_columns)));
    let registers = match layout.register {
        [] => repeat,
        steps => format!("{}, then {repeat}", list(steps)),
    };
    [
        format!("bits 0 to 4 of the thread move by: {}", list(&layout.thread)),
        format!("bits of the register move by: {registers}"),
    ]
}

/// How wide a line is at most.
const LINE: usize = 100;

/// Columns before the cells, for the lanes' numbers.
const MARGIN: usize = 4;

/// The map of a load; each cell is `thread.register`.
pub(super) fn grid(load: &TensorLoad, half: Option<Half>, is_coloured: bool) -> String {
    let [name, size] = headings(load, half);
    let mut text = format!("{name}\n{size}\n");
    let registers = (load.registers() - 1).to_string().len();
    let label = 2 + 1 + registers;
    let heading = grid_heading(load, load.columns() / memory_columns(load, 0).len() - 1).len();
    let cell = label.max(heading);
    let widest = (LINE - MARGIN + 1) / (cell + 1);
    // A power of two, so that parts begin where repeats do.
    let widest = 1 << widest.ilog2();
    for panel in panels(load, half, widest) {
        text.push('\n');
        if let Some(base) = base(load, half, &panel) {
            let _ = writeln!(text, "{base}:");
        }
        grid_part(&mut text, load, &panel, cell, is_coloured);
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
fn grid_heading(load: &TensorLoad, column: usize) -> String {
    let columns = memory_columns(load, column);
    let (first, last) = (columns.start, columns.end - 1);
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

fn grid_part(text: &mut String, load: &TensorLoad, panel: &Panel, cell: usize, is_coloured: bool) {
    let mut row = " ".repeat(MARGIN - 1);
    for column in panel.columns.clone() {
        let _ = write!(row, " {:^cell$}", grid_heading(load, column));
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
