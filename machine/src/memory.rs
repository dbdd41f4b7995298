//! [`DeviceMemory`]: global memory that kernels can write. Also the shared memory of a block, and the local memory of a
//! warp.
//!
//! [`Memory`](warpload::memory::Memory) is unsuitable, because its arenas are mapped and shared between threads for
//! loads alone. Constants and kernel parameters are in global memory here, so that `cvta` of their addresses needs no
//! further windows, which no documentation defines.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::mem::take;
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;

use crate::forks::Notes;
use crate::warp::lanes;
use warpload::lane::LANES;
use warpload::memory::{
    AddressMap, AddressSpace, GenericAddress, LoadMemory, Memory, Region, Space, Window,
};

/// The gap between two allocations in bytes, so that an access past the end of one is a fault.
const GAP: u64 = 4096;

/// The lowest address of an allocation that the machine places.
const FIRST: u64 = 0x8000_0000;

/// The lowest address of the heap of `malloc`.
const FIRST_OF_HEAP: u64 = 0x7000_0000_0000;

/// The address of an image's constant bank. No pointer of a program leads there.
const fn image_bank(number: u8) -> u64 {
    (1 << 62) + ((number as u64) << 32)
}

/// The sizes on that heap are multiples of this many bytes.
const HEAP_UNIT: u64 = 16;

/// The most freed allocations of the heap that are remembered.
const MAX_FREED: usize = 1 << 16;

/// The alignment of allocations, as of `cudaMalloc`.
const ALIGNMENT: u64 = 256;

/// The strictest alignment of a variable that is honoured.
pub const MAX_ALIGNMENT: u64 = ALIGNMENT;

/// The limit on all allocations together, in bytes.
const MAX_BYTES: u64 = 1 << 34;

/// The limit on local memory of a thread in bytes, the same as CUDA's.
pub const MAX_LOCAL: u64 = 512 << 10;

/// A flag: the byte has no known value. The number of its [`Origin`](crate::registers::Origin) is in bits 2 to 7, where
/// [`Origins::flags`](crate::registers::Origins::flags) puts it.
pub(crate) const UNKNOWN: u8 = 1;

/// A flag: no instruction has written the byte.
pub(crate) const UNWRITTEN: u8 = 2;

/// The number of the origin in a byte's flags; `None` if the byte is known.
pub(crate) fn origin_number(flags: u8) -> Option<u8> {
    (flags & UNKNOWN != 0).then_some(flags >> 2)
}

/// The union of two bytes' flags. The first unknown byte gives the origin.
pub(crate) fn joined(first: u8, second: u8) -> u8 {
    if first & UNKNOWN == 0 { first | second } else { first | second & UNWRITTEN }
}

/// The purpose of an allocation in a [`DeviceMemory`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AllocationUse {
    /// The buffer of a kernel argument, counted from 0.
    Argument(usize),
    /// A variable of the module.
    Variable(String),
    /// The bytes of the kernel's parameters.
    Parameters,
    /// Memory placed by the caller, such as an image.
    Image,
    /// The shared memory of a block.
    Shared,
    /// The local memory of a thread.
    Local,
    /// Memory that a kernel has allocated with `malloc`.
    Heap {
        /// The size in bytes.
        bytes: u64,
    },
}

impl fmt::Display for AllocationUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(number) => write!(f, "argument {number}"),
            Self::Variable(name) => write!(f, "`{name}`"),
            Self::Parameters => f.write_str("the parameters"),
            Self::Image => f.write_str("the image"),
            Self::Shared => f.write_str("shared memory"),
            Self::Local => f.write_str("local memory"),
            Self::Heap { bytes: 1 } => f.write_str("1 byte from `malloc`"),
            Self::Heap { bytes } => write!(f, "{bytes} bytes from `malloc`"),
        }
    }
}

/// The allocation nearest to an out-of-bounds address.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NearestAllocation {
    /// The purpose of the allocation.
    pub purpose: AllocationUse,
    /// The position of the address relative to the allocation.
    pub side: AllocationSide,
    /// The distance in bytes: from the address to the allocation's beginning, or between the address and its end.
    pub distance: u64,
}

/// The allocation that an address is in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AllocationOffset {
    /// The purpose of the allocation.
    pub purpose: AllocationUse,
    /// The distance of the address from its beginning, in bytes.
    pub offset: u64,
}

/// The position of an address relative to an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationSide {
    /// Before the beginning.
    Before,
    /// Inside, but the access extends beyond the end.
    Inside,
    /// At or after the end.
    After,
}

/// Bytes that a memory has for itself, or shares with copies of it until one of them writes.
#[derive(Clone, Debug)]
pub(crate) enum Contents {
    Own(Vec<u8>),
    Shared(Arc<Vec<u8>>),
}

impl Contents {
    /// Shares the bytes with the copies that are made from now on.
    pub(crate) fn share(&mut self) {
        if let Self::Own(bytes) = self {
            *self = Self::Shared(Arc::new(take(bytes)));
        }
    }

    /// The bytes to change. Copies them if they are shared.
    #[inline(always)]
    fn make_own(&mut self) -> &mut Vec<u8> {
        if let Self::Shared(bytes) = self {
            *self = Self::Own(Arc::unwrap_or_clone(take(bytes)));
        }
        match self {
            Self::Own(bytes) => bytes,
            Self::Shared(_) => unreachable!("they are its own"),
        }
    }
}

impl Default for Contents {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl Deref for Contents {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl DerefMut for Contents {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        self.make_own()
    }
}

/// Bytes, with flags for unknown and unwritten ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bytes {
    pub(crate) values: Contents,
    /// [`UNKNOWN`] and [`UNWRITTEN`] for each byte; empty if no byte has a flag, which is the fast path.
    flags: Vec<u8>,
    /// The parts of shared memory that were accessed since [`Self::renew`], a bit for each of at most 64 pages.
    touched: u64,
    /// The size of a page as a power of two.
    page: u32,
}

impl Bytes {
    pub(crate) fn new(values: Vec<u8>) -> Self {
        Self { values: Contents::Own(values), ..Self::default() }
    }

    /// Creates zeros with the flag [`UNWRITTEN`].
    pub(crate) fn unwritten(bytes: usize) -> Self {
        let values = Contents::Own(vec![0; bytes]);
        Self { values, flags: vec![UNWRITTEN; bytes], ..Self::default() }
    }

    /// The number of bytes that a launch has left unknown, the offset of the first one, and the number of its origin;
    /// `None` if there are none. Initial values without a value here, which have origin 0, do not count.
    fn unknown_bytes(&self) -> Option<(u64, u64, u8)> {
        let lost = |flags: u8| origin_number(flags).filter(|number| *number != 0);
        let first = self.flags.iter().position(|flags| lost(*flags).is_some())?;
        let number = self.flags.get(first).copied().and_then(lost)?;
        let count = self.flags.iter().filter(|flags| lost(**flags).is_some()).count();
        Some((count as u64, first as u64, number))
    }

