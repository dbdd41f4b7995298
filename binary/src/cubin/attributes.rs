//! The attributes of `.nv.info` and `.nv.compat`. `.nv.info` has the registers of functions. `.nv.compat` says whether
//! other SMs execute the code, because the header of a cubin of CUDA 13 leaves out the letter of SMs such as 9.0a.

use object::LittleEndian as LE;
use object::endian::{U16, U32};
use object::pod::{from_bytes, slice_from_bytes};

/// The formats: a value of 8 bits, and a size followed by as many bytes. Others have a value of 16 bits.
const BYTE: u8 = 2;
const SIZED: u8 = 4;

/// In `.nv.compat`: 1 for code that only this SM executes. Code for a family has no mark.
const SPECIFIC: u8 = 9;

/// In `.nv.info`: a symbol and its registers.
const REGISTER_COUNT: u8 = 0x2f;

pub(super) struct Attribute<'d> {
    format: u8,
    pub(super) number: u8,
    /// The value, or the size of `sized`.
    pub(super) short: U16<LE>,
    pub(super) sized: &'d [u8],
}

/// Stops at an attribute that is cut off.
pub(super) fn attributes(mut section: &[u8]) -> impl Iterator<Item = Attribute<'_>> {
    std::iter::from_fn(move || {
        let (&[format, number], rest) = section.split_first_chunk()?;
        let (short, rest) = from_bytes::<U16<LE>>(rest).ok()?;
        let size = if format == SIZED { short.get(LE) } else { 0 };
        let (sized, rest) = rest.split_at_checked(size.into())?;
        section = rest;
        Some(Attribute { format, number, short: *short, sized })
    })
}

/// Whether `.nv.compat` says that only one SM executes the code.
pub(super) fn says_specific(section: &[u8]) -> bool {
    let mut all = attributes(section);
    all.find(|one| one.number == SPECIFIC && one.format == BYTE)
        .is_some_and(|one| one.short.get(LE) as u8 == 1)
}

/// The registers per thread in `.nv.info`, each with the index of its symbol.
pub(super) fn register_counts(section: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    attributes(section).filter(|one| one.number == REGISTER_COUNT).filter_map(|one| {
        let (pair, _) = slice_from_bytes::<U32<LE>>(one.sized, 2).ok()?;
        Some((pair.first()?.get(LE), pair.last()?.get(LE)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_walked_by_their_sizes() {
        let info = [
            &[4, 0x2f, 8, 0, 7, 0, 0, 0, 40, 0, 0, 0][..],
            // The bytes of another attribute can look like a register count.
            &[4, 0x11, 12, 0, 4, 0x2f, 8, 0, 9, 0, 0, 0, 9, 0, 0, 0],
            &[3, 0x2f, 8, 0],
            &[4, 0x2f, 8, 0, 8, 0, 0, 0, 0, 1, 0, 0],
        ]
        .concat();
        let all: Vec<_> = register_counts(&info).collect();
        assert_eq!(all, [(7, 40), (8, 256)]);
        for length in 0..info.len() {
            let read: Vec<_> = register_counts(&info[..length]).collect();
            assert!(all.starts_with(&read) && read.len() < 2, "{length}");
        }
    }

    /// The bytes before the mark are from ptxas 13.5 for SM 10.0a.
    #[test]
    fn code_for_one_sm_is_marked() {
        let before = [4, 0x0b, 8, 0, 2, 9, 1, 0, 0, 0, 0, 0, 2, 0x0c, 0, 0];
        for (value, expected) in [(1, true), (0, false)] {
            let section = [&before[..], &[2, 9, value, 0, 2, 2, 1, 0]].concat();
            assert_eq!(says_specific(&section), expected);
            assert!((0..before.len() + 4).all(|length| !says_specific(&section[..length])));
        }
    }
}
