//! Laying memory out, and refusing what cannot be (docs/ld.md section 4, configuration).

use super::windows::{AddressMap, Space, Window};
use super::{Allocation, Arena, ConstantBank, LocalPart, Memory};
use crate::lane::LANES;

/// The largest constant bank, in bytes.
pub(crate) const MAX_CONSTANT_BANK: usize = 0x1_0000;

/// A machine configuration that cannot be. Addresses and sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The register limit is not 1..=255.
    #[error("register_limit is {register_limit}; expected 1..=255")]
    RegisterLimit {
        /// The limit that was given.
        register_limit: u64,
    },
    /// The address width is not 32..=64.
    #[error("address_bits is {address_bits}; expected 32..=64")]
    AddressBits {
        /// The width that was given.
        address_bits: u32,
    },
    /// A window of size 0.
    #[error("the {space} window is empty; expected a size above 0")]
    EmptyWindow {
        /// The window's memory.
        space: Space,
    },
    /// A window whose base or size is not a multiple of 16.
    #[error(
        "the {space} window (base {:#x}, size {:#x}) is not aligned; expected multiples of 16",
        window.base, window.size
    )]
    MisalignedWindow {
        /// The window's memory.
        space: Space,
        /// The window.
        window: Window,
    },
    /// A window that reaches beyond the address space.
    #[error(
        "the {space} window (base {:#x}, size {:#x}) reaches beyond 2^{address_bits}",
        window.base, window.size
    )]
    WindowBeyondAddressBits {
        /// The window's memory.
        space: Space,
        /// The window.
        window: Window,
        /// The width of an address.
        address_bits: u32,
    },
    /// The windows have an address in common.
    #[error(
        "the shared window (base {:#x}, size {:#x}) and the local window (base {:#x}, size \
         {:#x}) overlap",
        shared.base, shared.size, local.base, local.size
    )]
    WindowsOverlap {
        /// The shared window.
        shared: Window,
        /// The local window.
        local: Window,
    },
    /// A global allocation that reaches beyond the address space.
    #[error("the allocation (base {base:#x}, size {size:#x}) reaches beyond 2^{address_bits}")]
    AllocationBeyondAddressBits {
        /// The allocation's first address.
        base: u64,
        /// Its size.
        size: u64,
        /// The width of an address.
        address_bits: u32,
    },
    /// A global allocation inside a window.
    #[error("the allocation (base {base:#x}, size {size:#x}) overlaps the {space} window")]
    AllocationInWindow {
        /// The allocation's first address.
        base: u64,
        /// Its size.
        size: u64,
        /// The window's memory.
        space: Space,
    },
    /// Two global allocations with an address in common.
    #[error("the allocations at {first:#x} and {second:#x} overlap")]
    AllocationsOverlap {
        /// The base of the lower one.
        first: u64,
        /// The base of the higher one.
        second: u64,
    },
    /// Shared memory larger than its window.
    #[error("shared memory (size {size:#x}) is larger than its window (size {window_size:#x})")]
    SharedTooLarge {
        /// The memory's size.
        size: u64,
        /// The window's size.
        window_size: u64,
    },
    /// A lane's local memory, both parts together, larger than its window.
    #[error(
        "a lane's local memory (sizes {low:#x} and {high:#x}) is larger than its window (size \
         {window_size:#x})"
    )]
    LocalTooLarge {
        /// The low part's size.
        low: u64,
        /// The high part's size.
        high: u64,
        /// The window's size.
        window_size: u64,
    },
    /// Local memory that is not 32 times what a lane has.
    #[error(
        "local memory with bytes_per_lane {bytes_per_lane} needs 32 times that, {} bytes; its size is \
         {size}",
        *bytes_per_lane as u128 * 32
    )]
    LocalNotThirtyTwoLanes {
        /// What a lane should have.
        bytes_per_lane: u64,
        /// How many bytes were given for all lanes.
        size: u64,
    },
    /// A constant bank number above 31.
    #[error("there is no constant bank {bank}; expected 0..=31")]
    ConstantBank {
        /// The number that was given.
        bank: u64,
    },
    /// Two constant banks of one number.
    #[error("constant bank {bank} is given twice")]
    ConstantBankTwice {
        /// The bank.
        bank: u8,
    },
    /// A constant bank of more than 64 KiB.
    #[error("constant bank {bank} has {size} bytes; expected at most 65536")]
    ConstantTooLarge {
        /// The bank.
        bank: u8,
        /// Its size.
        size: u64,
    },
    /// A region that does not lie in the arena.
    #[error("bytes {start}..{end} lie outside the arena (size {arena})")]
    OutsideArena {
        /// The region's first byte.
        start: u128,
        /// The byte behind its last.
        end: u128,
        /// How many bytes the arena has.
        arena: u64,
    },
}

