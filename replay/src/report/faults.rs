//! [`faults`]: loads with lane faults, with a drawing of their lanes.

use super::context::{Context, LONG_NAME};
use super::panel::Panel;
use super::text::{count, cut, of};
use crate::FaultyLoad;
use warpload::lane::{LANES, LaneMask};
use warpload::load::LaneFaultKind;

const CELL: usize = 11;

/// Returns the drawings of faulty loads; `None` if there are none.
pub(super) fn faults(context: &Context<'_>) -> Option<Panel> {
    let faulty = &context.page.survey.faulty;
    let of_rows = || context.rows.loads().map(|row| row.summary.lane_faults.all());
    let (all, places) = (of_rows().sum(), of_rows().filter(|faults| *faults > 0).count());
    if faulty.is_empty() {
        return None;
    }
    let mut body = format!(
        "<p class=\"note\">{} at {}; the first load with one at each{}.</p>\n<p class=\"legend\">",
        of(all, "lane fault"),
        of(places as u64, "program counter"),
        if places > faulty.len() {
            format!(", {} of them", count(faulty.len() as u64))
        } else {
            String::new()
        }
    );
    let kinds = LaneFaultKind::ALL.map(|kind| (kind.name(), kind.name().replace('_', " ")));
    let plain = [("executes", "executing, no fault".to_owned()), ("idle", "not executing".into())];
    for (class, text) in kinds.into_iter().chain(plain) {
        body += &format!("<span class=\"key\"><i class=\"{class}\"></i>{text}</span>");
    }
    body += "</p>\n";
    faulty.iter().for_each(|load| body += &faulty_load(load, context));
    let rows = Some(faulty.len());
    Some(Panel { id: "faults", tab: "Lane faults", title: "Lane faults", rows, body })
}

fn faulty_load(load: &FaultyLoad, context: &Context<'_>) -> String {
    let operations = &context.page.contents.operations;
    let opcode = operations.get(usize::from(load.operation)).map_or("", |op| &*op.opcode);
    let number = context.number(load.kernel);
    let mut html = format!(
        "<div class=\"faulty\" data-k=\"{number}\"><p><code class=\"pc\">{:#x}</code> <code>{}</code> <span \
         class=\"dim\">instruction {} of the trace, kernel {number} <code>{}</code></span></p>\n{}<ul>",
        load.pc,
        cut(opcode, 48),
        count(load.record),
        context.name(load.kernel, LONG_NAME),
        cells(load)
    );
    for (kind, &lanes) in load.faults.iter() {
        let Some(first) = lanes.first() else { continue };
        html += &format!(
            "<li><i class=\"{kind}\"></i>{}: {} <span class=\"dim\">{}at</span> <code>{:#x}</code></li>",
            kind.name().replace('_', " "),
            lane_list(lanes),
            if lanes.count() > 1 { "first " } else { "" },
            load.addresses[first]
        );
    }
    html + "</ul></div>\n"
}

/// Returns `lane 3` or `lanes 0–7, 12`.
fn lane_list(lanes: LaneMask) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for lane in lanes.lanes() {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == lane => *last = lane,
            _ => runs.push((lane, lane)),
        }
    }
    let run = |(first, last): &(usize, usize)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}–{last}"),
    };
    let text: Vec<String> = runs.iter().map(run).collect();
    format!("lane{} {}", if lanes.count() == 1 { "" } else { "s" }, text.join(", "))
}

/// Draws the 32 lanes. A lane that is both misaligned and outside has both colours.
fn cells(load: &FaultyLoad) -> String {
    let misaligned = LaneFaultKind::MisalignedAddress;
    let mut svg = format!(
        "<svg class=\"lanes\" viewBox=\"0 0 {} 24\" role=\"img\" aria-label=\"The 32 lanes\">",
        LANES * (CELL + 2) + 3 * 4
    );
    for lane in 0..LANES {
        // Groups of eight.
        let x = lane * (CELL + 2) + lane / 8 * 4;
        let has = |kind: &LaneFaultKind| load.faults[*kind].contains(lane);
        let outside = LaneFaultKind::ALL.into_iter().filter(|kind| kind.zeroes()).find(has);
        let is_misaligned = has(&misaligned);
        let class = match outside {
            Some(kind) => kind.name(),
            None if is_misaligned => misaligned.name(),
            None if load.executing.contains(lane) => "executes",
            None => "idle",
        };
        let mut title = format!("lane {lane}: ");
        match (load.executing.contains(lane), outside, is_misaligned) {
            (false, ..) => title += "not executing",
            (_, Some(kind), true) => title += &format!("{kind}, {misaligned}"),
            _ => title += class,
        }
        if load.executing.contains(lane) {
            title += &format!(" at {:#x}", load.addresses[lane]);
        }
        svg += &format!(
            "<g><title>{title}</title><rect class=\"{class}\" x=\"{x}\" width=\"{CELL}\" \
             height=\"{CELL}\" rx=\"2\"/>"
        );
        if outside.is_some() && is_misaligned {
            svg += &format!("<path class=\"{misaligned}\" d=\"M{x} {CELL}h{CELL}v-{CELL}z\"/>");
        }
        svg += "</g>";
        if lane % 8 == 0 {
            svg += &format!("<text class=\"tick\" x=\"{x}\" y=\"22\">{lane}</text>");
        }
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_in_runs() {
        assert_eq!(lane_list(LaneMask::from_bits(0b1000)), "lane 3");
        assert_eq!(lane_list(LaneMask::from_bits(0x8000_00f3)), "lanes 0, 1, 4–7, 31");
    }
}
