//! What a load reads from, and the memory that holds its bytes.

use super::fetch::{self, Access, put};
use super::region::Region;
use super::width::Words;
use super::windows::{AddressMap, GenericAddress, OutsideWindow, Space};
use super::{LocalPart, Memory};
use crate::lane::{LANES, LaneMask, LaneValues};

/// How the addresses of a load are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// Generic addresses, whose memory the windows and Plg decide.
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

/// A memory that loads can read from.
pub trait LoadMemory {
    /// How generic addresses are divided.
    fn map(&self) -> &AddressMap;

    /// The space that `address` lies in for a lane whose Plg is `plg`, and the region there;
    /// none where nothing is allocated. Without one that holds the address, the nearest may come.
    ///
    /// # Errors
    /// [`OutsideWindow`] where the lane may not reach the address.
    fn region(
        &self,
        space: AddressSpace,
        address: GenericAddress,
        plg: bool,
    ) -> Result<(Space, Option<Region>), OutsideWindow>;

    /// One lane's value, `offset` bytes from the beginning of `region`, which must hold it:
    /// little-endian, extended to whole registers.
    fn fetch(&self, access: Access, region: &Region, offset: u64, lane: usize) -> Words;

    /// The values of all 32 lanes, whose bytes lie side by side from `offset` on, lane 0's first.
    /// The region must hold them, and lanes share it. Missing rows drop their values.
    #[inline]
    fn copy(&self, access: Access, region: &Region, offset: u64, rows: &mut [LaneValues]) {
        for lane in 0..LANES {
            let own = offset.wrapping_add(u64::from(access.width.bytes()) * lane as u64);
            put(rows, lane, self.fetch(access, region, own, lane));
        }
    }

    /// The values of the executing lanes at their addresses, rounded down. Missing rows drop
    /// their values. False where the region does not hold them all; then the executing lanes'
    /// values are of no meaning.
    #[inline]
    fn gather(
        &self,
        access: Access,
        region: &Region,
        addresses: &[u64; LANES],
        executing: LaneMask,
        rows: &mut [LaneValues],
    ) -> bool {
        for lane in executing.lanes() {
            let rounded = GenericAddress(addresses[lane]).align_down(access.width);
            if !region.holds(rounded, access.width.bytes().into()) {
                return false;
            }
            put(rows, lane, self.fetch(access, region, region.offset_of(rounded), lane));
        }
        true
    }

    /// The value of an access that no region holds as a whole, where all its bytes are allocated
    /// all the same: the two parts of a local memory that touch because they fill the window.
    fn fetch_across(
        &self,
        access: Access,
        space: AddressSpace,
        found: Space,
        address: GenericAddress,
        lane: usize,
    ) -> Option<Words>;
}

impl LoadMemory for Memory {
    #[inline]
    fn map(&self) -> &AddressMap {
        Memory::map(self)
    }

    #[inline]
    fn region(
        &self,
        space: AddressSpace,
        address: GenericAddress,
        plg: bool,
    ) -> Result<(Space, Option<Region>), OutsideWindow> {
        let map = &self.map;
        Ok(match space {
            AddressSpace::Generic => match map.resolve(address, plg)? {
                (Space::Local, offset) => {
                    (Space::Local, self.local_region(map.local().base, offset))
                }
                (Space::Shared, _) => (Space::Shared, self.shared_region(map.shared().base)),
                (space, _) => (space, self.global_region(address)),
            },
            // No allocation reaches beyond 2^address_bits.
            AddressSpace::Global => (Space::Global, self.global_region(address)),
            AddressSpace::Local => (Space::Local, self.local_region(0, address.0)),
            AddressSpace::Shared => (Space::Shared, self.shared_region(0)),
            AddressSpace::Constant { bank } => (Space::Constant, self.constant_region(bank)),
        })
    }

    #[inline]
    fn fetch(&self, access: Access, region: &Region, offset: u64, lane: usize) -> Words {
        // Nothing is read where only a region of another memory leads.
        let place = region.place(offset, lane);
        place.map_or_else(Words::default, |at| fetch::fetch(self.arena.bytes(), access, at))
    }

