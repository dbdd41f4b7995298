//! [`DeviceMemory`]: global memory that kernels write, and beside it the shared memory of a block and the
//! local memory of a warp.
//!
//! [`Memory`](warpload::memory::Memory) is not used, because its arenas are mapped and shared between
//! threads: it is made for loads alone. Constants and kernel parameters lie in global memory here, so
//! that `cvta` of their addresses needs no windows that no machine documents.

use std::ops::Range;

use warpload::lane::LANES;
use warpload::memory::{AddressMap, Memory};

/// The bytes between two allocations that belong to neither.
const GAP: u64 = 4096;

/// Where the first allocation begins.
const FIRST: u64 = 0x8000_0000;

/// After the windows of generic addresses, which no allocation may overlap.
const AFTER_WINDOWS: u64 = 0x1_0000_0000;

/// Every allocation begins at a multiple of it, as those of `cudaMalloc` do.
const ALIGNMENT: u64 = 256;

/// A variable's alignment counts up to this one.
pub(super) const MAX_ALIGNMENT: u64 = ALIGNMENT;

/// No more bytes are allocated in all.
const MAX_BYTES: u64 = 1 << 34;

/// The bytes of a thread's local memory, as CUDA limits them.
pub(super) const MAX_LOCAL: u64 = 512 << 10;

/// The byte has no known value.
pub(super) const UNKNOWN: u8 = 1;

/// Nothing wrote the byte.
pub(super) const UNWRITTEN: u8 = 2;

/// What an allocation of a [`DeviceMemory`] is for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AllocationUse {
    /// The buffer of the kernel's argument of that number, counted from 0.
    Argument(usize),
    /// A variable of the module.
    Variable(String),
    /// The bytes of the kernel's parameters.
    Parameters,
    /// Memory that the caller has placed, such as that of an image.
    Image,
    /// The shared memory of a block.
    Shared,
    /// The local memory of a thread.
    Local,
}

/// The allocation nearest to an address that is out of bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NearestAllocation {
    /// What it is for.
    pub purpose: AllocationUse,
    /// Where the address is.
    pub side: AllocationSide,
    /// Bytes from the address to the beginning of the allocation, or from or to its end.
    pub distance: u64,
}

/// Where an address is, seen from an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationSide {
    /// Before its beginning.
    Before,
    /// Inside, but the access reaches beyond the end.
    Inside,
    /// At its end or beyond.
    After,
}

/// Bytes, and which of them have no value.
#[derive(Clone, Debug, Default)]
pub(super) struct Bytes {
    pub(super) values: Vec<u8>,
    /// [`UNKNOWN`] and [`UNWRITTEN`] of each byte; empty as long as there is none.
    flags: Vec<u8>,
}

impl Bytes {
    pub(super) fn new(values: Vec<u8>) -> Self {
        Self { values, flags: Vec::new() }
    }

    /// Makes zeros that nothing has written.
    pub(super) fn unwritten(bytes: usize) -> Self {
        Self { values: vec![0; bytes], flags: vec![UNWRITTEN; bytes] }
    }

    /// Returns the flags of all bytes of a range together.
    #[inline(always)]
    pub(super) fn flags(&self, range: Range<usize>) -> u8 {
        if self.flags.is_empty() {
            return 0;
        }
        self.flags.get(range).unwrap_or_default().iter().fold(0, |all, flags| all | flags)
    }

