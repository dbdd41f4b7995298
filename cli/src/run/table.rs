//! The table of lanes that `run` shows.

use warpload::encoding::Reg;
use warpload::lane::LANES;
use warpload::load::{
    LaneAddresses, LaneFault, LaneFaults, LoadOp, Outcome, UniformPath, WarpError,
};
use warpload::memory::GenericAddress;
use warpload::warp::Warp;
use warpload_suite::vector::Vector;

use crate::name::visible;

/// The lane table with what is said above and below it.
pub(super) fn table(vector: &Vector, op: LoadOp, after: &Warp, outcome: &Outcome) -> String {
    let mut text = String::new();
    if !vector.name.is_empty() {
        text += &format!("{}\n", visible(&vector.name));
    }
    let instruction = &vector.instruction;
    text += &format!("{}  {instruction}\n", instruction.word());
    let lanes = outcome.executing.count();
    text += &format!(
        "{lanes} of {LANES} lanes execute (active {:#010x}){}\n\n",
        vector.warp.active,
        match outcome.uniform {
            Some(UniformPath::Broadcast) => ", one fetch broadcast to all of them",
            Some(UniformPath::Divergent) => ", uniform but divergent: served one by one",
            None => "",
        }
    );
    if let Some(fault) = outcome.warp_fault {
        let error = fault.warp_error();
        text += &format!("The warp faults before any lane loads: {fault}\n{error}\n");
        return text;
    }
    text += &rows(vector, op, after, outcome);
    for register in after.uniform_changed_since(&vector.warp) {
        text += &format!("\n{register}: {:#010x}", after.uniform_register(register));
    }
    if after.uniform_changed_since(&vector.warp).next().is_some() {
        text += "\n";
    }
    text += &faults(&outcome.lane_faults);
    text
}

/// The lane faults, under what the hardware calls them.
pub(crate) fn faults(lane_faults: &LaneFaults) -> String {
    let mut groups: Vec<(WarpError, String)> = Vec::new();
    for fault in lane_faults {
        let error = fault.warp_error();
        let line = format!("  {fault}\n");
        match groups.iter_mut().find(|(known, _)| *known == error) {
            Some((_, lines)) => lines.push_str(&line),
            None => groups.push((error, line)),
        }
    }
    let section = |(error, lines): &(WarpError, String)| format!("\n{error}\n{lines}");
    groups.iter().map(section).collect()
}

fn rows(vector: &Vector, op: LoadOp, after: &Warp, outcome: &Outcome) -> String {
    let instruction = &vector.instruction;
    let lanes = LaneAddresses::new(instruction, &vector.machine, &vector.warp);
    let registers =
        outcome.destination.iter().chain(&outcome.other_half).flat_map(|written| {
            (0..written.count).map(|i| Reg::new(written.first.number() + i as u8))
        });
    let registers: Vec<Reg> = registers.collect();
    let rounded = |lane: usize| GenericAddress(lanes.addresses.of(lane)).align_down(op.width);
    let is_rounded = |lane: usize| rounded(lane) != GenericAddress(lanes.addresses.of(lane));
    // The mark has a column of its own only if a lane needs it.
    let width = if lanes.executing.lanes().any(is_rounded) { 18 + 1 + ROUNDED.len() } else { 18 };
    let mut text = format!("lane  {:<width$}  space  ", "address");
    for register in &registers {
        text += &format!("  {:<10}", register.to_string());
    }
    text.truncate(text.trim_end().len());
    text += "\n";
    for lane in 0..LANES {
        let mut row = format!("{lane:>4}  ");
        if lanes.executing.contains(lane) {
            let map = vector.machine.memory.map();
            let place = map.locate(op.space, rounded(lane), lanes.plg_of(lane));
            let space = place.map_or("-", |place| place.space.name());
            let mut address = format!("{:#018x}", lanes.addresses.of(lane));
            if is_rounded(lane) {
                address = address + " " + ROUNDED;
            }
            row += &format!("{address:<width$}  {space:<7}");
        } else {
            row += &format!("{:<width$}  {:<7}", "-", "-");
        }
        for register in &registers {
            row += &format!("  {:#010x}", after.register(*register)[lane]);
        }
        let faults = outcome.lane_faults.iter().filter(|fault| fault.lane == lane);
        let names: Vec<&str> = faults.map(|fault: &LaneFault| fault.kind().name()).collect();
        if !names.is_empty() {
            row += &format!("  <- {}", names.join(", "));
        }
        text += row.trim_end();
        text += "\n";
    }
    text
}

/// Marks a misaligned address: what was loaded is at a lower one.
const ROUNDED: &str = "(rounded down)";
