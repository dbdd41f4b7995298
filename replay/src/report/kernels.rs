//! [`kernels`]: the table of kernels.

use super::context::Context;
use super::rows::{MAX_KERNELS, SPACES, space};
use super::table::{Cell, Heading, Table};
use super::text::{bytes, count, cut, of, per, percent};

/// The most characters of a name.
const NAME: usize = 120;

const HEADINGS: [Heading<'_>; 12] = [
    ("kernel", "kernel", false),
    ("grid", "grid", false),
    ("block", "block", false),
    ("records", "instructions", true),
    ("loads", "loads", true),
    ("sectors", "sectors", true),
    ("efficiency", "sector efficiency", true),
    ("footprint", "footprint", true),
    ("stores", "stores, atomics", true),
    ("conflicts", "bank conflicts", true),
    ("local", "local sectors", true),
    ("faults", "lane faults", true),
];

/// Returns the table of the listed kernels, in launch order; `None` if the trace has a single one.
pub(super) fn kernels(context: &Context<'_>) -> Option<String> {
    let listed = context.kernels.as_ref()?;
    let all = &context.page.summary.kernels;
    let mut html = "<section id=\"kernels\"><h2>Kernels</h2>\n".to_owned();
    if listed.len() < all.len() {
        html += &format!(
            "<p class=\"note\">Of {}, the {} with most accesses.</p>\n",
            of(all.len() as u64, "kernel"),
            count(MAX_KERNELS as u64)
        );
    }
    let caption = "Kernels in launch order";
    let mut table = Table::new("kernel-launches", caption, &HEADINGS, ("kernel", "ascending"), "");
    let spaces = spaces(context, all.len());
    for &i in listed {
        let (Some(kernel), Some(launch)) = (all.get(i), context.page.contents.kernels.get(i))
        else {
            continue;
        };
        let counts = &kernel.counts;
        let has = |place: &usize| spaces[i] >> place & 1 == 1;
        let names: Vec<&str> = (0..SPACES.len()).filter(has).map(|place| SPACES[place]).collect();
        table.start(context.number(i), &names.join(" "));
        // The filter finds both names.
        let mangled = kernel.demangled.as_ref().map(|_| cut(&kernel.name, NAME));
        table.kernel(context.number(i), &context.name(i, NAME), mangled.as_deref());
        for [x, y, z] in [launch.grid, launch.block] {
            table.text(&format!("{x}×{y}×{z}"));
        }
        table.cell(&Cell::Count(counts.records));
        table.cell(&Cell::Count(counts.loads));
        table.cell(&Cell::Count(counts.sectors));
        let efficiency = per(counts.ideal_sectors, counts.sectors);
        let shown = percent(counts.ideal_sectors, counts.sectors);
        table.cell(&Cell::Shown(efficiency, shown));
        let footprint = counts.footprint.lines * 128;
        table.cell(&Cell::Shown(footprint as f64, bytes(footprint)));
        table.cell(&Cell::Count(counts.skipped.store + counts.skipped.atomic));
        table.cell(&Cell::Count(counts.shared.conflicts));
        table.cell(&Cell::Count(counts.local.sectors));
        table.faults(&counts.lane_faults);
        table.end();
    }
    Some(html + &table.finish() + "</section>\n")
}

/// Returns for each kernel which of [`SPACES`] it accesses: a bit for each.
fn spaces(context: &Context<'_>, kernels: usize) -> Vec<u8> {
    let mut spaces = vec![0; kernels];
    for row in context.rows.all() {
        let place = SPACES.iter().position(|name| *name == space(row));
        if let (Some(place), Some(bits)) = (place, spaces.get_mut(row.kernel)) {
            *bits |= 1u8 << place;
        }
    }
    spaces
}
