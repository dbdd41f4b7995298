//! Random loads on a random machine, with addresses where something begins, ends, or lies.

use warpload::encoding::{CacheOp, Immediate, Instruction, Ld, Pred, Reg, Size};
use warpload::lane::{LANES, LaneMask};
use warpload::machine::Machine;
use warpload::memory::GenericAddress;
use warpload::warp::Warp;

use crate::choices::{Choices, Random};
use crate::machines::machine;

/// One load, what it executes on and what it starts from.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) machine: Machine,
    pub(crate) load: Ld,
    pub(crate) warp: Warp,
}

/// How many numbers decide about a case, and not always all of them.
pub(crate) const NUMBERS: usize = 256;

impl Case {
    pub(crate) fn instruction(&self) -> Instruction {
        self.load.into()
    }

    pub(crate) fn new(numbers: &[u64]) -> Self {
        let choices = &mut Choices::new(numbers);
        let machine = machine(choices);
        let mut load = instruction(choices, &machine);
        let mut warp = warp(choices);
        let addresses = addresses(choices, &machine, load.size.bytes());
        aim(&mut load, &mut warp, &machine, &addresses);
        let plg = plg(choices, &machine, &load, &addresses);
        warp.set_predicate(load.plg, plg);
        warp.active = mask(choices);
        Self { machine, load, warp }
    }
}

fn mask(choices: &mut Choices<'_>) -> LaneMask {
    match choices.below(12) {
        0..7 => LaneMask::ALL,
        7 => LaneMask::from_bits(1 << choices.below(32)),
        8 => LaneMask::NONE,
        _ => LaneMask::from_bits(choices.word() as u32),
    }
}

fn warp(choices: &mut Choices<'_>) -> Warp {
    let mut random = Random(choices.word());
    let mut warp = Warp::new();
    for register in 0..=254 {
        warp.set_register(Reg::new(register), [random.word() as u32; LANES]);
    }
    for predicate in 0..7 {
        warp.set_predicate(Pred::new(predicate).unwrap(), mask(choices));
    }
    warp
}

fn instruction(choices: &mut Choices<'_>, machine: &Machine) -> Ld {
    let size = if choices.one_in(3) { Size::U128 } else { choices.pick(&Size::ALL) };
    let limit = u64::from(machine.register_limit.get());
    let extended = choices.below(3) > 0;
    let base = match choices.below(12) {
        0 => 255,
        1 => choices.below(256),
        2 => limit - choices.below(3).min(limit),
        3 => choices.below(limit),
        _ => 2 * choices.below((limit.min(16) / 2).max(1)),
    };
    let count = u64::from(size.registers());
    let destination = match choices.below(12) {
        0 => 255,
        1 => choices.below(256),
        2 => (limit.max(count) - count) & !(count - 1),
        3 => limit & !(count - 1),
        // Overlapping the base.
        4..7 => base & !(count - 1),
        _ => count * choices.below((limit.min(24) / count).max(1)),
    };
    let immediate = match choices.below(5) {
        0 => 0,
        1 => choices.below(64) as u32,
        2 => (choices.below(64) as u32).wrapping_neg(),
        _ => choices.word() as u32,
    };
    let (guard, guard_negated) = match choices.below(8) {
        0..5 => (Pred::PT, false),
        5 => (Pred::PT, choices.one_in(4)),
        _ => (Pred::new(choices.below(7) as u8).unwrap(), choices.one_in(2)),
    };
    Ld {
        plg: Pred::new(choices.pick(&[7, 0, 1, 6])).unwrap(),
        cache: choices.pick(&CacheOp::ALL),
        size,
        extended,
        immediate: Immediate::from_unsigned(u64::from(immediate)).unwrap(),
        guard_negated,
        guard,
        base: Reg::new(base as u8),
        destination: Reg::new(destination as u8),
    }
}

/// All that is allocated, as the first address and the size, and the windows themselves.
fn places(machine: &Machine) -> Vec<(u64, u64)> {
    let memory = &machine.memory;
    let (shared, local) = (memory.map().shared(), memory.map().local());
    let (low, high) = (memory.local_low_bytes(0).len(), memory.local_high_bytes(0).len());
    let high_from = local.base.wrapping_add(local.size - high as u64);
    let mut places: Vec<_> =
        memory.allocations().iter().map(|known| (known.base, known.size)).collect();
    // As often as local memory is, whatever the number of allocations.
    places.extend(places.clone());
    places.extend([(shared.base, memory.shared_bytes().len() as u64); 2]);
    places.extend([(local.base, low as u64), (high_from, high as u64)]);
    if (low + high) as u64 == local.size {
        // For loads from where the parts meet.
        places.push((local.base, local.size));
    }
    places.retain(|(_, size)| *size > 0);
    places
}