    /// The union of the flags in a range, with the origin of the first unknown byte.
    #[inline(always)]
    pub(crate) fn flags(&self, range: Range<usize>) -> u8 {
        if self.flags.is_empty() {
            return 0;
        }
        let flags = self.flags.get(range).unwrap_or_default();
        let all = flags.iter().fold(0, |all, flags| all | flags);
        if all & UNKNOWN == 0 {
            all
        } else {
            flags.iter().fold(0, |all, flags| joined(all, *flags))
        }
    }

    /// The flags of each byte in a range; empty if no byte has flags.
    pub(crate) fn each_flags(&self, range: Range<usize>) -> &[u8] {
        self.flags.get(range).unwrap_or_default()
    }

    /// Replaces the flags of each byte in a range after a write.
    pub(crate) fn mark_each(&mut self, range: Range<usize>, flags: &[u8]) {
        if self.flags.is_empty() {
            if flags.iter().all(|flags| *flags == 0) {
                return;
            }
            self.flags = vec![0; self.values.len()];
        }
        self.touch(range.start, range.len());
        for (marked, flags) in self.flags.get_mut(range).into_iter().flatten().zip(flags) {
            *marked = *flags;
        }
    }

    /// Whether there are no flags at all.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.flags.is_empty()
    }

    /// Replaces the flags of a range after a write.
    #[inline(always)]
    pub(crate) fn mark(&mut self, range: Range<usize>, flags: u8) {
        if self.flags.is_empty() {
            if flags == 0 || range.is_empty() {
                return;
            }
            self.flags = vec![0; self.values.len()];
        }
        self.touch(range.start, range.len());
        if let Some(marked) = self.flags.get_mut(range) {
            marked.fill(flags);
        }
    }

    /// Extends the bytes by known ones from an offset on, which is not before the end.
    fn append(&mut self, offset: usize, bytes: &[u8]) {
        let values = self.values.make_own();
        values.resize(offset, 0);
        values.extend_from_slice(bytes);
        if !self.flags.is_empty() {
            self.flags.resize(self.values.len(), 0);
        }
    }

    /// [`Self::mark`] for the part of a range that exists.
    fn mark_inside(&mut self, range: Range<u64>, flags: u8) {
        let end = range.end.min(self.values.len() as u64) as usize;
        self.mark(end.min(range.start as usize)..end, flags);
    }

    /// Notes an access, for [`Self::renew`].
    #[inline(always)]
    fn touch(&mut self, start: usize, bytes: usize) {
        let (first, last) = (start >> self.page, (start + bytes.saturating_sub(1)) >> self.page);
        // Without pages, the shift is modulo 64, and the result is not used.
        let bits = |number: usize| u64::MAX << (number & 63);
        self.touched |= bits(first) & !(bits(last) << 1);
    }

    /// Replaces all bytes by zeros for another block. Returns the number of replaced bytes: only pages that were accessed
    /// are, because a block may declare far more shared memory than it uses.
    pub(crate) fn renew(&mut self, bytes: usize, is_unwritten: bool) -> usize {
        let touched = take(&mut self.touched);
        if self.values.len() != bytes || is_unwritten && self.flags.len() != bytes {
            self.reset(bytes, is_unwritten);
            self.page = bytes.div_ceil(64).max(64).next_power_of_two().trailing_zeros();
            return bytes;
        }
        let flag = if is_unwritten { UNWRITTEN } else { 0 };
        let mut replaced = 0;
        for number in (0..64).filter(|number| touched >> number & 1 != 0) {
            let place = number << self.page..((number + 1) << self.page).min(bytes);
            replaced += place.len();
            if let Some(values) = self.values.get_mut(place.clone()) {
                values.fill(0);
            }
            if let Some(flags) = self.flags.get_mut(place) {
                flags.fill(flag);
            }
        }
        if !is_unwritten {
            self.flags.clear();
        }
        replaced
    }

    /// Copies a range of other bytes, with their flags. Both ranges exist.
    pub(crate) fn copy_from(&mut self, other: &Self, from: Range<usize>, to: usize) {
        let range = to..to + from.len();
        self.values[range.clone()].copy_from_slice(&other.values[from.clone()]);
        if other.flags.is_empty() {
            self.mark(range, 0);
        } else {
            self.mark(0..0, UNKNOWN);
            self.flags[range].copy_from_slice(&other.flags[from]);
        }
    }

    /// Copies a range of bytes, with their flags, within these bytes. Both ranges exist.
    pub(crate) fn copy_within(&mut self, from: Range<usize>, to: usize) {
        self.values.copy_within(from.clone(), to);
        if !self.flags.is_empty() {
            self.flags.copy_within(from, to);
        }
    }

    /// Replaces all bytes by zeros, and keeps the allocation.
    pub(crate) fn reset(&mut self, bytes: usize, is_unwritten: bool) {
        let values = self.values.make_own();
        values.clear();
        values.resize(bytes, 0);
        self.flags.clear();
        if is_unwritten {
            self.flags.resize(bytes, UNWRITTEN);
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct DeviceAllocation {
    pub(crate) base: u64,
    pub(crate) bytes: Bytes,
    pub(crate) purpose: AllocationUse,
    /// Whether `free` has taken the bytes. The entry stays, without bytes, so that later accesses are known as such.
    is_freed: bool,
    pub(crate) protection: Protection,
    /// Whether a block of the launch has written it, as far as copies for threads have noted that.
    pub(crate) is_written: bool,
    /// In a copy for a thread, the words that its blocks read and write.
    pub(crate) notes: Option<Box<Notes>>,
}

/// Whether a kernel can write an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// It can.
    Writable,
    /// It cannot: the bytes belong to a constant bank.
    Bank(u8),
}

/// A constant bank: a range of global memory, which a host program fills.
#[derive(Clone, Copy, Debug)]
struct Bank {
    number: u8,
    /// The address of the byte with offset 0, even if there is none.
    base: u64,
}

impl DeviceAllocation {
    fn new(base: u64, bytes: Vec<u8>, purpose: AllocationUse) -> Self {
        let protection = Protection::Writable;
        let (bytes, is_freed, is_written, notes) = (Bytes::new(bytes), false, false, None);
        Self { base, bytes, purpose, is_freed, protection, is_written, notes }
    }

    pub(crate) fn end(&self) -> u64 {
        self.base + self.bytes.values.len() as u64
    }
}

/// An allocation with unknown bytes: how many, the offset of the first one, and the number of its origin.
pub(crate) struct UnknownAllocation<'a> {
    pub(crate) purpose: &'a AllocationUse,
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    pub(crate) first: u64,
    pub(crate) origin: u8,
}

