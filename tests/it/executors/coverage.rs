//! The generator of random loads often reaches every kind of load, of `LD` and of its siblings.

mod siblings;
mod wide;

use std::collections::BTreeMap;

use warpload::encoding::{MemorySpace, NotExecutable, Reg, Size};
use warpload::lane::LaneMask;
use warpload::load::{AnyRegister, ExecuteError, FaultCause, Outcome, UniformPath};
use warpload::memory::{GenericAddress, OutsideWindow, Space, Width};

use crate::executors::both;
use crate::executors::choices::Random;
use crate::executors::loads::{Case, NUMBERS, Opcode};

/// Each kind of load and its least count among 3,000 loads, about half of the actual count.
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
    ("runs off into a neighbour", 4),
    ("some lanes load", 330),
];

#[test]
fn every_kind_of_load_is_generated() {
    expect(3000, &[Opcode::Ld], WANTED, |_, kind| kind);
}

/// Executes `cases` random loads and counts kinds; `name` makes a kind's name.
fn expect(
    cases: u32,
    opcodes: &[Opcode],
    wanted: &[(&str, u32)],
    name: impl Fn(&Case, String) -> String,
) {
    let mut random = Random(1);
    let mut counts = BTreeMap::<String, u32>::new();
    for _ in 0..cases {
        let numbers: Vec<u64> = (0..NUMBERS).map(|_| random.word()).collect();
        let case = Case::new(&numbers, opcodes);
        let [fast, literal] = both(&case);
        assert_eq!(fast, literal, "{} on {:?}", case.instruction, case.machine);
        let kinds = match &fast.1 {
            Ok(outcome) => kinds(&case, outcome),
            Err(ExecuteError::NotExecutable(NotExecutable::InvalidModifier(name))) => {
                vec![(*name).to_owned()]
            }
            Err(ExecuteError::ConstantMode(mode)) => vec![format!("refused: {}", mode.name())],
            Err(error) => panic!("{error}"),
        };
        for kind in kinds {
            *counts.entry(name(&case, kind)).or_default() += 1;
        }
    }
    for &(kind, least) in wanted {
        let count = counts.get(kind).copied().unwrap_or(0);
        assert!(count >= least, "{kind}: {count}, expected at least {least}; {counts:#?}");
    }
    let wanted: Vec<_> = wanted.iter().map(|(kind, _)| *kind).collect();
    let missing: Vec<_> = counts.iter().filter(|(kind, _)| !wanted.contains(&&***kind)).collect();
    assert!(missing.is_empty(), "not in the table: {missing:#?}");
}

/// The size per lane, which every load of SM 5.x has.
fn lane_size(case: &Case) -> Size {
    case.instruction.parts().size.unwrap().of_lane().unwrap()
}

