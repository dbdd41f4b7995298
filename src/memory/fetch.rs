//! From bytes of memory to register values: [`Width`], [`LaneAccess`], and the loops over lanes.

use warpload_encoding::Size;

use crate::lane::{LANES, LaneMask, LaneValues};

/// The 32-bit words of the widest access; after a narrower access they are 0.
pub type Words = [u32; Width::MAX_REGISTERS];

/// The access size of a lane in bytes. Addresses are rounded down to a multiple of it. [`Size`] counts bits:
/// `Size::B32` is `Width::Bytes4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Width {
    /// 1 byte.
    Bytes1 = 1,
    /// 2 bytes.
    Bytes2 = 2,
    /// 4 bytes.
    Bytes4 = 4,
    /// 8 bytes.
    Bytes8 = 8,
    /// 16 bytes.
    Bytes16 = 16,
    /// 32 bytes: `LDG` of 256 bits, from SM 8.9 on, and 256-bit loads of PTX.
    Bytes32 = 32,
}

impl Width {
    /// All widths, ascending.
    pub const ALL: [Width; 6] =
        [Self::Bytes1, Self::Bytes2, Self::Bytes4, Self::Bytes8, Self::Bytes16, Self::Bytes32];
    /// The number of registers that the widest access fills.
    pub const MAX_REGISTERS: usize = 8;

    /// Returns the number of bytes: 1, 2, 4, 8, 16 or 32.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> u32 {
        self as u32
    }

    /// Returns the number of 32-bit registers that a lane's value fills: 1, 2, 4 or 8.
    #[inline]
    #[must_use]
    pub const fn registers(self) -> u32 {
        self.bytes().div_ceil(4)
    }

    /// Returns the width of that many bytes, or `None` if no load has it.
    #[must_use]
    pub fn from_bytes(bytes: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|width| width.bytes() == bytes)
    }
}

impl From<Size> for Width {
    fn from(size: Size) -> Self {
        match size {
            Size::U8 | Size::S8 => Self::Bytes1,
            Size::U16 | Size::S16 => Self::Bytes2,
            Size::B32 => Self::Bytes4,
            Size::B64 => Self::Bytes8,
            Size::B128 | Size::U128 => Self::Bytes16,
        }
    }
}

/// The access of a lane, and how its bytes fill registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaneAccess {
    /// The access size.
    pub width: Width,
    /// Whether a value narrower than 32 bits is sign-extended.
    pub signed: bool,
}

impl LaneAccess {
    /// Extends a value of this width to whole registers.
    #[inline]
    pub(super) fn extend(self, mut words: Words) -> Words {
        words[0] = self.extend_word(words[0]);
        words
    }

    #[inline]
    pub(super) fn extend_word(self, word: u32) -> u32 {
        match (self.width, self.signed) {
            (Width::Bytes1, true) => word as u8 as i8 as u32,
            (Width::Bytes2, true) => word as u16 as i16 as u32,
            _ => word,
        }
    }
}

/// One lane's value at `place`; `None` if the bytes end too early.
#[inline]
pub(super) fn fetch(bytes: &[u8], access: LaneAccess, place: usize) -> Option<Words> {
    let rest = bytes.get(place..)?;
    let value = match access.width {
        Width::Bytes1 => rest.first().map(|byte| word(u32::from(*byte))),
        Width::Bytes2 => rest.first_chunk().map(|half| word(u32::from(u16::from_le_bytes(*half)))),
        Width::Bytes4 => rest.first_chunk().map(|bytes| word(u32::from_le_bytes(*bytes))),
        Width::Bytes8 => rest.first_chunk::<8>().map(words),
        Width::Bytes16 => rest.first_chunk::<16>().map(words),
        Width::Bytes32 => rest.first_chunk::<32>().map(words),
    };
    value.map(|words| access.extend(words))
}

#[inline]
fn word(word: u32) -> Words {
    let mut words = Words::default();
    words[0] = word;
    words
}