/// Global memory: allocations with at least 4 KiB of unallocated addresses between them.
#[derive(Clone, Debug)]
pub struct DeviceMemory {
    map: AddressMap,
    banks: Vec<Bank>,
    /// Whether it is a copy for a thread.
    pub(crate) is_fork: bool,
    /// Sorted by base.
    pub(crate) allocations: Vec<DeviceAllocation>,
    /// The lowest address that the next placement tries.
    next: u64,
    total: u64,
    /// The addresses of the module's variables in the last launch, by name.
    variables: HashMap<String, u64>,
    heap: Heap,
    /// The first bytes of shared memory at the start of each block.
    pub(crate) shared: Bytes,
    /// The local memory of each warp at its start.
    pub(crate) local: LocalMemory,
}

/// The state of the heap of `malloc`. Its allocations are among the others, at addresses that are never used again.
#[derive(Clone, Copy, Debug, Default)]
struct Heap {
    /// The lowest address that the next allocation tries.
    next: u64,
    /// The bytes that are allocated, in whole units.
    used: u64,
    /// The entries of freed memory.
    freed: usize,
}

/// The reason why memory cannot be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FreeError {
    Twice,
    NotAllocated,
}

/// A launch needs more memory than it may have, or than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TooMuchMemory {
    /// All allocations together would exceed the limit.
    #[error("{bytes} bytes: a launch has at most {} GiB of memory", MAX_BYTES >> 30)]
    Limit {
        /// The size of the allocation that does not fit.
        bytes: u64,
    },
    /// The system has no such memory for this process.
    #[error("{bytes} bytes cannot be allocated: this process has too little memory")]
    System {
        /// The size of the allocation.
        bytes: u64,
    },
}

/// Creates zeros without an abort if they cannot be allocated.
pub(crate) fn try_zeros(bytes: u64) -> Result<Vec<u8>, TooMuchMemory> {
    let failed = TooMuchMemory::System { bytes };
    let size = usize::try_from(bytes).map_err(|_| failed)?;
    // Asked first, because only `vec!` gets pages of zeros that cost nothing until they are written, but it aborts.
    let mut room = Vec::<u8>::new();
    room.try_reserve_exact(size).map_err(|_| failed)?;
    drop(std::hint::black_box(room));
    Ok(vec![0; size])
}

/// The reason why memory cannot be allocated at an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AllocationError {
    /// All allocations together exceed the limit.
    #[error(transparent)]
    TooMuch(#[from] TooMuchMemory),
    /// Another allocation has some of the same addresses.
    #[error("{purpose} at {base:#x} overlaps {other}")]
    Overlap {
        /// The address of the first byte.
        base: u64,
        /// The purpose of the allocation.
        purpose: AllocationUse,
        /// The purpose of the other allocation.
        other: AllocationUse,
    },
    /// Generic addresses cannot reach the bytes, because they are in the window of shared or local memory, or beyond
    /// 2^64.
    #[error("{purpose} at {base:#x} is not all in global memory")]
    OutsideGlobal {
        /// The address of the first byte.
        base: u64,
        /// The purpose of the allocation.
        purpose: AllocationUse,
    },
}

impl Default for DeviceMemory {
    fn default() -> Self {
        Self {
            map: AddressMap::default().of_64_bits(),
            banks: Vec::new(),
            is_fork: false,
            allocations: Vec::new(),
            next: 0,
            total: 0,
            variables: HashMap::new(),
            heap: Heap::default(),
            shared: Bytes::default(),
            local: LocalMemory::default(),
        }
    }
}

impl DeviceMemory {
    /// Creates a memory without allocations, with the default windows and generic addresses of 64 bits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a write, if it is a copy for a thread.
    #[inline(always)]
    fn note_write(&mut self, at: usize, start: usize, bytes: usize) {
        let DeviceAllocation { notes: Some(notes), bytes: all, .. } = &mut self.allocations[at]
        else {
            return;
        };
        notes.writes.add(start, bytes, all.values.len());
    }

    /// Notes a read, if it is a copy for a thread.
    #[inline(always)]
    fn note_read(&mut self, at: usize, start: usize, bytes: usize) {
        let known = &mut self.allocations[at];
        let Some(notes) = &mut known.notes else { return };
        notes.is_read = true;
        if known.is_written {
            notes.reads.add(start, bytes, known.bytes.values.len());
        }
    }

    /// Returns the windows of generic addresses.
    #[must_use]
    pub fn map(&self) -> &AddressMap {
        &self.map
    }

    /// Makes a constant bank of the allocations that are protected as its own. The byte with offset 0 is at `base`.
    pub fn set_bank(&mut self, number: u8, base: u64) {
        self.banks.retain(|known| known.number != number);
        self.banks.push(Bank { number, base });
    }

    /// Returns the global address of an offset in a constant bank; `None` if there is no such bank.
    #[must_use]
    pub fn of_bank(&self, number: u8, offset: u64) -> Option<u64> {
        let bank = self.banks.iter().find(|known| known.number == number)?;
        Some(bank.base.wrapping_add(offset))
    }

    /// Creates a memory with the windows and the memories of an image: each block begins with its shared memory, each
    /// lane with its local memory.
    ///
    /// # Errors
    /// Returns [`AllocationError`] if the image has more than 16 GiB.
    pub fn of_image(image: &Memory) -> Result<Self, AllocationError> {
        let local = LocalMemory::of_image(image);
        let mut memory = Self { map: *image.map(), local, ..Self::default() };
        for allocation in image.allocations() {
            let bytes = image.allocation_bytes(allocation);
            memory.supply(Space::Global, allocation.base, bytes)?;
        }
        for (bank, bytes) in image.constant_banks() {
            memory.supply(Space::Constant { bank }, 0, bytes)?;
        }
        memory.supply(Space::Shared, 0, image.shared_bytes())?;
        Ok(memory)
    }

    /// Adds the bytes of an image that the memory does not have yet, from an offset on: addresses of global memory
    /// between allocations, and in other memories all bytes behind the last one. Returns the ranges of offsets that were
    /// added.
    ///
    /// # Errors
    /// Returns [`AllocationError`] if generic addresses cannot reach the bytes of global memory, or all allocations
    /// together have more than 16 GiB.
    pub fn supply(
        &mut self,
        space: Space,
        first: u64,
        bytes: &[u8],
    ) -> Result<Vec<Range<u64>>, AllocationError> {
        let all = first..first.saturating_add(bytes.len() as u64);
        let added = match space {
            Space::Global => self.unallocated(all),
            _ => std::iter::once(self.size_of(space).max(all.start)..all.end).collect(),
        };
        let added: Vec<_> = added.into_iter().filter(|part| !part.is_empty()).collect();
        for part in &added {
            let new = &bytes[(part.start - first) as usize..(part.end - first) as usize];
            self.check_room(new.len() as u64)?;
            let place = part.start as usize..part.end as usize;
            match space {
                Space::Global => {
                    self.allocate_at(part.start, new.to_vec(), AllocationUse::Image)?;
                }
                Space::Constant { bank } => {
                    let base = image_bank(bank);
                    if self.allocation_mut(base).is_none() {
                        self.allocate_at(base, Vec::new(), AllocationUse::Image)?;
                        self.protect(base, Protection::Bank(bank));
                        self.set_bank(bank, base);
                    }
                    if let Some(bank) = self.allocation_mut(base) {
                        bank.bytes.append(place.start, new);
                        self.total += place.len() as u64;
                    }
                }
                Space::Shared => self.shared.append(place.start, new),
                Space::Local => self.local.append(place.start, new),
            }
        }
        Ok(added)
    }