/// Where the memories lie in an arena.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    /// The global allocations, in any order.
    pub global: Vec<Allocation>,
    /// The shared memory's bytes.
    pub shared: std::ops::Range<usize>,
    /// The part of local memory that begins with the window.
    pub local_low: LocalPart,
    /// The part of local memory that ends with the window.
    pub local_high: LocalPart,
    /// The constant banks, in any order.
    pub constant: Vec<ConstantBank>,
}

impl Regions {
    /// Returns the regions if they are legal in an arena of `arena` bytes: without empty allocations,
    /// and sorted.
    pub(crate) fn checked(mut self, map: &AddressMap, arena: u64) -> Result<Self, ConfigError> {
        self.global.retain(|allocation| allocation.size > 0);
        self.global.sort_by_key(|allocation| allocation.base);
        let Self { global, shared, local_low, local_high, constant } = &self;
        check_allocations(map, global)?;
        check_windows(map, shared.len() as u64, *local_low, *local_high)?;
        check_constant(constant)?;
        let spans = global
            .iter()
            .map(|known| (known.start as u128, u128::from(known.size)))
            .chain([(shared.start as u128, shared.len() as u128)])
            .chain(
                [local_low, local_high]
                    .map(|part| (part.start as u128, part.bytes_per_lane as u128 * LANES as u128)),
            )
            .chain(
                constant.iter().map(|bank| (bank.bytes.start as u128, bank.bytes.len() as u128)),
            );
        for (start, size) in spans {
            if size > 0 && start + size > u128::from(arena) {
                return Err(ConfigError::OutsideArena { start, end: start + size, arena });
            }
        }
        Ok(self)
    }
}

impl Memory {
    /// The memory of those regions of `arena`.
    ///
    /// # Errors
    /// [`ConfigError`] for the first rule that is broken.
    pub fn new(map: AddressMap, arena: Arena, regions: Regions) -> Result<Self, ConfigError> {
        let Regions { global, shared, local_low, local_high, constant } =
            regions.checked(&map, arena.bytes().len() as u64)?;
        Ok(Self { map, arena, global, shared, local_low, local_high, constant })
    }
}

fn check_allocations(map: &AddressMap, sorted: &[Allocation]) -> Result<(), ConfigError> {
    for &Allocation { base, size, .. } in sorted {
        let address_bits = map.address_bits();
        if u128::from(base) + u128::from(size) > 1 << address_bits {
            return Err(ConfigError::AllocationBeyondAddressBits { base, size, address_bits });
        }
        for (space, window) in [(Space::Shared, map.shared()), (Space::Local, map.local())] {
            if window.overlaps(Window { base, size }) {
                return Err(ConfigError::AllocationInWindow { base, size, space });
            }
        }
    }
    for pair in sorted.windows(2) {
        let (first, second) = (pair[0].base, pair[1].base);
        if second - first < pair[0].size {
            return Err(ConfigError::AllocationsOverlap { first, second });
        }
    }
    Ok(())
}

