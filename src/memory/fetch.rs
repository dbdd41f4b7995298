//! Bytes of the arena to register values.

use super::source::Region;
use crate::lane::{LANES, LaneMask, LaneValues};

/// How many bytes a lane reads and how they fill registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// 1, 2, 4, 8 or 16.
    pub bytes: u32,
    /// Whether a value narrower than 32 bits is sign-extended.
    pub signed: bool,
}

impl Access {
    /// Extends a value of this width, which stands in the first words, to whole registers.
    #[inline]
    pub(super) fn extend(self, mut words: [u32; 4]) -> [u32; 4] {
        if self.signed {
            words[0] = match self.bytes {
                1 => words[0] as u8 as i8 as u32,
                2 => words[0] as u16 as i16 as u32,
                _ => words[0],
            };
        }
        words
    }
}

/// One lane's value from that place of the arena.
#[inline]
pub(super) fn fetch(arena: &[u8], access: Access, place: usize) -> [u32; 4] {
    let [a, b, c, d] = match access.bytes {
        1 => [u32::from(u8::from_le_bytes(take(arena, place))), 0, 0, 0],
        2 => [u32::from(u16::from_le_bytes(take(arena, place))), 0, 0, 0],
        4 => [u32::from_le_bytes(take(arena, place)), 0, 0, 0],
        8 => words(take::<8>(arena, place)),
        _ => words(take::<16>(arena, place)),
    };
    access.extend([a, b, c, d])
}

/// Little-endian words, zeroes behind the last.
#[inline]
fn words<const N: usize>(bytes: [u8; N]) -> [u32; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// `N` bytes of the arena; zeroes outside of it, where no region lies.
#[inline]
fn take<const N: usize>(arena: &[u8], place: usize) -> [u8; N] {
    arena.get(place..).and_then(|rest| rest.first_chunk::<N>()).copied().unwrap_or([0; N])
}

/// The values of all lanes whose bytes lie side by side, lane 0's first, at the beginning of
/// `bytes`. Where `bytes` ends before, or rows are missing (Rd is RZ), nothing is written.
#[inline]
pub(super) fn copy(bytes: &[u8], access: Access, rows: &mut [LaneValues]) {
    match (access.bytes, rows) {
        (1, [row, ..]) => {
            let Some(bytes) = bytes.first_chunk::<LANES>() else { return };
            let extend = |byte: u8| if access.signed { byte as i8 as u32 } else { byte.into() };
            *row = bytes.map(extend);
        }
        (2, [row, ..]) => {
            let Some(bytes) = bytes.first_chunk::<{ 2 * LANES }>() else { return };
            let half = |lane: usize| u16::from_le_bytes([bytes[2 * lane], bytes[2 * lane + 1]]);
            let extend = |half: u16| if access.signed { half as i16 as u32 } else { half.into() };
            *row = std::array::from_fn(|lane| extend(half(lane)));
        }
        (4, [row, ..]) => {
            let Some(bytes) = bytes.first_chunk::<{ 4 * LANES }>() else { return };
            *row = std::array::from_fn(|lane| word(bytes, lane));
        }
        (8, [low, high, ..]) => {
            let Some(bytes) = bytes.first_chunk::<{ 8 * LANES }>() else { return };
            for (i, row) in [low, high].into_iter().enumerate() {
                *row = std::array::from_fn(|lane| word(bytes, 2 * lane + i));
            }
        }
        (16, [a, b, c, d, ..]) => {
            let Some(bytes) = bytes.first_chunk::<{ 16 * LANES }>() else { return };
            for (i, row) in [a, b, c, d].into_iter().enumerate() {
                *row = std::array::from_fn(|lane| word(bytes, 4 * lane + i));
            }
        }
        _ => {}
    }
}

/// The `i`-th little-endian word; the caller stays inside.
#[inline(always)]
fn word<const N: usize>(bytes: &[u8; N], i: usize) -> u32 {
    u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]])
}

/// The values of the executing lanes, each from its offset into `region`, whose bytes these are;
/// false at the first one that is outside.
#[inline]
pub(super) fn gather(
    bytes: &[u8],
    access: Access,
    offset: impl Fn(usize) -> u64,
    region: &Region,
    executing: LaneMask,
    rows: &mut [LaneValues],
) -> bool {
    if executing == LaneMask::ALL
        && access.bytes == 4
        && region.lane_stride == 0
        && let [row, ..] = &mut *rows
    {
        let Some(limit) = bytes.len().checked_sub(4) else { return false };
        for (lane, value) in row.iter_mut().enumerate() {
            let offset = offset(lane);
            if offset > limit as u64 {
                return false;
            }
            let place = offset as usize;
            let word = &bytes[place..place + 4];
            *value = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        }
        return true;
    }
    let reach = u64::from(access.bytes) - 1;
    for lane in executing.lanes() {
        let offset = offset(lane);
        if offset.checked_add(reach).is_none_or(|end| end > region.last) {
            return false;
        }
        let place = offset + lane as u64 * region.lane_stride;
        let one = fetch(bytes, access, place as usize);
        put(rows, lane, one);
    }
    true
}

/// Sets one lane's registers; missing rows drop their values.
#[inline]
pub(crate) fn put(rows: &mut [LaneValues], lane: usize, one: [u32; 4]) {
    for (row, value) in rows.iter_mut().zip(one) {
        row[lane] = value;
    }
}
