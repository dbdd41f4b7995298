//! [`Region`]: a run of allocated addresses and its contents; and [`WarpAddresses`], the addresses of the lanes.

use std::fmt;
use std::ops::RangeInclusive;

use super::fetch::{self, LaneAccess, Width, Words};
use super::fill::Fill;
use super::windows::{GenericAddress, Place, Space};
use crate::lane::{LANES, LaneMask, LaneValues};
use crate::simd::{prefetch, vectorized};

/// The byte addresses of 32 lanes. In almost all loads of real programs, neighbouring lanes are a constant distance
/// apart. A stride then answers questions about the whole warp without going through a list.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "on the stack, for one load")]
pub enum WarpAddresses {
    /// Lane n's address is `base + n * stride`, modulo 2^64. With stride 0, all lanes have one address.
    Stride {
        /// Lane 0's address.
        base: u64,
        /// The distance between neighbours in bytes, modulo 2^64.
        stride: u64,
    },
    /// Each lane's address, lane 0 first.
    Each([u64; LANES]),
}

impl WarpAddresses {
    /// Returns one lane's address.
    #[inline]
    #[must_use]
    pub fn of(&self, lane: usize) -> u64 {
        match self {
            Self::Stride { base, stride } => base.wrapping_add(stride.wrapping_mul(lane as u64)),
            Self::Each(list) => list[lane % LANES],
        }
    }

    /// Returns each lane's address, lane 0 first.
    #[inline]
    #[must_use]
    pub fn to_array(&self) -> [u64; LANES] {
        match self {
            Self::Stride { .. } => std::array::from_fn(|lane| self.of(lane)),
            Self::Each(list) => *list,
        }
    }

    /// Returns whether each lane's address is a multiple of the width and follows the access of the lane before.
    #[inline]
    #[must_use]
    pub fn is_run(&self, width: Width) -> bool {
        let bytes = u64::from(width.bytes());
        match self {
            Self::Stride { base, stride } => *stride == bytes && base & (bytes - 1) == 0,
            // The last address is compared first, because it alone usually shows that the addresses are not a run.
            Self::Each(list) => {
                let last = list[0].wrapping_add(bytes * (LANES as u64 - 1));
                list[LANES - 1] == last && list[0] & (bytes - 1) == 0 && different(list, bytes) == 0
            }
        }
    }
}

/// The bits in which any distance between neighbours differs from `bytes`; 0 if the addresses are a run. Not inlined
/// into the comparison with 0, because the compiler would turn this vectorized pass into 31 branches.
#[inline(never)]
fn different(addresses: &[u64; LANES], bytes: u64) -> u64 {
    let neighbours = addresses.iter().zip(&addresses[1..]);
    neighbours.fold(0, |bits, (one, next)| bits | (next.wrapping_sub(*one) ^ bytes))
}

/// A run of allocated offsets into a memory (in global memory, addresses) and its contents. It is never empty, and its
/// last offset fits 64 bits.
#[derive(Clone, Copy)]
pub struct Region<'m> {
    /// The first offset; the first address if the region is [reached](Self::reached).
    base: u64,
    /// The last offset's distance from the first.
    last: u64,
    content: Content,
    /// The bytes of `content`; empty for a fill.
    bytes: &'m [u8],
    /// The address that the fill assigns to the first byte.
    start: u64,
}

/// The contents of a region, without the bytes, so that a region can be in registers.
#[derive(Clone, Copy)]
enum Content {
    /// One byte per offset.
    Bytes,
    /// One byte per offset and lane, all of lane 0's first.
    LaneBytes,
    /// A rule with a value for every offset.
    Fill(Fill),
    /// A rule with a value for every offset and lane.
    LaneFill(Fill),
}

