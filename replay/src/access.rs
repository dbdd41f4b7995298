//! [`execute`]: a memory instruction of a trace, executed.

use warpload::lane::{LaneMask, LaneValues};
use warpload::load::{LaneAddresses, LaneFaultKind, Loaded, load};
use warpload::machine::Misaligned;
use warpload::memory::{
    AddressMap, AddressSpace, GenericAddress, LoadMemory, Space, WarpAddresses,
};
use warpload_trace::binary::MemoryRecord;

/// Sets `lanes` to the lanes of an access, and loads their values into `rows`. If the addresses are
/// unknown, nothing is loaded.
#[inline]
pub(super) fn execute<M: LoadMemory>(
    traced: &MemoryRecord<'_>,
    memory: &M,
    lanes: &mut LaneAddresses,
    rows: &mut [LaneValues],
) -> Loaded {
    let op = traced.operation().load_op();
    read_lanes(traced, memory.map(), lanes);
    if !traced.has_addresses() {
        return Loaded { first_space: only_space(op.space), ..Loaded::default() };
    }
    load(op, lanes, memory, Misaligned::Report, rows)
}

/// Returns the executing lanes that are not outside; none if the addresses are unknown.
#[inline]
pub(super) fn served(traced: &MemoryRecord<'_>, executing: LaneMask, loaded: &Loaded) -> LaneMask {
    if !traced.has_addresses() {
        return LaneMask::NONE;
    }
    let mut served = executing;
    for fault in &loaded.faults {
        if fault.kind() != LaneFaultKind::MisalignedAddress {
            served = served & !LaneMask::from_bits(1 << fault.lane);
        }
    }
    served
}

/// Sets `lanes` to the executing lanes, Plg and addresses. If the record has no Plg, the windows
/// decide it.
#[inline]
fn read_lanes(traced: &MemoryRecord<'_>, map: &AddressMap, lanes: &mut LaneAddresses) {
    lanes.executing = traced.mask & traced.guard.unwrap_or(LaneMask::ALL);
    traced.read_addresses(&mut lanes.addresses);
    lanes.plg = match (traced.operation().space, traced.plg) {
        (_, Some(plg)) => plg,
        (AddressSpace::Generic, None) => compiled_plg(&lanes.addresses, map),
        _ => LaneMask::ALL,
    };
}

/// Returns Plg as the compiled `LEA` forms it: true if the address is not in the shared window.
fn compiled_plg(addresses: &WarpAddresses, map: &AddressMap) -> LaneMask {
    LaneMask::from_fn(|lane| map.shared().offset_of(GenericAddress(addresses.of(lane))).is_none())
}

/// Returns the memory of a load whose addresses are unknown; `None` if its opcode does not say.
fn only_space(space: AddressSpace) -> Option<Space> {
    match space {
        AddressSpace::Generic => None,
        AddressSpace::Global => Some(Space::Global),
        AddressSpace::Local => Some(Space::Local),
        AddressSpace::Shared => Some(Space::Shared),
        AddressSpace::Constant { .. } => Some(Space::Constant),
    }
}
