//! [`heat_map`]: drawings of heat maps.

use super::picture::Picture;
use super::text::{bytes, coordinate, count, of};
use crate::{HeatMap, HeatRow};

/// The number of colours; the style sheet names them `h1` and so on.
pub(crate) const COLOURS: usize = 8;

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 118.0;
/// Space for the widths of gaps, if there are any.
const RIGHT: f64 = 130.0;
/// Space for half of the last label.
const MARGIN: f64 = 30.0;
const TOP: f64 = 6.0;

/// The smallest gap between addresses that is drawn, in bytes.
const MIN_GAP: u64 = 64 << 10;
/// The maximum number of gaps that are drawn.
const MAX_GAPS: usize = 10;
/// The smallest distance between labels.
const LABEL: f64 = 13.0;

/// The lowest count of each colour: from 1 to the highest count in equal ratios.
fn thresholds(most: u64) -> Vec<u64> {
    // Reduced, because the result for a whole number may be slightly too high.
    let power = |i: usize| (most as f64).powf(i as f64 / COLOURS as f64) - 1e-6;
    let ratio = |i: usize| (power(i).ceil() as u64).max(1);
    let mut thresholds: Vec<u64> = (0..COLOURS).map(ratio).collect();
    thresholds.dedup();
    thresholds
}

/// The colour of a step. The steps are spread over all colours.
fn colour(step: usize, steps: usize) -> usize {
    if steps < 2 { COLOURS } else { 1 + step * (COLOURS - 1) / (steps - 1) }
}

/// Draws a heat map of that height, with a line where each kernel begins; `None` if no global memory was touched.
pub(crate) fn heat_map(map: &HeatMap, height: f64, kernels: &[u64]) -> Option<String> {
    let most = map.sectors.iter().copied().max().filter(|most| *most > 0)?;
    let thresholds = thresholds(most);
    let gaps = gaps(map);
    let width = WIDTH - LEFT - if gaps.is_empty() { MARGIN } else { RIGHT };
    let row_height = height / map.rows.len() as f64;
    let mut svg = format!(
        "<svg class=\"heat\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\" \
         aria-label=\"Sectors touched, by address and by instruction\">\n\
         <rect class=\"ground\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{width}\" height=\"{height}\"/>\n\
         <svg x=\"{LEFT}\" y=\"{TOP}\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\">\n",
        TOP + height + 34.0,
        map.columns,
        map.rows.len()
    );
    svg += &cells(map, &thresholds);
    svg += "</svg>\n";
    let mut picture = Picture::default();
    address_axis(&mut picture, map, &gaps, row_height, width);
    for record in kernels {
        if map.records.start < *record && map.records.contains(record) {
            let passed = (record - map.records.start) as f64;
            let share = passed / (map.records.end - map.records.start) as f64;
            let x = coordinate(LEFT + width * share);
            picture.path("border", format_args!("M{x} {TOP}v{height}"));
        }
    }
    time_axis(&mut picture, map, width, height);
    for (i, row) in map.rows.iter().enumerate() {
        let sectors = of(map.row(i).iter().sum(), "sector");
        let name = format_args!("{:#x} to {:#x}: {sectors}", row.first, row.last);
        let at = (LEFT, coordinate(TOP + row_height * i as f64));
        picture.named(name, |picture| {
            picture.rectangle("hit", at, (width, coordinate(row_height)));
        });
    }
    svg += &picture.into_elements();
    svg += "</svg>\n";
    Some(format!(
        "<figure>\n{svg}<figcaption>{}{}</figcaption>\n</figure>\n",
        legend(&thresholds, most),
        caption(map, !gaps.is_empty())
    ))
}

/// Draws runs of cells, one path per colour.
fn cells(map: &HeatMap, thresholds: &[u64]) -> String {
    let mut paths = vec![String::new(); thresholds.len()];
    for row in 0..map.rows.len() {
        let steps = map.row(row).iter().map(|count| thresholds.partition_point(|t| t <= count));
        let mut run: Option<(usize, usize)> = None;
        for (column, step) in steps.chain([0]).enumerate() {
            if let Some((start, of)) = run.filter(|(_, of)| *of != step) {
                paths[of - 1] += &format!("M{start} {row}h{}", column - start);
                run = None;
            }
            if step > 0 && run.is_none() {
                run = Some((column, step));
            }
        }
    }
    let mut svg = String::new();
    for (step, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        let colour = colour(step, thresholds.len());
        // Draws a line of width 1 along the middle of the row.
        svg += &format!("<path class=\"h{colour}\" transform=\"translate(0 .5)\" d=\"{path}\"/>\n");
    }
    svg
}

/// The untouched bytes between two neighbouring rows.
fn gap(one: &HeatRow, next: &HeatRow) -> u64 {
    next.first.saturating_sub(one.last).saturating_sub(1)
}