    /// Whether no byte has a flag.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        self.flags.is_empty()
    }

    /// Sets the flags of a range that was written.
    #[inline(always)]
    pub(super) fn mark(&mut self, range: Range<usize>, flags: u8) {
        if self.flags.is_empty() {
            if flags == 0 {
                return;
            }
            self.flags = vec![0; self.values.len()];
        }
        if let Some(marked) = self.flags.get_mut(range) {
            marked.fill(flags);
        }
    }

    /// Begins again with that many zeros.
    pub(super) fn reset(&mut self, bytes: usize, is_unwritten: bool) {
        self.values.clear();
        self.values.resize(bytes, 0);
        self.flags.clear();
        if is_unwritten {
            self.flags.resize(bytes, UNWRITTEN);
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct DeviceAllocation {
    pub(super) base: u64,
    pub(super) bytes: Bytes,
    pub(super) purpose: AllocationUse,
}

impl DeviceAllocation {
    fn end(&self) -> u64 {
        self.base + self.bytes.values.len() as u64
    }
}

/// Global memory: allocations with at least 4 KiB of unallocated addresses between them.
#[derive(Clone, Debug, Default)]
pub struct DeviceMemory {
    /// By ascending base.
    allocations: Vec<DeviceAllocation>,
    /// Where the next allocation may begin that nobody places.
    next: u64,
    total: u64,
}

/// More memory than this machine makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes: a launch has at most {} GiB of memory", MAX_BYTES >> 30)]
pub struct TooMuchMemory {
    /// The bytes of the allocation that does not fit.
    pub bytes: u64,
}

/// Why an allocation cannot be at an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AllocationError {
    /// All allocations together would be too large.
    #[error(transparent)]
    TooMuch(#[from] TooMuchMemory),
    /// Another allocation has some of the bytes.
    #[error("{purpose} at {base:#x} overlaps {other}")]
    Overlap {
        /// The address of the first byte.
        base: u64,
        /// What the allocation is for.
        purpose: AllocationUse,
        /// What the other one is for.
        other: AllocationUse,
    },
    /// Generic addresses cannot reach the bytes: they are in the window of shared or local memory, or beyond 2^64.
    #[error("{purpose} at {base:#x} is not all in global memory")]
    OutsideGlobal {
        /// The address of the first byte.
        base: u64,
        /// What the allocation is for.
        purpose: AllocationUse,
    },
}

impl DeviceMemory {
    /// Makes a memory without allocations.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a memory with the global memory of an image. Shared and local memory and constant banks are the machine's own.
    ///
    /// # Errors
    /// Returns [`AllocationError`] if the image has more than 16 GiB, or memory inside the default windows.
    pub fn of_image(image: &Memory) -> Result<Self, AllocationError> {
        let mut memory = Self::new();
        for allocation in image.allocations() {
            let bytes = image.allocation_bytes(allocation);
            memory.check_room(bytes.len() as u64)?;
            memory.allocate_at(allocation.base, bytes.to_vec(), AllocationUse::Image)?;
        }
        Ok(memory)
    }

    /// Allocates bytes with a value, and returns the address of the first one, a multiple of 256.
    ///
    /// # Errors
    /// Returns [`TooMuchMemory`] if all allocations together have more than 16 GiB.
    pub fn allocate(
        &mut self,
        bytes: Vec<u8>,
        purpose: AllocationUse,
    ) -> Result<u64, TooMuchMemory> {
        let size = bytes.len() as u64;
        self.check_room(size)?;
        self.total += size;
        let base = self.free(size).ok_or(TooMuchMemory { bytes: size })?;
        self.next = base + size + GAP;
        let at = self.allocations.partition_point(|known| known.base < base);
        self.allocations.insert(at, DeviceAllocation { base, bytes: Bytes::new(bytes), purpose });
        Ok(base)
    }

    /// The lowest address from `next` on with so many free bytes and a gap on either side; `None` if there is none.
    fn free(&self, size: u64) -> Option<u64> {
        let windows = AddressMap::default();
        let first_window = windows.shared().base.min(windows.local().base);
        // Placed allocations can be anywhere, but there are far fewer of them than addresses.
        let mut base = self.next.max(FIRST);
        let mut at = self.allocations.partition_point(|known| known.base < base);
        if let Some(before) = at.checked_sub(1).and_then(|before| self.allocations.get(before)) {
            base = base.max(before.end().checked_add(GAP)?);
        }
        loop {
            base = base.checked_next_multiple_of(ALIGNMENT)?;
            let end = base.checked_add(size)?.checked_add(GAP)?;
            if base < AFTER_WINDOWS && end > first_window {
                base = AFTER_WINDOWS + GAP;
                continue;
            }
            match self.allocations.get(at).filter(|known| known.base < end) {
                Some(known) => base = base.max(known.end().checked_add(GAP)?),
                None => return Some(base),
            }
            at += 1;
        }
    }

    /// Allocates bytes with a value at an address, and nothing around them.
    ///
    /// # Errors
    /// Returns [`AllocationError`] if another allocation has some of the bytes, generic addresses cannot reach them, or all
    /// allocations together have more than 16 GiB.
    pub fn allocate_at(
        &mut self,
        base: u64,
        bytes: Vec<u8>,
        purpose: AllocationUse,
    ) -> Result<(), AllocationError> {
        let size = bytes.len() as u64;
        self.check_room(size)?;
        let windows = AddressMap::default();
        let end = base.checked_add(size);
        let is_apart = |end: u64| {
            let windows = [windows.shared(), windows.local()];
            windows.iter().all(|window| end <= window.base || window.base + window.size <= base)
        };
        let Some(end) = end.filter(|end| is_apart(*end)) else {
            return Err(AllocationError::OutsideGlobal { base, purpose });
        };
        let at = self.allocations.partition_point(|known| known.end() <= base);
        if let Some(other) = self.allocations.get(at).filter(|other| other.base < end) {
            return Err(AllocationError::Overlap { base, purpose, other: other.purpose.clone() });
        }
        self.total += size;
        self.allocations.insert(at, DeviceAllocation { base, bytes: Bytes::new(bytes), purpose });
        Ok(())
    }

    /// Makes so many zeros, which [`Self::allocate`] takes.
    ///
    /// # Errors
    /// Returns [`TooMuchMemory`] if all allocations together have more than 16 GiB.
    pub fn zeros(&self, bytes: u64) -> Result<Vec<u8>, TooMuchMemory> {
        self.check_room(bytes)?;
        let size = usize::try_from(bytes).map_err(|_| TooMuchMemory { bytes })?;
        Ok(vec![0; size])
    }

    /// Checks that so many more bytes can be allocated.
    pub(super) fn check_room(&self, bytes: u64) -> Result<(), TooMuchMemory> {
        let all = self.total.checked_add(bytes);
        all.filter(|all| *all <= MAX_BYTES).map(|_| ()).ok_or(TooMuchMemory { bytes })
    }

    /// Returns the bytes from an allocation's address on; `None` if no allocation begins there.
    #[must_use]
    pub fn bytes(&self, base: u64) -> Option<&[u8]> {
        let at = self.allocations.binary_search_by_key(&base, |known| known.base).ok()?;
        self.allocations.get(at).map(|known| &known.bytes.values[..])
    }

    /// Returns whether all bytes of an allocation have a known value.
    #[must_use]
    pub fn is_known(&self, base: u64) -> bool {
        let at = self.allocations.binary_search_by_key(&base, |known| known.base);
        let known = at.ok().and_then(|at| self.allocations.get(at));
        known.is_none_or(|known| known.bytes.flags.iter().all(|flags| flags & UNKNOWN == 0))
    }

    pub(super) fn allocation_mut(&mut self, base: u64) -> Option<&mut DeviceAllocation> {
        let at = self.allocations.binary_search_by_key(&base, |known| known.base).ok()?;
        self.allocations.get_mut(at)
    }

    /// Returns the place of the allocation around an address; `hint` is tried first.
    #[inline(always)]
    fn find(&self, address: u64, hint: usize) -> Option<usize> {
        let is_inside = |known: &DeviceAllocation| {
            address.wrapping_sub(known.base) < known.bytes.values.len() as u64
        };
        if self.allocations.get(hint).is_some_and(is_inside) {
            return Some(hint);
        }
        let at = self.allocations.partition_point(|known| known.base <= address).checked_sub(1)?;
        is_inside(self.allocations.get(at)?).then_some(at)
    }

    /// Returns the allocation nearest to an address.
    pub(super) fn nearest(&self, address: u64) -> Option<NearestAllocation> {
        let distances = self.allocations.iter().map(|known| {
            let (side, distance) = if address < known.base {
                (AllocationSide::Before, known.base - address)
            } else if address < known.end() {
                (AllocationSide::Inside, known.end() - address)
            } else {
                (AllocationSide::After, address - known.end())
            };
            (known, side, distance)
        });
        let (known, side, distance) =
            distances.min_by_key(
                |(_, side, distance)| {
                    if *side == AllocationSide::Inside { 0 } else { *distance }
                },
            )?;
        Some(NearestAllocation { purpose: known.purpose.clone(), side, distance })
    }
}

/// The local memory of a warp: as many bytes for each of 32 lanes, lane after lane.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalMemory {
    pub(super) bytes: Bytes,
    /// Bytes of a lane.
    stride: u64,
}

impl LocalMemory {
    /// Empties it for another warp.
    pub(super) fn reset(&mut self, is_unwritten: bool) {
        self.bytes.reset((self.stride * 32) as usize, is_unwritten);
    }

    /// Makes room for that many bytes in each lane; `false` beyond [`MAX_LOCAL`].
    pub(super) fn reserve(&mut self, bytes: u64, is_unwritten: bool) -> bool {
        if bytes <= self.stride {
            return true;
        }
        if bytes > MAX_LOCAL {
            return false;
        }
        let stride = bytes.next_power_of_two().max(256);
        let mut grown = match is_unwritten {
            true => Bytes::unwritten((stride * 32) as usize),
            false => Bytes::new(vec![0; (stride * 32) as usize]),
        };
        for lane in 0..32 {
            let (from, to) = ((lane * self.stride) as usize, (lane * stride) as usize);
            let size = self.stride as usize;
            grown.values[to..to + size].copy_from_slice(&self.bytes.values[from..from + size]);
            for byte in 0..size {
                let flags = self.bytes.flags(from + byte..from + byte + 1);
                grown.mark(to + byte..to + byte + 1, flags);
            }
        }
        (self.bytes, self.stride) = (grown, stride);
        true
    }

    pub(super) fn place(&self, lane: usize, offset: u64) -> usize {
        (lane as u64 * self.stride + offset) as usize
    }
}

/// How an instruction reads its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressedSpace {
    Generic,
    /// Global memory, and constants and kernel parameters, which lie there.
    Global,
    Shared,
    Local,
}

