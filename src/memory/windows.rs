//! From addresses to memories: [`GenericAddress`], [`Window`], [`Space`] and [`AddressMap`] (docs/ld.md section 4,
//! clause 5 and the configuration table).

use std::fmt;
use std::str::FromStr;

use warpload_encoding::MemorySpace;

use super::error::ConfigError;
use super::fetch::Width;
use crate::text::parse_number;

/// A byte address, interpreted by its load: generic, global, or an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GenericAddress(pub u64);

impl GenericAddress {
    /// Returns the address rounded down to a multiple of the width.
    #[inline]
    #[must_use]
    pub const fn align_down(self, width: Width) -> Self {
        Self(self.0 & !(width.bytes() as u64 - 1))
    }
}

impl fmt::Display for GenericAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// An address window: the range of generic addresses that stands for another memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first address.
    pub base: u64,
    /// The number of addresses, in bytes.
    pub size: u64,
}

/// Why a text is not a [`Window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected BASE,SIZE, as in 0xfe000000,0x1000000")]
pub struct WindowError;

/// A window as people write it: its base and its size, decimal or hexadecimal with `0x`.
impl FromStr for Window {
    type Err = WindowError;

    fn from_str(text: &str) -> Result<Self, WindowError> {
        text.split_once(',')
            .and_then(|(base, size)| {
                Some(Self { base: parse_number(base.trim())?, size: parse_number(size.trim())? })
            })
            .ok_or(WindowError)
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x},{:#x}", self.base, self.size)
    }
}

impl Window {
    /// The default shared window: 16 MiB from 0xfe000000.
    pub const DEFAULT_SHARED: Window = Window { base: 0xfe00_0000, size: 0x100_0000 };
    /// The default local window: 16 MiB from 0xff000000.
    pub const DEFAULT_LOCAL: Window = Window { base: 0xff00_0000, size: 0x100_0000 };

    /// Returns the address's distance from the base in bytes, or `None` if it is outside of the window.
    #[inline]
    #[must_use]
    pub const fn offset_of(self, address: GenericAddress) -> Option<u64> {
        let offset = address.0.wrapping_sub(self.base);
        if offset < self.size { Some(offset) } else { None }
    }

    /// The address after the last one, which may be 2^64.
    pub(super) const fn end(self) -> u128 {
        self.base as u128 + self.size as u128
    }

    pub(crate) fn overlaps(self, other: Window) -> bool {
        u128::from(self.base) < other.end() && u128::from(other.base) < self.end()
    }
}

/// A memory that a load can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Memory of the whole device.
    Global,
    /// Memory of one lane.
    Local,
    /// Memory of the thread block (CTA).
    Shared,
    /// A constant bank. Generic addresses never lie in one.
    Constant {
        /// The bank's number.
        bank: u8,
    },
}

impl Space {
    /// All memories, in the order of their declaration, with the first constant bank.
    pub const ALL: [Space; 4] =
        [Self::Global, Self::Local, Self::Shared, Self::Constant { bank: 0 }];

    /// Returns `global`, `local`, `shared` or `constant`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Local => "local",
            Self::Shared => "shared",
            Self::Constant { .. } => "constant",
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The interpretation of a load's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// Generic addresses: the windows, and Plg if there is one, select the memory.
    Generic,
    /// Addresses of global memory.
    Global,
    /// Byte offsets into the lane's local memory.
    Local,
    /// Byte offsets into the CTA's shared memory.
    Shared,
    /// Byte offsets into a constant bank.
    Constant {
        /// The bank's number.
        bank: u8,
    },
}

impl AddressSpace {
    /// Returns the memory of all addresses; `None` if it depends on the address.
    #[inline]
    #[must_use]
    pub const fn only(self) -> Option<Space> {
        match self {
            Self::Generic => None,
            Self::Global => Some(Space::Global),
            Self::Local => Some(Space::Local),
            Self::Shared => Some(Space::Shared),
            Self::Constant { bank } => Some(Space::Constant { bank }),
        }
    }
}

