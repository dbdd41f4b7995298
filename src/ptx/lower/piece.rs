//! The parts of a load that become one instruction each.

use crate::ptx::meaning::{LoadSpace, Meaning, Register};

/// A part of a load that becomes one instruction.
pub(super) struct Piece<'d> {
    /// Bytes from the load's first.
    pub(super) offset: i64,
    pub(super) bytes: u32,
    pub(super) elements: &'d [Option<Register>],
}

/// What becomes one instruction each: the whole load, and in constant memory each element of a
/// vector of 128 bits or of bytes.
pub(super) fn pieces(meaning: &Meaning) -> Vec<Piece<'_>> {
    let element = meaning.bytes() / u32::from(meaning.elements);
    let is_constant = matches!(meaning.space, LoadSpace::Const | LoadSpace::Param);
    let is_split = is_constant && meaning.elements > 1 && (meaning.bytes() >= 16 || element == 1);
    let elements = if is_split { 1 } else { meaning.destinations.len().max(1) };
    let pieces = meaning.destinations.chunks(elements).enumerate();
    pieces
        .map(|(i, elements)| Piece {
            offset: i64::from(element) * i as i64,
            bytes: element * elements.len() as u32,
            elements,
        })
        .collect()
}