    #[inline]
    fn copy(&self, access: Access, region: &Region, offset: u64, rows: &mut [LaneValues]) {
        // Nothing is read where only a region of another memory leads.
        let from = region.place(offset, 0);
        if let Some(bytes) = from.and_then(|from| self.arena.bytes().get(from..)) {
            fetch::copy(bytes, access, rows);
        }
    }

    #[inline]
    fn gather(
        &self,
        access: Access,
        region: &Region,
        addresses: &[u64; LANES],
        executing: LaneMask,
        rows: &mut [LaneValues],
    ) -> bool {
        let Some(bytes) = self.region_bytes(region) else { return false };
        let low_bits = u64::from(access.width.bytes()) - 1;
        let offset = |lane: usize| (addresses[lane] & !low_bits).wrapping_sub(region.base);
        fetch::gather(bytes, access, offset, region, executing, rows)
    }

    #[cold]
    fn fetch_across(
        &self,
        access: Access,
        space: AddressSpace,
        found: Space,
        address: GenericAddress,
        lane: usize,
    ) -> Option<Words> {
        let (low, high) = (self.local_low_bytes(lane), self.local_high_bytes(lane));
        let window = self.map.local();
        if found != Space::Local || (low.len() + high.len()) as u64 != window.size {
            return None;
        }
        let offset = match space {
            AddressSpace::Generic => window.offset_of(address)?,
            _ => address.0,
        };
        let across = low.iter().chain(high).copied().skip(usize::try_from(offset).ok()?);
        let bytes = access.width.bytes() as usize;
        let held: Vec<u8> = across.take(bytes).collect();
        (held.len() == bytes).then(|| fetch::fetch(&held, access, 0))
    }
}

impl Memory {
    /// The bytes of a region, of all lanes if each has its own; `None` if the arena does not have
    /// them, as for a region of another memory.
    #[inline]
    fn region_bytes(&self, region: &Region) -> Option<&[u8]> {
        let end = region.place(region.last, LANES - 1)?.checked_add(1)?;
        self.arena.bytes().get(usize::try_from(region.start).ok()?..end)
    }

    #[inline]
    fn global_region(&self, address: GenericAddress) -> Option<Region> {
        let allocation = match self.global.as_slice() {
            [only] => only,
            global => {
                let behind = global.partition_point(|known| known.base <= address.0);
                global.get(behind.checked_sub(1)?)?
            }
        };
        Some(Region {
            space: Space::Global,
            base: allocation.base,
            // Empty allocations are not kept.
            last: allocation.size - 1,
            start: allocation.start as u64,
            lane_stride: 0,
        })
    }

    #[inline]
    fn shared_region(&self, base: u64) -> Option<Region> {
        Some(Region {
            space: Space::Shared,
            base,
            last: (self.shared.len() as u64).checked_sub(1)?,
            start: self.shared.start as u64,
            lane_stride: 0,
        })
    }

    /// The part of local memory that an offset lies in, or that comes closest; the window's
    /// first byte has the address `base`.
    fn local_region(&self, base: u64, offset: u64) -> Option<Region> {
        let high_from = self.map.local().size - self.local_high.bytes_per_lane as u64;
        let (part, from): (LocalPart, u64) =
            if offset < high_from { (self.local_low, 0) } else { (self.local_high, high_from) };
        let bytes = part.bytes_per_lane as u64;
        Some(Region {
            space: Space::Local,
            base: base + from,
            last: bytes.checked_sub(1)?,
            start: part.start as u64,
            lane_stride: bytes,
        })
    }

    fn constant_region(&self, bank: u8) -> Option<Region> {
        let bank = self.constant.iter().find(|known| known.bank == bank)?;
        Some(Region {
            space: Space::Constant,
            base: 0,
            last: (bank.bytes.len() as u64).checked_sub(1)?,
            start: bank.bytes.start as u64,
            lane_stride: 0,
        })
    }
}
