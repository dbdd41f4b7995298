//! [`Access`]: the executed record of a trace. Replays count accesses, and an [`AccessExecutor`](crate::AccessExecutor)
//! returns them one at a time, so both execute records here.

use crate::counter::accessing;
use crate::options::ReplayOptions;
use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::load::{LaneAddresses, LoadOp, Loaded, load};
use warpload::machine::Misaligned;
use warpload::memory::{AddressSpace, GenericAddress, LoadMemory, Space, WarpAddresses, Window};
use warpload_trace::binary::MemoryRecord;
use warpload_trace::{MemoryOperation, OperationKind};

/// An executed load, store, atomic, reduction or side of a copy.
pub(crate) struct Access {
    /// How the lanes access memory, on the side of a copy that the access is.
    pub(crate) op: LoadOp,
    /// Whether it is the shared side of a copy.
    pub(crate) is_shared_side: bool,
    pub(crate) loaded: Loaded,
}

impl Access {
    /// Executes a record; `None` if it is not an access. Sets `lanes` to its lanes and loads their values into `rows`,
    /// unless the addresses are unknown. Faults of matrices belong to the lanes that provide row addresses.
    #[inline]
    pub(crate) fn execute<M: LoadMemory>(
        traced: &MemoryRecord<'_>,
        memory: &M,
        lanes: &mut LaneAddresses,
        rows: &mut [LaneValues],
    ) -> Option<Self> {
        let operation = traced.operation();
        match operation.kind {
            OperationKind::Load | OperationKind::Store | OperationKind::Atomic => Some(Self {
                op: operation.load_op(),
                is_shared_side: false,
                loaded: execute_lanes(traced, memory, lanes, rows),
            }),
            OperationKind::Copy => Some(Self::execute_copy(traced, memory, lanes)),
            _ => None,
        }
    }

    /// Executes one side of a copy from global to shared memory. Only its addresses reveal the side, because the opcode
    /// is the same. Of the shared side, `lanes` have offsets.
    fn execute_copy<M: LoadMemory>(
        traced: &MemoryRecord<'_>,
        memory: &M,
        lanes: &mut LaneAddresses,
    ) -> Self {
        let executing = set_lanes(traced, lanes);
        let has_addresses = !executing.is_empty() && traced.has_addresses();
        let offsets = has_addresses.then(|| shared_offsets(lanes, memory.map().shared())).flatten();
        let is_shared_side = offsets.is_some();
        let side = if is_shared_side { Space::Shared } else { Space::Global };
        let space = if is_shared_side { AddressSpace::Shared } else { AddressSpace::Global };
        let op = LoadOp { space, ..traced.operation().load_op() };
        if let Some(offsets) = offsets {
            lanes.addresses = offsets;
        }
        let loaded = match has_addresses {
            true => load(op, lanes, memory, Misaligned::Report, &mut []),
            false => Loaded::default(),
        };
        let loaded = Loaded { first_space: has_addresses.then_some(side), ..loaded };
        Self { op, is_shared_side, loaded }
    }
}

/// Whether values are loaded. Not without data, by stores and others that load none, and of matrices with an
/// unpublished distribution over the lanes.
#[inline]
pub(crate) fn has_values(operation: &MemoryOperation, options: &ReplayOptions<'_>) -> bool {
    operation.kind == OperationKind::Load
        && options.has_data()
        && (operation.matrices.is_none() || operation.matrix_load().is_some())
}

/// Sets `lanes` to a record's lanes. Returns the executing ones.
#[inline]
fn set_lanes(traced: &MemoryRecord<'_>, lanes: &mut LaneAddresses) -> LaneMask {
    lanes.executing = traced.mask & traced.guard.unwrap_or(LaneMask::ALL);
    traced.read_addresses(&mut lanes.addresses);
    lanes.plg = traced.plg;
    lanes.executing
}

/// The lanes' offsets in shared memory; `None` if an address is neither an offset nor in the window.
fn shared_offsets(lanes: &LaneAddresses, window: Window) -> Option<WarpAddresses> {
    let mut offsets = [0; LANES];
    for lane in lanes.executing {
        let address = lanes.addresses.of(lane);
        offsets[lane] = if address < window.size {
            address
        } else {
            window.offset_of(GenericAddress(address))?
        };
    }
    Some(WarpAddresses::Each(offsets))
}

#[inline]
fn execute_lanes<M: LoadMemory>(
    traced: &MemoryRecord<'_>,
    memory: &M,
    lanes: &mut LaneAddresses,
    rows: &mut [LaneValues],
) -> Loaded {
    let operation = traced.operation();
    let op = operation.load_op();
    set_lanes(traced, lanes);
    if !traced.has_addresses() {
        return Loaded { first_space: op.space.only(), ..Loaded::default() };
    }
    if operation.matrices.is_some() {
        return execute_matrices(traced, memory, lanes, rows);
    }
    load(op, lanes, memory, Misaligned::Report, rows)
}

#[inline(never)]
fn execute_matrices<M: LoadMemory>(
    traced: &MemoryRecord<'_>,
    memory: &M,
    lanes: &LaneAddresses,
    rows: &mut [LaneValues],
) -> Loaded {
    let operation = traced.operation();
    let Some(matrices) = operation.matrix_load() else {
        return execute_without_values(operation, operation.load_op(), lanes, memory);
    };
    let loaded = matrices.load(lanes, memory, Misaligned::Report, rows);
    with_first_space(loaded, operation.load_op(), lanes)
}

/// Executes an access whose values nobody asks for. Of matrices, only the lanes that provide row addresses access memory.
#[inline]
pub(crate) fn execute_without_values<M: LoadMemory>(
    operation: &MemoryOperation,
    op: LoadOp,
    lanes: &LaneAddresses,
    memory: &M,
) -> Loaded {
    let accessing = LaneAddresses { executing: accessing(operation, lanes.executing), ..*lanes };
    let loaded = load(op, &accessing, memory, Misaligned::Report, &mut []);
    with_first_space(loaded, op, lanes)
}

/// The executing lanes of a matrix access may differ from the lanes that provide addresses.
fn with_first_space(loaded: Loaded, op: LoadOp, lanes: &LaneAddresses) -> Loaded {
    let first_space = loaded.first_space.or(op.space.only());
    Loaded { first_space: first_space.filter(|_| !lanes.executing.is_empty()), ..loaded }
}
