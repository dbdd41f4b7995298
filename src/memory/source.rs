//! [`LoadMemory`]: what a load reads from, and how a [`Memory`] implements it.

use std::sync::Arc;

use super::fetch::{LaneAccess, Width};
use super::region::Region;
use super::windows::{AddressMap, AddressSpace, GenericAddress, OutsideWindow, Space};
use super::{LocalPart, Memory};

/// A memory that loads can read from: a [`Memory`], a
/// [`FilledMemory`](super::FilledMemory), or one of your own.
///
/// A memory of your own says which run of addresses is allocated around one, and what is there;
/// the executors do the rest. `examples/own_memory.rs` reads pages on demand:
///
/// ```
/// use std::collections::BTreeMap;
/// use warpload::encoding::{Instruction, Reg, Sm};
/// use warpload::load::execute;
/// use warpload::machine::Machine;
/// use warpload::memory::{
///     AddressMap, AddressSpace, GenericAddress, LoadMemory, OutsideWindow, Region, Space,
/// };
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
///     fn region(
///         &self,
///         space: AddressSpace,
///         address: GenericAddress,
///         plg: bool,
///     ) -> Result<(Space, Option<Region<'_>>), OutsideWindow> {
///         let (found, _) = self.map.locate(space, address, plg)?;
///         let base = address.0 & !0xfff;
///         let page = self.pages.get(&base).filter(|_| found == Space::Global);
///         Ok((found, page.and_then(|page| Region::new(found, base, &page[..]))))
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
    /// Returns how generic addresses are divided.
    fn map(&self) -> &AddressMap;

    /// Returns the memory that `address` lies in for a lane whose Plg is `plg`, as
    /// [`AddressMap::locate`] says, and the region around the address. The region is `None` if
    /// nothing is allocated there; one that does not hold the address counts as `None` too.
    ///
    /// Region and `address` count alike: in offsets if `space` says that addresses are offsets. The
    /// region must be that of each of its addresses, and have no address of another memory.
    ///
    /// An access that ends beyond its region is not allocated, even if another region follows. In
    /// local memory alone it may continue in that.
    ///
    /// # Errors
    /// Returns [`OutsideWindow`] if the lane cannot access a generic address.
    fn region(
        &self,
        space: AddressSpace,
        address: GenericAddress,
        plg: bool,
    ) -> Result<(Space, Option<Region<'_>>), OutsideWindow>;

    /// Returns the bytes of one lane's access, lowest address first, or `None` if not all are
    /// allocated. `found` is the memory that `address` lies in. The literal executor reads through
    /// this method.
    ///
    /// The default asks [`Self::region`]. [`Memory`] searches its lists instead, so that the two
    /// executors have no look-up in common.
    fn bytes(
        &self,
        space: AddressSpace,
        found: Space,
        address: GenericAddress,
        lane: usize,
        bytes: u32,
    ) -> Option<Vec<u8>> {
        bytes_by_region(self, space, found, address, lane, bytes)
    }
}

/// Reads one lane's access byte by byte. Within local memory each byte may be in a region of its
/// own, elsewhere all must be in one (clause 4.6 of docs/ld.md).
pub(crate) fn bytes_by_region<M: LoadMemory + ?Sized>(
    memory: &M,
    space: AddressSpace,
    found: Space,
    address: GenericAddress,
    lane: usize,
    bytes: u32,
) -> Option<Vec<u8>> {
    const BYTE: LaneAccess = LaneAccess { width: Width::B1, signed: false };
    // True selects local and global memory, false shared memory.
    let plg = found != Space::Shared;
    let region_of = |address| match memory.region(space, address, plg) {
        Ok((there, region)) if there == found => region,
        _ => None,
    };
    let first = region_of(address)?;
    let byte = |i: u32| {
        let address = GenericAddress(address.0.checked_add(i.into())?);
        let region = if found == Space::Local { region_of(address)? } else { first };
        Some(region.fetch(BYTE, address, lane)?[0] as u8)
    };
    (0..bytes).map(byte).collect()
}

/// A memory that several owners share.
impl<M: LoadMemory + ?Sized> LoadMemory for Arc<M> {
    #[inline]
    fn map(&self) -> &AddressMap {
        (**self).map()
    }

    #[inline]
    fn region(
        &self,
        space: AddressSpace,
        address: GenericAddress,
        plg: bool,
    ) -> Result<(Space, Option<Region<'_>>), OutsideWindow> {
        (**self).region(space, address, plg)
    }

