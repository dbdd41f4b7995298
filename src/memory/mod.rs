//! What loads read: global allocations, shared memory, the 32 lanes' local memories and the
//! constant banks, all laid into one flat [`Arena`], and the [`AddressMap`] that finds them.

mod arena;
mod builder;
mod fetch;
mod fill;
mod filled;
mod region;
mod source;
mod width;
mod windows;

use std::ops::Range;

use crate::lane::LANES;

pub use arena::Arena;
pub use builder::{ConfigError, MemoryBuilder, Regions};
pub use fetch::Access;
pub(crate) use fetch::put;
pub use fill::{Fill, mix};
pub use filled::FilledMemory;
pub use region::Region;
pub use source::{AddressSpace, LoadMemory};
pub use width::{Width, Words};
pub use windows::{AddressMap, GenericAddress, OutsideWindow, Space, Window};

/// A global allocation and where its bytes lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The first generic address.
    pub base: u64,
    /// How many bytes there are.
    pub size: u64,
    /// The first byte's place in the arena.
    pub start: usize,
}

/// One part of the lanes' local memories: all lanes' bytes, lane 0's first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LocalPart {
    /// How many bytes each lane has.
    pub bytes_per_lane: usize,
    /// The first byte's place in the arena.
    pub start: usize,
}

impl LocalPart {
    /// The part whose bytes, of all lanes, lie at `place`.
    ///
    /// # Errors
    /// [`ConfigError::LocalNotThirtyTwoLanes`] where there are not 32 times `bytes_per_lane`.
    pub fn new(bytes_per_lane: usize, place: Range<usize>) -> Result<Self, ConfigError> {
        if bytes_per_lane.checked_mul(LANES) != Some(place.len()) {
            let (bytes_per_lane, size) = (bytes_per_lane as u64, place.len() as u64);
            return Err(ConfigError::LocalNotThirtyTwoLanes { bytes_per_lane, size });
        }
        Ok(Self { bytes_per_lane, start: place.start })
    }
}

/// A constant bank and where its bytes lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstantBank {
    /// The bank's number, 0..=31.
    pub bank: u8,
    /// Its bytes' place in the arena.
    pub bytes: Range<usize>,
}

/// All memory of a machine. Valid once it exists: every region lies in the arena, allocations
/// overlap neither each other nor the windows.
#[derive(Debug)]
pub struct Memory {
    map: AddressMap,
    arena: Arena,
    /// Sorted by base.
    global: Vec<Allocation>,
    shared: Range<usize>,
    local_low: LocalPart,
    local_high: LocalPart,
    constant: Vec<ConstantBank>,
}

impl Memory {
    /// A memory in which nothing is allocated.
    pub fn empty(map: AddressMap) -> Self {
        Self {
            map,
            arena: Vec::new().into(),
            global: Vec::new(),
            shared: 0..0,
            local_low: LocalPart::default(),
            local_high: LocalPart::default(),
            constant: Vec::new(),
        }
    }

    /// How generic addresses are divided.
    #[inline]
    pub fn map(&self) -> &AddressMap {
        &self.map
    }

    /// All bytes.
    #[inline]
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// All bytes, to be changed; nothing where they are mapped read-only. Only bytes: another
    /// arena might be too small for the regions.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        self.arena.bytes_mut()
    }

    /// The global allocations, by ascending base.
    pub fn allocations(&self) -> &[Allocation] {
        &self.global
    }

    /// The bytes of an allocation of this memory.
    pub fn allocation_bytes(&self, allocation: &Allocation) -> &[u8] {
        self.slice(allocation.start, allocation.size as usize)
    }

    /// The CTA's shared memory, from offset 0 of its window on.
    pub fn shared_bytes(&self) -> &[u8] {
        self.slice(self.shared.start, self.shared.len())
    }

    /// The low part of a lane's local memory, from offset 0 of the window on.
    pub fn local_low_bytes(&self, lane: usize) -> &[u8] {
        self.local_bytes(self.local_low, lane)
    }

    /// The high part of a lane's local memory, which ends where the window ends.
    pub fn local_high_bytes(&self, lane: usize) -> &[u8] {
        self.local_bytes(self.local_high, lane)
    }

    /// A constant bank's bytes, where the bank exists.
    pub fn constant_bytes(&self, bank: u8) -> Option<&[u8]> {
        self.constant_banks().find(|(known, _)| *known == bank).map(|(_, bytes)| bytes)
    }

    /// Every constant bank's number and bytes.
    pub fn constant_banks(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.constant
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
        // Regions lie in the arena; nothing where a caller made one up.
        self.arena.bytes().get(start..).and_then(|rest| rest.get(..length)).unwrap_or_default()
    }
}
