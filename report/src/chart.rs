//! [`chart`]: the cost of loads and the ideal, as columns in program order.

use super::rows::heaviest;
use super::text::{coordinate, cut, of};
use warpload_replay::{ProgramCounter, SectorSummary};

/// The maximum number of columns in a chart.
pub(crate) const MAX_COLUMNS: usize = 160;

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 34.0;
const TOP: f64 = 8.0;
const HEIGHT: f64 = 170.0;

/// The cost of a program counter's loads.
#[derive(Clone)]
pub(crate) struct Bar<'r> {
    pub(crate) row: &'r ProgramCounter<'r>,
    pub(crate) loads: u64,
    pub(crate) cost: SectorSummary,
    /// The ideal cost of a load, on average.
    pub(crate) ideal: f64,
}

impl<'r> Bar<'r> {
    pub(crate) fn new(
        row: &'r ProgramCounter<'r>,
        loads: u64,
        cost: SectorSummary,
        ideal: f64,
    ) -> Self {
        Self { row, loads, cost, ideal }
    }
}

/// Draws a chart of the bars. `unit` is the unit of their costs. `None` if all costs are 0.
pub(crate) fn chart(bars: &[Bar<'_>], unit: &str) -> Option<String> {
    let bars: Vec<Bar<'_>> = bars.iter().filter(|bar| bar.cost.max > 0).cloned().collect();
    let most = bars.iter().map(|bar| bar.cost.max).max()?;
    let shown = heaviest(&bars, MAX_COLUMNS, |bar| bar.cost.mean * bar.loads as f64);
    let top = most.next_power_of_two().max(4) as f64;
    let y = |cost: f64| TOP + HEIGHT * (1.0 - cost / top);
    let pitch = ((WIDTH - LEFT) / shown.len() as f64).min(80.0);
    let thick = (pitch * 0.72).min(32.0);
    let end = LEFT + pitch * shown.len() as f64;

    let mut svg = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} 216\" role=\"img\" \
         aria-label=\"Mean {unit}s per load and the ideal, by program counter; the table has the \
         numbers\">\n"
    );
    for step in 0..=4 {
        let cost = top * f64::from(step) / 4.0;
        let at = coordinate(y(cost));
        svg += &format!(
            "<path class=\"grid\" d=\"M{LEFT} {at}H{}\"/>\
             <text class=\"tick end\" x=\"28\" y=\"{}\">{cost}</text>\n",
            coordinate(end),
            coordinate(y(cost) + 4.0)
        );
    }
    let mut last_label = f64::NEG_INFINITY;
    for (i, bar) in shown.iter().enumerate() {
        let x = LEFT + pitch * (i as f64 + 0.5);
        svg += &column(bar, unit, x, thick, &y);
        if x - last_label >= 52.0 && x + 20.0 <= WIDTH {
            last_label = x;
            svg += &format!(
                "<path class=\"grid\" d=\"M{0} {1}v5\"/>\
                 <text class=\"tick middle\" x=\"{0}\" y=\"{2}\">{3:#x}</text>\n",
                coordinate(x),
                TOP + HEIGHT,
                TOP + HEIGHT + 18.0,
                bar.row.pc
            );
        }
    }
    svg += "</svg>\n";
    let mut caption = format!(
        "Mean {unit}s of the loads of each program counter, in program order: below what would do, above \
         it what is more. The thin line goes from the fewest to the most."
    );
    if shown.len() < bars.len() {
        caption += &format!(
            " Of {}, the {MAX_COLUMNS} with most {unit}s.",
            of(bars.len() as u64, "program counter")
        );
    }
    Some(format!(
        "<figure>\n{svg}<figcaption><span class=\"key\"><i class=\"ideal\"></i>ideal</span>\
         <span class=\"key\"><i class=\"waste\"></i>beyond the ideal</span>{caption}</figcaption>\n\
         </figure>\n"
    ))
}

fn column(bar: &Bar<'_>, unit: &str, x: f64, thick: f64, y: &impl Fn(f64) -> f64) -> String {
    let Bar { row, loads, cost: SectorSummary { min, mean, max, .. }, ideal } = *bar;
    let part = |class: &str, from: f64, to: f64| {
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
    let range = if min < max {
        format!(
            "<path class=\"range\" d=\"M{} {}V{}\"/>",
            coordinate(x),
            coordinate(y(min as f64)),
            coordinate(y(max as f64))
        )
    } else {
        String::new()
    };
    format!(
        "<g><title>{:#x} {}: {mean:.2} {unit}s per load ({min} to {max}), ideal {ideal:.2}, \
         {}</title>{}{}{range}</g>\n",
        row.pc,
        cut(&row.summary.opcode, 48),
        of(loads, "load"),
        part("ideal", 0.0, ideal.min(mean)),
        part("waste", ideal.min(mean), mean),
    )
}
