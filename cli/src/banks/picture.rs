//! The drawing of an access as a picture: a self-contained SVG, light or dark as its reader prefers.

use std::fmt::Write;

use super::drawing::{DrawnAccess, DrawnRow};
use crate::palette::{self, DARK_PALETTE, LIGHT_PALETTE};

/// The size of a cell.
const CELL: (usize, usize) = (26, 22);
const MARGIN: usize = 28;
/// Room for the title, the result and the numbers of the columns.
const TOP: usize = 108;
/// Space between groups of lanes.
const GAP: usize = 10;
/// About the width of a letter of the title, and of all other text.
const LETTERS: (usize, usize) = (11, 8);

pub(super) fn svg(access: &DrawnAccess) -> String {
    let label = |row: &DrawnRow| group(row).map_or(0, |group| group.len() + 4) + row.label.len();
    let labels = access.rows.iter().map(label).max().unwrap_or(0).max(access.columns.len());
    let left = MARGIN + labels * LETTERS.1 + 12;
    let right = left + 32 * CELL.0;
    let mut body = String::new();
    for column in 0..32 {
        let x = left + column * CELL.0 + CELL.0 / 2;
        let _ = writeln!(body, "<text class=\"axis\" x=\"{x}\" y=\"{}\">{column}</text>", TOP - 8);
    }
    let _ = writeln!(
        body,
        "<text class=\"axis end\" x=\"{}\" y=\"{}\">{}</text>",
        left - 8,
        TOP - 8,
        access.columns
    );
    let mut y = TOP;
    for (i, row) in access.rows.iter().enumerate() {
        if row.group.is_some() && i > 0 {
            y += GAP;
        }
        draw_row(&mut body, row, left, y);
        y += CELL.1;
    }
    if access.columns == "word" {
        // Between sectors.
        for column in [8, 16, 24] {
            let _ = writeln!(
                body,
                "<path class=\"rule\" d=\"M{} {TOP}V{y}\"/>",
                left + column * CELL.0
            );
        }
    }
    let legend = access.legend();
    y += 28;
    let _ = writeln!(body, "<text class=\"note\" x=\"{MARGIN}\" y=\"{y}\">{legend}</text>");
    let (title, result) = (escaped(&access.title), escaped(&access.result));
    let texts = (access.title.chars().count() * LETTERS.0)
        .max(access.result.chars().count() * LETTERS.1)
        .max(legend.len() * LETTERS.1);
    let (width, height) = (right.max(MARGIN + texts) + MARGIN, y + MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"{title}: {result}\">\n\
         <style>\n{}</style>\n\
         <rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>\n\
         <text class=\"title\" x=\"{MARGIN}\" y=\"42\">{title}</text>\n\
         <text class=\"note\" x=\"{MARGIN}\" y=\"66\">{result}</text>\n\
         {body}</svg>\n",
        style()
    )
}

/// Returns the name of a group of lanes, if the row begins one.
fn group(row: &DrawnRow) -> Option<String> {
    row.group.map(|[first, last]| format!("lanes {first} to {last}"))
}

fn draw_row(svg: &mut String, row: &DrawnRow, left: usize, y: usize) {
    let (width, height) = CELL;
    let base = y + height / 2 + 5;
    if let Some(group) = group(row) {
        let _ =
            writeln!(svg, "<text class=\"axis start\" x=\"{MARGIN}\" y=\"{base}\">{group}</text>");
    }
    let class = if row.is_conflict { "axis end conflict" } else { "axis end" };
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{}\" y=\"{base}\">{}</text>",
        left - 8,
        escaped(&row.label)
    );
    for (column, lanes) in row.cells.iter().enumerate() {
        let x = left + column * width;
        let Some((lane, has_others)) = DrawnAccess::named(lanes) else {
            let _ = writeln!(
                svg,
                "<rect class=\"idle\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
            );
            continue;
        };
        let others = if has_others { "+" } else { "" };
        let all: Vec<String> = lanes.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            svg,
            "<g><title>lanes {}</title><rect class=\"cell t{lane}\" x=\"{x}\" y=\"{y}\" \
             width=\"{width}\" height=\"{height}\"/><text class=\"lane\" x=\"{}\" y=\"{}\">\
             {lane}{others}</text></g>",
            all.join(", "),
            x + width / 2,
            base - 1
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn style() -> String {
    format!(
        "text{{font-family:ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;\
         fill:#1d1b18;text-anchor:middle}}\n\
         .title{{font-size:18px;font-weight:600}} .note,.axis{{font-size:13px;fill:#6a645b}}\n\
         .title,.note,.start{{text-anchor:start}} .end{{text-anchor:end}}\n\
         .lane{{font-size:12px}} .conflict{{fill:#b3261e;font-weight:600}}\n\
         .ground{{fill:#fdfcfa}} .cell,.idle{{stroke:#fdfcfa;stroke-width:1}} .idle{{fill:#f1ede6}} .rule{{stroke:#1d1b18;stroke-width:2}}\n\
         {}\n\
         @media (prefers-color-scheme:dark){{\n\
         text{{fill:#f1eee9}} .axis,.note{{fill:#a8a29a}} .conflict{{fill:#ff8a80}}\n\
         .ground{{fill:#161519}} .cell,.idle{{stroke:#161519}} .idle{{fill:#222026}} .rule{{stroke:#f1eee9}}\n\
         {}\n}}\n",
        palette::fills(&LIGHT_PALETTE),
        palette::fills(&DARK_PALETTE)
    )
}
