//! [`FilledMemory`]: a memory whose bytes follow a rule instead of being held.

use super::fill::Fill;
use super::region::Region;
use super::source::LoadMemory;
use super::space::{AddressSpace, Space};
use super::windows::{AddressMap, GenericAddress, OutsideWindow, Window};

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
        let region = |addresses, start| Region::filled(found, addresses, self.fill, start);
        // Offsets have no end: the fill has a value for every one.
        let offsets = |start| region(0..=u64::MAX, start);
        let window = |Window { base, size }| region(base..=base + (size - 1), base);
        let there = match space {
            AddressSpace::Generic => match found {
                Space::Local => window(map.local()),
                Space::Shared => window(map.shared()),
                _ => self.between_windows(address),
            },
            AddressSpace::Global if map.is_beyond(address) => None,
            AddressSpace::Global => region(0..=map.last_address(), 0),
            AddressSpace::Local => offsets(map.local().base),
            AddressSpace::Shared => offsets(map.shared().base),
            AddressSpace::Constant { .. } => offsets(0),
        };
        Ok((found, there))
    }
}

impl FilledMemory {
    /// Returns the run of global addresses around one, up to the windows on either side.
    fn between_windows(&self, address: GenericAddress) -> Option<Region<'_>> {
        let (mut base, mut last) = (0, self.map.last_address());
        for window in [self.map.shared(), self.map.local()] {
            if window.base > address.0 {
                last = last.min(window.base - 1);
            } else {
                base = base.max(window.base + window.size);
            }
        }
        Region::filled(Space::Global, base..=last, self.fill, base)
    }
}
