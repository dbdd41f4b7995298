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
use crate::table::{self, Value};

/// The lane table, with the lines above and below it.
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

/// The lane faults, grouped by the hardware's name for them.
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
    let map = vector.machine.memory.map();
    let whole = |value: &dyn Fn(usize) -> String| {
        (0..LANES).map(|lane| Value::Whole(value(lane))).collect()
    };
    let unless_idle = |value: &dyn Fn(usize) -> String| {
        whole(&|lane| if lanes.executing.contains(lane) { value(lane) } else { "-".to_owned() })
    };
    let address = unless_idle(&|lane| {
        let mark = if is_rounded(lane) { ROUNDED } else { "" };
        format!("{:#018x}{mark}", lanes.addresses.of(lane))
    });
    let space = unless_idle(&|lane| {
        let place = map.locate(op.space, rounded(lane), lanes.plg_of(lane));
        place.map_or("-", |place| place.space.name()).to_owned()
    });
    let faults = whole(&|lane| {
        let faults = outcome.lane_faults.iter().filter(|fault| fault.lane == lane);
        let names: Vec<&str> = faults.map(|fault: &LaneFault| fault.kind().name()).collect();
        if names.is_empty() { String::new() } else { format!("<- {}", names.join(", ")) }
    });
    let numbers = (0..LANES as u64).map(Value::Count).collect();
    let mut columns = vec![
        ("lane".to_owned(), 0, numbers),
        ("address".to_owned(), 0, address),
        ("space".to_owned(), 7, space),
    ];
    columns.extend(registers.iter().map(|register| {
        let values = after.register(*register);
        (register.to_string(), 0, whole(&|lane| format!("{:#010x}", values[lane])))
    }));
    columns.push((String::new(), 0, faults));
    table::grid(columns)
}

/// Marks a misaligned address: the load used a lower one.
const ROUNDED: &str = " (rounded down)";
