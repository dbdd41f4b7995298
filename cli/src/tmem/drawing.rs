//! What the drawings of a load have in common: their parts, and the words around them.

use std::ops::Range;

use warpload_ptx::tensor::{CellOffset, CellStep, Half, Shape, TensorLoad};

use crate::name::plural;

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