    fn bytes(
        &self,
        space: AddressSpace,
        found: Space,
        address: GenericAddress,
        lane: usize,
        bytes: u32,
    ) -> Option<Vec<u8>> {
        (**self).bytes(space, found, address, lane, bytes)
    }
}

impl LoadMemory for Memory {
    #[inline]
    fn map(&self) -> &AddressMap {
        Memory::map(self)
    }

    // Inlined, or the region is copied through memory, which takes longer than to find it.
    #[inline(always)]
    fn region(
        &self,
        space: AddressSpace,
        address: GenericAddress,
        plg: bool,
    ) -> Result<(Space, Option<Region<'_>>), OutsideWindow> {
        // No allocation overlaps a window: what is allocated is global without a look at them.
        let may_be_global = match space {
            AddressSpace::Generic => plg,
            AddressSpace::Global => true,
            _ => false,
        };
        if may_be_global
            && let Some(run) = self.global_run(address)
            && address.0.wrapping_sub(run.base) < run.size as u64
        {
            return Ok((Space::Global, self.region_of(Space::Global, run)));
        }
        let (found, offset) = self.map.locate(space, address, plg)?;
        let run = match found {
            Space::Global => None,
            _ => self.run(space, found, address, offset),
        };
        Ok((found, run.and_then(|run| self.region_of(found, run))))
    }

    fn bytes(
        &self,
        space: AddressSpace,
        found: Space,
        address: GenericAddress,
        lane: usize,
        bytes: u32,
    ) -> Option<Vec<u8>> {
        self.literal_bytes(space, found, address.0, lane, bytes)
    }
}

/// A run of allocated addresses, and the place of its bytes in the arena.
pub(super) struct Run {
    /// The first address, as the addresses of the load are read.
    pub(super) base: u64,
    /// The place of the first byte: of lane 0's, if each lane has bytes of its own.
    pub(super) start: usize,
    /// The number of addresses.
    pub(super) size: usize,
    /// Whether each lane has bytes of its own, lane after lane.
    pub(super) is_per_lane: bool,
}

impl Memory {
    /// Returns the run that `address` is in, or one that does not hold it. `found` and `offset` are
    /// what [`AddressMap::locate`] returns.
    #[inline]
    pub(super) fn run(
        &self,
        space: AddressSpace,
        found: Space,
        address: GenericAddress,
        offset: u64,
    ) -> Option<Run> {
        // The address of offset 0: the base of the window, or 0 if addresses are offsets.
        let origin = address.0.wrapping_sub(offset);
        match found {
            Space::Global => self.global_run(address),
            Space::Local => Some(self.local_run(origin, offset)),
            Space::Shared => {
                let (start, size) = (self.regions.shared.start, self.regions.shared.len());
                Some(Run { base: origin, start, size, is_per_lane: false })
            }
            Space::Constant => {
                let AddressSpace::Constant { bank } = space else { return None };
                let bank = self.regions.constant.iter().find(|known| known.bank == bank)?;
                let (start, size) = (bank.bytes.start, bank.bytes.len());
                Some(Run { base: origin, start, size, is_per_lane: false })
            }
        }
    }

    /// Returns a run as a region; `None` if it is empty.
    #[inline(always)]
    fn region_of(&self, found: Space, run: Run) -> Option<Region<'_>> {
        let lanes = if run.is_per_lane { crate::lane::LANES } else { 1 };
        // Every run of this memory is in its arena.
        let end = run.start.checked_add(run.size.checked_mul(lanes)?)?;
        let bytes = self.arena.bytes().get(run.start..end)?;
        Region::of_bytes(found, run.base, bytes, run.size, run.is_per_lane)
    }

    #[inline(always)]
    fn global_run(&self, address: GenericAddress) -> Option<Run> {
        let allocation = match self.regions.global.as_slice() {
            [only] => only,
            global => {
                let after = global.partition_point(|known| known.base <= address.0);
                global.get(after.checked_sub(1)?)?
            }
        };
        // It is in the arena, and its size therefore a `usize`.
        let (base, start, size) = (allocation.base, allocation.start, allocation.size as usize);
        Some(Run { base, start, size, is_per_lane: false })
    }

    /// Returns the part of local memory that an offset is in, or one that does not hold it.
    fn local_run(&self, origin: u64, offset: u64) -> Run {
        let high_from = self.map.local().size - self.regions.local_high.bytes_per_lane as u64;
        let (part, from): (LocalPart, u64) = if offset < high_from {
            (self.regions.local_low, 0)
        } else {
            (self.regions.local_high, high_from)
        };
        let (start, size) = (part.start, part.bytes_per_lane);
        Run { base: origin + from, start, size, is_per_lane: true }
    }
}
