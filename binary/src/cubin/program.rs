//! [`CubinProgram`]: all that a machine loads of a cubin: sections, symbols, relocations and attributes.

use object::elf::{ELFMAG, SHT_NOBITS};
use object::endian::{LittleEndian as LE, U32};
use object::pod::slice_from_all_bytes;
use warpload_encoding::Sm;

use super::attributes::attributes;
use super::{Cubin, Section};
use crate::sass::SassError;

/// A cubin as a machine loads it.
#[derive(Debug)]
pub struct CubinProgram {
    cubin: Cubin,
    symbols: Vec<ProgramSymbol>,
}

/// A section of a cubin.
#[derive(Clone, Copy, Debug)]
pub struct ProgramSection<'c> {
    /// Its index, by which symbols and relocations name it.
    pub index: usize,
    /// Its name; bytes that are not UTF-8 have no place in names of sections.
    pub name: &'c str,
    /// Its bytes in the file; none if the section only reserves memory.
    pub bytes: &'c [u8],
    /// The offset of the bytes in the file.
    pub offset: u64,
    /// The memory that it takes, in bytes.
    pub size: u64,
    /// The section that it belongs to: for attributes, that of the function.
    pub of: usize,
    /// The registers of each thread, if it has the code of a function.
    pub registers: u8,
}

/// A symbol of a cubin.
#[derive(Clone, Debug)]
pub struct ProgramSymbol {
    /// The name.
    pub name: String,
    /// The section and the offset there; `None` for what the linker or the driver provides.
    pub place: Option<(usize, u64)>,
    /// The size in bytes.
    pub size: u64,
    /// Whether it is a function.
    pub is_function: bool,
}

/// A place that a linker fills in with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramRelocation {
    /// The section, and the offset there.
    pub place: (usize, u64),
    /// The kind, `R_CUDA_…`.
    pub kind: u32,
    /// The index of the symbol.
    pub symbol: Option<usize>,
    /// The addend; `None` if it is in the place itself.
    pub addend: Option<i64>,
}

/// An attribute of a function, or of the whole program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramAttribute {
    /// The number, `EIATTR_…`.
    pub number: u8,
    /// The words of the value; those of a short value are one.
    pub words: Vec<u32>,
}

impl CubinProgram {
    /// Reads a cubin.
    ///
    /// # Errors
    /// Returns [`SassError`] if the file is not a cubin of a known SM, or its structures are damaged.
    pub fn read(data: Vec<u8>) -> Result<Self, SassError> {
        if !data.starts_with(&ELFMAG) {
            return Err(SassError::NotElf);
        }
        let cubin = Cubin::read(data)?;
        let damaged = || SassError::Elf {
            part: "symbol table",
            offset: 0,
            file_size: cubin.size(),
            reason: "its entries or names are not whole".to_owned(),
        };
        let known = cubin.symbols().ok_or_else(damaged)?;
        let strings =
            cubin.symbol_table().and_then(|(_, table)| cubin.sections.get(table.link as usize));
        let strings = strings.and_then(|section| cubin.data.get(cubin.range(section)?));
        // Names can share one long string, so that all together are limited to the size of the file.
        let mut left = cubin.data.len();
        let mut symbols = Vec::with_capacity(known.len());
        for symbol in known {
            let rest =
                strings.and_then(|strings| strings.get(symbol.name as usize..)).unwrap_or_default();
            let length = memchr::memchr(0, rest).unwrap_or(rest.len());
            left = left.checked_sub(length).ok_or_else(damaged)?;
            let name = String::from_utf8_lossy(&rest[..length]).into_owned();
            let (place, size, is_function) = (symbol.place, symbol.size, symbol.is_function);
            symbols.push(ProgramSymbol { name, place, size, is_function });
        }
        Ok(Self { cubin, symbols })
    }

    /// Returns the SM of the code.
    #[must_use]
    pub fn sm(&self) -> Sm {
        self.cubin.sm
    }

    /// Returns the bytes of the file.
    #[must_use]
    pub fn file(&self) -> &[u8] {
        &self.cubin.data
    }

    /// Returns the sections in the order of the file.
    pub fn sections(&self) -> impl Iterator<Item = ProgramSection<'_>> {
        let names = &self.cubin.data[..self.cubin.names_end];
        self.cubin.sections.iter().enumerate().map(move |(index, section)| {
            let name = names.get(section.name..).unwrap_or_default();
            let name = &name[..memchr::memchr(0, name).unwrap_or(name.len())];
            let bytes = self.cubin.range(section).map(|range| &self.cubin.data[range]);
            let Section { kind, offset, memory_size, info, .. } = *section;
            ProgramSection {
                index,
                name: str::from_utf8(name).unwrap_or(""),
                bytes: bytes.filter(|_| kind != SHT_NOBITS).unwrap_or_default(),
                offset,
                size: memory_size,
                of: (info & 0xff_ffff) as usize,
                registers: (info >> 24) as u8,
            }
        })
    }

    /// Returns the first section with a name.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<ProgramSection<'_>> {
        self.sections().find(|section| section.name == name)
    }

    /// Returns the symbols, by which relocations name them.
    #[must_use]
    pub fn symbols(&self) -> &[ProgramSymbol] {
        &self.symbols
    }

    /// Returns the relocations of a section.
    #[must_use]
    pub fn relocations(&self, section: usize) -> Vec<ProgramRelocation> {
        let (relocations, _) = self.cubin.relocations(|of| of == section);
        relocations
            .iter()
            .map(|one| ProgramRelocation {
                place: one.place,
                kind: one.kind,
                symbol: one.symbol,
                addend: one.addend,
            })
            .collect()
    }

    /// Returns the attributes of a section `.nv.info` or `.nv.info.NAME`.
    #[must_use]
    pub fn attributes(section: &ProgramSection<'_>) -> Vec<ProgramAttribute> {
        let of = |one: super::attributes::Attribute<'_>| {
            let words: Option<&[U32<LE>]> = slice_from_all_bytes(one.sized).ok();
            let words = match words {
                Some(words) if !words.is_empty() => words.iter().map(|word| word.get(LE)).collect(),
                _ => vec![one.short.get(LE).into()],
            };
            ProgramAttribute { number: one.number, words }
        };
        attributes(section.bytes).map(of).collect()
    }
}
