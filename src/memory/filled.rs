//! [`FilledMemory`]: a memory whose bytes follow a rule instead of being held.

use super::address::{GenericAddress, Window};
use super::fill::Fill;
use super::region::Region;
use super::source::LoadMemory;
use super::space::{AddressSpace, Space};
use super::windows::{AddressMap, OutsideWindow};

/// A memory in which every address below 2^address_bits is allocated and holds what a rule says.
/// Offsets into shared and local memory mean the generic addresses of their windows.
#[derive(Clone, Copy, Debug)]
pub struct FilledMemory {
    /// How generic addresses are divided.
    pub map: AddressMap,
    /// The rule that the bytes follow.
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
    ) -> Result<(Space, Option<Region<'_>>), OutsideWindow> {
        let map = &self.map;
        let found = map.locate(space, address, plg)?.0;
        let window = |Window { base, size }| (base, base + (size - 1), base);
        // Offsets have no end: the fill has a value for every one.
        let offsets = |start| (0, u64::MAX, start);
        let (first, last, start) = match space {
            AddressSpace::Generic => match found {
                Space::Local => window(map.local()),
                Space::Shared => window(map.shared()),
                _ => self.between_windows(address),
            },
            AddressSpace::Global if map.is_beyond(address) => return Ok((found, None)),
            AddressSpace::Global => (0, map.last_address(), 0),
            AddressSpace::Local => offsets(map.local().base),
            AddressSpace::Shared => offsets(map.shared().base),
            AddressSpace::Constant { .. } => offsets(0),
        };
        Ok((found, Region::filled(found, first..=last, self.fill, start)))
    }
}

impl FilledMemory {
    /// Returns the first and the last global address around one, up to the windows on either side,
    /// and the fill's address of the first.
    fn between_windows(&self, address: GenericAddress) -> (u64, u64, u64) {
        let (mut base, mut last) = (0, self.map.last_address());
        for window in [self.map.shared(), self.map.local()] {
            if window.base > address.0 {
                last = last.min(window.base - 1);
            } else {
                base = base.max(window.base + window.size);
            }
        }
        (base, last, base)
    }
}
