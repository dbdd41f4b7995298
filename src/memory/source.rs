//! [`LoadMemory`]: a memory that loads can read, and its implementation for [`Memory`].

use std::sync::Arc;

use super::Memory;
use super::region::Region;
use super::windows::{AddressMap, Space};
use crate::lane::LANES;

/// A memory that loads can read: a [`Memory`], a [`FilledMemory`](super::FilledMemory), or one of your own.
///
/// A memory of your own only finds the allocated run around an offset, and its contents; the executors do the rest.
/// `examples/own_memory.rs` finds pages through a table:
///
/// ```
/// use std::collections::BTreeMap;
/// use warpload::encoding::{Instruction, Reg, Sm};
/// use warpload::load::execute;
/// use warpload::machine::Machine;
/// use warpload::memory::{AddressMap, LoadMemory, Region, Space};
/// use warpload::warp::Warp;
///
/// /// Global memory in pages of 4 KiB, by address.
/// #[derive(Default)]
/// struct Pages {
///     map: AddressMap,
///     pages: BTreeMap<u64, Box<[u8; 4096]>>,
/// }
///
/// impl LoadMemory for Pages {
///     fn map(&self) -> &AddressMap {
///         &self.map
///     }
///
///     fn region(&self, space: Space, offset: u64) -> Option<Region<'_>> {
///         let base = offset & !0xfff;
///         let page = self.pages.get(&base).filter(|_| space == Space::Global)?;
///         Region::new(base, &page[..])
///     }
/// }
///
/// let mut memory = Pages::default();
/// memory.pages.insert(0x5000, Box::new([0xab; 4096]));
/// let mut warp = Warp::new();
/// warp.set_register(Reg::new(2), std::array::from_fn(|lane| 0x5f84 + 4 * lane as u32));
/// let ld = Instruction::parse("LD R0, [R2]", Sm::SPA5)?;
/// let outcome = execute(&ld, &Machine::new(memory), &mut warp)?;
/// assert_eq!(warp.register(Reg::new(0))[30], 0xabab_abab);
/// // The last lane's address is on the next page, which is not there.
/// assert_eq!(outcome.lane_faults.iter().map(|fault| fault.lane).collect::<Vec<_>>(), [31]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait LoadMemory {
    /// Returns the map of generic addresses.
    fn map(&self) -> &AddressMap;

    /// Returns the region around a byte offset into a memory; in global memory, around an address. `None` if it is not
    /// allocated; a region that does not hold the offset counts as `None`, too. `region` must return the same region
    /// for every offset inside it.
    ///
    /// An access that ends beyond its region is not allocated, even if another region follows; only in local memory may
    /// it continue there. A generic access never leaves its window, and an access outside of the windows never enters
    /// one, whatever the region says.
    fn region(&self, space: Space, offset: u64) -> Option<Region<'_>>;
}

/// A memory with several owners.
impl<M: LoadMemory + ?Sized> LoadMemory for Arc<M> {
    #[inline]
    fn map(&self) -> &AddressMap {
        (**self).map()
    }

    #[inline]
    fn region(&self, space: Space, offset: u64) -> Option<Region<'_>> {
        (**self).region(space, offset)
    }
}

impl LoadMemory for Memory {
    #[inline]
    fn map(&self) -> &AddressMap {
        Memory::map(self)
    }

    // Inlined, because copying the region through memory takes longer than finding it.
    #[inline(always)]
    fn region(&self, space: Space, offset: u64) -> Option<Region<'_>> {
        let Run { base, start, size, is_per_lane } = self.run(space, offset)?;
        let lanes = if is_per_lane { LANES } else { 1 };
        // Every run of this memory is in its arena.
        let end = start.checked_add(size.checked_mul(lanes)?)?;
        Region::of_bytes(base, self.arena.bytes().get(start..end)?, size, is_per_lane)
    }
}

/// A run of allocated offsets and its place in the arena.
pub(super) struct Run {
    /// The first offset; in global memory, the first address.
    pub(super) base: u64,
    /// The place of the first byte; of lane 0's if each lane has its own bytes.
    pub(super) start: usize,
    /// The number of offsets.
    pub(super) size: usize,
    /// Whether each lane has its own bytes, lane after lane.
    pub(super) is_per_lane: bool,
}

impl Memory {
    /// The run around an offset, or another run, which does not hold it.
    #[inline(always)]
    pub(super) fn run(&self, space: Space, offset: u64) -> Option<Run> {
        let regions = &self.regions;
        // Separate, because a jump table takes longer than the search.
        if space == Space::Global {
            let allocation = match regions.global.as_slice() {
                [only] => only,
                global => {
                    let after = global.partition_point(|known| known.base <= offset);
                    global.get(after.checked_sub(1)?)?
                }
            };
            // It is in the arena, so its size is a `usize`.
            let (base, start, size) = (allocation.base, allocation.start, allocation.size as usize);
            return Some(Run { base, start, size, is_per_lane: false });
        }
        let (base, start, size) = match space {
            Space::Global => return None,
            Space::Local => {
                let high = regions.local_high;
                let high_from = self.map.local().size - high.bytes_per_lane as u64;
                let (part, base) =
                    if offset < high_from { (regions.local_low, 0) } else { (high, high_from) };
                (base, part.start, part.bytes_per_lane)
            }
            Space::Shared => (0, regions.shared.start, regions.shared.len()),
            Space::Constant { bank } => {
                let bank = regions.constant.iter().find(|known| known.bank == bank)?;
                (0, bank.bytes.start, bank.bytes.len())
            }
        };
        Some(Run { base, start, size, is_per_lane: space == Space::Local })
    }
}