/// Little-endian words, with zeroes after the last.
#[inline]
fn words<const N: usize>(bytes: &[u8; N]) -> Words {
    let mut words = Words::default();
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// Loads the values of all lanes from the beginning of `bytes`, side by side, lane 0's first. Returns false, without
/// changing a row, if `bytes` is too short. Missing rows (Rd is RZ) drop their values.
#[inline(always)]
pub(super) fn copy(bytes: &[u8], access: LaneAccess, rows: &mut [LaneValues]) -> bool {
    let Some(bytes) = bytes.get(..LANES * access.width.bytes() as usize) else { return false };
    match (access.width, rows, bytes.first_chunk::<{ 4 * LANES }>()) {
        (Width::Bytes4, [row, ..], Some(bytes)) => {
            // Copied first, because bytes and row might overlap and the compiler would move single words.
            let bytes = *bytes;
            for (value, word) in row.iter_mut().zip(bytes.as_chunks().0) {
                *value = u32::from_le_bytes(*word);
            }
        }
        (_, rows, _) => copy_other(bytes, access, rows),
    }
    true
}

/// [`copy`] for the less common widths, which are not worth inlining. Loops, because whether `std::array::from_fn`
/// becomes vectors depends on the code around it.
#[inline(never)]
fn copy_other(bytes: &[u8], access: LaneAccess, rows: &mut [LaneValues]) {
    match (access.width, rows) {
        (Width::Bytes1, [row, ..]) => {
            let Some(bytes) = bytes.first_chunk::<LANES>() else { return };
            let extend = |byte: u8| if access.signed { byte as i8 as u32 } else { byte.into() };
            for (value, byte) in row.iter_mut().zip(bytes) {
                *value = extend(*byte);
            }
        }
        (Width::Bytes2, [row, ..]) => {
            let Some(bytes) = bytes.first_chunk::<{ 2 * LANES }>() else { return };
            let half = |lane: usize| u16::from_le_bytes([bytes[2 * lane], bytes[2 * lane + 1]]);
            let extend = |half: u16| if access.signed { half as i16 as u32 } else { half.into() };
            for (lane, value) in row.iter_mut().enumerate() {
                *value = extend(half(lane));
            }
        }
        (Width::Bytes8, rows) => copy_words::<{ 8 * LANES }, 2>(bytes, rows),
        (Width::Bytes16, rows) => copy_words::<{ 16 * LANES }, 4>(bytes, rows),
        (Width::Bytes32, rows) => copy_words::<{ 32 * LANES }, 8>(bytes, rows),
        _ => {}
    }
}

/// [`copy`] for values of `REGISTERS` registers; all lanes together have `BYTES` bytes.
#[inline]
fn copy_words<const BYTES: usize, const REGISTERS: usize>(bytes: &[u8], rows: &mut [LaneValues]) {
    let Some(bytes) = bytes.first_chunk::<BYTES>() else { return };
    let Some(rows) = rows.first_chunk_mut::<REGISTERS>() else {
        // The last registers of a load may be missing.
        for (i, row) in rows.iter_mut().enumerate() {
            *row = std::array::from_fn(|lane| word_at(bytes, REGISTERS * lane + i));
        }
        return;
    };
    for lane in 0..LANES {
        for (i, row) in rows.iter_mut().enumerate() {
            row[lane] = word_at(bytes, REGISTERS * lane + i);
        }
    }
}

/// The caller guarantees that the word exists.
#[inline(always)]
fn word_at<const N: usize>(bytes: &[u8; N], i: usize) -> u32 {
    u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]])
}