impl From<MemorySpace> for AddressSpace {
    /// Returns the interpretation of an instruction's addresses; the predicate of `LD` and the mode of `LDC` are
    /// dropped.
    ///
    /// Loads of Tensor Memory and of undocumented memory are never executed, so their interpretation does not matter.
    fn from(space: MemorySpace) -> Self {
        match space {
            MemorySpace::Generic { .. } | MemorySpace::Tensor | MemorySpace::Undocumented => {
                Self::Generic
            }
            MemorySpace::Global => Self::Global,
            MemorySpace::Local => Self::Local,
            MemorySpace::Shared => Self::Shared,
            MemorySpace::Constant { bank, .. } => Self::Constant { bank: bank.get() },
        }
    }
}

/// Why a lane cannot access a generic address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum OutsideWindow {
    /// Plg selects shared memory but the address is outside the shared window, or Plg selects local and global memory
    /// but the address is inside it.
    #[error("the address is not in the memory that Plg selects")]
    ByPredicate,
    /// The address is at or above 2^address_bits.
    #[error("the address is beyond the address space")]
    BeyondAddressBits,
}

/// The place of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The memory.
    pub space: Space,
    /// The byte offset in the memory; in global memory, the address.
    pub offset: u64,
    /// The first and the last offset around it in the same memory: the ends of a window, or of global memory up to the
    /// windows.
    pub(crate) reach: (u64, u64),
}

impl Place {
    /// Returns whether `bytes` bytes, at least one, from here on lie in the same memory.
    #[inline(always)]
    #[must_use]
    pub const fn reaches(self, bytes: u64) -> bool {
        self.reach.1 - self.offset >= bytes - 1
    }
}

/// The division of generic addresses: their width and the two windows. Every map is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressMap {
    /// The highest address, 2^address_bits - 1.
    pub(super) last_address: u64,
    shared: Window,
    local: Window,
    /// The first and the last address of the windows, including the gap between them.
    windows: (u64, u64),
}

impl Default for AddressMap {
    /// Returns a map of 40 bits with the windows at 0xfe000000 and 0xff000000.
    fn default() -> Self {
        Self::of(40, Window::DEFAULT_SHARED, Window::DEFAULT_LOCAL)
    }
}

impl AddressMap {
    /// Creates a map of `address_bits` (32..=64) with those windows.
    ///
    /// # Errors
    /// Returns [`ConfigError`] if the width is out of range, if a window is empty, not a multiple of
    /// 16 or extends beyond 2^address_bits, or if the windows overlap.
    pub fn new(address_bits: u32, shared: Window, local: Window) -> Result<Self, ConfigError> {
        let map = Self::for_offsets(address_bits, shared, local)?;
        for (space, window) in [(Space::Shared, shared), (Space::Local, local)] {
            if window.size == 0 {
                return Err(ConfigError::EmptyWindow { space });
            }
            if window.base % 16 != 0 || window.size % 16 != 0 {
                return Err(ConfigError::MisalignedWindow { space, window });
            }
            if window.end() > 1 << address_bits {
                return Err(ConfigError::WindowBeyondAddressBits { space, window, address_bits });
            }
        }
        if shared.overlaps(local) {
            return Err(ConfigError::WindowsOverlap { shared, local });
        }
        Ok(map)
    }

    /// Creates a map for loads with offsets into shared and local memory or with addresses of global memory, but
    /// without generic addresses. The windows are not checked, because such loads do not use them.
    ///
    /// # Errors
    /// Returns [`ConfigError::AddressBits`] if the width is out of range.
    pub fn for_offsets(
        address_bits: u32,
        shared: Window,
        local: Window,
    ) -> Result<Self, ConfigError> {
        if !(32..=64).contains(&address_bits) {
            return Err(ConfigError::AddressBits { address_bits });
        }
        Ok(Self::of(address_bits, shared, local))
    }

    fn of(address_bits: u32, shared: Window, local: Window) -> Self {
        let end = shared.end().max(local.end()).min(1 << 64);
        let windows = (shared.base.min(local.base), end.saturating_sub(1) as u64);
        Self { last_address: u64::MAX >> (64 - address_bits), shared, local, windows }
    }