    /// Removes the constant bank of an image. Returns its bytes.
    pub fn take_bank(&mut self, number: u8) -> Vec<u8> {
        let base = image_bank(number);
        let at = self.allocations.binary_search_by_key(&base, |known| known.base);
        let Ok(at) = at else { return Vec::new() };
        self.banks.retain(|known| known.number != number);
        let bytes = take(self.allocations.remove(at).bytes.values.make_own());
        self.total -= bytes.len() as u64;
        bytes
    }

    /// The size of a memory other than global memory, as an image has it.
    fn size_of(&self, space: Space) -> u64 {
        match space {
            Space::Global => 0,
            Space::Constant { bank } => {
                self.bytes(image_bank(bank)).map_or(0, |bytes| bytes.len() as u64)
            }
            Space::Shared => self.shared.values.len() as u64,
            Space::Local => self.local.of_image[0],
        }
    }

    /// The parts of a range of global addresses that are not allocated.
    fn unallocated(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut parts = Vec::new();
        let mut from = range.start;
        let first = self.allocations.partition_point(|known| known.end() <= range.start);
        for known in &self.allocations[first..] {
            if known.base >= range.end {
                break;
            }
            parts.push(from..known.base.max(from));
            from = from.max(known.end());
        }
        parts.push(from..range.end.max(from));
        parts
    }