/// Where the bytes of an access are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The place of an allocation, and the offset of the first byte.
    Global(usize, usize),
    Shared(usize),
    Local(usize),
}

/// Why an access has no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    Misaligned,
    Outside,
}

/// All memories that a warp sees.
#[derive(Debug)]
pub(super) struct Memories<'a> {
    pub(super) global: &'a mut DeviceMemory,
    pub(super) shared: &'a mut Bytes,
    pub(super) local: &'a mut LocalMemory,
    pub(super) map: AddressMap,
    /// The bytes of local memory that the frames in use have.
    pub(super) local_size: u64,
    /// The allocation of the last access.
    pub(super) hint: &'a mut usize,
}

impl Memories<'_> {
    /// Finds the bytes of a lane's access of `size` bytes, a power of two.
    #[inline(always)]
    pub(super) fn find(
        &mut self,
        space: AddressedSpace,
        address: u64,
        size: u32,
        lane: usize,
    ) -> Result<Found, Missing> {
        if address & u64::from(size - 1) != 0 {
            return Err(Missing::Misaligned);
        }
        let (space, address) = match space {
            AddressedSpace::Generic => {
                let (shared, local) = (self.map.shared(), self.map.local());
                if address.wrapping_sub(shared.base) < shared.size {
                    (AddressedSpace::Shared, address - shared.base)
                } else if address.wrapping_sub(local.base) < local.size {
                    (AddressedSpace::Local, address - local.base)
                } else {
                    (AddressedSpace::Global, address)
                }
            }
            space => (space, address),
        };
        let end = address.checked_add(u64::from(size)).ok_or(Missing::Outside)?;
        match space {
            AddressedSpace::Shared => {
                let is_inside = end <= self.shared.values.len() as u64;
                is_inside.then_some(Found::Shared(address as usize)).ok_or(Missing::Outside)
            }
            AddressedSpace::Local => {
                let is_inside = end <= self.local_size;
                let place = || Found::Local(self.local.place(lane, address));
                is_inside.then(place).ok_or(Missing::Outside)
            }
            AddressedSpace::Global | AddressedSpace::Generic => {
                let at = self.global.find(address, *self.hint).ok_or(Missing::Outside)?;
                *self.hint = at;
                let known = &self.global.allocations[at];
                let is_inside = end <= known.end();
                let place = Found::Global(at, (address - known.base) as usize);
                is_inside.then_some(place).ok_or(Missing::Outside)
            }
        }
    }

    /// Returns the offsets of the lanes in the memory that the first one accesses, if all of them access it without
    /// a fault.
    #[inline(always)]
    pub(super) fn find_all(
        &mut self,
        space: AddressedSpace,
        addresses: &[u64; LANES],
        size: u32,
        exec: u32,
        offsets: &mut [u64; LANES],
    ) -> Option<Found> {
        let first = exec.trailing_zeros() as usize;
        let found = self.find(space, *addresses.get(first)?, size, first).ok()?;
        let (region, offset) = match found {
            Found::Local(_) => return None,
            _ => self.at(found),
        };
        let base = addresses[first].wrapping_sub(offset as u64);
        let last = (region.values.len() as u64).checked_sub(size.into())?;
        if !region.is_plain() {
            return None;
        }
        let wrong = warpload::simd::vectorized!(place_all(offsets, addresses, base, last, size));
        (wrong & exec == 0).then_some(found)
    }

    /// Returns the bytes at a place, with the offset of the first.
    #[inline(always)]
    pub(super) fn at(&self, found: Found) -> (&Bytes, usize) {
        match found {
            Found::Global(at, offset) => (&self.global.allocations[at].bytes, offset),
            Found::Shared(offset) => (self.shared, offset),
            Found::Local(offset) => (&self.local.bytes, offset),
        }
    }

    /// Returns the same to write to.
    #[inline(always)]
    pub(super) fn at_mut(&mut self, found: Found) -> (&mut Bytes, usize) {
        match found {
            Found::Global(at, offset) => (&mut self.global.allocations[at].bytes, offset),
            Found::Shared(offset) => (self.shared, offset),
            Found::Local(offset) => (&mut self.local.bytes, offset),
        }
    }
}

/// Computes offsets from a base, and the lanes whose access is beyond the last one, or misaligned.
#[inline(always)]
fn place_all(
    offsets: &mut [u64; LANES],
    addresses: &[u64; LANES],
    base: u64,
    last: u64,
    size: u32,
) -> u32 {
    let mut bits = [0; LANES];
    for lane in 0..LANES {
        let offset = addresses[lane].wrapping_sub(base);
        let is_misaligned = addresses[lane] & u64::from(size - 1) != 0;
        bits[lane] = u32::from((offset > last) | is_misaligned) << lane;
        // No lane reads beyond the end, whatever becomes of its value.
        offsets[lane] = if offset > last { 0 } else { offset };
    }
    bits.iter().fold(0, |all, bit| all | bit)
}
