//! Random addresses, mostly inside, at and around the ends of allocations and windows.

use warpload::lane::LANES;
use warpload::machine::Machine;
use warpload::memory::AddressSpace;

use crate::executors::choices::Choices;

/// Every allocation that a load of this space can read, as first address and size.
fn places(machine: &Machine, space: AddressSpace) -> Vec<(u64, u64)> {
    let memory = &machine.memory;
    let (shared, local) = (memory.map().shared(), memory.map().local());
    let allocations = memory.allocations().iter().map(|known| (known.base, known.size));
    let shared_size = memory.shared_bytes().len() as u64;
    let mut places: Vec<(u64, u64)> = match space {
        AddressSpace::Generic => {
            let mut places: Vec<_> = allocations.collect();
            // Repeated, so that global memory is as frequent as local memory.
            places.extend(places.clone());
            places.extend([(shared.base, shared_size); 2]);
            places.extend(local_places(machine, local.base));
            places
        }
        AddressSpace::Global => allocations.collect(),
        AddressSpace::Local => local_places(machine, 0),
        AddressSpace::Shared => vec![(0, shared_size)],
        AddressSpace::Constant { bank } => {
            memory.constant_bytes(bank).iter().map(|bytes| (0, bytes.len() as u64)).collect()
        }
    };
    places.retain(|(_, size)| *size > 0);
    places
}

/// The parts of local memory; `base` is the address of the window's first byte.
fn local_places(machine: &Machine, base: u64) -> Vec<(u64, u64)> {
    let memory = &machine.memory;
    let size = memory.map().local().size;
    let (low, high) = (memory.local_low_bytes(0).len(), memory.local_high_bytes(0).len());
    let mut places = vec![(base, low as u64), (base.wrapping_add(size - high as u64), high as u64)];
    if (low + high) as u64 == size {
        // For loads from where the parts meet.
        places.push((base, size));
    }
    places
}

/// The ends of places, and addresses that could be mistaken for them.
fn edges(machine: &Machine, space: AddressSpace, places: &[(u64, u64)]) -> Vec<u64> {
    let map = machine.memory.map();
    let (shared, local) = (map.shared(), map.local());
    let top = if map.address_bits() == 64 { 0 } else { 1 << map.address_bits() };
    let mut edges = vec![top, 0, 1 << 32, shared.base, local.base];
    match space {
        AddressSpace::Generic => edges.extend([shared.base, shared.end()]),
        AddressSpace::Global => edges.extend([shared.end(), local.end()]),
        AddressSpace::Local => edges.extend([local.size, local.end()]),
        AddressSpace::Shared => edges.extend([shared.size, shared.end()]),
        AddressSpace::Constant { .. } => edges.extend([0x8000, 0x1_0000]),
    }
    for &(base, size) in places {
        edges.extend([base, base.wrapping_add(size)]);
    }
    edges
}

trait End {
    /// The address after the last one.
    fn end(&self) -> u64;
}

impl End for warpload::memory::Window {
    fn end(&self) -> u64 {
        self.base.wrapping_add(self.size)
    }
}

pub(crate) fn addresses(
    choices: &mut Choices<'_>,
    machine: &Machine,
    space: AddressSpace,
    bytes: u32,
) -> [u64; LANES] {
    let places = places(machine, space);
    let edges = edges(machine, space, &places);
    // Inside an allocation, or a few bytes before or after an end.
    let point = |choices: &mut Choices<'_>| {
        if !places.is_empty() && !choices.one_in(3) {
            let (base, size) = choices.pick(&places);
            // Most addresses are multiples, so that one lane in many can be off.
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
        // The start of a place, for lanes that go up from there.
        let (base, size) = choices.pick(&places);
        base.next_multiple(bytes, base, size)
    };
    let bytes = u64::from(bytes);
    match choices.below(8) {
        0 | 1 => [first; LANES],
        // Side by side, possibly except for one lane.
        2 | 3 => {
            let mut addresses = std::array::from_fn(|lane| first.wrapping_add(bytes * lane as u64));
            if choices.one_in(4) {
                addresses[choices.below(32) as usize] = point(choices);
            }
            addresses
        }
        4 => {
            let stride = choices.below(40);
            std::array::from_fn(|lane| first.wrapping_add(stride * lane as u64))
        }
        // One address after rounding, except for one lane.
        5 => {
            let mut addresses =
                std::array::from_fn(|lane| (first & !15).wrapping_add(lane as u64 % bytes));
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
    /// The next multiple of `bytes`, or the address itself if the access would leave the place.
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