    /// Allocates initialized bytes. Returns the address of the first one, a multiple of 256.
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
        let base = self.free(self.next, size).ok_or(TooMuchMemory::Limit { bytes: size })?;
        self.next = base + size + GAP;
        let at = self.allocations.partition_point(|known| known.base < base);
        self.allocations.insert(at, DeviceAllocation::new(base, bytes, purpose));
        Ok(base)
    }

    /// Returns the address of the next allocation, if it is small.
    #[must_use]
    pub fn next_address(&self) -> u64 {
        self.free(self.next, 0).unwrap_or(self.next)
    }

    /// The lowest address from `next` on with `size` free bytes and a gap on either side; `None` if there is none.
    fn free(&self, next: u64, size: u64) -> Option<u64> {
        let windows = [self.map.shared(), self.map.local()];
        // Ends, because each step skips an allocation or the windows.
        let mut base = next.max(FIRST);
        let mut at = self.allocations.partition_point(|known| known.base < base);
        if let Some(before) = at.checked_sub(1).and_then(|before| self.allocations.get(before)) {
            base = base.max(before.end().checked_add(GAP)?);
        }
        loop {
            base = base.checked_next_multiple_of(ALIGNMENT)?;
            let end = base.checked_add(size)?.checked_add(GAP)?;
            let meets = |window: &&Window| base < window.base + window.size && end > window.base;
            if let Some(window) = windows.iter().find(meets) {
                base = (window.base + window.size).checked_add(GAP)?;
                continue;
            }
            match self.allocations.get(at).filter(|known| known.base < end) {
                Some(known) => base = base.max(known.end().checked_add(GAP)?),
                None => return Some(base),
            }
            at += 1;
        }
    }

    /// Allocates zeros on the heap of `malloc`. `None` if more than `limit` bytes would be allocated.
    pub(crate) fn allocate_on_heap(
        &mut self,
        bytes: u64,
        limit: u64,
        is_unwritten: bool,
    ) -> Option<u64> {
        let units = bytes.max(1).checked_next_multiple_of(HEAP_UNIT)?;
        let used = self.heap.used.checked_add(units).filter(|used| *used <= limit)?;
        self.check_room(bytes).ok()?;
        let size = usize::try_from(bytes).ok()?;
        let first = FIRST_OF_HEAP.min(1 << (self.map.address_bits() - 1));
        let base = self.free(self.heap.next.max(first), bytes)?;
        let purpose = AllocationUse::Heap { bytes };
        let mut allocation = DeviceAllocation::new(base, vec![0; size], purpose);
        if is_unwritten {
            allocation.bytes.mark(0..size, UNWRITTEN);
        }
        self.total += bytes;
        (self.heap.next, self.heap.used) = (base + bytes + GAP, used);
        let at = self.allocations.partition_point(|known| known.base < base);
        self.allocations.insert(at, allocation);
        Some(base)
    }

    /// Frees memory of the heap of `malloc`.
    pub(crate) fn free_on_heap(&mut self, base: u64) -> Result<(), FreeError> {
        let at = self.allocations.binary_search_by_key(&base, |known| known.base);
        let known = at.ok().and_then(|at| self.allocations.get_mut(at));
        let known = known.ok_or(FreeError::NotAllocated)?;
        let AllocationUse::Heap { bytes } = known.purpose else {
            return Err(FreeError::NotAllocated);
        };
        if known.is_freed {
            return Err(FreeError::Twice);
        }
        (known.bytes, known.is_freed) = (Bytes::default(), true);
        self.total -= bytes;
        self.heap.used -= bytes.max(1).next_multiple_of(HEAP_UNIT);
        self.heap.freed += 1;
        if self.heap.freed > MAX_FREED {
            // The older half is forgotten: accesses there become ones outside all allocations.
            let mut left = MAX_FREED / 2;
            self.allocations.retain(|known| {
                let is_forgotten = known.is_freed && left > 0;
                left -= usize::from(is_forgotten);
                !is_forgotten
            });
            self.heap.freed -= MAX_FREED / 2;
        }
        Ok(())
    }

    /// The size of the freed memory that contained an address; `None` if it is not such an address.
    pub(crate) fn freed_around(&self, address: u64) -> Option<u64> {
        let at = self.allocations.partition_point(|known| known.base <= address).checked_sub(1)?;
        let known = self.allocations.get(at).filter(|known| known.is_freed)?;
        match known.purpose {
            AllocationUse::Heap { bytes } if address - known.base < bytes => Some(bytes),
            _ => None,
        }
    }

    /// Allocates initialized bytes at an address, without a gap around them.
    ///
    /// # Errors
    /// Returns [`AllocationError`] if another allocation overlaps, generic addresses cannot reach the bytes, or all
    /// allocations together have more than 16 GiB.
    pub fn allocate_at(
        &mut self,
        base: u64,
        bytes: Vec<u8>,
        purpose: AllocationUse,
    ) -> Result<(), AllocationError> {
        let size = bytes.len() as u64;
        self.check_room(size)?;
        let end = base.checked_add(size);
        let is_apart = |end: u64| {
            let windows = [self.map.shared(), self.map.local()];
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
        self.allocations.insert(at, DeviceAllocation::new(base, bytes, purpose));
        Ok(())
    }

    /// Creates zeros for [`Self::allocate`], after checking that they would fit.
    ///
    /// # Errors
    /// Returns [`TooMuchMemory`] if all allocations together have more than 16 GiB, or the system has too little memory.
    pub fn zeros(&self, bytes: u64) -> Result<Vec<u8>, TooMuchMemory> {
        self.check_room(bytes)?;
        try_zeros(bytes)
    }

    /// Checks whether that many more bytes can be allocated.
    pub(crate) fn check_room(&self, bytes: u64) -> Result<(), TooMuchMemory> {
        let all = self.total.checked_add(bytes);
        all.filter(|all| *all <= MAX_BYTES).map(|_| ()).ok_or(TooMuchMemory::Limit { bytes })
    }

    /// Returns the bytes of the allocation that begins at an address; `None` if there is none.
    #[must_use]
    pub fn bytes(&self, base: u64) -> Option<&[u8]> {
        let at = self.allocations.binary_search_by_key(&base, |known| known.base).ok()?;
        self.allocations.get(at).map(|known| &known.bytes.values[..])
    }

    /// Returns whether the bytes of an allocation are all known.
    #[must_use]
    pub fn is_known(&self, base: u64) -> bool {
        let at = self.allocations.binary_search_by_key(&base, |known| known.base);
        let known = at.ok().and_then(|at| self.allocations.get(at));
        known.is_none_or(|known| known.bytes.flags.iter().all(|flags| flags & UNKNOWN == 0))
    }

    /// Returns the number of unknown bytes in a part of an allocation, and the offset of the first one in the part; `None` if
    /// all are known.
    #[must_use]
    pub fn unknown_in(&self, base: u64, part: Range<usize>) -> Option<(u64, u64)> {
        let at = self.allocations.binary_search_by_key(&base, |known| known.base).ok()?;
        let flags = self.allocations.get(at)?.bytes.flags.get(part)?;
        let first = flags.iter().position(|flags| flags & UNKNOWN != 0)?;
        let count = flags.iter().filter(|flags| **flags & UNKNOWN != 0).count();
        Some((count as u64, first as u64))
    }

    /// Returns the address of a `.global` or `.const` variable of the module in the last launch, for [`Self::bytes`];
    /// `None` if that module has no such variable.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<u64> {
        self.variables.get(name).copied()
    }

    /// Returns the global addresses of a constant bank, from its first byte to its last one; `None` if it has none.
    #[must_use]
    pub fn bank_addresses(&self, number: u8) -> Option<Range<u64>> {
        let is_of_bank = |known: &&DeviceAllocation| known.protection == Protection::Bank(number);
        let mut all = self.allocations.iter().filter(is_of_bank);
        let first = all.next()?;
        Some(first.base..all.next_back().unwrap_or(first).end())
    }

    /// Bytes of a constant bank with the union of their flags; `None` if there are none.
    pub(crate) fn bank_bytes(&self, number: u8, offset: u64, size: usize) -> Option<(&[u8], u8)> {
        let address = self.of_bank(number, offset)?;
        let known = self.allocations.get(self.find(address, usize::MAX)?)?;
        let start = (address - known.base) as usize;
        let place = start..start.checked_add(size)?;
        let bytes = known.bytes.values.get(place.clone())?;
        (known.protection == Protection::Bank(number)).then(|| (bytes, known.bytes.flags(place)))
    }

    /// Gives all bytes that a launch has left unknown these flags.
    pub(crate) fn age(&mut self, flags: u8) {
        for known in &mut self.allocations {
            for old in &mut known.bytes.flags {
                if origin_number(*old).is_some_and(|number| number != 0) {
                    *old = flags | *old & UNWRITTEN;
                }
            }
        }
    }

    /// Forgets the names of the variables of an earlier launch, perhaps of another module. Their bytes stay.
    pub fn forget_variables(&mut self) {
        self.variables.clear();
    }

    /// Names the allocation of a variable, for [`Self::variable`].
    pub fn name_variable(&mut self, name: &str, base: u64) {
        self.variables.insert(name.to_owned(), base);
    }

    /// The allocations with unknown bytes, in the order of their addresses.
    pub(crate) fn unknown_bytes(&self) -> impl Iterator<Item = UnknownAllocation<'_>> {
        self.allocations.iter().filter_map(|known| {
            let (bytes, first, origin) = known.bytes.unknown_bytes()?;
            Some(UnknownAllocation {
                purpose: &known.purpose,
                base: known.base,
                bytes,
                first,
                origin,
            })
        })
    }

    /// Marks all bytes as unknown that kernels can write.
    pub(crate) fn forget_all(&mut self, flags: u8) {
        for known in &mut self.allocations {
            if known.protection == Protection::Writable {
                known.bytes.mark(0..known.bytes.values.len(), flags);
            }
        }
    }

    /// Writes known bytes from an offset in the allocation at `base` on. Bytes beyond its end are dropped.
    pub fn write(&mut self, base: u64, offset: usize, bytes: &[u8]) {
        let Some(allocation) = self.allocation_mut(base) else { return };
        let room = allocation.bytes.values.len().saturating_sub(offset);
        let bytes = bytes.get(..room).unwrap_or(bytes);
        let place = offset..offset.saturating_add(bytes.len());
        if let Some(to) = allocation.bytes.values.get_mut(place.clone()) {
            to.copy_from_slice(bytes);
            allocation.bytes.mark(place, 0);
        }
    }

    /// Frees the allocation at `base`, which may then be placed anew.
    pub fn release(&mut self, base: u64) {
        if let Ok(at) = self.allocations.binary_search_by_key(&base, |known| known.base) {
            let freed = self.allocations.remove(at);
            self.total -= freed.bytes.values.len() as u64;
            self.next = self.next.min(base);
        }
    }

    /// Replaces the bytes of the allocation at `base` by known zeros.
    pub fn clear(&mut self, base: u64) {
        if let Some(allocation) = self.allocation_mut(base) {
            allocation.bytes.reset(allocation.bytes.values.len(), false);
        }
    }

    /// Makes bytes of a memory unknown, because their initial value is.
    pub fn make_unknown(&mut self, space: Space, place: Range<u64>) {
        let first = match space {
            Space::Global => Some(place.start),
            Space::Constant { bank } => self.of_bank(bank, place.start),
            Space::Shared => return self.shared.mark_inside(place, UNKNOWN),
            Space::Local => {
                for lane in 0..LANES {
                    let start = self.local.place(lane, 0) as u64;
                    self.local.bytes.mark_inside(start + place.start..start + place.end, UNKNOWN);
                }
                return;
            }
        };
        if let Some(allocation) = first.and_then(|first| self.allocation_around(first)) {
            let start = first.unwrap_or(0) - allocation.base;
            allocation.bytes.mark_inside(start..start + (place.end - place.start), UNKNOWN);
        }
    }

    /// Sets whether kernels can write the allocation at `base`.
    pub fn protect(&mut self, base: u64, protection: Protection) {
        if let Some(allocation) = self.allocation_mut(base) {
            allocation.protection = protection;
        }
    }

    fn allocation_mut(&mut self, base: u64) -> Option<&mut DeviceAllocation> {
        let at = self.allocations.binary_search_by_key(&base, |known| known.base).ok()?;
        self.allocations.get_mut(at)
    }

    /// The allocation that contains an address.
    pub(crate) fn allocation_around(&mut self, address: u64) -> Option<&mut DeviceAllocation> {
        let at = self.find(address, usize::MAX)?;
        self.allocations.get_mut(at)
    }

    /// The index of the allocation that contains an address. `hint` is tried first, because successive accesses usually
    /// go to the same allocation.
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

    /// The allocation that an address is in.
    pub(crate) fn place(&self, address: u64) -> Option<AllocationOffset> {
        let known = self.allocations.get(self.find(address, usize::MAX)?)?;
        let (purpose, offset) = (known.purpose.clone(), address - known.base);
        (!known.is_freed).then_some(AllocationOffset { purpose, offset })
    }

    /// The allocation nearest to an address. The parameters are it only just past their end: no pointer of a program leads
    /// to them.
    pub(crate) fn nearest(&self, address: u64) -> Option<NearestAllocation> {
        let kept = self.allocations.iter().filter(|known| !known.is_freed);
        let distances = kept.map(|known| {
            // Modulo 2^64, because a negative offset may lead below 0.
            let (before, after) =
                (known.base.wrapping_sub(address), address.wrapping_sub(known.end()));
            let (side, distance) = if (known.base..known.end()).contains(&address) {
                (AllocationSide::Inside, known.end() - address)
            } else if before < after {
                (AllocationSide::Before, before)
            } else {
                (AllocationSide::After, after)
            };
            (known, side, distance)
        });
        let distances = distances.filter(|(known, side, distance)| {
            known.purpose != AllocationUse::Parameters
                || match side {
                    AllocationSide::Before => false,
                    AllocationSide::Inside => true,
                    AllocationSide::After => *distance < GAP,
                }
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

/// The local memory of a warp. Each of the 32 lanes has the same number of bytes, one lane after the other, and behind
/// them an image's bytes at the end of the window.
#[derive(Clone, Debug, Default)]
pub(crate) struct LocalMemory {
    pub(crate) bytes: Bytes,
    /// The number of bytes for each lane.
    stride: u64,
    /// The bytes of each lane that the image has: from offset 0 on, and at the end of the window.
    of_image: [u64; 2],
}

impl LocalMemory {
    fn of_image(image: &Memory) -> Self {
        let mut bytes = Vec::new();
        (0..LANES).for_each(|lane| bytes.extend_from_slice(image.local_low_bytes(lane)));
        (0..LANES).for_each(|lane| bytes.extend_from_slice(image.local_high_bytes(lane)));
        let sizes = [image.local_low_bytes(0), image.local_high_bytes(0)];
        let of_image = sizes.map(|bytes| bytes.len() as u64);
        Self { bytes: Bytes::new(bytes), stride: of_image[0], of_image }
    }

    /// Extends an image's bytes from offset 0 on by the same ones in each lane.
    fn append(&mut self, offset: usize, bytes: &[u8]) {
        self.of_image[0] = (offset + bytes.len()) as u64;
        self.grow(self.of_image[0], false);
        for lane in 0..LANES {
            let at = self.place(lane, offset as u64);
            self.bytes.values[at..at + bytes.len()].copy_from_slice(bytes);
        }
    }

    /// Prepares the memory for another warp, which begins with `image`.
    pub(crate) fn reset(&mut self, image: &Self, is_unwritten: bool) {
        let [low, high] = image.of_image;
        self.stride = self.stride.max(low);
        self.of_image = image.of_image;
        self.bytes.reset(((self.stride + high) * 32) as usize, is_unwritten);
        self.take(image, low);
    }

    /// Copies the first bytes of each lane from a memory with the same bytes at the end of the window, and these.
    fn take(&mut self, from: &Self, low: u64) {
        let high = (32 * self.of_image[1]) as usize;
        let [start, end] = [from.place(LANES, 0), self.place(LANES, 0)];
        self.bytes.copy_from(&from.bytes, start..start + high, end);
        for lane in 0..LANES {
            let start = from.place(lane, 0);
            self.bytes.copy_from(&from.bytes, start..start + low as usize, self.place(lane, 0));
        }
    }

    /// The place of a lane's byte at the end of a window.
    fn place_high(&self, lane: usize, offset: u64, window: Window) -> Option<usize> {
        let high = self.of_image[1];
        let at = offset.checked_sub(window.size - high).filter(|at| *at < high)?;
        Some(self.place(LANES, lane as u64 * high + at))
    }

    /// The bytes of all lanes if each has room for `bytes`. `None` beyond [`MAX_LOCAL`].
    pub(crate) fn bytes_for(bytes: u64) -> Option<u64> {
        (bytes <= MAX_LOCAL).then(|| if bytes == 0 { 0 } else { 32 * Self::stride_for(bytes) })
    }

    fn stride_for(bytes: u64) -> u64 {
        bytes.next_power_of_two().max(256)
    }

    /// The bytes of all lanes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        32 * (self.stride + self.of_image[1])
    }

    /// Makes room for `bytes` in each lane, at most [`MAX_LOCAL`].
    pub(crate) fn reserve(&mut self, bytes: u64, is_unwritten: bool) {
        if bytes <= self.stride {
            return;
        }
        self.grow(Self::stride_for(bytes.min(MAX_LOCAL)), is_unwritten);
    }

    /// Makes room for a larger number of bytes in each lane.
    fn grow(&mut self, stride: u64, is_unwritten: bool) {
        let size = ((stride + self.of_image[1]) * 32) as usize;
        let bytes = match is_unwritten {
            true => Bytes::unwritten(size),
            false => Bytes::new(vec![0; size]),
        };
        let mut grown = Self { bytes, stride, of_image: self.of_image };
        grown.take(self, self.stride);
        *self = grown;
    }

    /// The bytes of each lane that an image has from offset 0 on.
    pub(crate) fn of_image_size(&self) -> u64 {
        self.of_image[0]
    }

    pub(crate) fn place(&self, lane: usize, offset: u64) -> usize {
        (lane as u64 * self.stride + offset) as usize
    }
}

/// The location of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The index of an allocation, and the offset in it.
    Global(usize, usize),
    Shared(usize),
    Local(usize),
}

/// The reason why an access fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Misaligned,
    Outside,
    /// Only of writes: the bytes are constants or kernel parameters.
    ReadOnly,
}