/// All kinds of a load.
fn kinds(case: &Case, outcome: &Outcome) -> Vec<String> {
    let parts = case.instruction.parts();
    let (base, destination) = (parts.address.base, parts.destination.register().unwrap_or(Reg::RZ));
    if outcome.executing.is_empty() {
        return vec!["nobody executes".into()];
    }
    if let Some(fault) = outcome.warp_fault {
        let of = if fault.register() == AnyRegister::General(destination) { "Rd" } else { "Ra" };
        return vec![format!("{}, {of}", fault.name())];
    }
    let mut kinds = fault_kinds(case, outcome);
    let outside =
        outcome.lane_faults.iter().filter(|fault| fault.kind().zeroes(case.machine.misaligned));
    let faulting: Vec<_> = outside.map(|fault| fault.lane).collect();
    let loading = outcome.executing & !LaneMask::from_fn(|lane| faulting.contains(&lane));
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
    kinds.extend(place_kinds(case, loading, outcome.is_broadcast()));
    let count = lane_size(case).registers() as u8;
    if destination.is_zero() {
        kinds.push("Rd = RZ".into());
    } else if (destination.number()..destination.number() + count).contains(&base.number()) {
        kinds.push("Rd overlaps Ra".into());
    }
    if base.number() >= case.machine.register_limit.get() {
        kinds.push("no base".into());
    }
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// The kinds of faulty lanes.
fn fault_kinds(case: &Case, outcome: &Outcome) -> Vec<String> {
    let allocations = case.machine.memory.allocations();
    let mut kinds = Vec::new();
    for fault in &outcome.lane_faults {
        let space = fault.space.map_or("no space", Space::name);
        kinds.push(match fault.cause {
            FaultCause::OutsideWindow(OutsideWindow::ByPredicate) => "outside by Plg".into(),
            FaultCause::OutsideWindow(OutsideWindow::BeyondAddressBits) => "outside by bits".into(),
            FaultCause::OutsideAllocation => format!("outside allocation, {space}"),
            FaultCause::MisalignedAddress => format!("misaligned address, {space}"),
        });
        if fault.cause == FaultCause::OutsideAllocation
            && fault.space == Some(Space::Global)
            && allocations.iter().any(|known| {
                let end = known.base.wrapping_add(known.size);
                fault.rounded.0.wrapping_sub(known.base) < known.size
                    && allocations.iter().any(|next| next.base == end)
            })
        {
            kinds.push("runs off into a neighbour".into());
        }
    }
    kinds
}

/// The places that lanes load from.
fn place_kinds(case: &Case, loading: LaneMask, is_broadcast: bool) -> Vec<String> {
    let width = Width::from(lane_size(case));
    let mut kinds = Vec::new();
    let mut spaces = Vec::new();
    for lane in loading.lanes() {
        let rounded = address(case, lane).align_down(width);
        let (space, offset) = resolve(case, lane, rounded);
        if !spaces.contains(&space) {
            spaces.push(space);
        }
        if rounded.0 >> 63 != 0 {
            kinds.push("loads at or above 2^63".into());
        }
        if matches!(space, Space::Constant { .. }) && has_large_bank(case) {
            kinds.push("loads from 64 KiB".into());
        }
        if space == Space::Local {
            kinds.push(format!("loads {}", part(case, offset, width.bytes())));
        }
    }
    match spaces[..] {
        [] => {}
        [space] => {
            kinds.push(format!("loads from {space}"));
            if is_broadcast {
                kinds.push(format!("broadcast from {space}"));
            }
        }
        _ => kinds.push("loads from several spaces".into()),
    }
    kinds
}

/// The effective address of a lane, computed from the registers again.
fn address(case: &Case, lane: usize) -> GenericAddress {
    let lanes = warpload::load::LaneAddresses::new(&case.instruction, &case.machine, &case.warp);
    GenericAddress(lanes.addresses.of(lane))
}

/// The memory that a loading lane reads, and the offset in it.
fn resolve(case: &Case, lane: usize, rounded: GenericAddress) -> (Space, u64) {
    let space = match case.instruction.parts().space {
        MemorySpace::Generic { plg } => {
            let plg = case.warp.predicate(plg.unwrap()).contains(lane);
            let place = case.machine.memory.map().resolve(rounded, Some(plg)).unwrap();
            return (place.space, place.offset);
        }
        MemorySpace::Global => Space::Global,
        MemorySpace::Local => Space::Local,
        MemorySpace::Shared => Space::Shared,
        MemorySpace::Constant { bank, .. } => Space::Constant { bank: bank.get() },
        other => unreachable!("no load of SM 5.x is of {other:?}"),
    };
    (space, rounded.0)
}

/// The part of local memory that an access lies in.
fn part(case: &Case, offset: u64, bytes: u32) -> &'static str {
    let memory = &case.machine.memory;
    let high_from = memory.map().local().size - memory.local_high_bytes(0).len() as u64;
    if offset >= high_from {
        "from the high part"
    } else if offset + u64::from(bytes) > high_from {
        "across the parts"
    } else {
        "from the low part"
    }
}

/// Whether the load's bank has all 64 KiB.
fn has_large_bank(case: &Case) -> bool {
    let MemorySpace::Constant { bank, .. } = case.instruction.parts().space else { return false };
    case.machine.memory.constant_bytes(bank.get()).is_some_and(|bytes| bytes.len() == 0x1_0000)
}
