//! The generator of random loads reaches every kind of load, often.

use std::collections::BTreeMap;

use warpload::lane::LaneMask;
use warpload::load::{FaultKind, Outcome, UniformPath};
use warpload::memory::{GenericAddress, OutsideWindow, Space};

use crate::both;
use crate::choices::Random;
use crate::loads::{Case, NUMBERS};

/// The kinds of load and how many of 3,000 must be of each, about half of what there are.
const WANTED: &[(&str, u32)] = &[
    ("Rd = RZ", 119),
    ("Rd overlaps Ra", 298),
    ("all lanes load", 236),
    ("broadcast", 37),
    ("broadcast from global", 22),
    ("broadcast from shared", 14),
    ("divergent", 332),
    ("loads across the parts", 43),
    ("loads at or above 2^63", 43),
    ("loads from global", 145),
    ("loads from local", 182),
    ("loads from several spaces", 128),
    ("loads from shared", 110),
    ("loads from the high part", 180),
    ("loads from the low part", 175),
    ("misaligned address, global", 135),
    ("misaligned address, local", 77),
    ("misaligned address, no space", 102),
    ("misaligned address, shared", 49),
    ("misaligned_register, Ra", 61),
    ("misaligned_register, Rd", 53),
    ("no base", 115),
    ("no lane loads", 394),
    ("nobody executes", 274),
    ("out_of_range_register, Ra", 8),
    ("out_of_range_register, Rd", 143),
    ("outside allocation, global", 401),
    ("outside allocation, local", 76),
    ("outside allocation, shared", 107),
    ("outside by Plg", 378),
    ("outside by bits", 46),
    ("runs off into a neighbour", 9),
    ("some lanes load", 330),
];

#[test]
fn every_kind_of_load_is_generated() {
    let mut random = Random(1);
    let mut counts = BTreeMap::<String, u32>::new();
    for _ in 0..3000 {
        let numbers: Vec<u64> = (0..NUMBERS).map(|_| random.word()).collect();
        let case = Case::new(&numbers);
        let [fast, literal] = both(&case);
        assert_eq!(fast, literal, "{} on {:?}", case.instruction(), case.machine);
        for kind in kinds(&case, &fast.1) {
            *counts.entry(kind).or_default() += 1;
        }
    }
    for &(kind, least) in WANTED {
        let count = counts.get(kind).copied().unwrap_or(0);
        assert!(count >= least, "{kind}: {count}, expected at least {least}; {counts:#?}");
    }
}

/// The kinds that a load is of.
fn kinds(case: &Case, outcome: &Outcome) -> Vec<String> {
    let Case { machine, load, .. } = case;
    let mut kinds = Vec::new();
    if outcome.executing.is_empty() {
        return vec!["nobody executes".into()];
    }
    if let Some(fault) = outcome.warp_fault {
        let of = if fault.register() == load.destination { "Rd" } else { "Ra" };
        return vec![format!("{}, {of}", fault.name())];
    }
    let bytes = load.size.bytes();
    let outside = outcome.lane_faults.iter().filter(|fault| fault.kind.zeroes());
    let faulting: Vec<_> = outside.clone().map(|fault| fault.lane).collect();
    let loading = outcome.executing & !LaneMask::where_lane(|lane| faulting.contains(&lane));
    for fault in &outcome.lane_faults {
        let space = fault.space.map_or("no space", Space::name);
        kinds.push(match fault.kind {
            FaultKind::OutsideWindow(OutsideWindow::ByPredicate) => "outside by Plg".into(),
            FaultKind::OutsideWindow(OutsideWindow::BeyondAddressBits) => "outside by bits".into(),
            FaultKind::OutsideAllocation => format!("outside allocation, {space}"),
            FaultKind::MisalignedAddress => format!("misaligned address, {space}"),
        });
        if fault.kind == FaultKind::OutsideAllocation
            && machine.memory.allocations().iter().any(|known| {
                let end = known.base.wrapping_add(known.size);
                fault.rounded.0.wrapping_sub(known.base) < known.size
                    && machine.memory.allocations().iter().any(|next| next.base == end)
            })
        {
            kinds.push("runs off into a neighbour".into());
        }
    }
    kinds.push(if loading.is_empty() {
        "no lane loads".into()
    } else if faulting.is_empty() {
        "all lanes load".into()
    } else {
        "some lanes load".into()
    });
    match outcome.uniform {
        Some(UniformPath::Broadcast) => kinds.push("broadcast".into()),
        Some(UniformPath::Divergent) => kinds.push("divergent".into()),
        None => {}
    }
    let mut spaces = Vec::new();
    for lane in loading.lanes() {
        let address = address(case, lane);
        let rounded = address.align_down(bytes);
        let plg = case.warp.predicate(load.plg).contains(lane);
        let (space, offset) = machine.memory.map().resolve(rounded, plg).unwrap();
        if !spaces.contains(&space) {
            spaces.push(space);
        }
        if rounded.0 >> 63 != 0 {
            kinds.push("loads at or above 2^63".into());
        }
        if space == Space::Local {
            let window = machine.memory.map().local();
            let high_from = window.size - machine.memory.local_high_bytes(0).len() as u64;
            kinds.push(if offset >= high_from {
                "loads from the high part".into()
            } else if offset + u64::from(bytes) > high_from {
                "loads across the parts".into()
            } else {
                "loads from the low part".into()
            });
        }
    }
    match spaces[..] {
        [] => {}
        [space] => {
            kinds.push(format!("loads from {space}"));
            if outcome.is_broadcast() {
                kinds.push(format!("broadcast from {space}"));
            }
        }
        _ => kinds.push("loads from several spaces".into()),
    }
    if load.destination.is_zero() {
        kinds.push("Rd = RZ".into());
    } else if (load.destination.number()..load.destination.number() + load.size.registers() as u8)
        .contains(&load.base.number())
    {
        kinds.push("Rd overlaps Ra".into());
    }
    if load.base.number() >= machine.register_limit.get() {
        kinds.push("no base".into());
    }
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// The effective address of a lane, told from the registers once more.
fn address(case: &Case, lane: usize) -> GenericAddress {
    let lanes = warpload::load::LaneAddresses::of(&case.instruction(), &case.machine, &case.warp);
    GenericAddress(lanes.addresses[lane])
}