/// The memories that a warp can access.
#[derive(Debug)]
pub(crate) struct Memories<'a> {
    pub(crate) global: &'a mut DeviceMemory,
    pub(crate) shared: &'a mut Bytes,
    pub(crate) local: &'a mut LocalMemory,
    /// The bytes of local memory in use. Accesses beyond it are out of bounds, even if memory is reserved there.
    pub(crate) local_size: u64,
    /// The same for each lane, if lanes have allocated different sizes.
    pub(crate) local_ends: Option<&'a [u64; LANES]>,
    /// The allocation of the last access, tried first for the next one.
    pub(crate) hint: &'a Cell<usize>,
    /// Whether a load has found a region with flags.
    pub(crate) has_flags: Cell<bool>,
}

/// Loads go through `warpload::load`, so the rules of docs/ld.md are those of kernels.
impl LoadMemory for Memories<'_> {
    #[inline(always)]
    fn map(&self) -> &AddressMap {
        &self.global.map
    }

    #[inline(always)]
    fn region(&self, space: Space, offset: u64) -> Option<Region<'_>> {
        let (bytes, base) = match space {
            Space::Global => self.global_region(offset, None)?,
            Space::Constant { bank } => {
                let address = self.global.of_bank(bank, offset)?;
                let (bytes, base) = self.global_region(address, Some(bank))?;
                (bytes, offset.wrapping_sub(address - base))
            }
            Space::Shared => (&*self.shared, 0),
            Space::Local => {
                let local = &*self.local;
                self.note_flags(&local.bytes);
                // Lanes with different sizes are looked at one by one.
                self.has_flags.set(self.has_flags.get() || self.local_ends.is_some());
                let (low, high) = local.bytes.values.split_at_checked(local.place(LANES, 0))?;
                return match local.place_high(0, offset, self.global.map.local()) {
                    None => Region::of_each_lane_up_to(self.local_size, low),
                    Some(_) => {
                        let size = self.global.map.local().size;
                        Region::of_each_lane(size - local.of_image[1], high)
                    }
                };
            }
        };
        self.note_flags(bytes);
        Region::new(base, &bytes.values)
    }
}

