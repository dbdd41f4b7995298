//! A map as a picture: a self-contained SVG, light or dark as its reader prefers.

use std::fmt::Write;

use super::drawing::{Panel, headings, memory_columns, panels, steps, width};
use crate::palette::{self, DARK_PALETTE, LIGHT_PALETTE};
use warpload::lane::LANES;
use warpload_ptx::tensor::{Half, TensorLoad};

/// A column of Tensor Memory is this wide.
const COLUMN: usize = 44;
/// A lane is this high.
const LANE: usize = 34;

/// A row of parts is at most this many columns of Tensor Memory wide.
const WIDEST: usize = 32;

/// Free space around everything, and between parts.
const MARGIN: usize = 32;
/// Room at the left of a part, for the lanes' numbers.
const LEFT: usize = 58;
/// Room for the headings.
const TOP: usize = 92;

/// A swatch of the legend.
const SWATCH: (usize, usize) = (44, 26);

/// The picture of a load.
pub(super) fn svg(load: &TensorLoad, half: Option<Half>) -> String {
    let drawing = Drawing { load, half, cell: COLUMN * width(load), above: above(load) };
    let (body, right, bottom) = drawing.parts();
    // The legend is beside tall drawings and below wide ones.
    let is_tall = 2 * bottom > 3 * right;
    let (legend_x, legend_y, across) =
        if is_tall { (right + MARGIN, TOP + drawing.above, 4) } else { (MARGIN, bottom + 14, 16) };
    let (legend, legend_right, legend_bottom) = drawing.legend(legend_x, legend_y, across);
    let width = right.max(legend_right).max(heading_width(load, half)) + MARGIN;
    let height = bottom.max(legend_bottom) + MARGIN;
    let [name, size] = headings(load, half);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{name}: {size}\">\n\
         <style>\n{}</style>\n\
         <rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>\n\
         <text class=\"title\" x=\"{MARGIN}\" y=\"46\">{name}</text>\n\
         <text class=\"size\" x=\"{MARGIN}\" y=\"72\">{size}</text>\n\
         {body}{legend}</svg>\n",
        style(load)
    )
}

/// Room above a part: for the columns' numbers, and the brackets of repeats or the half's name.
fn above(load: &TensorLoad) -> usize {
    match (load.shape().layout().repeat_columns, load.shape().halves()) {
        (1, 1) => 34,
        (1, _) => 56,
        _ => 74,
    }
}

/// About how far the headings reach: their letters are of one width.
fn heading_width(load: &TensorLoad, half: Option<Half>) -> usize {
    let [name, size] = headings(load, half).map(|text| text.chars().count());
    MARGIN + (name * 12).max(size * 9)
}

/// The style sheet. Names of half registers are longer, so their letters are smaller.
fn style(load: &TensorLoad) -> String {
    let register = if load.is_packed() { "10.5" } else { "12" };
    format!(
        "text{{font-family:ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;\
         fill:#1d1b18;text-anchor:middle}}\n\
         .title{{font-size:20px;font-weight:600}} .size,.note{{font-size:14px}}\n\
         .title,.size,.note,.left{{text-anchor:start}} .end{{text-anchor:end}}\n\
         .axis,.size,.note{{fill:#6a645b}} .axis{{font-size:13px}} .name{{font-size:14px}}\n\
         .thread{{font-size:14px;font-weight:600}} .register{{font-size:{register}px}}\n\
         .ground{{fill:#fdfcfa}}\n\
         .cell{{stroke:#fdfcfa;stroke-width:1.5}} .half{{stroke:#fdfcfa;stroke-width:1;\
         stroke-dasharray:3 3;fill:none}}\n\
         .rule{{stroke:#1d1b18;stroke-width:2;fill:none}} .bracket{{stroke:#6a645b;fill:none}}\n\
         {}\n\
         @media (prefers-color-scheme:dark){{\n\
         text{{fill:#f1eee9}} .axis,.size,.note{{fill:#a8a29a}}\n\
         .ground{{fill:#161519}} .cell,.half{{stroke:#161519}}\n\
         .rule{{stroke:#f1eee9}} .bracket{{stroke:#a8a29a}}\n\
         {}\n}}\n",
        palette::fills(&LIGHT_PALETTE),
        palette::fills(&DARK_PALETTE)
    )
}

