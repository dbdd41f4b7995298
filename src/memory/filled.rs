//! A memory whose bytes follow a rule instead of being held.

use super::fetch::{Access, put};
use super::fill::Fill;
use super::region::Region;
use super::source::{AddressSpace, LoadMemory};
use super::width::{Width, Words};
use super::windows::{AddressMap, GenericAddress, OutsideWindow, Space, Window};
use crate::lane::{LANES, LaneMask, LaneValues};

/// A memory in which every address below 2^address_bits is allocated, and holds what a rule
/// says. Offsets into shared and local memory stand for the generic addresses of their windows.
#[derive(Clone, Copy, Debug)]
pub struct FilledMemory {
    /// How generic addresses are divided.
    pub map: AddressMap,
    /// What the memory holds.
    pub fill: Fill,
}

impl LoadMemory for FilledMemory {
    #[inline]
    fn map(&self) -> &AddressMap {
        &self.map
    }

    #[inline]
    fn region(
        &self,
        space: AddressSpace,
        address: GenericAddress,
        plg: bool,
    ) -> Result<(Space, Option<Region>), OutsideWindow> {
        let map = &self.map;
        let window = |space, Window { base, size }, first| {
            let region = Region { space, base: first, last: size - 1, start: base, lane_stride: 0 };
            (space, Some(region))
        };
        // Offsets have no end: the fill knows a value for every one.
        let offsets = |space, start| {
            let region = Region { space, base: 0, last: u64::MAX, start, lane_stride: 0 };
            (space, Some(region))
        };
        Ok(match space {
            AddressSpace::Generic => match map.resolve(address, plg)?.0 {
                Space::Local => window(Space::Local, map.local(), map.local().base),
                Space::Shared => window(Space::Shared, map.shared(), map.shared().base),
                space => (space, Some(self.between_windows(address))),
            },
            AddressSpace::Global if map.is_beyond(address) => (Space::Global, None),
            AddressSpace::Global => {
                let last = u64::MAX >> (64 - map.address_bits());
                let space = Space::Global;
                (space, Some(Region { space, base: 0, last, start: 0, lane_stride: 0 }))
            }
            AddressSpace::Local => offsets(Space::Local, map.local().base),
            AddressSpace::Shared => offsets(Space::Shared, map.shared().base),
            AddressSpace::Constant { .. } => offsets(Space::Constant, 0),
        })
    }

    #[inline]
    fn fetch(&self, access: Access, region: &Region, offset: u64, lane: usize) -> Words {
        let address = region.start.wrapping_add(offset);
        access.extend(self.fill.words(address, access.width, memory_of(region, lane)))
    }

    #[inline]
    fn copy(&self, access: Access, region: &Region, offset: u64, rows: &mut [LaneValues]) {
        let (first, bytes) = (region.start.wrapping_add(offset), u64::from(access.width.bytes()));
        let address = |lane: usize| first.wrapping_add(bytes * lane as u64);
        self.fill_rows(access, region, LaneMask::ALL, address, rows);
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
        let rounded = |lane: usize| GenericAddress(addresses[lane]).align_down(access.width);
        let bytes = access.width.bytes().into();
        if !executing.lanes().all(|lane| region.holds(rounded(lane), bytes)) {
            return false;
        }
        let address = |lane: usize| region.start.wrapping_add(region.offset_of(rounded(lane)));
        self.fill_rows(access, region, executing, address, rows);
        true
    }

    fn fetch_across(
        &self,
        _: Access,
        _: AddressSpace,
        _: Space,
        _: GenericAddress,
        _: usize,
    ) -> Option<Words> {
        None
    }
}

/// The lane whose memory a region is: 0 if all share it.
#[inline]
fn memory_of(region: &Region, lane: usize) -> u64 {
    if region.is_per_lane() { lane as u64 } else { 0 }
}

impl FilledMemory {
    /// Sets the values of the executing lanes, each from its address in the fill.
    #[inline]
    fn fill_rows(
        &self,
        access: Access,
        region: &Region,
        executing: LaneMask,
        address: impl Fn(usize) -> u64,
        rows: &mut [LaneValues],
    ) {
        if let ([row], true) = (&mut *rows, access.width <= Width::B4) {
            for lane in executing.lanes() {
                let of = memory_of(region, lane);
                row[lane] = access.extend_word(self.fill.word(address(lane), access.width, of));
            }
            return;
        }
        for lane in executing.lanes() {
            let words = self.fill.words(address(lane), access.width, memory_of(region, lane));
            put(rows, lane, access.extend(words));
        }
    }

    /// The run of global addresses around one, up to the windows on either side.
    fn between_windows(&self, address: GenericAddress) -> Region {
        let (mut base, mut last) = (0, u64::MAX >> (64 - self.map.address_bits()));
        for window in [self.map.shared(), self.map.local()] {
            if window.base > address.0 {
                last = last.min(window.base - 1);
            } else {
                base = base.max(window.base + window.size);
            }
        }
        Region { space: Space::Global, base, last: last - base, start: base, lane_stride: 0 }
    }
}
