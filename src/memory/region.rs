//! [`Region`]: a run of allocated addresses, with what it holds.

use std::fmt;
use std::ops::RangeInclusive;

use super::address::GenericAddress;
use super::fetch::{self, Access};
use super::fill::Fill;
use super::space::Space;
use super::width::Words;
use crate::lane::{LANES, LaneMask, LaneValues};

/// A run of allocated addresses, and the values there. It is never empty, and its last address
/// fits 64 bits.
#[derive(Clone, Copy)]
pub struct Region<'m> {
    space: Space,
    /// The first address, as the addresses of the load are read.
    base: u64,
    /// The last address's distance from the first.
    last: u64,
    content: Content<'m>,
}

#[derive(Clone, Copy)]
enum Content<'m> {
    /// One byte for each address.
    Bytes(&'m [u8]),
    /// One byte for each address and lane: all of lane 0's come first.
    LaneBytes(&'m [u8]),
    /// A rule, which has a value for every address; `start` is the first one's.
    Fill { fill: Fill, start: u64 },
}

impl<'m> Region<'m> {
    /// Creates a region of bytes that the lanes share; `base` is the address of the first.
    /// Returns `None` if there are no bytes, or if the last one's address does not fit 64 bits.
    ///
    /// ```
    /// use warpload::memory::{GenericAddress, Region, Space};
    ///
    /// let region = Region::new(Space::Global, 0x1000, &[0; 0x1000]).ok_or("not empty")?;
    /// assert!(region.holds(GenericAddress(0x1ffc), 4));
    /// assert!(!region.holds(GenericAddress(0x1ffd), 4));
    /// # Ok::<(), &str>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn new(space: Space, base: u64, bytes: &'m [u8]) -> Option<Self> {
        let last = (bytes.len() as u64).checked_sub(1)?;
        base.checked_add(last)?;
        Some(Self { space, base, last, content: Content::Bytes(bytes) })
    }

    /// Creates a region of local memory. `bytes` holds the bytes of all 32 lanes, lane 0's first;
    /// `base` is the address of each lane's first byte.
    ///
    /// Returns `None` if there are no bytes, if their number is not a multiple of 32, or if the
    /// last address does not fit 64 bits.
    #[inline]
    #[must_use]
    pub fn of_each_lane(base: u64, bytes: &'m [u8]) -> Option<Self> {
        if !bytes.len().is_multiple_of(LANES) {
            return None;
        }
        let last = (bytes.len() as u64 / LANES as u64).checked_sub(1)?;
        base.checked_add(last)?;
        Some(Self { space: Space::Local, base, last, content: Content::LaneBytes(bytes) })
    }

    /// Creates a region whose bytes follow a rule: those of the first address are the fill's at
    /// `start`. Each lane has bytes of its own if the region is local memory. Returns `None` if
    /// there are no addresses.
    #[inline]
    #[must_use]
    pub fn filled(
        space: Space,
        addresses: RangeInclusive<u64>,
        fill: Fill,
        start: u64,
    ) -> Option<Self> {
        let base = *addresses.start();
        let last = addresses.end().checked_sub(base)?;
        Some(Self { space, base, last, content: Content::Fill { fill, start } })
    }

    /// Returns the memory that the region belongs to.
    #[inline]
    #[must_use]
    pub const fn space(&self) -> Space {
        self.space
    }

    /// Returns the addresses of the region, as the addresses of the load are read.
    #[must_use]
    pub const fn addresses(&self) -> RangeInclusive<u64> {
        self.base..=self.base + self.last
    }

    /// Returns whether `bytes` bytes from `address` on are in the region.
    #[inline]
    #[must_use]
    pub const fn holds(&self, address: GenericAddress, bytes: u64) -> bool {
        let offset = self.offset_of(address);
        offset <= self.last && self.last - offset >= bytes.saturating_sub(1)
    }

    /// Returns whether each lane has bytes of its own.
    #[inline]
    #[must_use]
    pub fn is_per_lane(&self) -> bool {
        match self.content {
            Content::Bytes(_) => false,
            Content::LaneBytes(_) => true,
            Content::Fill { .. } => self.space == Space::Local,
        }
    }

    /// Returns the value of one lane's access at `address`: little-endian, extended to whole
    /// registers. `None` if the region does not hold the whole access, or if there is no such lane.
    #[inline]
    #[must_use]
    pub fn fetch(&self, access: Access, address: GenericAddress, lane: usize) -> Option<Words> {
        let offset = self.offset_of(address);
        match self.content {
            Content::Bytes(bytes) => fetch::fetch(bytes, access, usize::try_from(offset).ok()?),
            Content::LaneBytes(bytes) => {
                let each = bytes.len() / LANES;
                let own = bytes.get(lane.checked_mul(each)?..)?.get(..each)?;
                fetch::fetch(own, access, usize::try_from(offset).ok()?)
            }
            Content::Fill { fill, start } => {
                let lane = if self.is_per_lane() { lane } else { 0 };
                let is_held = lane < LANES && self.holds(address, access.width.bytes().into());
                is_held.then(|| fill.value(access, start.wrapping_add(offset), lane as u64))
            }
        }
    }

    /// Loads the values of all 32 lanes, whose accesses follow one another from `first` on, lane
    /// 0's first; drops those of missing rows. Returns false, without changing a row, if the region
    /// does not hold them all or if each lane has bytes of its own.
    #[inline]
    #[must_use]
    pub fn copy(&self, access: Access, first: GenericAddress, rows: &mut [LaneValues]) -> bool {
        let each = u64::from(access.width.bytes());
        if !self.holds(first, each * LANES as u64) {
            return false;
        }
        let offset = self.offset_of(first);
        match self.content {
            Content::Bytes(bytes) => {
                let from = usize::try_from(offset).ok().and_then(|from| bytes.get(from..));
                fetch::copy(from.unwrap_or_default(), access, rows);
                true
            }
            Content::LaneBytes(_) => false,
            Content::Fill { .. } if self.is_per_lane() => false,
            Content::Fill { fill, start } => {
                let from = start.wrapping_add(offset);
                let address = |lane: usize| from.wrapping_add(each * lane as u64);
                fill.set_rows(access, LaneMask::ALL, address, false, rows);
                true
            }
        }
    }

    /// Loads the values of the executing lanes at their addresses, rounded down to a multiple of
    /// the access size; drops those of missing rows. Returns false if the region does not hold all
    /// of these accesses; the executing lanes' values are then meaningless.
    #[inline]
    #[must_use]
    pub fn gather(
        &self,
        access: Access,
        addresses: &[u64; LANES],
        executing: LaneMask,
        rows: &mut [LaneValues],
    ) -> bool {
        let low_bits = u64::from(access.width.bytes()) - 1;
        let offset = |lane: usize| (addresses[lane] & !low_bits).wrapping_sub(self.base);
        match self.content {
            Content::Bytes(bytes) => fetch::gather(bytes, access, offset, executing, rows),
            Content::LaneBytes(bytes) => {
                fetch::gather_of_each_lane(bytes, access, offset, executing, rows)
            }
            Content::Fill { fill, start } => {
                let reach = low_bits;
                let is_held =
                    |lane| offset(lane).checked_add(reach).is_some_and(|last| last <= self.last);
                if !executing.lanes().all(is_held) {
                    return false;
                }
                let address = |lane: usize| start.wrapping_add(offset(lane));
                fill.set_rows(access, executing, address, self.is_per_lane(), rows);
                true
            }
        }
    }

    /// Returns the distance of an address from the first one, modulo 2^64.
    #[inline]
    const fn offset_of(&self, address: GenericAddress) -> u64 {
        address.0.wrapping_sub(self.base)
    }
}

impl fmt::Debug for Region<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let addresses = self.addresses();
        write!(f, "Region({}, {:#x}..={:#x}, ", self.space, addresses.start(), addresses.end())?;
        match self.content {
            Content::Bytes(_) => f.write_str("bytes)"),
            Content::LaneBytes(_) => f.write_str("bytes of each lane)"),
            Content::Fill { fill, start } => write!(f, "{fill:?} from {start:#x})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regions_without_overflow_can_be_made() {
        let new = |base, bytes| Region::new(Space::Global, base, bytes).is_some();
        assert!(new(u64::MAX, &[0]) && !new(u64::MAX, &[0; 2]) && !new(0, &[]));
        let of_each_lane = |base, bytes| Region::of_each_lane(base, bytes).is_some();
        assert!(of_each_lane(u64::MAX, &[0; 32]) && !of_each_lane(u64::MAX, &[0; 64]));
        assert!(!of_each_lane(0, &[]) && !of_each_lane(0, &[0; 33]));
        let filled = |addresses| Region::filled(Space::Local, addresses, Fill::Zero, 7).is_some();
        assert!(filled(0..=u64::MAX));
        #[allow(clippy::reversed_empty_ranges)]
        let empty = 1..=0;
        assert!(!filled(empty));
    }
}
