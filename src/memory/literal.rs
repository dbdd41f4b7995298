//! What the literal executor reads of a [`Memory`]: a search through its lists, byte by byte. It
//! shares no look-up with [`LoadMemory::region`](super::LoadMemory::region).

use super::Memory;
use super::windows::{AddressSpace, Space};

impl Memory {
    /// Returns the bytes of an access if all of them are allocated (clause 4.6 of docs/ld.md). A
    /// global access stays in one allocation; a local one reads the lane's own memory, its low and
    /// its high part. Generic addresses of local and shared memory count from the window's base.
    pub(super) fn literal_bytes(
        &self,
        space: AddressSpace,
        found: Space,
        address: u64,
        lane: usize,
        bytes: u32,
    ) -> Option<Vec<u8>> {
        let is_generic = space == AddressSpace::Generic;
        let offset_from = |window_base: u64| {
            if is_generic { address.checked_sub(window_base) } else { Some(address) }
        };
        let read = |held: &[u8], offset: u64| -> Option<Vec<u8>> {
            (0..u64::from(bytes)).map(|i| byte(held, offset.checked_add(i)?)).collect()
        };
        match found {
            Space::Global => {
                if u128::from(address) >= 1 << self.map().address_bits() {
                    return None;
                }
                for allocation in self.allocations() {
                    let end = u128::from(allocation.base) + u128::from(allocation.size);
                    if address >= allocation.base && u128::from(address) + u128::from(bytes) <= end
                    {
                        let offset = address - allocation.base;
                        return read(self.allocation_bytes(allocation), offset);
                    }
                }
                None
            }
            Space::Shared => read(self.shared_bytes(), offset_from(self.map().shared().base)?),
            Space::Local => {
                let window = self.map().local();
                let offset = offset_from(window.base)?;
                let low = self.local_low_bytes(lane);
                let high = self.local_high_bytes(lane);
                let high_from = window.size - high.len() as u64;
                let local_byte = |offset: u64| {
                    if offset >= high_from {
                        byte(high, offset - high_from)
                    } else {
                        byte(low, offset)
                    }
                };
                (0..u64::from(bytes)).map(|i| local_byte(offset.checked_add(i)?)).collect()
            }
            Space::Constant => {
                let AddressSpace::Constant { bank } = space else { return None };
                read(self.constant_bytes(bank)?, address)
            }
        }
    }
}

fn byte(held: &[u8], offset: u64) -> Option<u8> {
    held.get(usize::try_from(offset).ok()?).copied()
}
