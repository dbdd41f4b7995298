//! [`MemoryObserver`]: gets each access to memory while a launch runs. [`LaunchWatch`]: its progress, for another thread.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use crate::access::{AccessKind, LaneBytes};
use crate::code::{Element, Site};
use crate::fault::TensorLoadFault;
use crate::registers::Registers;
use crate::tensor::{Issue, TensorFault, TensorLoad};
use warpload::lane::{LANES, LaneMask};
use warpload::load::LaneFaults;
use warpload::memory::{AddressMap, AddressSpace, GenericAddress, Space, Width};
use warpload::text::plural;

/// Shows another thread how far a launch is, and lets it end the launch.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct LaunchWatch {
    /// Ends the launch soon after it becomes true. Shared, because what ends a launch often ends other work, too.
    pub interrupt: Arc<AtomicBool>,
    /// The blocks that have ended.
    pub blocks: AtomicU64,
    /// The warp instructions that were executed.
    pub warp_instructions: AtomicU64,
}

impl LaunchWatch {
    /// Creates a watch for one launch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// The numbers of blocks, warps and instructions of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LaunchCounts {
    /// Blocks.
    pub blocks: u64,
    /// Warps.
    pub warps: u64,
    /// Instructions, counted once for all lanes of a warp that execute them together.
    pub warp_instructions: u64,
    /// Instructions, counted once for each lane.
    pub thread_instructions: u64,
    /// Loads among the warp instructions, including loads of parameters.
    pub loads: u64,
    /// Stores among the warp instructions.
    pub stores: u64,
    /// Atomic operations and reductions among the warp instructions.
    pub atomics: u64,
}

impl LaunchCounts {
    /// Adds the counts of other blocks.
    pub(crate) fn add(&mut self, other: &Self) {
        self.blocks += other.blocks;
        self.warps += other.warps;
        self.warp_instructions += other.warp_instructions;
        self.thread_instructions += other.thread_instructions;
        self.loads += other.loads;
        self.stores += other.stores;
        self.atomics += other.atomics;
    }
}

/// `4 blocks, 1 warp: 641 warp instructions, among them 192 loads, 32 stores and 0 atomic operations`.
impl fmt::Display for LaunchCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {}: {}, among them {}, {} and {}",
            plural(self.blocks, "block"),
            plural(self.warps, "warp"),
            plural(self.warp_instructions, "warp instruction"),
            plural(self.loads, "load"),
            plural(self.stores, "store"),
            plural(self.atomics, "atomic operation"),
        )
    }
}

/// A memory instruction executed by a warp.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MemoryAccess<'a> {
    /// The instruction: in PTX, the statement's number.
    pub site: Site,
    /// The kind of access: load, store, atomic operation or copy.
    pub kind: AccessKind,
    /// The address space of the addresses. Constants and kernel parameters are in global memory.
    pub space: AddressSpace,
    /// The size of each lane's access in bytes.
    pub bytes: u32,
    /// The block's index.
    pub block: [u32; 3],
    /// The warp's number in its block.
    pub warp: u32,
    /// The lanes that executed the access without a fault.
    pub executing: LaneMask,
    /// Each lane's address; meaningless for lanes that are not in `executing`.
    pub addresses: &'a [u64; LANES],
    /// The bytes that each lane loaded or stored. For an atomic operation, the old bytes in memory.
    pub values: &'a LaneBytes,
    /// The lanes with unknown bytes, which are zeros or old bytes in `values`. Only for observers that need values.
    pub unknown: LaneMask,
}

/// A load alone, and what has become of it: see [`Op::alone`](crate::code::Op::alone).
#[derive(Debug)]
#[non_exhaustive]
pub struct LoadAlone<'a> {
    /// The instruction.
    pub site: Site,
    /// The result.
    pub outcome: LoadOutcome<'a>,
    /// The registers of the elements in order; `None` for a sink. None at all if it was skipped, or no lane executes a
    /// load of Tensor Memory.
    pub destinations: &'a [Option<Element>],
    /// The registers after it.
    pub registers: &'a Registers,
}

/// The result of a load alone.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadOutcome<'a> {
    /// A load was executed.
    Loaded(LoadedLanes<'a>),
    /// No lane executes a load of Tensor Memory.
    Idle,
    /// A load of Tensor Memory was executed by all lanes.
    Tensor {
        /// The load.
        load: TensorLoad,
        /// The warp and its address.
        issue: Issue,
        /// The fault. The registers are then unchanged.
        fault: Option<TensorFault>,
    },
    /// It was not executed.
    Skipped(SkipReason),
}