    /// Returns a map with the same windows and addresses of 64 bits.
    #[must_use]
    pub const fn of_64_bits(self) -> Self {
        Self { last_address: u64::MAX, ..self }
    }

    /// Returns the width of an address in bits, 32..=64.
    #[must_use]
    pub const fn address_bits(&self) -> u32 {
        64 - self.last_address.leading_zeros()
    }

    /// Returns the shared window.
    #[must_use]
    pub const fn shared(&self) -> Window {
        self.shared
    }

    /// Returns the local window.
    #[must_use]
    pub const fn local(&self) -> Window {
        self.local
    }

    /// Returns whether the address is at or above 2^address_bits.
    #[inline]
    #[must_use]
    pub const fn is_beyond(&self, address: GenericAddress) -> bool {
        address.0 > self.last_address
    }

    /// Returns the place of `address` for a lane with this Plg. [`Self::resolve`] places a generic address; any other
    /// is an offset in the one memory of `space`.
    ///
    /// # Errors
    /// Returns [`OutsideWindow`] if the lane cannot access a generic address.
    #[inline]
    pub fn locate(
        &self,
        space: AddressSpace,
        address: GenericAddress,
        plg: Option<bool>,
    ) -> Result<Place, OutsideWindow> {
        match space.only() {
            None => self.resolve(address, plg),
            Some(space) => Ok(Place { space, offset: address.0, reach: (0, u64::MAX) }),
        }
    }

    /// Returns the place of a generic address for a lane with this Plg (clause 4.5 of docs/ld.md). Without Plg, as from
    /// SM 7.0 on, the windows alone decide.
    ///
    /// # Errors
    /// Returns [`OutsideWindow`] if the lane cannot access the address.
    #[inline]
    pub fn resolve(
        &self,
        address: GenericAddress,
        plg: Option<bool>,
    ) -> Result<Place, OutsideWindow> {
        let of = |space, offset, window: Window| {
            Ok(Place { space, offset, reach: (0, window.size.wrapping_sub(1)) })
        };
        match (plg, self.shared.offset_of(address), self.local.offset_of(address)) {
            (None | Some(false), Some(offset), _) => of(Space::Shared, offset, self.shared),
            (None | Some(true), _, Some(offset)) => of(Space::Local, offset, self.local),
            (Some(true), Some(_), None) | (Some(false), None, _) => Err(OutsideWindow::ByPredicate),
            _ => match self.global_around(address) {
                Some(reach) => Ok(Place { space: Space::Global, offset: address.0, reach }),
                None => Err(OutsideWindow::BeyondAddressBits),
            },
        }
    }

    /// As [`Self::locate`], but `None` if the address is not in global memory.
    #[inline(always)]
    pub(crate) fn locate_global(
        &self,
        space: AddressSpace,
        address: GenericAddress,
        plg: Option<bool>,
    ) -> Option<Place> {
        let reach = match space {
            AddressSpace::Global => (0, u64::MAX),
            AddressSpace::Generic if plg != Some(false) => self.global_around(address)?,
            _ => return None,
        };
        Some(Place { space: Space::Global, offset: address.0, reach })
    }

    /// The first and the last address of the global memory around an address, up to the windows; `None` if it is in a
    /// window or beyond the address space.
    #[inline(always)]
    fn global_around(&self, GenericAddress(address): GenericAddress) -> Option<(u64, u64)> {
        let (first, last) = self.windows;
        if address > last {
            return (address <= self.last_address).then_some((last + 1, self.last_address));
        }
        if address > self.last_address {
            return None;
        }
        if address < first {
            return Some((0, first - 1));
        }
        let [low, high] =
            [self.shared, self.local].map(|window| (u128::from(window.base), window.end()));
        let (low, high) = if low < high { (low, high) } else { (high, low) };
        let between = low.1..high.0;
        between.contains(&address.into()).then(|| (between.start as u64, between.end as u64 - 1))
    }
}
