//! [`chart`]: sectors per load and the ideal, as columns in program order.

use super::rows::{heaviest, ideal};
use super::text::{coordinate, cut, of};
use crate::trace::ProgramCounter;

/// The most columns of a chart.
pub(super) const MAX_COLUMNS: usize = 160;

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 34.0;
const TOP: f64 = 8.0;
const HEIGHT: f64 = 170.0;

/// Returns a chart of those program counters; `None` if none of them touches global memory.
pub(super) fn chart(rows: &[ProgramCounter<'_>]) -> Option<String> {
    let global: Vec<ProgramCounter<'_>> =
        rows.iter().filter(|row| row.summary.sectors.max > 0).cloned().collect();
    let most = global.iter().map(|row| row.summary.sectors.max).max()?;
    let shown = heaviest(&global, MAX_COLUMNS, ProgramCounter::sectors);
    // No load touches more than a sector a lane.
    let top = most.next_power_of_two().max(4) as f64;
    let y = |sectors: f64| TOP + HEIGHT * (1.0 - sectors / top);
    let pitch = ((WIDTH - LEFT) / shown.len() as f64).min(80.0);
    let thick = (pitch * 0.72).min(32.0);
    let end = LEFT + pitch * shown.len() as f64;

    let mut svg = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} 216\" role=\"img\" \
         aria-label=\"Sectors per load by program counter\">\n"
    );
    for step in 0..=4 {
        let sectors = top * f64::from(step) / 4.0;
        let at = coordinate(y(sectors));
        svg += &format!(
            "<path class=\"grid\" d=\"M{LEFT} {at}H{}\"/>\
             <text class=\"tick end\" x=\"28\" y=\"{}\">{sectors}</text>\n",
            coordinate(end),
            coordinate(y(sectors) + 4.0)
        );
    }
    let mut last_label = f64::NEG_INFINITY;
    for (i, row) in shown.iter().enumerate() {
        let x = LEFT + pitch * (i as f64 + 0.5);
        svg += &column(row, x, thick, &y);
        if x - last_label >= 52.0 && x + 20.0 <= WIDTH {
            last_label = x;
            svg += &format!(
                "<path class=\"grid\" d=\"M{0} {1}v5\"/>\
                 <text class=\"tick middle\" x=\"{0}\" y=\"{2}\">{3:#x}</text>\n",
                coordinate(x),
                TOP + HEIGHT,
                TOP + HEIGHT + 18.0,
                row.pc
            );
        }
    }
    svg += "</svg>\n";
    let mut caption = "Mean over the loads of each program counter, in program order; the thin \
                       line goes from the fewest to the most."
        .to_owned();
    if shown.len() < global.len() {
        caption += &format!(
            " Of {}, the {MAX_COLUMNS} that touch most sectors.",
            of(global.len() as u64, "program counter")
        );
    }
    Some(format!(
        "<figure>\n{svg}<figcaption><span class=\"key\"><i class=\"ideal\"></i>ideal</span>\
         <span class=\"key\"><i class=\"waste\"></i>beyond the ideal</span>{caption}</figcaption>\n\
         </figure>\n"
    ))
}

fn column(row: &ProgramCounter<'_>, x: f64, thick: f64, y: &impl Fn(f64) -> f64) -> String {
    let sectors = &row.summary.sectors;
    let (mean, least) = (sectors.mean, ideal(row));
    let bar = |class: &str, from: f64, to: f64| {
        if to <= from {
            return String::new();
        }
        format!(
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            coordinate(x - thick / 2.0),
            coordinate(y(to)),
            coordinate(thick),
            coordinate(y(from) - y(to))
        )
    };
    let range = if sectors.min < sectors.max {
        format!(
            "<path class=\"range\" d=\"M{} {}V{}\"/>",
            coordinate(x),
            coordinate(y(sectors.min as f64)),
            coordinate(y(sectors.max as f64))
        )
    } else {
        String::new()
    };
    format!(
        "<g><title>{:#x} {}: {:.2} sectors per load ({} to {}), ideal {:.2}, {}</title>{}{}{range}</g>\n",
        row.pc,
        cut(&row.summary.opcode, 48),
        sectors.mean,
        sectors.min,
        sectors.max,
        least,
        of(row.summary.loads, "load"),
        bar("ideal", 0.0, least.min(mean)),
        bar("waste", least.min(mean), mean),
    )
}
