//! [`Layout`]: the ELF structures of a cubin as ranges of the file, checked against its size; and the
//! registers per thread of its functions, which only the section `.nv.info` has from SM 9.0 on.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use object::elf::{
    self, FileHeader32, FileHeader64, SHT_PROGBITS, SHT_STRTAB, SHT_SYMTAB, STT_FUNC,
};
use object::endian::LittleEndian;
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym};
use warpload_encoding::Sm;

use super::code::CodeUnit;
use super::error::SassError;
use crate::compatibility;

/// The longest name in bytes; mangled names of C++ templates are much shorter.
const MAX_NAME_BYTES: usize = 1 << 16;

/// The `EI_OSABI` of NVIDIA's second ABI, which has the SM elsewhere in the header's flags. ptxas
/// writes it for SM 10.0 and later, and from 13.0 on for every SM.
const OS_ABI_2: u8 = 0x41;

/// The first SM whose sections do not have the registers.
const REGISTERS_IN_INFO: u32 = 90;

#[derive(Debug)]
pub(super) struct Layout {
    pub(super) sm: Sm,
    /// In the order of the section table; empty if the cubin has no code.
    pub(super) text: Vec<TextSection>,
    /// Sorted by section and start, the longest first; empty if no section needs them.
    pub(super) symbols: Vec<FunctionSymbol>,
}

/// A section with code.
#[derive(Debug)]
pub(super) struct TextSection {
    /// Its index in the section table.
    pub(super) index: usize,
    /// The name of the function; `None` in a section `.text`, whose functions the symbols name.
    pub(super) name: Option<Name>,
    pub(super) code: Range<usize>,
    pub(super) registers: Option<u8>,
}

/// A function in a section that is named just `.text`.
#[derive(Debug)]
pub(super) struct FunctionSymbol {
    pub(super) section: usize,
    /// The bytes of the section that it covers.
    pub(super) covers: Range<u64>,
    pub(super) name: Name,
}

/// A string in a string table. Its end is searched for only when the text is needed: many names of a
/// file can share one long string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// Where it begins in the file.
    pub(super) start: usize,
    /// Where the table ends.
    pub(super) table_end: usize,
}

impl Name {
    pub(super) fn text(self, data: &[u8]) -> Result<String, SassError> {
        let too_long = SassError::NameTooLong { offset: self.start as u64, limit: MAX_NAME_BYTES };
        let end = self.table_end.min(self.start.saturating_add(MAX_NAME_BYTES));
        let bytes = data.get(self.start..end).unwrap_or_default();
        let length = memchr::memchr(0, bytes).ok_or(too_long)?;
        Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
    }
}

impl Layout {
    /// Reads the ELF structures of a cubin, and checks all that reading its code relies on.
    pub(super) fn read(data: &[u8]) -> Result<Self, SassError> {
        let machine = data.get(18..20).and_then(|bytes| bytes.first_chunk().copied());
        let big_endian = data.get(5) == Some(&elf::ELFDATA2MSB.0);
        let from_bytes = if big_endian { u16::from_be_bytes } else { u16::from_le_bytes };
        if let Some(machine) = machine.map(from_bytes).filter(|m| *m != elf::EM_CUDA.0) {
            return Err(SassError::OtherMachine { machine });
        }
        if data.get(4) == Some(&elf::ELFCLASS32.0) {
            Self::of_class::<FileHeader32<LittleEndian>>(data)
        } else {
            Self::of_class::<FileHeader64<LittleEndian>>(data)
        }
    }

    /// Reads an ELF file of either class.
    fn of_class<Elf: FileHeader<Endian = LittleEndian>>(data: &[u8]) -> Result<Self, SassError> {
        let file_size = data.len() as u64;
        let broken = |part, offset| {
            move |error: object::Error| {
                let reason = error.to_string();
                SassError::Elf { part, offset, file_size, reason }
            }
        };
        let header = Elf::parse(data).map_err(broken("ELF header", 0))?;
        let endian = header.endian().map_err(broken("ELF header", 0))?;
        let sm = sm(header.e_ident().os_abi.0, header.e_flags(endian).0)?;
        // The program headers are not needed, but they come last in the files of NVIDIA's tools: if
        // they are there, the file is complete.
        let program_headers = header.e_phoff(endian).into();
        header.program_headers(endian, data).map_err(broken("program headers", program_headers))?;
        let sections = header
            .sections(endian, data)
            .map_err(broken("section headers", header.e_shoff(endian).into()))?;
        let names = header
            .section_strings_index(endian, data)
            .and_then(|index| sections.section(index))
            .map_err(broken("section names", header.e_shoff(endian).into()))?;
        let names = file_range::<Elf>(names, "the section names", file_size)?;
        let all_names = data.get(names.clone()).unwrap_or_default();
        let is_specific = compatibility::is_specific::<Elf>(data, &sections, all_names);
        let sm = if is_specific { sm.specific() } else { sm };

        let text = text_sections::<Elf>(data, &sections, names, sm)?;
        let symbols = if text.iter().any(|section| section.name.is_none()) {
            function_symbols::<Elf>(data, &sections)?
        } else {
            Vec::new()
        };
        Ok(Self { sm, text, symbols })
    }
}

/// Returns the SM of a cubin by two fields of its header.
fn sm(os_abi: u8, flags: u32) -> Result<Sm, SassError> {
    let (shift, specific) = if os_abi == OS_ABI_2 { (8, 0x8) } else { (0, 0x800) };
    let number = flags >> shift & 0xff;
    let is_specific = flags & specific != 0;
    // The flag is older than the letter, which begins with 90a.
    let with_letter = || format!("{number}a").parse().ok().filter(|_| is_specific);
    let sm = with_letter().or_else(|| Sm::new(number));
    sm.ok_or(SassError::UnsupportedSm { sm: number, line: None })
}