/// Loads the value of each executing lane from its offset into `bytes`; returns false at the first lane outside.
#[inline(always)]
pub(super) fn gather(
    bytes: &[u8],
    access: LaneAccess,
    offset: impl Fn(usize) -> u64,
    executing: LaneMask,
    rows: &mut [LaneValues],
) -> bool {
    let Some(last) = bytes.len().checked_sub(access.width.bytes() as usize) else { return false };
    if executing == LaneMask::ALL
        && access.width == Width::Bytes4
        && let [row, ..] = &mut *rows
    {
        for (lane, value) in row.iter_mut().enumerate() {
            // One comparison per lane, with the last place of a word.
            let offset = offset(lane);
            if offset > last as u64 {
                return false;
            }
            let place = offset as usize;
            let word = &bytes[place..place + 4];
            *value = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        }
        return true;
    }
    gather_strided(bytes, last as u64, 0, access, offset, executing, rows)
}

/// [`gather`] of a word for each lane, at addresses rounded down. The bytes begin at `base`, a multiple of 4.
#[inline(always)]
pub(super) fn gather_words(
    bytes: &[u8],
    base: u64,
    addresses: &[u64; LANES],
    executing: LaneMask,
    row: &mut LaneValues,
) -> bool {
    let words = bytes.as_chunks::<4>().0;
    let Some(last) = words.len().checked_sub(1) else { return false };
    let (mut gathered, mut beyond) = ([0; LANES], [0; LANES]);
    for lane in 0..LANES {
        let place = addresses[lane].wrapping_sub(base) / 4;
        beyond[lane] = u32::from(place > last as u64) << lane;
        // Every lane is inside, because vectors also read for lanes that do not execute.
        gathered[lane] = u32::from_le_bytes(words[(place as usize).min(last)]);
    }
    let beyond = beyond.iter().fold(0, |all, lane| all | lane);
    set_row(row, executing, |lane| gathered[lane]);
    beyond & executing.bits() == 0
}

/// [`gather`] for lanes with their own bytes, all of lane 0's first. The first `size` of each lane's count.
#[inline]
pub(super) fn gather_of_each_lane(
    (bytes, size): (&[u8], usize),
    access: LaneAccess,
    offset: impl Fn(usize) -> u64,
    executing: LaneMask,
    rows: &mut [LaneValues],
) -> bool {
    let each = bytes.len() / LANES;
    let Some(last) = size.checked_sub(access.width.bytes() as usize) else { return false };
    gather_strided(bytes, last as u64, each as u64, access, offset, executing, rows)
}

/// Gathers from bytes in which `last` is the last place of a lane's access, and each lane's bytes begin `stride` after
/// the lane before.
#[inline]
fn gather_strided(
    bytes: &[u8],
    last: u64,
    stride: u64,
    access: LaneAccess,
    offset: impl Fn(usize) -> u64,
    executing: LaneMask,
    rows: &mut [LaneValues],
) -> bool {
    for lane in executing {
        let offset = offset(lane);
        if offset > last {
            return false;
        }
        // Inside the bytes, so it cannot overflow.
        let place = offset + lane as u64 * stride;
        let Some(one) = fetch(bytes, access, place as usize) else { return false };
        put(rows, lane, one);
    }
    true
}

/// Missing rows drop their values.
#[inline]
pub(crate) fn put(rows: &mut [LaneValues], lane: usize, one: Words) {
    for (row, value) in rows.iter_mut().zip(one) {
        row[lane] = value;
    }
}

#[inline(always)]
pub(crate) fn set_row(row: &mut LaneValues, executing: LaneMask, value: impl Fn(usize) -> u32) {
    if executing == LaneMask::ALL {
        for (lane, place) in row.iter_mut().enumerate() {
            *place = value(lane);
        }
    } else {
        executing.lanes().for_each(|lane| row[lane] = value(lane));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_widths_agree() {
        for size in Size::ALL {
            let width = Width::from(size);
            assert_eq!((width.bytes(), width.registers()), (size.bytes(), size.registers()));
        }
        assert_eq!([0, 3, 8, 64].map(Width::from_bytes), [None, None, Some(Width::Bytes8), None]);
    }
}
