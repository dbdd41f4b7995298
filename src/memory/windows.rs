//! The generic address space: which addresses are local, shared and global
//! (docs/ld.md section 4, 5 and the configuration table).

use std::fmt;

use super::ConfigError;
use super::width::Width;

/// A byte address of the generic space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GenericAddress(pub u64);

impl GenericAddress {
    /// Rounded down to a multiple of the width.
    #[inline]
    pub const fn align_down(self, width: Width) -> Self {
        Self(self.0 & !(width.bytes() as u64 - 1))
    }
}

impl fmt::Display for GenericAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
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
    /// A constant bank. No generic address lies in one.
    Constant,
}

impl Space {
    /// `global`, `local`, `shared` or `constant`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Local => "local",
            Self::Shared => "shared",
            Self::Constant => "constant",
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A range of generic addresses that stands for another memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first address.
    pub base: u64,
    /// How many addresses there are.
    pub size: u64,
}

impl Window {
    /// Where the shared window lies by default: 16 MiB from 0xfe000000.
    pub const DEFAULT_SHARED: Window = Window { base: 0xfe00_0000, size: 0x100_0000 };
    /// Where the local window lies by default: 16 MiB from 0xff000000.
    pub const DEFAULT_LOCAL: Window = Window { base: 0xff00_0000, size: 0x100_0000 };

    /// The address's distance from the base in bytes, where it lies in the window.
    #[inline]
    pub const fn offset_of(self, address: GenericAddress) -> Option<u64> {
        let offset = address.0.wrapping_sub(self.base);
        if offset < self.size { Some(offset) } else { None }
    }

    /// The address behind the last one; does not fit 64 bits where the space ends with it.
    fn end(self) -> u128 {
        u128::from(self.base) + u128::from(self.size)
    }

    /// Whether the two have an address in common.
    pub(crate) fn overlaps(self, other: Window) -> bool {
        u128::from(self.base) < other.end() && u128::from(other.base) < self.end()
    }
}

/// Why an address lies in no memory that its load may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutsideWindow {
    /// Plg says shared and the address lies outside the shared window, or Plg says local or
    /// global and it lies inside.
    ByPredicate,
    /// The address is at or above 2^address_bits.
    BeyondAddressBits,
}

/// How generic addresses are divided: their width and the two windows. Valid once it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressMap {
    address_bits: u32,
    shared: Window,
    local: Window,
}

impl Default for AddressMap {
    /// 40 bits, the windows at 0xfe000000 and 0xff000000.
    fn default() -> Self {
        Self { address_bits: 40, shared: Window::DEFAULT_SHARED, local: Window::DEFAULT_LOCAL }
    }
}

impl AddressMap {
    /// A map of `address_bits` (32..=64) with those windows.
    ///
    /// # Errors
    /// [`ConfigError`] where the width is out of range, a window is empty, not a multiple of 16,
    /// or reaches beyond 2^address_bits, or where the windows overlap.
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

    /// Returns a map for loads that have offsets into shared and local memory, or addresses of
    /// global memory, but no generic addresses: where the windows lie does not matter to them, so
    /// that nothing is checked of these.
    ///
    /// # Errors
    /// Returns [`ConfigError::AddressBits`] if the width is out of range.
    pub(crate) fn for_offsets(
        address_bits: u32,
        shared: Window,
        local: Window,
    ) -> Result<Self, ConfigError> {
        if !(32..=64).contains(&address_bits) {
            return Err(ConfigError::AddressBits { address_bits });
        }
        Ok(Self { address_bits, shared, local })
    }

    /// How many bits an address has, 32..=64.
    pub const fn address_bits(&self) -> u32 {
        self.address_bits
    }

    /// The shared window.
    pub const fn shared(&self) -> Window {
        self.shared
    }

    /// The local window.
    pub const fn local(&self) -> Window {
        self.local
    }

    /// Whether the address is at or above 2^address_bits.
    #[inline]
    pub const fn is_beyond(&self, address: GenericAddress) -> bool {
        self.address_bits < 64 && address.0 >> self.address_bits != 0
    }

    /// The space that `address` lies in for a lane whose Plg is `plg`, and its offset there in
    /// bytes (global: the address itself).
    ///
    /// # Errors
    /// [`OutsideWindow`] where the lane may not reach the address.
    #[inline]
    pub fn resolve(
        &self,
        address: GenericAddress,
        plg: bool,
    ) -> Result<(Space, u64), OutsideWindow> {
        let shared = self.shared.offset_of(address);
        if !plg {
            return shared.map(|at| (Space::Shared, at)).ok_or(OutsideWindow::ByPredicate);
        }
        if let Some(offset) = self.local.offset_of(address) {
            return Ok((Space::Local, offset));
        }
        if shared.is_some() {
            return Err(OutsideWindow::ByPredicate);
        }
        if self.is_beyond(address) {
            return Err(OutsideWindow::BeyondAddressBits);
        }
        Ok((Space::Global, address.0))
    }
}