fn addresses(choices: &mut Choices<'_>, machine: &Machine, bytes: u32) -> [u64; LANES] {
    let map = machine.memory.map();
    let places = places(machine);
    let top = if map.address_bits() == 64 { 0 } else { 1 << map.address_bits() };
    let mut edges = vec![top, 0, 1 << 32, map.shared().base, map.local().base];
    for (base, size) in [(map.shared().base, map.shared().size)].into_iter().chain(places.clone()) {
        edges.extend([base, base.wrapping_add(size)]);
    }
    // Somewhere in what is allocated, or a few bytes before or behind where something ends.
    let point = |choices: &mut Choices<'_>| {
        if !places.is_empty() && !choices.one_in(3) {
            let (base, size) = choices.pick(&places);
            // So that one lane in many can be off, most addresses are multiples.
            let offset = choices.below(size);
            let address = base.wrapping_add(offset);
            if choices.one_in(4) { address } else { address.next_multiple(bytes, base, size) }
        } else {
            choices.pick(&edges).wrapping_add(choices.below(48)).wrapping_sub(24)
        }
    };
    let first = if choices.one_in(3) || places.is_empty() {
        point(choices)
    } else {
        // The first address of something, for lanes that go up from there.
        let (base, size) = choices.pick(&places);
        base.next_multiple(bytes, base, size)
    };
    let bytes = u64::from(bytes);
    match choices.below(8) {
        0 | 1 => [first; LANES],
        2 | 3 => std::array::from_fn(|lane| first.wrapping_add(bytes * lane as u64)),
        4 => {
            let stride = choices.below(40);
            std::array::from_fn(|lane| first.wrapping_add(stride * lane as u64))
        }
        // One address before rounding or not, and one lane elsewhere.
        5 => {
            let mut addresses = std::array::from_fn(|lane| (first & !15) + lane as u64 % bytes);
            addresses[choices.below(32) as usize] = point(choices);
            addresses
        }
        6 => {
            let points: [u64; 4] = std::array::from_fn(|_| point(choices));
            std::array::from_fn(|_| choices.pick(&points))
        }
        _ => std::array::from_fn(|_| point(choices)),
    }
}

trait NextMultiple {
    /// The next multiple of `bytes`, or the address itself where the access leaves the place.
    fn next_multiple(self, bytes: u32, base: u64, size: u64) -> u64;
}

impl NextMultiple for u64 {
    fn next_multiple(self, bytes: u32, base: u64, size: u64) -> u64 {
        let last = u64::from(bytes) - 1;
        let up = self.wrapping_add(last) & !last;
        let fits = up.wrapping_sub(base).checked_add(last).is_some_and(|last| last < size);
        if fits { up } else { self }
    }
}

/// Sets the registers so that the lanes get those addresses, as far as the load can form them.
fn aim(load: &mut Ld, warp: &mut Warp, machine: &Machine, addresses: &[u64; LANES]) {
    if load.base.number() >= machine.register_limit.get() {
        load.immediate = Immediate::from_unsigned(addresses[0] & 0xffff_ffff).unwrap();
    }
    let offset = load.immediate.signed() as u64;
    let bases = addresses.map(|address| address.wrapping_sub(offset));
    warp.set_register(load.base, bases.map(|base| base as u32));
    if load.extended && !load.base.is_zero() {
        warp.set_register(Reg::new(load.base.number() + 1), bases.map(|base| (base >> 32) as u32));
    }
}

/// The lanes whose Plg is true: mostly those whose address is outside of the shared window.
fn plg(
    choices: &mut Choices<'_>,
    machine: &Machine,
    load: &Ld,
    addresses: &[u64; LANES],
) -> LaneMask {
    let shared = machine.memory.map().shared();
    let right = LaneMask::where_lane(|lane| {
        let address = GenericAddress(addresses[lane]).align_down(load.size.bytes());
        shared.offset_of(address).is_none()
    });
    match choices.below(8) {
        0..5 => right,
        5 => !right,
        6 => right & LaneMask::from_bits(choices.word() as u32),
        _ => LaneMask::from_bits(choices.word() as u32),
    }
}
