//! What a load reads from, and the memory that holds its bytes.

use super::fetch::{self, Access, put};
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

/// A run of addresses that is allocated, and where its bytes lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The memory that it belongs to.
    pub space: Space,
    /// The first address, as the load's own addresses count.
    pub base: u64,
    /// The last byte's distance from the first.
    pub last: u64,
    /// The place of lane 0's first byte: in the arena, or in the address space that a fill is a
    /// function of.
    pub start: u64,
    /// How far apart the lanes' bytes lie in the arena; 0 where the lanes share them.
    pub lane_stride: u64,
}

impl Region {
    /// Whether `bytes` bytes from `address` on lie in the region.
    #[inline]
    pub fn holds(&self, address: GenericAddress, bytes: u32) -> bool {
        let offset = address.0.wrapping_sub(self.base);
        offset <= self.last && self.last - offset >= u64::from(bytes) - 1
    }

    /// Whether each lane has bytes of its own.
    #[inline]
    pub fn is_per_lane(&self) -> bool {
        self.space == Space::Local
    }
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
    fn fetch(&self, access: Access, region: &Region, offset: u64, lane: usize) -> [u32; 4];

    /// The values of all 32 lanes, whose bytes lie side by side from `offset` on, lane 0's first.
    /// The region must hold them, and lanes share it. Missing rows drop their values.
    #[inline]
    fn copy(&self, access: Access, region: &Region, offset: u64, rows: &mut [LaneValues]) {
        for lane in 0..LANES {
            let own = offset + u64::from(access.bytes) * lane as u64;
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
            let rounded = GenericAddress(addresses[lane]).align_down(access.bytes);
            if !region.holds(rounded, access.bytes) {
                return false;
            }
            put(rows, lane, self.fetch(access, region, rounded.0.wrapping_sub(region.base), lane));
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
    ) -> Option<[u32; 4]>;
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
    fn fetch(&self, access: Access, region: &Region, offset: u64, lane: usize) -> [u32; 4] {
        let place = region.start + offset + lane as u64 * region.lane_stride;
        fetch::fetch(self.arena.bytes(), access, place as usize)
    }

    #[inline]
    fn copy(&self, access: Access, region: &Region, offset: u64, rows: &mut [LaneValues]) {
        let from = (region.start + offset) as usize;
        let bytes = self.arena.bytes().get(from..).unwrap_or_default();
        fetch::copy(bytes, access, rows);
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
        let bytes = self.region_bytes(region);
        let low_bits = u64::from(access.bytes) - 1;
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
    ) -> Option<[u32; 4]> {
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
        let held: Vec<u8> = across.take(access.bytes as usize).collect();
        (held.len() == access.bytes as usize).then(|| fetch::fetch(&held, access, 0))
    }
}

impl Memory {
    /// The bytes of a region, of all lanes where each has its own; none where the arena does not
    /// have them.
    #[inline]
    fn region_bytes(&self, region: &Region) -> &[u8] {
        let span = || {
            let others = region.lane_stride.checked_mul(LANES as u64 - 1)?;
            let end = region.start.checked_add(region.last)?.checked_add(1)?.checked_add(others)?;
            Some(usize::try_from(region.start).ok()?..usize::try_from(end).ok()?)
        };
        // Only a made-up region overflows.
        span().and_then(|span| self.arena.bytes().get(span)).unwrap_or_default()
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
