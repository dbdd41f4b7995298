//! [`MemoryBuilder`], and the checks of every [`Memory`]'s layout (docs/ld.md section 4, configuration).

use std::sync::Arc;

use super::error::ConfigError;
use super::windows::{AddressMap, Space, Window};
use super::{Allocation, Arena, ConstantBank, LocalPart, Memory, Regions};
use crate::lane::LANES;

/// The largest constant bank, in bytes.
pub(crate) const MAX_CONSTANT_BANK: usize = 0x1_0000;

impl Regions {
    /// Checks the regions against an arena of `arena` bytes; returns them sorted, without empty
    /// allocations.
    ///
    /// # Errors
    /// Returns [`ConfigError`] for the first broken rule.
    pub fn checked(mut self, map: &AddressMap, arena: u64) -> Result<Self, ConfigError> {
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
    /// Creates a memory from these regions of `arena`.
    ///
    /// # Errors
    /// Returns [`ConfigError`] for the first broken rule.
    pub fn new(map: AddressMap, arena: Arena, regions: Regions) -> Result<Self, ConfigError> {
        let regions = regions.checked(&map, arena.bytes().len() as u64)?;
        Ok(Self { map, arena, regions })
    }

    /// Returns a memory that shares the same bytes under another address map.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_map(self: &Arc<Self>, map: AddressMap) -> Result<Self, ConfigError> {
        struct Of(Arc<Memory>);

        impl AsRef<[u8]> for Of {
            fn as_ref(&self) -> &[u8] {
                self.0.arena().bytes()
            }
        }

        Self::new(map, Arena::shared(Of(Arc::clone(self))), self.regions.clone())
    }

    /// Returns a builder for a memory with the default address map.
    /// [`MemoryBuilder::new`] takes another one.
    pub fn builder() -> MemoryBuilder {
        MemoryBuilder::default()
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

/// Builds a [`Memory`] from bytes that it copies into its own arena.
///
/// ```
/// use warpload::memory::Memory;
///
/// let memory = Memory::builder()
///     .global(0x1000_0000, &[1, 2, 3, 4])
///     .shared(&[0xaa; 64])
///     .build()?;
/// assert_eq!(memory.allocations().len(), 1);
/// assert_eq!(memory.arena().bytes().len(), 68);
/// # Ok::<(), warpload::memory::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is allocated until `build` is called"]
pub struct MemoryBuilder {
    map: AddressMap,
    bytes: Vec<u8>,
    global: Vec<Allocation>,
    shared: Option<std::ops::Range<usize>>,
    local_low: Option<LocalPart>,
    local_high: Option<LocalPart>,
    constant: Vec<ConstantBank>,
    error: Option<ConfigError>,
}

impl MemoryBuilder {
    /// Creates a builder without allocations.
    pub fn new(map: AddressMap) -> Self {
        Self { map, ..Self::default() }
    }

    /// Returns the place in the arena.
    fn append(&mut self, bytes: &[u8]) -> std::ops::Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    /// Adds a global allocation with `base` as its first generic address.
    pub fn global(mut self, base: u64, bytes: &[u8]) -> Self {
        let start = self.append(bytes).start;
        self.global.push(Allocation { base, size: bytes.len() as u64, start });
        self
    }

    /// Sets the CTA's shared memory. A second call makes [`Self::build`] fail.
    pub fn shared(mut self, bytes: &[u8]) -> Self {
        let place = self.append(bytes);
        if self.shared.replace(place).is_some() {
            self.fail(ConfigError::SharedTwice);
        }
        self
    }

    /// Sets the low part of the lanes' local memories: 32 times `bytes_per_lane` bytes, lane 0's
    /// first. A second call makes [`Self::build`] fail.
    pub fn local_low(mut self, bytes_per_lane: usize, bytes: &[u8]) -> Self {
        let part = self.local_part(bytes_per_lane, bytes);
        if self.local_low.replace(part).is_some() {
            self.fail(ConfigError::LocalLowTwice);
        }
        self
    }

    /// Sets the high part, at the end of the window, in the same order. A second call makes
    /// [`Self::build`] fail.
    pub fn local_high(mut self, bytes_per_lane: usize, bytes: &[u8]) -> Self {
        let part = self.local_part(bytes_per_lane, bytes);
        if self.local_high.replace(part).is_some() {
            self.fail(ConfigError::LocalHighTwice);
        }
        self
    }

    fn local_part(&mut self, bytes_per_lane: usize, bytes: &[u8]) -> LocalPart {
        let place = self.append(bytes);
        LocalPart::new(bytes_per_lane, place).unwrap_or_else(|error| {
            self.fail(error);
            LocalPart::default()
        })
    }

    /// Adds a constant bank, 0..=31, of at most 64 KiB.
    pub fn constant(mut self, bank: u8, bytes: &[u8]) -> Self {
        let bytes = self.append(bytes);
        self.constant.push(ConstantBank { bank, bytes });
        self
    }

    /// Keeps the first error for [`Self::build`].
    fn fail(&mut self, error: ConfigError) {
        self.error.get_or_insert(error);
    }

    /// Builds the memory.
    ///
    /// # Errors
    /// Returns [`ConfigError`] for the first broken rule.
    pub fn build(self) -> Result<Memory, ConfigError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let regions = Regions {
            global: self.global,
            shared: self.shared.unwrap_or_default(),
            local_low: self.local_low.unwrap_or_default(),
            local_high: self.local_high.unwrap_or_default(),
            constant: self.constant,
        };
        Memory::new(self.map, self.bytes.into(), regions)
    }
}
