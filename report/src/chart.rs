//! [`chart`]: the cost of loads and the ideal, as columns in program order.

use super::picture::Picture;
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

    let mut picture = Picture::default();
    for step in 0..=4 {
        let cost = top * f64::from(step) / 4.0;
        let at = coordinate(y(cost));
        picture.path("grid", format_args!("M{LEFT} {at}H{}", coordinate(end)));
        picture.text("tick end", (28, coordinate(y(cost) + 4.0)), cost);
    }
    let mut last_label = f64::NEG_INFINITY;
    for (i, bar) in shown.iter().enumerate() {
        let x = LEFT + pitch * (i as f64 + 0.5);
        column(&mut picture, bar, unit, x, thick, &y);
        if x - last_label >= 52.0 && x + 20.0 <= WIDTH {
            last_label = x;
            let (x, pc) = (coordinate(x), bar.row.place());
            picture.path("grid", format_args!("M{x} {}v5", TOP + HEIGHT));
            picture.text("tick middle", (&x, TOP + HEIGHT + 18.0), pc);
        }
    }
    let mut caption = format!(
        "Mean {unit}s of the loads of each program counter, in program order: the ideal below, \
         the excess above. The thin line goes from the fewest to the most."
    );
    if shown.len() < bars.len() {
        caption += &format!(
            " Of {}, the {MAX_COLUMNS} with most {unit}s.",
            of(bars.len() as u64, "program counter")
        );
    }
    Some(format!(
        "<figure>\n<svg class=\"chart\" viewBox=\"0 0 {WIDTH} 216\" role=\"img\" \
         aria-label=\"Mean {unit}s per load and the ideal, by program counter; the table has the \
         numbers\">\n{}</svg>\n<figcaption><span class=\"key\"><i class=\"ideal\"></i>ideal</span>\
         <span class=\"key\"><i class=\"waste\"></i>beyond the ideal</span>{caption}</figcaption>\n\
         </figure>\n",
        picture.into_elements()
    ))
}

fn column(
    picture: &mut Picture,
    bar: &Bar<'_>,
    unit: &str,
    x: f64,
    thick: f64,
    y: &impl Fn(f64) -> f64,
) {
    let Bar { row, loads, cost: SectorSummary { min, mean, max, .. }, ideal } = *bar;
    let name = format!(
        "{} {}: {mean:.2} {unit}s per load ({min} to {max}), ideal {ideal:.2}, {}",
        row.place(),
        cut(&row.summary.opcode, 48),
        of(loads, "load")
    );
    picture.named(name, |picture| {
        let parts = [("ideal", 0.0, ideal.min(mean)), ("waste", ideal.min(mean), mean)];
        for (class, from, to) in parts.into_iter().filter(|(_, from, to)| to > from) {
            let at = (coordinate(x - thick / 2.0), coordinate(y(to)));
            picture.rectangle(class, at, (coordinate(thick), coordinate(y(from) - y(to))));
        }
        if min < max {
            let [low, high] = [min, max].map(|cost| coordinate(y(cost as f64)));
            picture.path("range", format_args!("M{} {low}V{high}", coordinate(x)));
        }
    });
}
