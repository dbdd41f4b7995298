//! The registers per thread of functions in the section `.nv.info` of a cubin, which alone has them
//! from SM 9.0 on.

use std::collections::BTreeMap;

use object::elf::{SHT_SYMTAB, STT_FUNC};
use object::endian::LittleEndian;
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym};

/// The formats of attributes: with this one the value is a size, and that many bytes follow.
const SIZED: u8 = 4;

/// The attribute with a symbol and its registers, each four bytes.
const REGISTER_COUNT: u8 = 0x2f;

/// Returns the registers of the function that begins each section, by the index of the section.
/// Nothing else depends on them, so what is damaged is left out.
pub(super) fn of_sections<'data, Elf: FileHeader<Endian = LittleEndian>>(
    data: &'data [u8],
    sections: &SectionTable<'data, Elf, &'data [u8]>,
    info: &[u8],
) -> BTreeMap<usize, u8> {
    let mut registers = BTreeMap::new();
    let Ok(symbols) = sections.symbols(LittleEndian, data, SHT_SYMTAB) else { return registers };
    for (index, count) in register_counts(info) {
        let index = object::SymbolIndex(index as usize);
        let Ok(symbol) = symbols.symbol(index) else { continue };
        let Ok(Some(section)) = symbols.symbol_section(LittleEndian, symbol, index) else {
            continue;
        };
        let Ok(header) = sections.section(section) else { continue };
        let begins_it = symbol.st_value(LittleEndian).into() == header.sh_addr(LittleEndian).into();
        if let (true, STT_FUNC, Ok(count)) = (begins_it, symbol.st_type(), u8::try_from(count)) {
            registers.entry(section.0).or_insert(count);
        }
    }
    registers
}

/// Returns the symbols and their registers; ends where an attribute is cut off.
fn register_counts(mut info: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    let attributes = std::iter::from_fn(move || {
        let (&[format, attribute, low, high], rest) = info.split_first_chunk()?;
        let size = if format == SIZED { u16::from_le_bytes([low, high]) } else { 0 };
        let (value, rest) = rest.split_at_checked(size.into())?;
        info = rest;
        Some((attribute, value))
    });
    attributes.filter(|(attribute, _)| *attribute == REGISTER_COUNT).filter_map(|(_, value)| {
        let (index, count) = value.split_first_chunk()?;
        Some((u32::from_le_bytes(*index), u32::from_le_bytes(*count.first_chunk()?)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_walked_by_their_sizes() {
        let info = [
            &[4, 0x2f, 8, 0, 7, 0, 0, 0, 40, 0, 0, 0][..],
            // One that holds what looks like the attribute.
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
}