struct Drawing<'l> {
    load: &'l TensorLoad,
    /// The only half that is drawn.
    half: Option<Half>,
    /// How wide the cell of a register is.
    cell: usize,
    /// Room above each part.
    above: usize,
}

impl Drawing<'_> {
    /// Draws all parts, in rows; returns the right and the lower end too.
    fn parts(&self) -> (String, usize, usize) {
        let panels = panels(self.load, self.half, WIDEST / width(self.load));
        let (mut svg, mut right) = (String::new(), 0);
        let (mut x, mut y, mut bottom, mut in_row) = (MARGIN, TOP, TOP, 0);
        for panel in &panels {
            let columns = panel.columns.len() * width(self.load);
            if in_row > 0 && in_row + columns > WIDEST {
                (x, y, in_row) = (MARGIN, bottom, 0);
            }
            let grid = panel.columns.len() * self.cell;
            let _ = writeln!(svg, "<g transform=\"translate({} {})\">", x + LEFT, y + self.above);
            self.part(&mut svg, panel);
            svg += "</g>\n";
            in_row += columns;
            // Names of parts are wider than the narrowest parts.
            x += LEFT + grid.max(if self.load.shape().halves() == 2 { 180 } else { 0 }) + MARGIN;
            right = right.max(x - MARGIN);
            bottom = bottom.max(y + self.above + self.load.shape().lanes() * LANE + 20);
        }
        (svg, right, bottom)
    }

    /// One part, its first cell's corner at 0 0.
    fn part(&self, svg: &mut String, panel: &Panel) {
        self.column_axis(svg, panel);
        self.lane_axis(svg);
        self.cells(svg, panel);
        self.rules(svg, panel);
        self.labels(svg, panel);
    }

    fn column_axis(&self, svg: &mut String, panel: &Panel) {
        if self.load.shape().halves() == 2 {
            let is_further = panel.second_half && self.half.is_none();
            let base = if is_further { "from taddr + half offset" } else { "from taddr" };
            let _ = writeln!(svg, "<text class=\"name left\" x=\"0\" y=\"-38\">{base}</text>");
        }
        let _ = writeln!(svg, "<text class=\"axis end\" x=\"-10\" y=\"-10\">column</text>");
        for (i, column) in panel.columns.clone().enumerate() {
            for (k, column) in memory_columns(self.load, column).enumerate() {
                let x = i * self.cell + k * COLUMN + COLUMN / 2;
                let _ = writeln!(svg, "<text class=\"axis\" x=\"{x}\" y=\"-10\">{column}</text>");
            }
        }
        // Repeats of one column need no bracket.
        let repeat = self.load.shape().layout().repeat_columns;
        if repeat == 1 {
            return;
        }
        for first in panel.columns.clone().step_by(repeat) {
            let x = (first - panel.columns.start) * self.cell;
            let span = repeat * self.cell - 8;
            let _ = writeln!(
                svg,
                "<path class=\"bracket\" d=\"M{} -26v-6h{span}v6\"/>\
                 <text class=\"axis\" x=\"{}\" y=\"-38\">repeat {}</text>",
                x + 4,
                x + 4 + span / 2,
                first / repeat
            );
        }
    }

    fn lane_axis(&self, svg: &mut String) {
        let lanes = self.load.shape().lanes();
        let _ = writeln!(
            svg,
            "<text class=\"axis\" transform=\"translate(-44 {}) rotate(-90)\">lane</text>",
            lanes * LANE / 2
        );
        for lane in 0..lanes {
            let y = lane * LANE + LANE / 2 + 5;
            let _ = writeln!(svg, "<text class=\"axis end\" x=\"-10\" y=\"{y}\">{lane}</text>");
        }
    }

    /// The grounds of the cells, one path a thread.
    fn cells(&self, svg: &mut String, panel: &Panel) {
        let mut paths = vec![String::new(); LANES];
        for lane in 0..self.load.shape().lanes() {
            for (i, (thread, _)) in panel.row(self.load.shape(), lane).enumerate() {
                let (x, y, cell) = (i * self.cell, lane * LANE, self.cell);
                paths[thread] += &format!("M{x} {y}h{cell}v{LANE}h-{cell}z");
            }
        }
        for (thread, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            let _ = writeln!(svg, "<path class=\"cell t{thread}\" d=\"{path}\"/>");
        }
    }

    /// Lines between repeats, between the upper and the lower eight lanes if registers or
    /// threads restart there, and through packed cells.
    fn rules(&self, svg: &mut String, panel: &Panel) {
        let shape = self.load.shape();
        let (width, height) = (panel.columns.len() * self.cell, shape.lanes() * LANE);
        if self.load.is_packed() {
            let x = |i: usize| i * self.cell + self.cell / 2;
            let path: String =
                (0..panel.columns.len()).map(|i| format!("M{} 0v{height}", x(i))).collect();
            let _ = writeln!(svg, "<path class=\"half\" d=\"{path}\"/>");
        }
        let mut path = String::new();
        let repeat = shape.layout().repeat_columns;
        if repeat > 1 {
            for first in panel.columns.clone().step_by(repeat).skip(1) {
                path += &format!("M{} 0v{height}", (first - panel.columns.start) * self.cell);
            }
            path += &format!("M0 {}h{width}", 8 * LANE);
        }
        let _ = writeln!(svg, "<path class=\"rule\" d=\"M0 0h{width}v{height}h-{width}z{path}\"/>");
    }

    /// Thread and register, once for each column of Tensor Memory.
    fn labels(&self, svg: &mut String, panel: &Panel) {
        let parts: &[&str] = if self.load.is_packed() { &[".lo", ".hi"] } else { &[""] };
        for lane in 0..self.load.shape().lanes() {
            let (above, below) = (lane * LANE + 15, lane * LANE + 28);
            for (i, (thread, register)) in panel.row(self.load.shape(), lane).enumerate() {
                for (k, part) in parts.iter().enumerate() {
                    let x = i * self.cell + k * COLUMN + COLUMN / 2;
                    let _ = writeln!(
                        svg,
                        "<text class=\"thread\" x=\"{x}\" y=\"{above}\">T{thread}</text>\
                         <text class=\"register\" x=\"{x}\" y=\"{below}\">r{register}{part}</text>",
                    );
                }
            }
        }
    }

    /// Draws the threads' colours and what the table of shapes says; returns the right and the lower
    /// end too.
    fn legend(&self, x: usize, y: usize, across: usize) -> (String, usize, usize) {
        let (width, height) = SWATCH;
        let mut svg = format!("<text class=\"note\" x=\"{x}\" y=\"{}\">threads</text>\n", y + 14);
        let top = y + 24;
        for thread in 0..LANES {
            let (left, top) = (x + thread % across * width, top + thread / across * height);
            let _ = writeln!(
                svg,
                "<rect class=\"cell t{thread}\" x=\"{left}\" y=\"{top}\" width=\"{width}\" \
                 height=\"{height}\"/><text class=\"thread\" x=\"{}\" y=\"{}\">T{thread}</text>",
                left + width / 2,
                top + 18
            );
        }
        let mut bottom = top + LANES / across * height;
        let mut right = x + across * width;
        for line in self.notes() {
            bottom += 24;
            right = right.max(x + line.chars().count() * 9);
            let _ = writeln!(svg, "<text class=\"note\" x=\"{x}\" y=\"{bottom}\">{line}</text>");
        }
        (svg, right, bottom)
    }

    fn notes(&self) -> Vec<String> {
        let [threads, registers] = steps(self.load);
        let mut notes = vec![threads, registers];
        if self.load.is_packed() {
            notes.push(
                "lo, hi: which half of the register the low 16 bits of the cell become".into(),
            );
        }
        notes
    }
}