/// The widest gaps, each with the row after it.
fn gaps(map: &HeatMap) -> Vec<(u64, usize)> {
    let pairs = map.rows.windows(2).enumerate();
    let mut gaps: Vec<(u64, usize)> = pairs
        .map(|(i, pair)| (gap(&pair[0], &pair[1]), i + 1))
        .filter(|(bytes, _)| *bytes >= MIN_GAP)
        .collect();
    gaps.sort_by_key(|&(bytes, row)| (std::cmp::Reverse(bytes), row));
    gaps.truncate(MAX_GAPS);
    gaps
}

fn address_axis(
    picture: &mut Picture,
    map: &HeatMap,
    gaps: &[(u64, usize)],
    row_height: f64,
    width: f64,
) {
    let y = |row: usize| TOP + row_height * row as f64;
    let mut named: Vec<usize> = Vec::new();
    for (missing, row) in gaps {
        picture.path("gap", format_args!("M{LEFT} {}h{width}", coordinate(y(*row))));
        if named.iter().all(|other| (y(*row) - y(*other)).abs() >= LABEL) {
            named.push(*row);
            let at = (LEFT + width + 8.0, coordinate(y(*row) + 4.0));
            picture.text("tick", at, format_args!("⋮ {} apart", bytes(*missing)));
        }
    }
    // Labels the rows after gaps first, then as many others as there is space for.
    let mut labelled: Vec<usize> = Vec::new();
    let step = (LABEL * 2.0 / row_height).ceil().max(1.0) as usize;
    let regular = (0..map.rows.len()).step_by(step.next_power_of_two());
    for row in [0].into_iter().chain(gaps.iter().map(|(_, row)| *row)).chain(regular) {
        if labelled.iter().any(|other| (y(row) - y(*other)).abs() < LABEL) {
            continue;
        }
        labelled.push(row);
        picture.path("grid", format_args!("M{} {}h5", LEFT - 5.0, coordinate(y(row))));
        let base = coordinate(y(row) + 4.0 + if row == 0 { 3.0 } else { 0.0 });
        let address = format_args!("{:#x}", map.rows[row].first);
        picture.text("tick end", (LEFT - 9.0, base), address);
    }
}

fn time_axis(picture: &mut Picture, map: &HeatMap, width: f64, height: f64) {
    for quarter in 0..=4u64 {
        let share = quarter as f64 / 4.0;
        let passed = (map.records.end - map.records.start) as f64 * share;
        let x = coordinate(LEFT + width * share);
        picture.path("grid", format_args!("M{x} {}v5", TOP + height));
        let record = count(map.records.start + passed as u64);
        picture.text("tick middle", (&x, TOP + height + 18.0), record);
    }
    let middle = (LEFT + width / 2.0, TOP + height + 32.0);
    picture.text("tick middle", middle, "instruction of the trace");
}

fn legend(thresholds: &[u64], most: u64) -> String {
    let mut legend = "<span class=\"scale\">sectors in a cell:".to_owned();
    for (step, least) in thresholds.iter().enumerate() {
        let last = thresholds.get(step + 1).map_or(most, |next| next - 1);
        let range = if last == *least {
            count(last)
        } else {
            format!("{}–{}", count(*least), count(last))
        };
        let colour = colour(step, thresholds.len());
        legend += &format!("<span class=\"key\"><i class=\"h{colour}\"></i>{range}</span>");
    }
    legend + "</span>"
}

fn caption(map: &HeatMap, has_gaps: bool) -> String {
    // The last row may be smaller, and rows with gaps seem larger.
    let Some(bytes_per_row) =
        map.rows.iter().rev().skip(1).map(size).min().or_else(|| map.rows.first().map(size))
    else {
        return String::new();
    };
    let records = (map.records.end - map.records.start).div_ceil(map.columns.max(1) as u64);
    format!(
        "Only pages that a load touched are drawn; a row is {} of them, a column {}.{}{}",
        bytes(bytes_per_row),
        of(records, "instruction"),
        if has_gaps { " Horizontal lines are gaps of 64 KiB or more." } else { "" },
        if map.is_exact {
            ""
        } else {
            " Sectors of neighbouring rows are shared out between them."
        }
    )
}

fn size(row: &HeatRow) -> u64 {
    row.last - row.first + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_reach_from_one_to_the_most() {
        assert_eq!(thresholds(1), [1]);
        assert_eq!(thresholds(2), [1, 2]);
        assert_eq!(thresholds(256), [1, 2, 4, 8, 16, 32, 64, 128]);
        assert_eq!(colour(0, 1), COLOURS);
        assert_eq!((colour(0, 3), colour(2, 3)), (1, COLOURS));
    }

    #[test]
    fn cells_of_one_colour_are_one_line() {
        let rows = vec![HeatRow { first: 0, last: 127 }, HeatRow { first: 4096, last: 4223 }];
        let sectors = vec![1, 1, 0, 2, 0, 0, 2, 2];
        let map = HeatMap { records: 0..4, columns: 4, rows, sectors, is_exact: true };
        let svg = cells(&map, &thresholds(2));
        assert!(svg.contains("d=\"M0 0h2\""), "{svg}");
        assert!(svg.contains("d=\"M3 0h1M2 1h2\""), "{svg}");
    }
}