/// The lanes of a load.
#[derive(Debug)]
#[non_exhaustive]
pub struct LoadedLanes<'a> {
    /// The lanes that execute it.
    pub executing: LaneMask,
    /// Each lane's address before rounding; meaningless for lanes that do not execute.
    pub addresses: &'a [u64; LANES],
    /// The space of the addresses.
    pub space: AddressSpace,
    /// The size of each lane's access.
    pub width: Width,
    /// The windows.
    pub map: &'a AddressMap,
    /// The faults of all lanes.
    pub faults: &'a LaneFaults,
}

impl LoadedLanes<'_> {
    /// The executing lanes with a misaligned address.
    #[must_use]
    pub fn misaligned(&self) -> LaneMask {
        let low_bits = u64::from(self.width.bytes()) - 1;
        self.executing & LaneMask::from_fn(|lane| self.addresses[lane] & low_bits != 0)
    }

    /// The memory of each lane's rounded address; `None` if the lane does not execute, or the address is in no memory.
    #[must_use]
    pub fn memories(&self) -> [Option<Space>; LANES] {
        std::array::from_fn(|lane| {
            let address = GenericAddress(self.addresses[lane]).align_down(self.width);
            let place = self.map.locate(self.space, address, None);
            place.ok().filter(|_| self.executing.contains(lane)).map(|place| place.space)
        })
    }
}

/// Why a load alone was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkipReason {
    /// Its guard is unknown in these lanes.
    Guard(LaneMask),
    /// Its address is unknown in these lanes.
    Address(LaneMask),
    /// Bytes are unknown from this offset of a memory on, up to the size of the access.
    Bytes(Space, u64),
    /// There is no Tensor Memory.
    NoTensorMemory,
    /// Lanes of a load of Tensor Memory disagree.
    Tensor(TensorLoadFault),
}

/// Observes the memory instructions of a launch, in order of execution.
pub trait MemoryObserver {
    /// Called after each memory instruction of a warp. `cp.async` makes two accesses of [`AccessKind::Copy`]: first to
    /// global memory, then to shared memory.
    fn access(&mut self, access: &MemoryAccess<'_>);

    /// Called after each load alone.
    fn load_alone(&mut self, load: &LoadAlone<'_>) {
        let _ = load;
    }

    /// Called with the text of each call of `printf`, a thread at a time.
    fn printed(&mut self, text: &[u8]) {
        let _ = text;
    }

    /// Whether the observer reads [`MemoryAccess::values`]. They are zero otherwise, because collecting the bytes of
    /// each lane costs more than the access itself.
    fn needs_values(&self) -> bool {
        true
    }

    /// Makes an observer for each of `count` threads, in the order of their blocks; [`Self::unite`] ends them. `None` if
    /// this one must observe all accesses itself, so that the launch needs a single thread.
    fn divide(&mut self, count: usize) -> Option<Vec<Box<dyn MemoryObserver + Send + '_>>> {
        let _ = count;
        None
    }

    /// Takes over the observations of the last [`Self::divide`], in its order; or forgets them, because the blocks run
    /// again.
    fn unite(&mut self, is_kept: bool) {
        let _ = is_kept;
    }
}

/// Two observers of a launch. The second is optional, so that a counter needs no trace beside it.
impl<A: MemoryObserver, B: MemoryObserver> MemoryObserver for (A, Option<B>) {
    fn access(&mut self, access: &MemoryAccess<'_>) {
        self.0.access(access);
        if let Some(second) = &mut self.1 {
            second.access(access);
        }
    }

    fn printed(&mut self, text: &[u8]) {
        self.0.printed(text);
        if let Some(second) = &mut self.1 {
            second.printed(text);
        }
    }

    fn needs_values(&self) -> bool {
        self.0.needs_values() || self.1.as_ref().is_some_and(B::needs_values)
    }

    fn divide(&mut self, count: usize) -> Option<Vec<Box<dyn MemoryObserver + Send + '_>>> {
        if self.1.is_some() { None } else { self.0.divide(count) }
    }

    fn unite(&mut self, is_kept: bool) {
        self.0.unite(is_kept);
    }
}

impl<F: FnMut(&MemoryAccess<'_>)> MemoryObserver for F {
    fn access(&mut self, access: &MemoryAccess<'_>) {
        self(access);
    }
}
