//! [`TensorMapDrawing`]: the thread and register that each cell of a Tensor Memory load goes to, as text and as a
//! picture.

use std::fmt::Write;
use std::ops::Range;

use warpload::lane::LANES;
use warpload_ptx::tensor::{CellOffset, CellStep, Half, TensorLoad};

use super::picture::{NOTE_LETTER, Picture, TITLE_LETTER, on_colour};
use warpload::text::plural;

/// The most characters of a line of text.
const LINE: usize = 100;
/// Characters before the cells, for the lanes' numbers.
const LANE_NUMBER: usize = 3;

/// The size of a cell of Tensor Memory in a picture.
const COLUMN: usize = 44;
const LANE: usize = 34;
/// The most columns of Tensor Memory in a row of panels.
const WIDEST: usize = 32;
/// Free space around everything, and between panels.
const MARGIN: usize = 32;
/// Room at the left of a panel, for the lanes' numbers.
const LEFT: usize = 58;
/// Room for the headings.
const TOP: usize = 92;
/// A swatch of the legend.
const SWATCH: (usize, usize) = (44, 26);

/// A drawing of the cells that a load reads: lanes down, columns across. Lanes and columns count from the load's
/// address.
#[derive(Clone, Copy, Debug)]
pub struct TensorMapDrawing<'l> {
    load: &'l TensorLoad,
    half: Option<Half>,
}

/// A part of a drawing: all lanes of some columns, of registers, of one half.
struct Panel {
    second_half: bool,
    columns: Range<usize>,
}

impl<'l> TensorMapDrawing<'l> {
    /// Creates the drawing of a load. `half` is set for an `LDTM` that is one half of it.
    #[must_use]
    pub fn new(load: &'l TensorLoad, half: Option<Half>) -> Self {
        Self { load, half }
    }

    /// The number of Tensor Memory columns in a register.
    fn columns_per_register(&self) -> usize {
        if self.load.is_packed() { 2 } else { 1 }
    }

    fn has_halves(&self) -> bool {
        self.load.shape().halves() == 2
    }

    /// The panels, each with at most `widest` columns of registers.
    fn panels(&self, widest: usize) -> Vec<Panel> {
        let columns = self.load.columns() / self.columns_per_register();
        let halves = [false, true].into_iter().take(self.load.shape().halves());
        let is_drawn =
            |second: &bool| self.half.is_none_or(|half| (half == Half::Second) == *second);
        let panels = halves.filter(is_drawn).flat_map(|second_half| {
            (0..columns).step_by(widest).map(move |first| {
                let columns = first..columns.min(first + widest);
                Panel { second_half, columns }
            })
        });
        panels.collect()
    }

    /// The threads and registers of a lane's cells, from left to right.
    fn row(&self, panel: &Panel, lane: usize) -> impl Iterator<Item = (usize, usize)> {
        let (shape, second_half) = (self.load.shape(), panel.second_half);
        let cell = move |column| CellOffset { second_half, lane, column };
        panel.columns.clone().map(move |column| shape.owner(cell(column)))
    }

    /// Whether a panel counts from the address plus the half offset. A half on its own has its own address.
    fn is_further(&self, panel: &Panel) -> bool {
        self.half.is_none() && panel.second_half
    }

    /// The instruction, and its size.
    fn headings(&self) -> [String; 2] {
        let size = format!(
            "{} lanes × {}, {} for each of {} threads",
            self.load.shape().lanes(),
            plural(self.load.columns(), "column"),
            plural(self.load.registers(), "register"),
            if self.half.is_some() { 16 } else { 32 },
        );
        let halves = match self.half {
            Some(Half::First) => "the first half: ",
            Some(Half::Second) => "the second half: ",
            None if self.has_halves() => "two halves, each ",
            None => "",
        };
        [self.load.to_string(), format!("{halves}{size}")]
    }

    /// The row of the table of shapes in words: the steps for each bit of the thread and the register.
    fn steps(&self) -> [String; 2] {
        let layout = self.load.shape().layout();
        let scaled = |step: &CellStep| match step {
            CellStep::Columns(columns) => {
                CellStep::Columns(columns * self.columns_per_register()).to_string()
            }
            other => other.to_string(),
        };
        let list = |steps: &[CellStep]| steps.iter().map(scaled).collect::<Vec<_>>().join(", ");
        let repeat =
            format!("{} for each repeat", scaled(&CellStep::Columns(layout.repeat_columns)));
        let registers = match layout.register {
            [] => repeat,
            steps => format!("{}, then {repeat}", list(steps)),
        };
        [
            format!("bits 0 to 4 of the thread move by: {}", list(&layout.thread)),
            format!("bits of the register move by: {registers}"),
        ]
    }

