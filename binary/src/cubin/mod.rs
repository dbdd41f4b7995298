//! `Cubin`: an ELF file of machine 190. Its structures are read and checked against its size once, here. Code, names
//! of functions, relocations and source lines are all read from it.
//!
//! `Header`: the SM and the extent of a cubin, known even if its code is damaged or of an unknown SM.

mod attributes;
mod code;
mod header;
mod program;

use std::ops::Range;

use object::LittleEndian as LE;
use object::elf::{
    FileHeader32, FileHeader64, SHN_XINDEX, SHT_REL, SHT_RELA, SHT_SYMTAB, SHT_SYMTAB_SHNDX,
    STT_FUNC, SectionType,
};
use object::endian::U32;
use object::pod::{Pod, slice_from_all_bytes};
use object::read::elf::{FileHeader, Rel, Rela, Sym};
use warpload_encoding::Sm;

use self::code::Code;
pub(crate) use self::code::{Function, Text};
#[cfg(feature = "container")]
pub(crate) use self::header::Header;
pub use self::program::{
    CubinProgram, ProgramAttribute, ProgramRelocation, ProgramSection, ProgramSymbol,
};
use crate::sass::SassError;

/// A cubin with readable code.
#[derive(Debug)]
pub(crate) struct Cubin {
    pub(crate) data: Vec<u8>,
    pub(crate) sm: Sm,
    /// The code sections, in the order of the section table.
    pub(crate) text: Vec<Text>,
    /// Sorted by section, then by start, the longest first.
    pub(crate) functions: Vec<Function>,
    sections: Vec<Section>,
    pub(crate) is_32: bool,
    /// The file offset of the end of the section names.
    names_end: usize,
}

/// The header of a section, of either class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    /// The file offset of its name.
    name: usize,
    pub(crate) kind: SectionType,
    address: u64,
    pub(crate) offset: u64,
    /// Its size in the file, 0 for a section without data.
    size: u64,
    /// The memory that it takes.
    memory_size: u64,
    link: u32,
    info: u32,
}

/// A symbol, of either class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbol {
    /// The offset of its name in the string table.
    name: u32,
    is_function: bool,
    size: u64,
    /// The index of its section and its offset there; `None` without a section.
    pub(crate) place: Option<(usize, u64)>,
}

/// A place that the linker fills in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relocation {
    /// The index of its section, and the offset there.
    pub(crate) place: (usize, u64),
    /// The kind, `R_CUDA_…`.
    pub(crate) kind: u32,
    /// The index of the symbol.
    pub(crate) symbol: Option<usize>,
    /// The addend; `None` if it is in the place itself.
    pub(crate) addend: Option<i64>,
}

impl Cubin {
    /// Reads the structures of a cubin and checks them, so that reading its code cannot fail later.
    pub(crate) fn read(data: Vec<u8>) -> Result<Self, SassError> {
        header::check_machine(&data)?;
        let (header, tables) = header::Header::with_tables(&data)?;
        let sm = header.known_sm()?;
        let header::Tables { sections, names } = tables?;
        let (text, functions, names_end) = (Vec::new(), Vec::new(), names.end);
        let mut cubin =
            Self { data, sm, text, functions, sections, is_32: header.is_32, names_end };
        let Code { text, functions } = Code::read(&cubin)?;
        (cubin.text, cubin.functions) = (text, functions);
        Ok(cubin)
    }

    fn size(&self) -> u64 {
        self.data.len() as u64
    }

    /// The first section with this name, and its index.
    pub(crate) fn section(&self, name: &[u8]) -> Option<(usize, &Section)> {
        let mut sections = self.sections.iter().enumerate();
        sections.find(|(_, section)| section.is_named(name, &self.data[..self.names_end]))
    }

    /// The range of the section's data; `None` if it is outside the file.
    pub(crate) fn range(&self, section: &Section) -> Option<Range<usize>> {
        section.range(&self.data)
    }

    /// `None` if the entries are outside the file, or the last one is incomplete.
    fn entries<T: Pod>(&self, section: &Section) -> Option<&[T]> {
        slice_from_all_bytes(&self.data[self.range(section)?]).ok()
    }

    fn symbol_table(&self) -> Option<(usize, &Section)> {
        self.sections.iter().enumerate().find(|(_, section)| section.kind == SHT_SYMTAB)
    }

