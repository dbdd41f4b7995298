//! [`GenericAddress`], and [`Window`], a range of them.

use std::fmt;

use super::width::Width;

/// A byte address, read as its load says: generic, global, or an offset.
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

/// An address window: the range of generic addresses through which another memory is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first address.
    pub base: u64,
    /// The number of addresses, in bytes.
    pub size: u64,
}

impl Window {
    /// The default shared window: 16 MiB from 0xfe000000.
    pub const DEFAULT_SHARED: Window = Window { base: 0xfe00_0000, size: 0x100_0000 };
    /// The default local window: 16 MiB from 0xff000000.
    pub const DEFAULT_LOCAL: Window = Window { base: 0xff00_0000, size: 0x100_0000 };

    /// Returns the address's distance from the base in bytes, or `None` if it is not in the window.
    #[inline]
    #[must_use]
    pub const fn offset_of(self, address: GenericAddress) -> Option<u64> {
        let offset = address.0.wrapping_sub(self.base);
        if offset < self.size { Some(offset) } else { None }
    }

    /// Returns the address after the last one, which may be 2^64.
    pub(super) const fn end(self) -> u128 {
        self.base as u128 + self.size as u128
    }

    /// Returns whether the two have an address in common.
    pub(crate) fn overlaps(self, other: Window) -> bool {
        u128::from(self.base) < other.end() && u128::from(other.base) < self.end()
    }
}