impl Memories<'_> {
    /// Finds the location of a lane's load. `size` is a power of two.
    #[inline(always)]
    pub(crate) fn find(
        &mut self,
        space: AddressSpace,
        address: u64,
        size: u32,
        lane: usize,
    ) -> Result<Found, Missing> {
        let found = self.place(space, address, size, lane)?;
        if let Found::Global(at, place) = found {
            self.global.note_read(at, place, size as usize);
        }
        Ok(found)
    }

    /// Notes the loads of all lanes of a mask, which are inside allocations.
    #[inline(always)]
    pub(crate) fn note_loads(
        &mut self,
        space: AddressSpace,
        addresses: &[u64; LANES],
        size: u32,
        exec: u32,
    ) {
        if self.global.is_fork
            && exec != 0
            && matches!(space, AddressSpace::Global | AddressSpace::Generic)
        {
            self.note_each(space, addresses, size, exec);
        }
    }

    fn note_each(&mut self, space: AddressSpace, addresses: &[u64; LANES], size: u32, exec: u32) {
        // Mostly, the first lane shows that only the allocation must be known.
        let first = exec.trailing_zeros() as usize & 31;
        if let Ok(Found::Global(at, _)) = self.find(space, addresses[first], size, first)
            && let Some(known) = self.global.allocations.get(at).filter(|of| !of.is_written)
        {
            let ends = warpload::simd::vectorized!(ends(addresses));
            let range = known.base..=known.end() - u64::from(size);
            if range.contains(&ends[0]) && range.contains(&ends[1]) {
                return;
            }
        }
        for lane in lanes(exec) {
            // Notes it.
            let _ = self.find(space, addresses[lane], size, lane);
        }
    }

    /// Finds the location of a lane's access.
    #[inline(always)]
    fn place(
        &self,
        space: AddressSpace,
        address: u64,
        size: u32,
        lane: usize,
    ) -> Result<Found, Missing> {
        if address & u64::from(size - 1) != 0 {
            return Err(Missing::Misaligned);
        }
        let place = self.global.map.locate(space, GenericAddress(address), None);
        let place = place.map_err(|_| Missing::Outside)?;
        let (address, bytes) = (place.offset, u64::from(size));
        if !place.reaches(bytes) {
            return Err(Missing::Outside);
        }
        match place.space {
            Space::Shared => {
                if address + bytes > self.shared.values.len() as u64 {
                    return Err(Missing::Outside);
                }
                Ok(Found::Shared(address as usize))
            }
            Space::Local => {
                let window = self.global.map.local();
                let place = self.local.place_high(lane, address, window);
                let end = if place.is_some() { window.size } else { self.local_end(lane) };
                let found = || Found::Local(place.unwrap_or(self.local.place(lane, address)));
                (address + bytes <= end).then(found).ok_or(Missing::Outside)
            }
            Space::Global => self.find_global(address, bytes, None),
            Space::Constant { bank } => {
                let address = self.global.of_bank(bank, address).ok_or(Missing::Outside)?;
                self.find_global(address, bytes, Some(bank))
            }
        }
    }

    /// The index of the allocation around an address, or around one that belongs to a constant bank.
    #[inline(always)]
    fn allocation(&self, address: u64, bank: Option<u8>) -> Option<usize> {
        let at = self.global.find(address, self.hint.get())?;
        self.hint.set(at);
        let is_of_bank = |bank| self.global.allocations[at].protection == Protection::Bank(bank);
        bank.is_none_or(is_of_bank).then_some(at)
    }

    /// The bytes of that allocation, and its address.
    #[inline(always)]
    fn global_region(&self, address: u64, bank: Option<u8>) -> Option<(&Bytes, u64)> {
        let known = self.global.allocations.get(self.allocation(address, bank)?)?;
        Some((&known.bytes, known.base))
    }

    #[inline(always)]
    fn note_flags(&self, bytes: &Bytes) {
        if !bytes.is_plain() {
            self.has_flags.set(true);
        }
    }

    /// The location of bytes in global memory, or in the allocations of a constant bank.
    #[inline(always)]
    fn find_global(&self, address: u64, bytes: u64, bank: Option<u8>) -> Result<Found, Missing> {
        let at = self.allocation(address, bank).ok_or(Missing::Outside)?;
        let known = &self.global.allocations[at];
        let offset = address - known.base;
        let is_inside = offset + bytes <= known.bytes.values.len() as u64;
        is_inside.then_some(Found::Global(at, offset as usize)).ok_or(Missing::Outside)
    }

    /// [`Self::find`] for a write, which constants and kernel parameters do not allow.
    #[inline(always)]
    pub(crate) fn find_written(
        &mut self,
        space: AddressSpace,
        address: u64,
        size: u32,
        lane: usize,
    ) -> Result<Found, Missing> {
        let found = self.place(space, address, size, lane)?;
        match found {
            Found::Shared(place) => self.shared.touch(place, size as usize),
            Found::Global(at, place) => self.global.note_write(at, place, size as usize),
            Found::Local(_) => {}
        }
        if self.is_writable(found) { Ok(found) } else { Err(Missing::ReadOnly) }
    }

    #[inline(always)]
    pub(crate) fn is_writable(&self, found: Found) -> bool {
        match found {
            Found::Global(at, _) => self.global.allocations[at].protection == Protection::Writable,
            Found::Shared(_) | Found::Local(_) => true,
        }
    }

    /// Finds the offsets of all lanes in the memory of the first one, for a write. `None` if a lane faults or accesses
    /// another memory, or the memory has flags. Also returns whether all lanes execute, each behind the one before.
    #[inline(always)]
    pub(crate) fn find_all_written(
        &mut self,
        space: AddressSpace,
        addresses: &[u64; LANES],
        size: u32,
        exec: u32,
        offsets: &mut [u64; LANES],
    ) -> Option<(Found, bool)> {
        let first = exec.trailing_zeros() as usize;
        let found = self.find_written(space, *addresses.get(first)?, size, first).ok()?;
        let (region, offset) = match found {
            Found::Local(_) => return None,
            _ => self.at(found),
        };
        let base = addresses[first].wrapping_sub(offset as u64);
        let last = (region.values.len() as u64).checked_sub(size.into())?;
        if !region.is_plain() {
            return None;
        }
        let (wrong, ends, is_run) =
            warpload::simd::vectorized!(place_all(offsets, addresses, base, last, size));
        match found {
            Found::Shared(_) => {
                self.shared.touch(ends[0] as usize, (ends[1] - ends[0]) as usize + size as usize);
            }
            Found::Global(at, _) if self.global.is_fork && is_run && exec == u32::MAX => {
                self.global.note_write(at, ends[0] as usize, LANES * size as usize);
            }
            Found::Global(at, _) if self.global.is_fork => {
                for lane in lanes(exec & !wrong) {
                    self.global.note_write(at, offsets[lane] as usize, size as usize);
                }
            }
            _ => {}
        }
        (wrong & exec == 0).then_some((found, is_run && exec == u32::MAX))
    }

    #[inline(always)]
    fn local_end(&self, lane: usize) -> u64 {
        self.local_ends.map_or(self.local_size, |ends| ends[lane].max(self.local.of_image[0]))
    }

    /// The end of the bytes that a location belongs to: its allocation, shared memory, or the lane's local memory in use.
    pub(crate) fn end(&self, found: Found, lane: usize) -> usize {
        match found {
            Found::Global(at, _) => self.global.allocations[at].bytes.values.len(),
            Found::Shared(_) => self.shared.values.len(),
            Found::Local(place) if place >= self.local.place(LANES, 0) => {
                self.local.place(LANES, (lane as u64 + 1) * self.local.of_image[1])
            }
            Found::Local(_) => self.local.place(lane, self.local_end(lane)),
        }
    }

    /// The bytes of the memory at a location, and the offset in them.
    #[inline(always)]
    pub(crate) fn at(&self, found: Found) -> (&Bytes, usize) {
        match found {
            Found::Global(at, offset) => (&self.global.allocations[at].bytes, offset),
            Found::Shared(offset) => (self.shared, offset),
            Found::Local(offset) => (&self.local.bytes, offset),
        }
    }

    /// [`Self::at`] for writing.
    #[inline(always)]
    pub(crate) fn at_mut(&mut self, found: Found) -> (&mut Bytes, usize) {
        match found {
            Found::Global(at, offset) => (&mut self.global.allocations[at].bytes, offset),
            Found::Shared(offset) => (self.shared, offset),
            Found::Local(offset) => (&mut self.local.bytes, offset),
        }
    }
}

