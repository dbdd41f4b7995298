//! The parts of a load that become one instruction each.

use crate::meaning::{Meaning, Register};
use warpload::memory::AddressSpace;

/// A part of a load that becomes one instruction.
pub(super) struct Piece<'d> {
    /// Bytes from the load's first.
    pub(super) offset: i64,
    pub(super) bytes: u32,
    pub(super) elements: &'d [Option<Register>],
}

/// The widest load of a constant bank, in bytes.
const WIDEST: u32 = 8;

/// Returns what becomes one instruction each: the whole load, or elements of a vector in constant
/// memory. Those of two or four bytes are loaded together as far as the offset from an aligned base
/// allows it; `aligned` is that offset if the base is known to be a multiple of 8.
pub(super) fn pieces(meaning: &Meaning, aligned: Option<i64>) -> Vec<Piece<'_>> {
    let element = meaning.bytes() / u32::from(meaning.elements.max(1));
    let is_constant = matches!(meaning.space, AddressSpace::Constant { .. });
    if !is_constant || meaning.elements < 2 {
        let elements = &meaning.destinations[..];
        return vec![Piece { offset: 0, bytes: meaning.bytes(), elements }];
    }
    let mut pieces = Vec::new();
    let (mut offset, mut rest) = (0_i64, &meaning.destinations[..]);
    while !rest.is_empty() {
        let fits = |bytes: u32| {
            let is_aligned =
                aligned.is_some_and(|first| first.wrapping_add(offset) % i64::from(bytes) == 0);
            element > 1 && is_aligned && bytes as usize <= element as usize * rest.len()
        };
        let bytes = [WIDEST, WIDEST / 2].into_iter().find(|bytes| *bytes > element && fits(*bytes));
        let bytes = bytes.unwrap_or(element);
        let (elements, after) = rest.split_at((bytes / element.max(1)).max(1) as usize);
        pieces.push(Piece { offset, bytes, elements });
        offset += i64::from(bytes);
        rest = after;
    }
    pieces
}
