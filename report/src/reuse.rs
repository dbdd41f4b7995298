//! The panel about reuse: the number of loads until a line of global memory is touched again.

use super::html::{Context, Panel};
use super::picture::Picture;
use super::table::{Cell, Heading, SHORT_NAME, Table};
use super::text::{coordinate, count, of, per, percent};
use warpload_replay::ReuseCounts;

pub(crate) fn answer(context: &Context<'_>) -> Panel {
    let title = "Reuse of lines of global memory";
    let panel = |body| Panel { id: "reuse", tab: "Reuse", title, rows: None, body };
    let Some(reuse) = &context.page.summary.counts.reuse else {
        return panel(
            "<p class=\"note\">Not counted: the option --reuse counts it.</p>\n".to_owned(),
        );
    };
    let all = touches(reuse);
    let mut body = format!(
        "<p class=\"note\">{} of lines of 128 bytes, {} of them the first of the kernel. A \
         distance is the number of loads of global memory since the last one that touched the \
         line; 1 is the load before.</p>\n",
        of(all, "touch"),
        count(reuse.cold)
    );
    if all > 0 {
        body += &chart(reuse);
        body += &histogram(reuse);
    }
    if let Some(listed) = &context.kernels {
        body += "<h3>Kernels</h3>\n";
        body += &kernels(context, listed);
    }
    panel(body)
}

fn touches(reuse: &ReuseCounts) -> u64 {
    reuse.buckets.iter().fold(reuse.cold, |sum, (_, touches)| sum.saturating_add(*touches))
}

/// All buckets from the first to the last, including empty ones, each with its highest distance.
fn buckets(reuse: &ReuseCounts) -> Vec<(u64, u64)> {
    let last = reuse.buckets.last().map_or(0, |(bound, _)| bound.max(&1).ilog2());
    let of = |bound: u64| reuse.buckets.iter().filter(move |(other, _)| *other == bound);
    (0..=last).map(|k| (1 << k, of(1 << k).map(|(_, touches)| touches).sum())).collect()
}

/// The distances of a bucket in words.
fn distances(bound: u64) -> String {
    match bound {
        1 | 2 => bound.to_string(),
        _ => format!("{}–{}", count(bound / 2 + 1), count(bound)),
    }
}

/// A power of two in as few letters as possible.
fn short(number: u64) -> String {
    let steps = number.max(1).ilog2() / 10;
    let unit = ["", "K", "M", "G", "T", "P", "E"][steps as usize % 7];
    format!("{}{unit}", number >> (10 * steps))
}

fn chart(reuse: &ReuseCounts) -> String {
    const HEIGHT: f64 = 150.0;
    let mut bars: Vec<(String, u64)> = Vec::new();
    bars.extend(
        buckets(reuse).into_iter().map(|(bound, touches)| (format!("≤{}", short(bound)), touches)),
    );
    bars.push(("first".to_owned(), reuse.cold));
    let most = bars.iter().map(|(_, touches)| *touches).max().unwrap_or(1).max(1);
    let pitch = (1000.0 / bars.len() as f64).min(62.0);
    let mut picture = Picture::default();
    for (i, (label, touches)) in bars.iter().enumerate() {
        let height = HEIGHT * per(*touches, most);
        let x = pitch * i as f64;
        let class = if i + 1 == bars.len() { "waste" } else { "ideal" };
        picture.named(format_args!("{label}: {}", of(*touches, "touch")), |picture| {
            let at = (coordinate(x + pitch * 0.1), coordinate(14.0 + HEIGHT - height));
            picture.rectangle(class, at, (coordinate(pitch * 0.8), coordinate(height)));
            picture.text("tick middle", (coordinate(x + pitch * 0.5), 184), label);
        });
    }
    picture.path("grid", "M0 164H1000");
    format!(
        "<figure>\n<svg class=\"chart\" viewBox=\"0 0 1000 190\" role=\"img\" aria-label=\"Touches by \
         distance; the table has the numbers\">\n{}</svg>\n<figcaption>Touches by \
         distance: each column counts the distances up to its number and above the column before; \
         the last one counts first touches.</figcaption>\n\
         </figure>\n",
        picture.into_elements()
    )
}

fn histogram(reuse: &ReuseCounts) -> String {
    const HEADINGS: [Heading<'_>; 4] = [
        ("distance", "distance", true),
        ("touches", "touches", true),
        ("share", "share", true),
        ("within", "up to here", true),
    ];
    let all = touches(reuse);
    let share = |part: u64| Cell::Shown(per(part, all), percent(part, all));
    let caption = "Touches by distance";
    let order = ("distance", "ascending");
    let mut table = Table::new("reuse-distances", caption, &HEADINGS, order, "");
    let mut sum = 0u64;
    for (bound, touches) in buckets(reuse) {
        sum = sum.saturating_add(touches);
        let distance = Cell::Shown(bound as f64, distances(bound));
        table.row(&[distance, Cell::Count(touches), share(touches), share(sum)]);
    }
    let first = Cell::Shown(u64::MAX as f64, "first touch".to_owned());
    table.row(&[first, Cell::Count(reuse.cold), share(reuse.cold), Cell::Unknown]);
    table.finish()
}

/// The table of the listed kernels that touch lines.
fn kernels(context: &Context<'_>, listed: &[usize]) -> String {
    let mut headings: Vec<Heading<'_>> = vec![
        ("kernel", "kernel", false),
        ("touches", "touches", true),
        ("cold", "first touches", true),
    ];
    const WITHIN: [(u64, Heading<'_>); 5] = [
        (1, ("w1", "within 1 load", true)),
        (8, ("w8", "within 8", true)),
        (64, ("w64", "within 64", true)),
        (512, ("w512", "within 512", true)),
        (4096, ("w4096", "within 4,096", true)),
    ];
    headings.extend(WITHIN.map(|(_, heading)| heading));
    let caption = "Touches of each kernel, and the share of them within a distance";
    let mut table = Table::new("reuse-kernels", caption, &headings, ("kernel", "ascending"), "");
    for &i in listed {
        let Some(kernel) = context.page.summary.kernels.get(i) else { continue };
        let Some(reuse) = kernel.counts.reuse.as_ref().filter(|reuse| touches(reuse) > 0) else {
            continue;
        };
        let all = touches(reuse);
        table.start(context.number(i), "");
        table.kernel(context.number(i), &context.name(i, SHORT_NAME), None);
        table.cell(&Cell::Count(all));
        table.cell(&Cell::Count(reuse.cold));
        for (distance, _) in WITHIN {
            let near = reuse.buckets.iter().filter(|(bound, _)| *bound <= distance);
            let within = near.fold(0u64, |sum, (_, touches)| sum.saturating_add(*touches));
            table.cell(&Cell::Shown(per(within, all), percent(within, all)));
        }
        table.end();
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_buckets_are_shown() {
        let mut reuse = ReuseCounts::default();
        (reuse.buckets, reuse.cold) = (vec![(1, 5), (8, 2)], 3);
        assert_eq!(buckets(&reuse), [(1, 5), (2, 0), (4, 0), (8, 2)]);
        assert_eq!(touches(&reuse), 10);
        let html = histogram(&reuse);
        assert!(html.contains(">5–8</td><td>2</td><td data-v=\"0.2000\">20 %"));
        assert_eq!([1, 512, 1024, 1 << 31].map(short), ["1", "512", "1K", "2G"]);
    }
}