/// The lowest and the highest address.
#[inline(always)]
fn ends(addresses: &[u64; LANES]) -> [u64; 2] {
    let mut ends = [addresses[0]; 2];
    for address in addresses {
        ends = [ends[0].min(*address), ends[1].max(*address)];
    }
    ends
}

/// Computes the offset of each lane from `base`. The result is a mask of lanes beyond `last`, or misaligned, the least and
/// the largest offset, and whether each lane's bytes are behind those of the lane before.
#[inline(always)]
fn place_all(
    offsets: &mut [u64; LANES],
    addresses: &[u64; LANES],
    base: u64,
    last: u64,
    size: u32,
) -> (u32, [u64; 2], bool) {
    let mut bits = [0; LANES];
    let (mut ends, mut gaps) = ([last, 0], 0);
    for lane in 0..LANES {
        let offset = addresses[lane].wrapping_sub(base);
        let is_misaligned = addresses[lane] & u64::from(size - 1) != 0;
        bits[lane] = u32::from((offset > last) | is_misaligned) << lane;
        // In bounds for every lane, because vectorized code also reads for lanes that are masked off.
        offsets[lane] = if offset > last { 0 } else { offset };
        ends = [ends[0].min(offsets[lane]), ends[1].max(offsets[lane])];
        gaps |=
            offset.wrapping_sub(addresses[0].wrapping_sub(base)) ^ (lane as u64 * u64::from(size));
    }
    (bits.iter().fold(0, |all, bit| all | bit), ends, gaps == 0)
}

#[cfg(test)]
mod tests {
    use super::{Bytes, UNKNOWN, UNWRITTEN};

    /// A block of 1 MiB of shared memory.
    const DECLARED: usize = 1 << 20;

    #[test]
    fn blocks_replace_what_they_used() {
        for is_unwritten in [false, true] {
            let mut shared = Bytes::default();
            assert_eq!(shared.renew(DECLARED, is_unwritten), DECLARED);
            // Nothing is touched, then a word at the end, then some bytes across two pages.
            assert_eq!(shared.renew(DECLARED, is_unwritten), 0);
            shared.touch(DECLARED - 4, 4);
            shared.values[DECLARED - 4..].fill(7);
            shared.mark(DECLARED - 4..DECLARED, 0);
            assert_eq!(shared.renew(DECLARED, is_unwritten), DECLARED / 64);
            shared.values[16380..16388].fill(7);
            shared.mark(16380..16388, UNKNOWN);
            assert_eq!(shared.renew(DECLARED, is_unwritten), 2 * DECLARED / 64);
            assert!(shared.values.iter().all(|byte| *byte == 0));
            let flags = if is_unwritten { UNWRITTEN } else { 0 };
            assert!((0..DECLARED).all(|at| shared.flags(at..at + 1) == flags));
        }
    }

    #[test]
    fn small_memory_has_small_pages() {
        for bytes in [0, 1, 63, 64, 100, 4096, 4097, 49152] {
            let mut shared = Bytes::default();
            shared.renew(bytes, false);
            if let Some(last) = bytes.checked_sub(1) {
                shared.touch(last, 1);
                shared.values[last] = 1;
            }
            assert!(shared.renew(bytes, false) <= bytes.div_ceil(64).next_power_of_two().max(64));
            assert!(shared.values.iter().all(|byte| *byte == 0), "{bytes}");
        }
    }
}
