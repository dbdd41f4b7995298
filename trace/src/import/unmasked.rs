//! [`Unmasked`]: the addresses of 32 lanes without a mask that says which are active.

use crate::binary::RecordAddresses;
use warpload::lane::{LANES, LaneMask};

/// The note of a trace with such addresses.
pub(super) const NOTE: &str = "the active masks are inferred: lanes with address 0 were taken as \
    inactive, and offset 0 of shared or local memory looks the same";

/// Room for the addresses of one access.
#[derive(Default)]
pub(super) struct Unmasked {
    list: [u64; LANES],
    deltas: Vec<i32>,
}

impl Unmasked {
    /// Returns the lanes that have an address, and their addresses.
    #[inline]
    pub(super) fn active(&mut self, addresses: &[u64; LANES]) -> (LaneMask, RecordAddresses<'_>) {
        let (mut mask, mut count) = (0, 0);
        for (lane, address) in addresses.iter().enumerate() {
            let is_active = *address != 0;
            mask |= u32::from(is_active) << lane;
            // The place of an inactive lane's address is the next one's too.
            if let Some(place) = self.list.get_mut(count) {
                *place = *address;
            }
            count += usize::from(is_active);
        }
        let list = self.list.get(..count).unwrap_or_default();
        (LaneMask::from_bits(mask), RecordAddresses::shortest(list, &mut self.deltas))
    }
}