impl<'m> Region<'m> {
    /// Creates a region of bytes that the lanes share; `base` is the offset of the first one. `None` if there are no
    /// bytes, or if the last offset does not fit 64 bits.
    ///
    /// ```
    /// use warpload::memory::{GenericAddress, Region};
    ///
    /// let region = Region::new(0x1000, &[0; 0x1000]).ok_or("not empty")?;
    /// assert!(region.holds(GenericAddress(0x1ffc), 4));
    /// assert!(!region.holds(GenericAddress(0x1ffd), 4));
    /// # Ok::<(), &str>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn new(base: u64, bytes: &'m [u8]) -> Option<Self> {
        Self::of_bytes(base, bytes, bytes.len(), false)
    }

    /// Creates a region of local memory. `bytes` has the bytes of all 32 lanes, lane 0's first; `base` is the offset of
    /// each lane's first byte.
    ///
    /// Returns `None` if there are no bytes, if their number is not a multiple of 32, or if the last offset does not
    /// fit 64 bits.
    #[inline]
    #[must_use]
    pub fn of_each_lane(base: u64, bytes: &'m [u8]) -> Option<Self> {
        if !bytes.len().is_multiple_of(LANES) {
            return None;
        }
        Self::of_bytes(base, bytes, bytes.len() / LANES, true)
    }

    /// Creates a region of the first `size` offsets of [`Self::of_each_lane`], because the rest of each lane's bytes is
    /// not allocated.
    #[inline]
    #[must_use]
    pub fn of_each_lane_up_to(size: u64, bytes: &'m [u8]) -> Option<Self> {
        let all = Self::of_each_lane(0, bytes)?;
        Some(Self { last: size.checked_sub(1)?.min(all.last), ..all })
    }

    /// Creates a region of `size` offsets. `bytes` has one byte per offset, or one per offset and lane.
    #[inline(always)]
    pub(super) fn of_bytes(
        base: u64,
        bytes: &'m [u8],
        size: usize,
        is_per_lane: bool,
    ) -> Option<Self> {
        let last = (size as u64).checked_sub(1)?;
        base.checked_add(last)?;
        let content = if is_per_lane { Content::LaneBytes } else { Content::Bytes };
        Some(Self { base, last, content, bytes, start: 0 })
    }

    /// Creates a region of `space` with contents from a rule. The first offset holds the byte that the fill assigns to
    /// address `start`. In local memory each lane has its own bytes. `None` if there are no offsets.
    #[inline]
    #[must_use]
    pub fn filled(
        space: Space,
        offsets: RangeInclusive<u64>,
        fill: Fill,
        start: u64,
    ) -> Option<Self> {
        let base = *offsets.start();
        let last = offsets.end().checked_sub(base)?;
        let content =
            if space == Space::Local { Content::LaneFill(fill) } else { Content::Fill(fill) };
        Some(Self { base, last, content, bytes: &[], start })
    }

    /// Converts the region's offsets to addresses: `address` is the address of `place`. Offsets outside the reach of
    /// `place` would get addresses of another memory. A region of bytes with such offsets is refused (`None`). A fill
    /// covers all offsets, so it is cut down to the reach instead.
    #[inline(always)]
    pub(crate) fn reached(mut self, place: Place, address: GenericAddress) -> Option<Self> {
        let (first, last) = place.reach;
        let end = self.base + self.last;
        if self.base < first || end > last {
            if !self.bytes.is_empty() {
                return None;
            }
            let base = self.base.max(first);
            self.last = last.min(end).checked_sub(base)?;
            self.start = self.start.wrapping_add(base - self.base);
            self.base = base;
        }
        self.base = self.base.wrapping_add(address.0.wrapping_sub(place.offset));
        Some(self)
    }

    /// Returns the offsets of the region; in global memory, the addresses.
    #[must_use]
    pub const fn offsets(&self) -> RangeInclusive<u64> {
        self.base..=self.base + self.last
    }

    /// Returns one lane's byte at an offset; `None` if the region does not hold it or there is no such lane. The
    /// literal executor reads memory through this.
    #[must_use]
    pub fn byte(&self, offset: u64, lane: usize) -> Option<u8> {
        let from = offset.checked_sub(self.base).filter(|from| *from <= self.last)?;
        let own = if self.is_per_lane() { lane } else { 0 };
        match self.content {
            _ if own >= LANES => None,
            Content::Bytes => self.bytes.get(from as usize).copied(),
            Content::LaneBytes => {
                self.bytes.get(own * (self.bytes.len() / LANES) + from as usize).copied()
            }
            Content::Fill(fill) | Content::LaneFill(fill) => {
                Some(fill.words(self.start.wrapping_add(from), Width::Bytes1, own as u64)[0] as u8)
            }
        }
    }

    /// Returns whether `bytes` bytes from `address` on are in the region.
    #[inline]
    #[must_use]
    pub const fn holds(&self, address: GenericAddress, bytes: u64) -> bool {
        let offset = self.offset_of(address);
        offset <= self.last && self.last - offset >= bytes.saturating_sub(1)
    }

    /// Returns whether each lane has its own bytes.
    #[inline]
    #[must_use]
    pub const fn is_per_lane(&self) -> bool {
        matches!(self.content, Content::LaneBytes | Content::LaneFill(_))
    }

    /// Returns the value of one lane's access at `address`: little-endian, extended to whole
    /// registers. `None` if the region does not hold the whole access, or if there is no such lane.
    #[inline]
    #[must_use]
    pub fn fetch(&self, access: LaneAccess, address: GenericAddress, lane: usize) -> Option<Words> {
        let offset = self.offset_of(address);
        match self.content {
            Content::Bytes => fetch::fetch(self.bytes, access, usize::try_from(offset).ok()?),
            Content::LaneBytes => {
                let each = self.bytes.len() / LANES;
                let own = self.bytes.get(lane.checked_mul(each)?..)?.get(..=self.last as usize)?;
                fetch::fetch(own, access, usize::try_from(offset).ok()?)
            }
            Content::Fill(fill) | Content::LaneFill(fill) => {
                let lane = if self.is_per_lane() { lane } else { 0 };
                let is_held = lane < LANES && self.holds(address, access.width.bytes().into());
                is_held.then(|| fill.value(access, self.start.wrapping_add(offset), lane as u64))
            }
        }
    }

    /// Loads the values of all 32 lanes from consecutive addresses: lane 0 reads at `first`, each further lane directly
    /// after its predecessor. Values without a row are dropped. Returns false, without changing a row, if the region
    /// does not hold all accesses, if each lane has its own bytes, or if the fill's addresses are misaligned.
    #[inline(always)]
    #[must_use]
    pub fn copy(&self, access: LaneAccess, first: GenericAddress, rows: &mut [LaneValues]) -> bool {
        let offset = self.offset_of(first);
        match self.content {
            Content::Bytes => {
                let from = usize::try_from(offset).ok().and_then(|from| self.bytes.get(from..));
                from.is_some_and(|bytes| fetch::copy(bytes, access, rows))
            }
            Content::LaneBytes | Content::LaneFill(_) => false,
            Content::Fill(fill) => {
                let each = u64::from(access.width.bytes());
                let from = self.start.wrapping_add(offset);
                let is_run = self.holds(first, each * LANES as u64)
                    && from & (each - 1) == 0
                    && from.checked_add(each * LANES as u64).is_some();
                if is_run {
                    fill.copy(access, from, rows);
                }
                is_run
            }
        }
    }

    /// Loads the values of the executing lanes at their addresses, rounded down to a multiple of the access size.
    /// Values without a row are dropped. Returns false if the region does not hold all accesses; the executing lanes'
    /// values are then meaningless.
    #[inline(always)]
    #[must_use]
    pub fn gather(
        &self,
        access: LaneAccess,
        addresses: &WarpAddresses,
        executing: LaneMask,
        rows: &mut [LaneValues],
    ) -> bool {
        match addresses {
            // Without rows, a fill's values need not be computed.
            WarpAddresses::Stride { stride, .. }
                if rows.is_empty()
                    && self.bytes.is_empty()
                    && self.holds_stride(access, addresses, *stride, executing) =>
            {
                true
            }
            WarpAddresses::Stride { base, stride } => {
                let address = |lane: usize| base.wrapping_add(stride.wrapping_mul(lane as u64));
                self.gather_from(access, address, executing, rows)
            }
            WarpAddresses::Each(list) => {
                // The usual case, in which words are whole, so that the compiler vectorizes it.
                if let (Content::Bytes, Width::Bytes4, [row, ..]) =
                    (self.content, access.width, &mut *rows)
                    && self.base.is_multiple_of(4)
                {
                    return vectorized!(fetch::gather_words(
                        self.bytes, self.base, list, executing, row
                    ));
                }
                self.gather_from(access, |lane| list[lane], executing, rows)
            }
        }
    }

    /// Whether the region holds the accesses of lanes `stride` bytes apart, judged by the first and the last one. Also
    /// returns false if addresses or distances are near 2^64.
    #[inline]
    fn holds_stride(
        &self,
        access: LaneAccess,
        addresses: &WarpAddresses,
        stride: u64,
        executing: LaneMask,
    ) -> bool {
        /// Below this, 31 strides do not wrap around.
        const MAX_STRIDE: i64 = 1 << 58;
        let (Some(first), Some(last)) = (executing.first(), executing.last()) else { return true };
        let low_bits = u64::from(access.width.bytes()) - 1;
        let offset = |lane: usize| self.offset_of(GenericAddress(addresses.of(lane) & !low_bits));
        let (first, last) = (offset(first), offset(last));
        let stride = stride.cast_signed();
        let does_wrap = if stride >= 0 { last < first } else { first < last };
        (-MAX_STRIDE..MAX_STRIDE).contains(&stride)
            && !does_wrap
            && low_bits <= self.last
            && first.max(last) <= self.last - low_bits
    }

    /// Prefetches the lanes' bytes. Changes no result.
    #[inline]
    pub fn prefetch(&self, addresses: &WarpAddresses, executing: LaneMask) {
        if let Content::Bytes = self.content {
            let offset = |lane: usize| addresses.of(lane).wrapping_sub(self.base);
            let byte = |lane: usize| self.bytes.get(usize::try_from(offset(lane)).ok()?);
            executing.lanes().filter_map(byte).for_each(prefetch);
        }
    }

    #[inline(always)]
    fn gather_from(
        &self,
        access: LaneAccess,
        address: impl Fn(usize) -> u64,
        executing: LaneMask,
        rows: &mut [LaneValues],
    ) -> bool {
        let low_bits = u64::from(access.width.bytes()) - 1;
        let offset = |lane: usize| (address(lane) & !low_bits).wrapping_sub(self.base);
        match self.content {
            Content::Bytes => fetch::gather(self.bytes, access, offset, executing, rows),
            Content::LaneBytes => {
                let size = self.last as usize + 1;
                fetch::gather_of_each_lane((self.bytes, size), access, offset, executing, rows)
            }
            Content::Fill(fill) | Content::LaneFill(fill) => {
                // If all lanes execute, no branch per lane. A loop rather than a fold, because the compiler turns the
                // fold into a call.
                let is_held = |lane| low_bits <= self.last && offset(lane) <= self.last - low_bits;
                let mut are_held = true;
                if executing == LaneMask::ALL {
                    for lane in 0..LANES {
                        are_held &= is_held(lane);
                    }
                } else {
                    are_held = executing.lanes().all(is_held);
                }
                if !are_held {
                    return false;
                }
                let address = |lane: usize| self.start.wrapping_add(offset(lane));
                fill.set_rows(access, executing, address, self.is_per_lane(), rows);
                true
            }
        }
    }

    /// The distance from the first address, modulo 2^64.
    #[inline]
    const fn offset_of(&self, address: GenericAddress) -> u64 {
        address.0.wrapping_sub(self.base)
    }
}