fn check_windows(
    map: &AddressMap,
    shared: u64,
    low: LocalPart,
    high: LocalPart,
) -> Result<(), ConfigError> {
    let window_size = map.shared().size;
    if shared > window_size {
        return Err(ConfigError::SharedTooLarge { size: shared, window_size });
    }
    let window_size = map.local().size;
    let (low, high) = (low.bytes_per_lane as u64, high.bytes_per_lane as u64);
    if low.saturating_add(high) > window_size {
        return Err(ConfigError::LocalTooLarge { low, high, window_size });
    }
    Ok(())
}

fn check_constant(banks: &[ConstantBank]) -> Result<(), ConfigError> {
    for (i, bank) in banks.iter().enumerate() {
        if bank.bank > 31 {
            return Err(ConfigError::ConstantBank { bank: u64::from(bank.bank) });
        }
        if bank.bytes.len() > MAX_CONSTANT_BANK {
            let size = bank.bytes.len() as u64;
            return Err(ConfigError::ConstantTooLarge { bank: bank.bank, size });
        }
        if banks[..i].iter().any(|other| other.bank == bank.bank) {
            return Err(ConfigError::ConstantBankTwice { bank: bank.bank });
        }
    }
    Ok(())
}

/// Builds a [`Memory`] out of bytes that it copies into an arena of its own.
///
/// ```
/// use warpload::memory::{AddressMap, MemoryBuilder};
///
/// let memory = MemoryBuilder::new(AddressMap::default())
///     .global(0x1000_0000, &[1, 2, 3, 4])
///     .shared(&[0xaa; 64])
///     .build()?;
/// assert_eq!(memory.allocations().len(), 1);
/// assert_eq!(memory.arena().bytes().len(), 68);
/// # Ok::<(), warpload::memory::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryBuilder {
    map: AddressMap,
    bytes: Vec<u8>,
    regions: Regions,
    error: Option<ConfigError>,
}

impl MemoryBuilder {
    /// Nothing allocated yet.
    pub fn new(map: AddressMap) -> Self {
        Self { map, ..Self::default() }
    }

    /// Appends to the arena and says where.
    fn append(&mut self, bytes: &[u8]) -> usize {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start
    }

    /// A global allocation from that generic address on.
    pub fn global(mut self, base: u64, bytes: &[u8]) -> Self {
        let start = self.append(bytes);
        self.regions.global.push(Allocation { base, size: bytes.len() as u64, start });
        self
    }

    /// The CTA's shared memory.
    pub fn shared(mut self, bytes: &[u8]) -> Self {
        let start = self.append(bytes);
        self.regions.shared = start..start + bytes.len();
        self
    }

    /// The low part of the lanes' local memories: 32 times `bytes_per_lane` bytes, lane 0's
    /// first.
    pub fn local_low(mut self, bytes_per_lane: usize, bytes: &[u8]) -> Self {
        self.regions.local_low = self.local_part(bytes_per_lane, bytes);
        self
    }

    /// The high part, which ends with the window, in the same order.
    pub fn local_high(mut self, bytes_per_lane: usize, bytes: &[u8]) -> Self {
        self.regions.local_high = self.local_part(bytes_per_lane, bytes);
        self
    }

    fn local_part(&mut self, bytes_per_lane: usize, bytes: &[u8]) -> LocalPart {
        let start = self.append(bytes);
        LocalPart::new(bytes_per_lane, start..start + bytes.len()).unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            LocalPart::default()
        })
    }

    /// A constant bank, 0..=31, of at most 64 KiB.
    pub fn constant(mut self, bank: u8, bytes: &[u8]) -> Self {
        let start = self.append(bytes);
        self.regions.constant.push(ConstantBank { bank, bytes: start..start + bytes.len() });
        self
    }

    /// The memory.
    ///
    /// # Errors
    /// [`ConfigError`] for the first rule that is broken.
    pub fn build(self) -> Result<Memory, ConfigError> {
        match self.error {
            Some(error) => Err(error),
            None => Memory::new(self.map, self.bytes.into(), self.regions),
        }
    }
}
