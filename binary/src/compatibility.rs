//! `.nv.compat`, the section in which CUDA 13 says whether other SMs execute the code of a cubin: its header
//! leaves out the letter of SMs such as 9.0a.

use object::endian::LittleEndian;
use object::read::elf::{FileHeader, SectionHeader, SectionTable};

const COMPATIBILITY: &[u8] = b".nv.compat\0";

/// The attribute that is 1 for code that only this SM executes.
const SPECIFIC_ATTRIBUTE: u8 = 9;

/// Returns whether a cubin says that only its SM executes the code. `names` are the section names.
pub(crate) fn is_specific<'data, Elf: FileHeader<Endian = LittleEndian>>(
    data: &'data [u8],
    sections: &SectionTable<'data, Elf, &'data [u8]>,
    names: &[u8],
) -> bool {
    let is_it = |section: &&Elf::SectionHeader| {
        let name = names.get(section.sh_name(LittleEndian) as usize..).unwrap_or_default();
        name.starts_with(COMPATIBILITY)
    };
    let attributes = sections.iter().find(is_it).map(|section| section.data(LittleEndian, data));
    attributes.is_some_and(|attributes| attributes.is_ok_and(says_specific))
}

/// Whether attributes say that only one SM executes the code. Each has its format and its number; the
/// formats are those of `.nv.info`: a value of 8 or 16 bits, or a size and that many bytes.
fn says_specific(mut attributes: &[u8]) -> bool {
    while let Some(([format, number, low, high], rest)) = attributes.split_first_chunk() {
        if *number == SPECIFIC_ATTRIBUTE && *format == 2 {
            return *low == 1;
        }
        let size = if *format == 4 { usize::from(u16::from_le_bytes([*low, *high])) } else { 0 };
        attributes = rest.get(size..).unwrap_or_default();
    }
    false
}