    /// Returns the drawing as text. With `is_coloured`, it has escapes for a terminal with colours. Each cell is
    /// `thread.register`.
    #[must_use]
    pub fn text(&self, is_coloured: bool) -> String {
        let [name, size] = self.headings();
        let mut text = format!("{name}\n{size}\n");
        let last_column = self.load.columns() / self.columns_per_register() - 1;
        let label = 2 + 1 + (self.load.registers() - 1).to_string().len();
        let cell = label.max(self.column_name(last_column).len());
        // A power of two, so that panels begin at repeats.
        let widest = 1 << ((LINE - LANE_NUMBER) / (cell + 1)).ilog2();
        for panel in self.panels(widest) {
            text.push('\n');
            if self.has_halves() {
                text += if self.is_further(&panel) {
                    "address plus half offset:\n"
                } else {
                    "address:\n"
                };
            }
            let names = panel.columns.clone().map(|column| self.column_name(column));
            let names: String = names.map(|name| format!(" {name:^cell$}")).collect();
            let _ = writeln!(text, "{:LANE_NUMBER$}{}", "", names.trim_end());
            for lane in 0..self.load.shape().lanes() {
                let cells = self.row(&panel, lane).map(|(thread, register)| {
                    let label = format!("{:<cell$}", format!("{thread:>2}.{register}"));
                    format!(" {}", on_colour(label, thread, is_coloured))
                });
                let _ =
                    writeln!(text, "{lane:>LANE_NUMBER$}{}", cells.collect::<String>().trim_end());
            }
        }
        let [threads, registers] = self.steps();
        let packed =
            if self.load.is_packed() { "; of two columns the first is the low half" } else { "" };
        let _ = writeln!(
            text,
            "\ncells: thread.register; down: lanes, across: columns{packed}\n{threads}\n{registers}"
        );
        text
    }

    /// The columns of Tensor Memory above a cell: `7`, or `14-15`.
    fn column_name(&self, column: usize) -> String {
        let columns = self.load.memory_columns(column);
        match columns.len() {
            1 => columns.start.to_string(),
            _ => format!("{}-{}", columns.start, columns.end - 1),
        }
    }

