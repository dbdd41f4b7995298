//! Contents of Tensor Memory that are a function of lane and column.

use crate::syntax::named::named;

named! {
    /// Contents for tests: each cell's value is a function of its lane and column.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum Pattern: "a pattern: lane*65536+col, packid, hash, f32rand or f32special" {
        /// `lane*65536+col`: each cell holds its own address.
        LaneColumn = "lane*65536+col",
        /// `packid`: with x = lane * 512 + column, x in the low half and its complement in the upper
        /// one. The low halves all differ, so that the halves that `.pack::16b` combines can be told
        /// apart.
        PackIdentity = "packid",
        /// `hash`: lane * 512 + column + 1, well mixed.
        Hash = "hash",
        /// `f32rand`: ordinary numbers as binary32, of both signs, 2^-31 to 2^33 in size.
        F32Random = "f32rand",
        /// `f32special`: by lane mod 8, NaNs, one NaN in eight columns, zeroes of either sign, zeroes
        /// of one sign, special numbers, subnormal ones, infinities among numbers, and `f32rand`.
        F32Special = "f32special",
    }
}

const NANS: [u32; 5] = [0x7fc0_0000, 0xffc0_0000, 0x7f80_0001, 0xffff_ffff, 0x7fff_ffff];

/// Zeroes, the ends of the subnormal and normal ranges, one, infinities, pi; each with its negative.
const SPECIAL: [u32; 16] = [
    0x0000_0000,
    0x8000_0000,
    0x0000_0001,
    0x8000_0001,
    0x007f_ffff,
    0x807f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x4049_0fdb,
    0xc049_0fdb,
];

impl Pattern {
    /// Returns the value of the cell of this lane and column.
    #[must_use]
    pub fn value(self, lane: usize, column: usize) -> u32 {
        match self {
            Self::LaneColumn => (lane as u32) << 16 | column as u32,
            Self::PackIdentity => {
                let x = number(lane, column);
                (!x & 0xffff) << 16 | x
            }
            Self::Hash => hash(lane, column),
            Self::F32Random => random_number(hash(lane, column)),
            Self::F32Special => special(lane, column),
        }
    }
}

const fn number(lane: usize, column: usize) -> u32 {
    (lane as u32).wrapping_mul(512).wrapping_add(column as u32)
}

const fn hash(lane: usize, column: usize) -> u32 {
    let v = number(lane, column).wrapping_add(1).wrapping_mul(0x9e37_79b1);
    let v = (v ^ v >> 15).wrapping_mul(0x85eb_ca6b);
    v ^ v >> 13
}

/// Sign and fraction of the hash, and an exponent that is far from both ends.
const fn random_number(hash: u32) -> u32 {
    hash & 0x807f_ffff | (96 + (hash >> 23 & 63)) << 23
}

fn special(lane: usize, column: usize) -> u32 {
    let hash = hash(lane, column);
    let nan = NANS[lane.wrapping_div(8).wrapping_add(column) % NANS.len()];
    let zero = |negative: bool| if negative { 0x8000_0000 } else { 0 };
    match lane % 8 {
        0 => nan,
        1 if column % 8 == 3 => nan,
        2 => zero(hash & 1 != 0),
        3 => zero(!(lane / 8).is_multiple_of(2)),
        4 => SPECIAL[hash as usize % SPECIAL.len()],
        5 => hash & 0x807f_ffff,
        6 if column % 4 == 1 => 0x7f80_0000 | hash & 0x8000_0000,
        _ => random_number(hash),
    }
}