    /// `None` if the symbol table is damaged.
    pub(crate) fn symbols(&self) -> Option<Vec<Symbol>> {
        if self.is_32 {
            self.symbols_of::<FileHeader32<LE>>()
        } else {
            self.symbols_of::<FileHeader64<LE>>()
        }
    }

    fn symbols_of<Elf: FileHeader<Endian = LE>>(&self) -> Option<Vec<Symbol>> {
        let Some((index, table)) = self.symbol_table() else { return Some(Vec::new()) };
        // Section indices of more than 16 bits are in a table of their own.
        let is_extension = |s: &&Section| s.kind == SHT_SYMTAB_SHNDX && s.link as usize == index;
        let extended: &[U32<LE>] = match self.sections.iter().find(is_extension) {
            Some(extension) => self.entries(extension)?,
            None => &[],
        };
        let place = |number: usize, symbol: &Elf::Sym| {
            let section = match symbol.st_shndx(LE) {
                SHN_XINDEX => extended.get(number)?.get(LE) as usize,
                section => section.index()?.into(),
            };
            // The value is an address in a linked file, an offset in a relocatable one. There the sections have address
            // 0.
            let address: u64 = symbol.st_value(LE).into();
            Some((section, address.checked_sub(self.sections.get(section)?.address)?))
        };
        let symbols = self.entries::<Elf::Sym>(table)?.iter().enumerate();
        let symbols = symbols.map(|(number, symbol)| Symbol {
            name: symbol.st_name(LE),
            is_function: symbol.st_type() == STT_FUNC,
            size: symbol.st_size(LE).into(),
            place: place(number, symbol),
        });
        Some(symbols.collect())
    }

    /// The relocations of the chosen sections, and whether all their tables could be read.
    pub(crate) fn relocations(&self, is_chosen: impl Fn(usize) -> bool) -> (Vec<Relocation>, bool) {
        let (mut relocations, mut is_whole) = (Vec::new(), true);
        let mut left = self.data.len();
        let tables = self.sections.iter().filter(|table| is_chosen(table.info as usize));
        for table in tables.filter(|table| matches!(table.kind, SHT_REL | SHT_RELA)) {
            let size = self.range(table).map_or(0, |range| range.len());
            // Tables that overlap could need more memory than the file, so their sizes together are limited to its
            // size.
            let Some(rest) = left.checked_sub(size) else { return (relocations, false) };
            left = rest;
            let read = if self.is_32 {
                self.table_of::<FileHeader32<LE>>(table, &mut relocations)
            } else {
                self.table_of::<FileHeader64<LE>>(table, &mut relocations)
            };
            is_whole &= read.is_some();
        }
        (relocations, is_whole)
    }

    /// `None` if the table is damaged.
    fn table_of<Elf>(&self, table: &Section, relocations: &mut Vec<Relocation>) -> Option<()>
    where
        Elf: FileHeader<Endian = LE>,
    {
        let section = table.info as usize;
        if table.kind == SHT_REL {
            let entries = self.entries::<Elf::Rel>(table)?.iter();
            relocations.extend(entries.map(|entry| Relocation {
                place: (section, entry.r_offset(LE).into()),
                kind: entry.r_type(LE).0,
                symbol: entry.symbol(LE).map(|symbol| symbol.0),
                addend: None,
            }));
        } else {
            let entries = self.entries::<Elf::Rela>(table)?.iter();
            relocations.extend(entries.map(|entry| Relocation {
                place: (section, entry.r_offset(LE).into()),
                kind: entry.r_type(LE, false).0,
                symbol: entry.symbol(LE, false).map(|symbol| symbol.0),
                addend: Some(entry.r_addend(LE).into()),
            }));
        }
        Some(())
    }
}

impl Section {
    /// `names` is the file up to the end of the section names.
    fn is_named(&self, name: &[u8], names: &[u8]) -> bool {
        let rest = names.get(self.name..).and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| rest.first() == Some(&0))
    }

    fn range(&self, data: &[u8]) -> Option<Range<usize>> {
        let end = self.offset.checked_add(self.size).filter(|end| *end <= data.len() as u64)?;
        // The casts lose no bits, because the whole file is in memory.
        Some(self.offset as usize..end as usize)
    }
}