impl fmt::Debug for Region<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (offsets, each) =
            (self.offsets(), if self.is_per_lane() { " of each lane" } else { "" });
        write!(f, "Region({:#x}..={:#x}, ", offsets.start(), offsets.end())?;
        match self.content {
            Content::Bytes | Content::LaneBytes => write!(f, "bytes{each})"),
            Content::Fill(fill) | Content::LaneFill(fill) => {
                write!(f, "{fill:?}{each} from {:#x})", self.start)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_shapes_have_the_same_addresses() {
        let stride = WarpAddresses::Stride { base: 8, stride: 4u64.wrapping_neg() };
        let each = WarpAddresses::Each(stride.to_array());
        assert_eq!((stride.of(2), stride.of(3)), (0, u64::MAX - 3));
        assert_eq!(each.to_array(), stride.to_array());
        assert!((0..LANES).all(|lane| stride.of(lane) == each.of(lane)));
    }

    #[test]
    fn runs_are_aligned_and_without_gaps() {
        for (base, stride, is_run) in
            [(8, 4, true), (6, 4, false), (8, 8, false), (8, 0, false), (u64::MAX - 3, 4, true)]
        {
            let addresses = WarpAddresses::Stride { base, stride };
            assert_eq!(addresses.is_run(Width::Bytes4), is_run, "{base} {stride}");
            assert_eq!(WarpAddresses::Each(addresses.to_array()).is_run(Width::Bytes4), is_run);
        }
        let mut list = WarpAddresses::Stride { base: 0, stride: 4 }.to_array();
        list.swap(1, 2);
        assert!(!WarpAddresses::Each(list).is_run(Width::Bytes4));
    }

    /// Without rows, only the ends of a stride are checked.
    #[test]
    fn strides_are_held_as_their_lanes_are() {
        let mut held = 0;
        for width in [Width::Bytes1, Width::Bytes4, Width::Bytes16] {
            let access = LaneAccess { width, signed: false };
            for (first, last) in
                [(0, u64::MAX), (0, 1), (0x1000, 0x1fff), (u64::MAX - 999, u64::MAX)]
            {
                let region = Region::filled(Space::Global, first..=last, Fill::Zero, 7).unwrap();
                let strides = [0, 1, 3, 4, 16, 33, 1 << 57, 1 << 59, 1 << 63];
                for stride in
                    strides.iter().flat_map(|stride: &u64| [*stride, stride.wrapping_neg()])
                {
                    for base in
                        [0, 1, 0xfff, 0x1000, 0x1800, 0x1fff, u64::MAX, u64::MAX - 500, 1 << 63]
                    {
                        let stride = WarpAddresses::Stride { base, stride };
                        let each = WarpAddresses::Each(stride.to_array());
                        for mask in [u32::MAX, 1, 1 << 31, 0x00ff_0ff0, 0x8000_0001] {
                            let mask = LaneMask::from_bits(mask);
                            let is_held = region.gather(access, &stride, mask, &mut []);
                            let by_lane = region.gather(access, &each, mask, &mut []);
                            assert_eq!(is_held, by_lane, "{stride:?} {mask:?}");
                            held += usize::from(is_held);
                        }
                    }
                }
            }
        }
        assert!(held > 500, "{held}");
    }

    #[test]
    fn only_regions_without_overflow_can_be_made() {
        let new = |base, bytes| Region::new(base, bytes).is_some();
        assert!(new(u64::MAX, &[0]) && !new(u64::MAX, &[0; 2]) && !new(0, &[]));
        let of_each_lane = |base, bytes| Region::of_each_lane(base, bytes).is_some();
        assert!(of_each_lane(u64::MAX, &[0; 32]) && !of_each_lane(u64::MAX, &[0; 64]));
        assert!(!of_each_lane(0, &[]) && !of_each_lane(0, &[0; 33]));
        let filled = |offsets| Region::filled(Space::Local, offsets, Fill::Zero, 7).is_some();
        assert!(filled(0..=u64::MAX));
        #[allow(clippy::reversed_empty_ranges)]
        let empty = 1..=0;
        assert!(!filled(empty));
    }
}
