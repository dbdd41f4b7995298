//! [`TABLE`]: every flag with its note, and the test for vectors that show it.

use warpload_encoding::{LoadSize, MemorySpace};

use super::facts::Facts;
use super::{Decided, Flag};
use crate::json::initial::default_address_bits;
use warpload::lane::LaneMask;
use warpload::load::{LaneFaultKind, UniformPath, WarpFault};
use warpload::memory::Space;

use Decided::{Here, Later, Nowhere};

const fn flag(
    name: &'static str,
    decided: Decided,
    note: &'static str,
    is_shown: fn(&Facts<'_>) -> bool,
) -> Flag {
    Flag { name, note, decided, is_shown }
}

/// All flags, by name.
#[rustfmt::skip]
pub(super) const TABLE: &[Flag] = &[
    flag("above-address-bits", Nowhere,
        "A lane's address is at or above 2^address_bits (ld.md 4.5, load-family.md 3).",
        |f| f.any(|lane| u128::from(lane.address) >= 1 << f.vector.machine.memory.map().address_bits())),
    flag("above-windows", Nowhere,
        "LD loads from global memory above both windows (ld.md 4.5).",
        |f| f.beside_windows(|address, [_, high]| address.checked_sub(high.base).is_some_and(|offset| offset >= high.size))),
    flag("address-wraps", Nowhere,
        "The sum of a lane's address is taken modulo 2^32 or 2^64 (ld.md 4.3).",
        |f| f.any(|lane| lane.sum != i128::from(lane.address))),
    flag("adjacent-allocations", Nowhere,
        "An access begins in one global allocation and ends in the next one, and loads from neither (ld.md 4.6).",
        |f| f.any_ends(|lane, ends| {
            lane.space == Some(Space::Global) && matches!(ends, [Some(one), Some(other)] if one != other)
        })),
    flag("aligned-to-two", Nowhere,
        "The first of four registers is even, but not a multiple of 4 (ld.md 3).",
        |f| match f.outcome.warp_fault {
            Some(WarpFault::MisalignedRegister(register)) => register.number() % 4 == 2,
            Some(WarpFault::MisalignedUniform(register)) => register.number() % 4 == 2,
            _ => false,
        }),
    flag("all-lanes", Nowhere,
        "All 32 lanes load, and none has a fault.",
        |f| f.is_plain()),
    flag("all-outside", Nowhere,
        "Every lane that executes is outside of a window or of all allocations, and loads zeroes (ld.md 4.7).",
        |f| !f.lanes.is_empty() && f.outside() == f.lanes.len()),
    flag("base-alignment", Nowhere,
        "The pair of Ra begins at an odd register: the only broken rule (ld.md 3).",
        |f| f.only_fault().is_some_and(|fault| f.is_of_base(fault) && matches!(fault, WarpFault::MisalignedRegister(_)))),
    flag("base-beyond-limit", Later,
        "Ra is at or above the register limit, so that the address has no base (ld.md 3; load-sm70.md 10, 5).",
        |f| !f.parts.address.base.is_zero() && !f.has_base()),
    flag("base-ends-in-rz", Nowhere,
        "Ra is R254, and the other half of its pair would be RZ: the only broken rule (ld.md 3).",
        |f| f.parts.address.base.number() == 254 && f.only_fault().is_some_and(|fault| f.is_of_base(fault))),
    flag("base-range", Nowhere,
        "Ra is the last register below the limit, and the other half of its pair is not: the only broken rule (ld.md 3).",
        |f| f.parts.address.base.number() != 254
            && f.only_fault().is_some_and(|fault| f.is_of_base(fault) && matches!(fault, WarpFault::OutOfRangeRegister(_)))),
    flag("between-windows", Nowhere,
        "LD loads from global memory between the windows, which do not touch (ld.md 4.5).",
        |f| f.beside_windows(|address, [low, high]| address >= low.base + low.size && address < high.base)),
    flag("beyond-40-bits", Here,
        "A lane loads from an address of 41 bits or more (load-sm70.md 10, 6).",
        |f| f.is_later() && f.any(|lane| lane.space == Some(Space::Global) && !lane.is_outside && lane.rounded >> 40 != 0)),
    flag("blackwell-matrix", Here,
        "LDSM of SM 10.0 or later is executed as that of SM 7.5 (load-sm70.md 10, 17).",
        |f| matches!(f.size, LoadSize::Matrices { .. }) && f.sm().is_some_and(|sm| sm.number() >= 100)),
    flag("borrow", Nowhere,
        "The sum of the low words of an address is negative, so that the high word is one less (ld.md 4.3).",
        |f| f.lanes.iter().any(|(lane, found)| f.low_sum(*lane, found).is_some_and(|sum| sum < 0))),
    flag("byte", Nowhere,
        "An access has 8 bits (ld.md 4.8).",
        |f| f.bytes() == 1),
    flag("cache-operator", Later,
        "A cache operator, an eviction priority, an order or a prefetch is not the default, which never changes the value (ld.md 4.9; load-sm70.md 10, 18).",
        |f| f.has_cache_operator()),
    flag("carry", Nowhere,
        "The sum of the low words of an address does not fit, so that the high word is one more (ld.md 4.3).",
        |f| f.lanes.iter().any(|(lane, found)| f.low_sum(*lane, found).is_some_and(|sum| sum >> 32 > 0))),
    flag("crosses-allocation", Nowhere,
        "An access is allocated in part, or in two allocations, and loads zeroes (ld.md 4.6).",
        |f| f.any_ends(|lane, ends| lane.is_outside && ends != [None, None])),
    flag("crosses-local-parts", Nowhere,
        "An access goes on from the low part of local memory into the high part, which begins there, and loads both (ld.md 4.6).",
        |f| f.any_ends(|lane, ends| lane.space == Some(Space::Local) && ends == [Some(0), Some(1)])),
    flag("crosses-window", Nowhere,
        "A misaligned access would cross an edge of a window, but not after rounding down (ld.md 4.4, 4.5).",
        |f| f.is_generic() && f.any(|lane| f.edges().any(|edge| {
            let first = u128::from(lane.address);
            first < edge && edge < first + u128::from(f.bytes())
        }))),
    flag("descriptor", Nowhere,
        "The address has a memory descriptor, which is not part of it (load-sm70.md 10, 3).",
        |f| f.field("desc") == Some(1)),
    flag("descriptor-alone", Nowhere,
        "Beside a memory descriptor Ra is RZ: the offset alone is the address (load-sm70.md 10, 3).",
        |f| f.field("desc") == Some(1) && f.parts.address.base.is_zero()),
    flag("destination-alignment", Nowhere,
        "The first register that is filled is not a multiple of their number: the only broken rule (ld.md 3).",
        |f| f.only_fault().is_some_and(|fault| f.is_of_destination(fault) && matches!(fault, WarpFault::MisalignedRegister(_)))),
    flag("destination-ends-in-rz", Nowhere,
        "The last register that is filled would be RZ: the only broken rule (ld.md 3).",
        |f| f.only_fault().is_some_and(|fault| {
            f.is_of_destination(fault) && f.destinations().first().is_some_and(|(first, count)| first + count == 256)
        })),
    flag("destination-range", Nowhere,
        "The last register that is filled is the first one at the limit: the only broken rule (ld.md 3).",
        |f| f.only_fault().is_some_and(|fault| {
            let limit = u32::from(f.vector.machine.register_limit.get());
            f.is_of_destination(fault) && limit < 255 && !f.fills_uniform()
                && f.destinations().first().is_some_and(|(first, count)| first + count == limit + 1)
        })),
    flag("discarded", Nowhere,
        "Rd is RZ: the load is made, and its values are dropped (ld.md 3).",
        |f| f.destinations().iter().all(|(first, _)| *first == 255)),
    flag("discarded-broadcast", Here,
        "A .U.128 into RZ takes the broadcast path (ld.md 4.10).",
        |f| f.is_broadcast() && f.destinations().iter().all(|(first, _)| *first == 255)),
    flag("distinct-words", Nowhere,
        "No lane has a fault, and the words that are loaded are neither zero nor equal (ld.md 4.8).",
        |f| f.loaded_words().is_some_and(|mut words| {
            words.sort_unstable();
            words.first() != Some(&0) && words.windows(2).all(|pair| pair[0] != pair[1])
        })),
    flag("divergent-uniform", Here,
        "A .U.128 does not take the broadcast path (ld.md 4.10).",
        |f| f.outcome.uniform == Some(UniformPath::Divergent)),
    flag("divided-predicate", Nowhere,
        "Plg is true in some lanes that execute, and false in others (ld.md 4.5).",
        |f| [true, false].into_iter().all(|value| f.lanes.iter().any(|(lane, _)| f.plg(*lane) == Some(value)))),
    flag("empty-bank", Nowhere,
        "The constant bank exists and has no bytes (load-family.md 3).",
        |f| f.bank_size() == Some(0)),
    flag("fault-for-all-lanes", Here,
        "The one access of a load of uniform registers has a fault, which marks all lanes that execute (load-sm70.md 10, 13).",
        |f| f.fills_uniform() && !f.outcome.lane_faults.is_empty()),
    flag("first-access", Nowhere,
        "All lanes that load, load the first bytes of an allocation (ld.md 4.6).",
        |f| f.all_loads(|[first, _], (start, _)| first == start)),
    flag("global-memory", Nowhere,
        "LD loads from global memory: its address is in no window (ld.md 4.5).",
        |f| f.is_generic() && f.any(|lane| lane.space == Some(Space::Global) && !lane.is_outside)),
    flag("guard", Nowhere,
        "The guard is not PT (ld.md 4.1).",
        |f| !f.parts.guard.pred.is_true()),
    flag("guarded-off", Nowhere,
        "The guard keeps some active lanes from executing: their registers do not change (ld.md 4.1).",
        |f| !f.outcome.executing.is_empty() && f.outcome.executing != f.vector.warp.active),
    flag("halfword", Nowhere,
        "An access has 16 bits (ld.md 4.8).",
        |f| f.bytes() == 2),
    flag("high-bank", Nowhere,
        "The number of the constant bank is 16 or above (load-family.md 3).",
        |f| matches!(f.parts.space, MemorySpace::Constant { bank, .. } if bank.get() >= 16)),
    flag("high-half-fault", Here,
        "Of 256 bits, the registers of the other half break a rule (load-sm70.md 10, 7).",
        |f| f.outcome.warp_fault.is_some_and(|fault| Some(fault) == f.high_half_fault())),
    flag("high-index", Nowhere,
        "An Ra of 32 bits beside a pair of uniform registers is 2^31 or more, and zero-extended (load-sm70.md 10, 2).",
        |f| f.is_wide() && !f.parts.address.extended && f.has_base() && f.lanes.iter().any(|(lane, found)| {
            !found.is_outside && f.vector.warp.register(f.parts.address.base)[*lane] >> 31 != 0
        })),
    flag("high-predicate", Nowhere,
        "The guard is one of the predicates from P4 on (ld.md 4.1).",
        |f| !f.parts.guard.pred.is_true() && f.parts.guard.pred.number() >= 4),
    flag("high-register", Nowhere,
        "A register from R128 on is filled, or is part of the address (ld.md 3).",
        |f| !f.fills_uniform() && f.destinations().iter().any(|(first, _)| (128..255).contains(first))
            || f.has_base() && f.parts.address.base.number() >= 128),
    flag("high-uniform", Here,
        "A uniform register from UR63 on is filled, or is part of the address (load-sm70.md 10, 8).",
        |f| f.parts.uniform_registers > 63 && !f.lanes.is_empty() && f.uniform_groups().iter().any(|(first, _)| *first >= 63)),
    flag("high-word", Nowhere,
        "A lane loads from an address of 33 bits or more (ld.md 4.3).",
        |f| f.any(|lane| !lane.is_outside && lane.rounded >> 32 != 0)),
    flag("highest-address", Nowhere,
        "A lane loads the last bytes below 2^address_bits (ld.md 4.5).",
        |f| f.any(|lane| {
            let end = u128::from(lane.rounded) + u128::from(f.bytes());
            lane.space == Some(Space::Global) && !lane.is_outside
                && end == 1 << f.vector.machine.memory.map().address_bits()
        })),
    flag("hint-128", Here,
        "The .U.128 of SM 7.x is executed as .128: lanes with one address are no broadcast (load-sm70.md 10, 19).",
        |f| f.is_later() && f.bytes() == 16 && f.vector.instruction.opcode().contains(".U.128")
            && f.is_one_place() && f.outside() == 0),
    flag("inactive-lanes", Nowhere,
        "Some lanes are not active (ld.md 4.1).",
        |f| f.vector.warp.active != LaneMask::ALL),
    flag("just-after", Nowhere,
        "An access begins where an allocation ends, and loads zeroes (ld.md 4.6).",
        |f| f.any_extent(|lane, [first, _], (_, end)| lane.is_outside && first == end)),
    flag("just-before", Nowhere,
        "An access ends where an allocation begins, and loads zeroes (ld.md 4.6).",
        |f| f.any_extent(|lane, [_, last], (start, _)| lane.is_outside && last == start)),
    flag("last-access", Nowhere,
        "All lanes that load, load the last bytes of an allocation (ld.md 4.6).",
        |f| f.all_loads(|[_, last], (_, end)| last == end)),
    flag("last-base", Nowhere,
        "The base of an address ends with the last register below the limit (ld.md 3).",
        |f| f.has_base() && !f.lanes.is_empty() && {
            let last = f.parts.address.base.number() + u8::from(f.parts.address.extended);
            last + 1 == f.vector.machine.register_limit.get()
        }),
    flag("last-destination", Nowhere,
        "The last register that is filled is the last one below the limit (ld.md 3).",
        |f| !f.lanes.is_empty() && !f.fills_uniform() && f.destinations().iter().any(|(first, count)| {
            first + count == u32::from(f.vector.machine.register_limit.get())
        })),
    flag("last-register", Nowhere,
        "The highest register that the load names is the last one below the limit (ld.md 3).",
        |f| !f.lanes.is_empty() && f.highest_register() + 1 == u32::from(f.vector.machine.register_limit.get())),
    flag("last-uniform", Here,
        "Uniform registers are the last ones that can be named so (load-sm70.md 10, 8 and 9).",
        |f| !f.lanes.is_empty() && f.uniform_groups().iter().any(|(first, count)| {
            first + 2 * count > u32::from(f.parts.uniform_registers)
        })),
    flag("local-high", Nowhere,
        "A lane loads from the high part of its local memory, which ends with the window (ld.md 4.6).",
        |f| f.any_ends(|lane, ends| lane.space == Some(Space::Local) && ends == [Some(1), Some(1)])),
    flag("local-uniform", Here,
        "A .U.128 whose lanes have one address in local memory is no broadcast (ld.md 4.10).",
        |f| f.outcome.uniform == Some(UniformPath::Divergent) && f.is_one_place()
            && f.any(|lane| lane.space == Some(Space::Local) && !lane.is_outside)),
    flag("local-window", Nowhere,
        "A generic address is in the local window (ld.md 4.5).",
        |f| f.any(|lane| f.is_in_window(f.windows()[1], lane.rounded))),
    flag("lone-broadcast", Here,
        "A .U.128 that one lane executes takes the broadcast path (ld.md 4.10).",
        |f| f.is_broadcast() && f.lanes.len() == 1),
    flag("matrix-fault", Here,
        "A row of a matrix has a fault: it marks the lane that has the row's address, and the row reads as zeroes (load-sm70.md 10, 15).",
        |f| matches!(f.size, LoadSize::Matrices { .. }) && !f.outcome.lane_faults.is_empty()),
    flag("misaligned", Later,
        "A lane's address is not a multiple of the access size, and is rounded down (ld.md 4.4; load-sm70.md 10, 20).",
        |f| f.any(|lane| lane.address != lane.rounded)),
    flag("misaligned-broadcast", Here,
        "A .U.128 at a misaligned address takes the broadcast path (ld.md 4.10).",
        |f| f.is_broadcast() && f.any(|lane| lane.address != lane.rounded)),
    flag("misaligned-first", Later,
        "A misaligned access is rounded down to the first bytes of an allocation (ld.md 4.4, 4.6).",
        |f| f.any_extent(|lane, [first, _], (start, _)| !lane.is_outside && lane.address != lane.rounded && first == start)),
    flag("misaligned-last", Later,
        "A misaligned access would end beyond an allocation, and is rounded down to its last bytes (ld.md 4.4, 4.6).",
        |f| f.any_extent(|lane, [_, last], (_, end)| !lane.is_outside && lane.address != lane.rounded && last == end)),
    flag("misaligned-register", Nowhere,
        "The fault misaligned_register: a register is not a multiple of the number of registers (ld.md 3).",
        |f| matches!(f.outcome.warp_fault, Some(WarpFault::MisalignedRegister(_) | WarpFault::MisalignedUniform(_)))),
    flag("misaligned-reported", Later,
        "The machine reports a misaligned address, but the lane still loads from it (ld.md 4.4; load-sm70.md 10, 20).",
        |f| !f.fault(LaneFaultKind::MisalignedAddress).is_empty()),
    flag("missing-bank", Nowhere,
        "The constant bank does not exist (load-family.md 3).",
        |f| f.is_constant() && f.bank_size().is_none()),
    flag("narrow-address", Nowhere,
        "An address of LD or LDG has 32 bits (ld.md 4.3).",
        |f| (f.is_generic() || f.parts.space == MemorySpace::Global) && !f.is_wide()),
    flag("negated-guard", Nowhere,
        "The guard is negated (ld.md 4.1).",
        |f| f.parts.guard.negated),
    flag("negative-offset", Nowhere,
        "The offset is negative (ld.md 4.3).",
        |f| f.parts.address.offset.signed() < 0 && f.unsigned_offset().is_none()),
    flag("never-guard", Nowhere,
        "The guard is !PT: no lane executes (ld.md 4.1).",
        |f| f.parts.guard.pred.is_true() && f.parts.guard.negated),
    flag("no-base", Nowhere,
        "The address has no register: the offset alone is the address (ld.md 4.3).",
        |f| f.parts.address.base.is_zero() && !f.has_uniform_base()),
    flag("no-lane", Nowhere,
        "No lane executes, so that nothing happens (ld.md 4.1).",
        |f| f.outcome.executing.is_empty()),
    flag("octet", Nowhere,
        "Eight registers are filled, 256 bits (load-sm70.md 10).",
        |f| f.size.registers() == 8),
    flag("odd-base", Nowhere,
        "The base of an address of 32 bits is an odd register (ld.md 3).",
        |f| f.has_base() && !f.parts.address.extended && f.parts.address.base.number() % 2 == 1),
    flag("odd-descriptor", Here,
        "The register of a memory descriptor is odd, which breaks no rule (load-sm70.md 10, 9).",
        |f| f.field("desc") == Some(1) && f.field("UR").is_some_and(|number| number % 2 == 1 && number < 63)),
    flag("odd-destination", Nowhere,
        "One register is filled, and its number is odd (ld.md 3).",
        |f| f.destinations().iter().all(|(first, count)| *count == 1 && first % 2 == 1 && *first < 255)),
    flag("offset-unsigned", Nowhere,
        "An offset without a base is read as unsigned, and would be negative if it were signed (ld.md 4.3).",
        |f| f.unsigned_offset().is_some() && f.parts.address.offset.signed() < 0),
    flag("one-address", Nowhere,
        "The lanes of a load other than .U.128 have one address in global or shared memory, which is no broadcast (ld.md 4.10).",
        |f| f.outcome.uniform.is_none() && f.is_one_place() && f.outside() == 0
            && f.any(|lane| matches!(lane.space, Some(Space::Global | Space::Shared)))),
    flag("one-lane-outside", Nowhere,
        "One lane is outside of a window or of all allocations, and the others load (ld.md 4.7).",
        |f| f.lanes.len() > 1 && f.outside() == 1),
    flag("order-base", Here,
        "Ra is odd and the last register below the limit: it is misaligned first (ld.md 3).",
        |f| f.outcome.warp_fault.is_some_and(|fault| {
            f.is_of_base(fault) && matches!(fault, WarpFault::MisalignedRegister(_))
                && f.broken.iter().any(|other| other.register() == fault.register() && *other != fault)
        })),
    flag("order-destination", Here,
        "The registers that are filled are misaligned and beyond the limit: they are misaligned first (ld.md 3).",
        |f| f.outcome.warp_fault.is_some_and(|fault| {
            f.is_of_destination(fault) && !f.is_of_base(fault)
                && f.broken.iter().any(|other| other.register() == fault.register() && *other != fault)
        })),
    flag("order-operands", Here,
        "A rule of the registers that are filled and another one of the address are broken: the first counts (ld.md 3).",
        |f| f.outcome.warp_fault.is_some_and(|fault| {
            f.is_of_destination(fault)
                && f.broken.iter().any(|other| other.register() != fault.register() && other.name() != fault.name())
        })),
    flag("outside-allocation", Nowhere,
        "The fault outside_allocation: not all bytes of an access are allocated (ld.md 4.6).",
        |f| !f.fault(LaneFaultKind::OutsideAllocation).is_empty()),
    flag("outside-uniform", Here,
        "A .U.128 whose lanes have one address where nothing is allocated is no broadcast (ld.md 4.10).",
        |f| f.outcome.uniform == Some(UniformPath::Divergent) && f.is_one_place()
            && f.any(|lane| lane.space.is_some_and(|space| space != Space::Local) && lane.is_outside)),
    flag("outside-window", Here,
        "The fault outside_window: a generic address is not in the memory that Plg selects, or is at or above 2^address_bits (ld.md 4.5; load-sm70.md 10, 6).",
        |f| !f.fault(LaneFaultKind::OutsideWindow).is_empty()),
    flag("overlap", Nowhere,
        "A register that is filled is part of the address, which is formed first (ld.md 4.3).",
        |f| f.overlaps()),
    flag("own-address-bits", Nowhere,
        "The width of addresses is not the default (ld.md 4, configuration).",
        |f| {
            let sm = f.sm().unwrap_or(warpload_encoding::Sm::SPA5);
            f.vector.machine.memory.map().address_bits() != default_address_bits(sm)
        }),
    flag("own-windows", Nowhere,
        "The address windows are not the default ones (ld.md 4, configuration).",
        |f| f.windows() != [warpload::memory::Window::DEFAULT_SHARED, warpload::memory::Window::DEFAULT_LOCAL]),
    flag("pair", Nowhere,
        "Two registers are filled: 64 bits, or two matrices (ld.md 3).",
        |f| f.size.registers() == 2),
    flag("predicate-argument", Nowhere,
        "Plg is not PT (ld.md 4.5).",
        |f| matches!(f.parts.space, MemorySpace::Generic { plg: Some(plg) } if !plg.is_true())),
    flag("predicate-false-outside", Here,
        "Plg is false and the address not in the shared window (ld.md 4.5).",
        |f| f.lanes.iter().any(|(lane, found)| {
            f.plg(*lane) == Some(false) && !f.is_in_window(f.windows()[0], found.rounded)
        })),
    flag("predicate-true-in-shared", Here,
        "Plg is true and the address in the shared window (ld.md 4.5).",
        |f| f.lanes.iter().any(|(lane, found)| {
            f.plg(*lane) == Some(true) && f.is_in_window(f.windows()[0], found.rounded)
        })),
    flag("quad", Nowhere,
        "Four registers are filled: 128 bits, or four matrices (ld.md 3).",
        |f| f.size.registers() == 4),
    flag("register-limit", Nowhere,
        "The fault out_of_range_register: a register is at or above the limit (ld.md 3).",
        |f| matches!(f.outcome.warp_fault, Some(WarpFault::OutOfRangeRegister(_) | WarpFault::OutOfRangeUniform(_)))),
    flag("rounded-broadcast", Here,
        "A .U.128 takes the broadcast path because different addresses are equal after rounding (ld.md 4.4, 4.10).",
        |f| f.is_broadcast() && f.lanes.windows(2).any(|pair| pair[0].1.address != pair[1].1.address)),
    flag("rounds-out", Later,
        "A misaligned address is allocated, but the rounded address is not (ld.md 4.4, 4.6).",
        |f| f.any_extent(|lane, [first, _], (start, end)| {
            lane.is_outside && first < start && (start..end).contains(&u128::from(lane.address))
        })),
    flag("rounds-to-one", Nowhere,
        "Lanes have different addresses that are equal after rounding down (ld.md 4.4, 4.10).",
        |f| {
            let is_same = |of: fn(&warpload::load::LaneLoad) -> u64| {
                f.lanes.windows(2).all(|pair| of(&pair[0].1) == of(&pair[1].1))
            };
            f.lanes.len() > 1 && is_same(|lane| lane.rounded) && !is_same(|lane| lane.address)
        }),
    flag("scaled-index", Nowhere,
        "Ra is multiplied by 4, 8 or 16 (load-sm70.md 10, 4).",
        |f| f.parts.address.scale() > 0),
    flag("several-spaces", Nowhere,
        "The lanes' addresses are in different memories (ld.md 4.5).",
        |f| {
            let mut spaces = f.lanes.iter().filter_map(|(_, lane)| lane.space);
            spaces.next().is_some_and(|first| spaces.any(|space| space != first))
        }),
    flag("shared-broadcast", Here,
        "A .U.128 is broadcast from shared memory (ld.md 4.10).",
        |f| f.is_broadcast() && f.any(|lane| lane.space == Some(Space::Shared))),
    flag("shared-window", Nowhere,
        "A generic address is in the shared window (ld.md 4.5).",
        |f| f.any(|lane| f.is_in_window(f.windows()[0], lane.rounded))),
    flag("sign-extension", Nowhere,
        "A negative number of 8 or 16 bits is sign-extended (ld.md 4.8).",
        |f| f.extends(true)),
    flag("single-lane", Nowhere,
        "One lane executes (ld.md 4.1).",
        |f| f.outcome.executing.count() == 1),
    flag("stale-pair", Nowhere,
        "The register after the base is not zero, and is no part of an address of 32 bits (ld.md 4.3).",
        |f| !f.is_wide() && f.has_base() && (f.is_generic() || f.parts.space == MemorySpace::Global) && {
            let next = warpload_encoding::Reg::new(f.parts.address.base.number().saturating_add(1));
            f.lanes.iter().any(|(lane, found)| !found.is_outside && f.vector.warp.register(next)[*lane] != 0)
        }),
    flag("straddles-limit", Nowhere,
        "The first register that is filled is below the limit, and the last one is not (ld.md 3).",
        |f| {
            let limit = u32::from(f.vector.machine.register_limit.get());
            let is_out = matches!(f.outcome.warp_fault, Some(WarpFault::OutOfRangeRegister(_)));
            is_out && !f.fills_uniform() && f.destinations().iter().any(|(first, count)| {
                *first != 255 && (*first + 1..first + count).contains(&limit)
            })
        }),
    flag("transposed", Nowhere,
        "The matrices are transposed (load-sm70.md 10, 16).",
        |f| matches!(f.size, LoadSize::Matrices { transposed: true, .. })),
    flag("two-register-faults", Here,
        "Several register rules are broken, so that the order of the checks decides the fault (ld.md 3).",
        |f| f.outcome.warp_fault.is_some_and(|first| f.broken.iter().any(|fault| fault.name() != first.name()))),
    flag("unaligned-allocation", Nowhere,
        "A lane loads from an allocation that does not begin at a multiple of the access size (ld.md 4.6).",
        |f| f.any_extent(|lane, [first, last], (start, end)| {
            !lane.is_outside && start <= first && last <= end && start % u128::from(f.bytes()) != 0
        })),
    flag("unfaulted", Here,
        "A register rule is broken, but no lane executes, so that there is no fault (ld.md 4.1).",
        |f| f.outcome.executing.is_empty() && !f.broken.is_empty()),
    flag("uniform", Here,
        "A .U.128 takes the broadcast path (ld.md 4.10).",
        |f| f.is_broadcast()),
    flag("uniform-alignment", Here,
        "The number of a uniform register is no multiple: the only broken rule (load-sm70.md 10, 8 and 9).",
        |f| matches!(f.only_fault(), Some(WarpFault::MisalignedUniform(_)))),
    flag("uniform-alone", Nowhere,
        "Ra is RZ, and a uniform register is the base (load-sm70.md 10, 2 and 4).",
        |f| f.has_uniform_base() && f.parts.address.base.is_zero() && !f.fills_uniform()),
    flag("uniform-beyond-limit", Here,
        "A uniform register is at or above the limit of the other registers (load-sm70.md 10, 8).",
        |f| !f.lanes.is_empty() && f.uniform_groups().iter().any(|(first, count)| {
            first + count > u32::from(f.vector.machine.register_limit.get())
        })),
    flag("uniform-fault", Here,
        "A uniform register breaks a rule (load-sm70.md 10, 8 to 10).",
        |f| matches!(f.outcome.warp_fault, Some(WarpFault::MisalignedUniform(_) | WarpFault::OutOfRangeUniform(_)))),
    flag("uniform-hint", Nowhere,
        "The .U of LDS has no effect (load-family.md 3).",
        |f| f.parts.space == MemorySpace::Shared && f.field("U") == Some(1)),
    flag("uniform-octet", Here,
        "256 bits are loaded into two groups of uniform registers (load-sm70.md 10).",
        |f| f.fills_uniform() && f.size.registers() == 8),
    flag("uniform-range", Here,
        "The last of some uniform registers would be URZ: the only broken rule (load-sm70.md 10, 8 and 9).",
        |f| matches!(f.only_fault(), Some(WarpFault::OutOfRangeUniform(_)))),
    flag("uniform-register", Nowhere,
        "A uniform register is part of the address (load-sm70.md 10, 2 and 4).",
        |f| f.has_uniform_base()),
    flag("unread-bits", Nowhere,
        "Bits outside all fields of the word are set (load-family.md 1).",
        |f| f.vector.instruction.word().bits() & f.vector.instruction.reserved_bits() != 0),
    flag("whole-words", Nowhere,
        "A lane loads 32 bits or more into registers (ld.md 4.8).",
        |f| f.bytes() >= 4 && f.any(|lane| !lane.is_outside) && f.destinations().iter().any(|(first, _)| *first != 255)),
    flag("wide-address", Nowhere,
        "An address has 64 bits (ld.md 4.3).",
        |f| f.is_wide()),
    flag("width-decides", Nowhere,
        "An address is below 2^address_bits and not below the default, or the other way round (ld.md 4, configuration).",
        |f| {
            let default = default_address_bits(f.sm().unwrap_or(warpload_encoding::Sm::SPA5));
            let bits = f.vector.machine.memory.map().address_bits();
            let is_below = |address: u64, bits: u32| u128::from(address) < 1 << bits;
            f.any(|lane| is_below(lane.address, bits) != is_below(lane.address, default))
        }),
    flag("window-edge", Nowhere,
        "One lane has the last access before an edge of a window, and another the first one after it (ld.md 4.5).",
        |f| f.is_generic() && f.edges().any(|edge| {
            f.any(|lane| u128::from(lane.rounded) == edge)
                && f.any(|lane| u128::from(lane.rounded) + u128::from(f.bytes()) == edge)
        })),
    flag("within-word", Nowhere,
        "A number of 8 or 16 bits is loaded from within a word, not from its beginning (ld.md 4.8).",
        |f| f.bytes() < 4 && f.any(|lane| !lane.is_outside && lane.rounded % 4 != 0)),
    flag("word", Nowhere,
        "An access has 32 bits (ld.md 4.8).",
        |f| f.bytes() == 4),
    flag("zero-extension", Nowhere,
        "A number of 8 or 16 bits whose highest bit is 1 is zero-extended (ld.md 4.8).",
        |f| f.extends(false)),
];