type Sections<'data, Elf> = SectionTable<'data, Elf, &'data [u8]>;

fn text_sections<'data, Elf: FileHeader<Endian = LittleEndian>>(
    data: &'data [u8],
    sections: &Sections<'data, Elf>,
    names: Range<usize>,
    sm: Sm,
) -> Result<Vec<TextSection>, SassError> {
    let file_size = data.len() as u64;
    let unit = CodeUnit::new(sm);
    let mut text = Vec::new();
    let mut total = 0;
    let mut names_left = data.len();
    let mut info = None;
    for (index, section) in sections.iter().enumerate() {
        let start = names.start.saturating_add(section.sh_name(LittleEndian) as usize);
        let section_name = data.get(start..names.end).unwrap_or_default();
        if section_name.starts_with(b".nv.info\0") {
            info = info.or(Some(section));
        }
        let Some(suffix) = section_name.strip_prefix(b".text") else { continue };
        let after_dot = Name { start: start + ".text.".len(), table_end: names.end };
        let function = match suffix.first() {
            Some(0) => None,
            Some(b'.') => Some(after_dot),
            _ => continue,
        };
        if section.sh_type(LittleEndian) != SHT_PROGBITS {
            continue;
        }
        let name = Name { start, table_end: names.end }.text(data)?;
        // Many sections can share one long string.
        names_left = names_left
            .checked_sub(name.len())
            .ok_or(SassError::NamesOverlap { offset: start as u64, file_size })?;
        let code = file_range::<Elf>(section, &name, file_size)?;
        let offset = code.start as u64;
        if code.len() % unit.bytes() != 0 {
            let size = code.len() as u64;
            return Err(SassError::PartialSection { name, offset, size, unit });
        }
        total += code.len();
        if total > data.len() {
            return Err(SassError::SectionsOverlap { name, offset, file_size });
        }
        let registers = (section.sh_info(LittleEndian) >> 24) as u8;
        text.push(TextSection { index, name: function, code, registers: Some(registers) });
    }
    if sm.number() >= REGISTERS_IN_INFO {
        let info = info.and_then(|info| info.data(LittleEndian, data).ok()).unwrap_or_default();
        let registers = registers_of_sections(data, sections, info);
        for section in &mut text {
            section.registers = registers.get(&section.index).copied();
        }
    }
    Ok(text)
}

fn function_symbols<Elf: FileHeader<Endian = LittleEndian>>(
    data: &[u8],
    sections: &Sections<'_, Elf>,
) -> Result<Vec<FunctionSymbol>, SassError> {
    let file_size = data.len() as u64;
    let table = sections.symbols(LittleEndian, data, SHT_SYMTAB).map_err(|error| {
        let reason = error.to_string();
        let offset = sections
            .iter()
            .find(|section| section.sh_type(LittleEndian) == SHT_SYMTAB)
            .map_or(0, |section| section.sh_offset(LittleEndian).into());
        SassError::Elf { part: "symbol table", offset, file_size, reason }
    })?;
    let strings = match sections.section(table.string_section()) {
        Ok(strings) if strings.sh_type(LittleEndian) == SHT_STRTAB => {
            file_range::<Elf>(strings, "the symbols' names", file_size)?
        }
        _ => return Ok(Vec::new()),
    };
    let mut functions = Vec::new();
    for (index, symbol) in table.enumerate() {
        let Ok(Some(section)) = table.symbol_section(LittleEndian, symbol, index) else { continue };
        let Ok(header) = sections.section(section) else { continue };
        // An address in a linked file, an offset elsewhere, where sections have no address.
        let address: u64 = symbol.st_value(LittleEndian).into();
        let start = address.checked_sub(header.sh_addr(LittleEndian).into());
        let (STT_FUNC, Some(start)) = (symbol.st_type(), start) else { continue };
        let covers = start..start.saturating_add(symbol.st_size(LittleEndian).into());
        let start = strings.start.saturating_add(symbol.st_name(LittleEndian) as usize);
        let name = Name { start, table_end: strings.end };
        functions.push(FunctionSymbol { section: section.0, covers, name });
    }
    functions.sort_by_key(|f| (f.section, f.covers.start, Reverse(f.covers.end)));
    Ok(functions)
}

/// Returns where the data of a section are, which must be within the file.
fn file_range<Elf: FileHeader<Endian = LittleEndian>>(
    section: &Elf::SectionHeader,
    name: &str,
    file_size: u64,
) -> Result<Range<usize>, SassError> {
    let (offset, size) = section.file_range(LittleEndian).unwrap_or_default();
    match offset.checked_add(size) {
        // The file is in memory, so that its size fits.
        Some(end) if end <= file_size => Ok(offset as usize..end as usize),
        _ => Err(SassError::SectionOutsideFile { name: name.to_owned(), offset, size, file_size }),
    }
}

/// The formats of attributes: with this one the value is a size, and that many bytes follow.
const SIZED: u8 = 4;

/// The attribute with a symbol and its registers, each four bytes.
const REGISTER_COUNT: u8 = 0x2f;

/// Returns the registers of the function that begins each section, by the index of the section.
/// Nothing else depends on them, so damaged entries are left out.
fn registers_of_sections<'data, Elf: FileHeader<Endian = LittleEndian>>(
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