    /// Returns the drawing as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut picture = Picture::default();
        let (right, bottom) = self.draw_panels(&mut picture);
        // The legend is beside tall drawings and below wide ones.
        let (at, across) = match 2 * bottom > 3 * right {
            true => ((right + MARGIN, TOP + self.room_above()), 4),
            false => ((MARGIN, bottom + 14), 16),
        };
        let (legend_right, legend_bottom) = self.draw_legend(&mut picture, at, across);
        let [name, size] = self.headings();
        let letters = (name.chars().count() * TITLE_LETTER).max(size.chars().count() * NOTE_LETTER);
        let width = right.max(legend_right).max(MARGIN + letters) + MARGIN;
        picture.finish(&name, &size, MARGIN, (width, bottom.max(legend_bottom) + MARGIN))
    }

    /// The height above a panel: for the columns' numbers, and the brackets of repeats or the half's name.
    fn room_above(&self) -> usize {
        match (self.load.shape().layout().repeat_columns, self.has_halves()) {
            (1, false) => 34,
            (1, true) => 56,
            _ => 74,
        }
    }

    /// The width of a register's cell.
    fn cell_width(&self) -> usize {
        COLUMN * self.columns_per_register()
    }

    /// Draws all panels, in rows. Returns the right and the lower end.
    fn draw_panels(&self, picture: &mut Picture) -> (usize, usize) {
        let (mut x, mut y, mut right, mut bottom, mut in_row) = (MARGIN, TOP, 0, TOP, 0);
        for panel in self.panels(WIDEST / self.columns_per_register()) {
            let columns = panel.columns.len() * self.columns_per_register();
            if in_row > 0 && in_row + columns > WIDEST {
                (x, y, in_row) = (MARGIN, bottom, 0);
            }
            let (left, top) = (x + LEFT, y + self.room_above());
            picture.element(format_args!("<g transform=\"translate({left} {top})\">"));
            self.draw_axes(picture, &panel);
            self.draw_cells(picture, &panel);
            picture.element("</g>");
            in_row += columns;
            // Names of panels are wider than the narrowest panels.
            let least = if self.has_halves() { 180 } else { 0 };
            right = right.max(left + (columns * COLUMN).max(least));
            x = left + (columns * COLUMN).max(least) + MARGIN;
            bottom = bottom.max(top + self.load.shape().lanes() * LANE + 20);
        }
        (right, bottom)
    }

    fn draw_axes(&self, picture: &mut Picture, panel: &Panel) {
        if self.has_halves() {
            let further = if self.is_further(panel) { " + half offset" } else { "" };
            picture.text("name start", (0, -38), format_args!("from taddr{further}"));
        }
        picture.text("axis end", (-10, -10), "column");
        for (i, column) in panel.columns.clone().enumerate() {
            for (k, column) in self.load.memory_columns(column).enumerate() {
                let x = i * self.cell_width() + k * COLUMN + COLUMN / 2;
                picture.text("axis", (x, -10), column);
            }
        }
        let repeat = self.load.shape().layout().repeat_columns;
        // Repeats of one column need no bracket.
        for first in panel.columns.clone().step_by(repeat).filter(|_| repeat > 1) {
            let x = (first - panel.columns.start) * self.cell_width() + 4;
            let width = repeat * self.cell_width() - 8;
            picture.path("bracket", format_args!("M{x} -26v-6h{width}v6"));
            picture.text("axis", (x + width / 2, -38), format_args!("repeat {}", first / repeat));
        }
        let lanes = self.load.shape().lanes();
        picture.element(format_args!(
            "<text class=\"axis\" transform=\"translate(-44 {}) rotate(-90)\">lane</text>",
            lanes * LANE / 2
        ));
        for lane in 0..lanes {
            picture.text("axis end", (-10, lane * LANE + LANE / 2 + 5), lane);
        }
    }

    /// Draws the cells: their backgrounds, one path per thread; lines; and names.
    fn draw_cells(&self, picture: &mut Picture, panel: &Panel) {
        let (lanes, cell) = (self.load.shape().lanes(), self.cell_width());
        let mut paths = vec![String::new(); LANES];
        for lane in 0..lanes {
            for (i, (thread, _)) in self.row(panel, lane).enumerate() {
                let (x, y) = (i * cell, lane * LANE);
                paths[thread] += &format!("M{x} {y}h{cell}v{LANE}h-{cell}z");
            }
        }
        for (thread, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            picture.path(&format!("cell t{thread}"), path);
        }
        self.draw_lines(picture, panel);
        let parts: &[&str] = if self.load.is_packed() { &[".lo", ".hi"] } else { &[""] };
        // Names of half registers are longer.
        let register_class = if self.load.is_packed() { "register small" } else { "register" };
        for lane in 0..lanes {
            for (i, (thread, register)) in self.row(panel, lane).enumerate() {
                for (k, part) in parts.iter().enumerate() {
                    let x = i * cell + k * COLUMN + COLUMN / 2;
                    picture.text("thread", (x, lane * LANE + 15), format_args!("T{thread}"));
                    let name = format_args!("r{register}{part}");
                    picture.text(register_class, (x, lane * LANE + 28), name);
                }
            }
        }
    }

    /// Draws lines between repeats, between the upper and the lower eight lanes if registers or threads restart there,
    /// and through packed cells.
    fn draw_lines(&self, picture: &mut Picture, panel: &Panel) {
        let cell = self.cell_width();
        let (width, height) = (panel.columns.len() * cell, self.load.shape().lanes() * LANE);
        if self.load.is_packed() {
            let x = (0..panel.columns.len()).map(|i| i * cell + cell / 2);
            let path: String = x.map(|x| format!("M{x} 0v{height}")).collect();
            picture.path("half", path);
        }
        let mut path = format!("M0 0h{width}v{height}h-{width}z");
        let repeat = self.load.shape().layout().repeat_columns;
        if repeat > 1 {
            for first in panel.columns.clone().step_by(repeat).skip(1) {
                path += &format!("M{} 0v{height}", (first - panel.columns.start) * cell);
            }
            path += &format!("M0 {}h{width}", 8 * LANE);
        }
        picture.path("rule", path);
    }

    /// Draws the threads' colours and the steps of the table of shapes. Returns the right and the lower end.
    fn draw_legend(
        &self,
        picture: &mut Picture,
        (x, y): (usize, usize),
        across: usize,
    ) -> (usize, usize) {
        let (width, height) = SWATCH;
        picture.text("note", (x, y + 14), "threads");
        let top = y + 24;
        for thread in 0..LANES {
            let (left, top) = (x + thread % across * width, top + thread / across * height);
            picture.rectangle(&format!("cell t{thread}"), (left, top), SWATCH);
            picture.text("thread", (left + width / 2, top + 18), format_args!("T{thread}"));
        }
        let (mut right, mut bottom) = (x + across * width, top + LANES / across * height);
        let [threads, registers] = self.steps();
        let packed = "lo, hi: the half of the register that holds the low 16 bits of the cell";
        let packed = self.load.is_packed().then(|| packed.to_owned());
        for note in [threads, registers].into_iter().chain(packed) {
            bottom += 24;
            right = right.max(x + note.chars().count() * NOTE_LETTER);
            picture.text("note", (x, bottom), note);
        }
        (right, bottom)
    }
}
