//! Memories that loads read, each a [`LoadMemory`]. A [`Memory`] has global allocations, shared memory, the 32 lanes'
//! local memories and the constant banks, all in one flat [`Arena`]; a [`FilledMemory`] computes its contents.

mod arena;
mod builder;
mod error;
mod fetch;
mod fill;
mod linux;
mod region;
mod source;
mod windows;
mod write;

use std::ops::Range;

use crate::lane::LANES;

pub use arena::Arena;
pub use builder::MemoryBuilder;
pub use error::ConfigError;
pub use fetch::{LaneAccess, Width, Words};
pub(crate) use fetch::{put, set_row};
pub use fill::{Fill, FilledMemory, mix};
pub use region::{Region, WarpAddresses};
pub use source::LoadMemory;
pub use windows::{
    AddressMap, AddressSpace, GenericAddress, OutsideWindow, Place, Space, Window, WindowError,
};
pub use write::WriteError;

/// A global allocation and its place in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The first generic address.
    pub base: u64,
    /// The size in bytes.
    pub size: u64,
    /// The place of the first byte in the arena.
    pub start: usize,
}

/// One part of the lanes' local memories: the bytes of all lanes, lane 0's first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LocalPart {
    /// The size of each lane's part in bytes.
    pub bytes_per_lane: usize,
    /// The place of the first byte in the arena.
    pub start: usize,
}

impl LocalPart {
    /// Creates the part with the bytes of all lanes at `place` in the arena.
    ///
    /// # Errors
    /// Returns [`ConfigError::LocalNotThirtyTwoLanes`] if `place` is not 32 times `bytes_per_lane`.
    pub fn new(bytes_per_lane: usize, place: Range<usize>) -> Result<Self, ConfigError> {
        if bytes_per_lane.checked_mul(LANES) != Some(place.len()) {
            let (bytes_per_lane, size) = (bytes_per_lane as u64, place.len() as u64);
            return Err(ConfigError::LocalNotThirtyTwoLanes { bytes_per_lane, size });
        }
        Ok(Self { bytes_per_lane, start: place.start })
    }
}

/// A constant bank and its place in the arena.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantBank {
    /// The bank's number, 0..=31.
    pub bank: u8,
    /// The place of its bytes in the arena.
    pub bytes: Range<usize>,
}

/// The places of the memories in an arena.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    /// The global allocations, in any order.
    pub global: Vec<Allocation>,
    /// The shared memory's bytes.
    pub shared: Range<usize>,
    /// The part of local memory at the beginning of the window.
    pub local_low: LocalPart,
    /// The part of local memory at the end of the window.
    pub local_high: LocalPart,
    /// The constant banks, in any order.
    pub constant: Vec<ConstantBank>,
}

/// All memory of a machine. Every `Memory` is valid: its regions are in the arena, and allocations overlap neither each
/// other nor the windows.
#[derive(Debug)]
pub struct Memory {
    map: AddressMap,
    arena: Arena,
    /// The allocations are sorted by base.
    regions: Regions,
}

impl Memory {
    /// Creates a memory without allocations.
    #[must_use]
    pub fn empty(map: AddressMap) -> Self {
        Self { map, arena: Vec::new().into(), regions: Regions::default() }
    }

    /// Returns the map of generic addresses.
    #[inline]
    #[must_use]
    pub fn map(&self) -> &AddressMap {
        &self.map
    }

    /// Returns the arena with all bytes.
    #[inline]
    #[must_use]
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Returns all bytes mutably, or `None` if they are shared or mapped read-only. [`Self::write`] changes the bytes
    /// at an address.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        self.arena.bytes_mut()
    }

    /// Returns the global allocations, by ascending base.
    #[must_use]
    pub fn allocations(&self) -> &[Allocation] {
        &self.regions.global
    }

    /// Returns the bytes of an allocation of this memory.
    #[must_use]
    pub fn allocation_bytes(&self, allocation: &Allocation) -> &[u8] {
        self.slice(allocation.start, allocation.size as usize)
    }

    /// Returns the CTA's shared memory, from offset 0 of its window on.
    #[must_use]
    pub fn shared_bytes(&self) -> &[u8] {
        self.slice(self.regions.shared.start, self.regions.shared.len())
    }

    /// Returns the low part of a lane's local memory, from offset 0 of the window on.
    #[must_use]
    pub fn local_low_bytes(&self, lane: usize) -> &[u8] {
        self.local_bytes(self.regions.local_low, lane)
    }

    /// Returns the high part of a lane's local memory, which ends where the window ends.
    #[must_use]
    pub fn local_high_bytes(&self, lane: usize) -> &[u8] {
        self.local_bytes(self.regions.local_high, lane)
    }

    /// Returns a constant bank's bytes, or `None` if there is no such bank.
    #[must_use]
    pub fn constant_bytes(&self, bank: u8) -> Option<&[u8]> {
        self.constant_banks().find(|(known, _)| *known == bank).map(|(_, bytes)| bytes)
    }

    /// Returns every constant bank's number and bytes.
    pub fn constant_banks(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.regions
            .constant
            .iter()
            .map(|known| (known.bank, self.slice(known.bytes.start, known.bytes.len())))
    }

    fn local_bytes(&self, part: LocalPart, lane: usize) -> &[u8] {
        if lane >= LANES {
            return &[];
        }
        self.slice(part.start + lane * part.bytes_per_lane, part.bytes_per_lane)
    }

    fn slice(&self, start: usize, length: usize) -> &[u8] {
        // Always in the arena, unless a caller made up an allocation.
        self.arena.bytes().get(start..).and_then(|rest| rest.get(..length)).unwrap_or_default()
    }
}
