//! [`Code`]: the code sections of a cubin, its functions, and their registers per thread. From SM 9.0 on only
//! `.nv.info` has the registers.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use object::elf::{SHT_PROGBITS, SHT_STRTAB};

use super::Cubin;
use super::attributes::register_counts;
use crate::sass::{CodeUnit, SassError};

/// The longest name in bytes; mangled names of C++ templates are much shorter.
const MAX_NAME_BYTES: usize = 1 << 16;

/// From this SM on, the section headers do not hold the registers.
const REGISTERS_IN_INFO: u32 = 90;

/// The sections with code, and the functions in them.
pub(super) struct Code {
    pub(super) text: Vec<Text>,
    pub(super) functions: Vec<Function>,
}

/// A section with code.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    /// Its index in the section table.
    pub(crate) index: usize,
    pub(crate) code: Range<usize>,
    pub(crate) registers: Option<u8>,
}

/// A function: a section `.text.NAME`, or the part of a bare `.text` that a symbol covers.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// The index of the section in the section table.
    pub(crate) section: usize,
    /// Bytes of the section.
    pub(crate) covers: Range<u64>,
    pub(crate) name: Arc<str>,
}

/// Reads names, at most as many bytes as the file has. Names in a crafted file can share one long string, so copying
/// each of them could need far more memory than the file.
struct Names<'d> {
    data: &'d [u8],
    left: usize,
}

impl<'d> Names<'d> {
    fn new(data: &'d [u8]) -> Self {
        Self { data, left: data.len() }
    }

    /// Reads the name at `start` of a table that ends at `end`.
    fn read(&mut self, start: usize, end: usize) -> Result<String, SassError> {
        let (offset, file_size) = (start as u64, self.data.len() as u64);
        let too_long = SassError::NameTooLong { offset, limit: MAX_NAME_BYTES };
        let bytes = self.data.get(start..end.min(start.saturating_add(MAX_NAME_BYTES)));
        let bytes = bytes.unwrap_or_default();
        let length = memchr::memchr(0, bytes).ok_or(too_long)?;
        let name = String::from_utf8_lossy(&bytes[..length]).into_owned();
        let left = self.left.checked_sub(name.len());
        self.left = left.ok_or(SassError::NamesOverlap { offset, file_size })?;
        Ok(name)
    }
}

impl Code {
    pub(super) fn read(cubin: &Cubin) -> Result<Self, SassError> {
        let Cubin { data, sm, sections, names_end, .. } = cubin;
        let unit = CodeUnit::new(*sm);
        let mut code = Self { text: Vec::new(), functions: Vec::new() };
        let mut total = 0;
        let mut names = Names::new(data);
        // Bare `.text` sections: the symbols name their functions.
        let mut unnamed = Vec::new();
        for (index, section) in sections.iter().enumerate() {
            let name = data.get(section.name..*names_end).unwrap_or_default();
            let is_text = matches!(name.strip_prefix(b".text"), Some([0 | b'.', ..]));
            if !is_text || section.kind != SHT_PROGBITS {
                continue;
            }
            let name = names.read(section.name, *names_end)?;
            let range = section.checked_range(data, || name.clone())?;
            let (offset, size, file_size) = (section.offset, section.size, cubin.size());
            if range.len() % unit.bytes() != 0 {
                return Err(SassError::PartialSection { name, offset, size, unit });
            }
            total += range.len();
            if total > data.len() {
                return Err(SassError::SectionsOverlap { name, offset, file_size });
            }
            match name.strip_prefix(".text.") {
                Some(name) => code.functions.push(Function {
                    section: index,
                    covers: 0..size,
                    name: name.into(),
                }),
                None => unnamed.push(index),
            }
            let registers = Some((section.info >> 24) as u8);
            code.text.push(Text { index, code: range, registers });
        }
        if sm.number() >= REGISTERS_IN_INFO {
            let registers = registers(cubin);
            for text in &mut code.text {
                text.registers = registers.get(&text.index).copied();
            }
        }
        if !unnamed.is_empty() {
            code.add_symbols(cubin, &unnamed)?;
        }
        Ok(code)
    }

    /// Adds the functions of bare `.text` sections.
    fn add_symbols(&mut self, cubin: &Cubin, unnamed: &[usize]) -> Result<(), SassError> {
        let Some((_, table)) = cubin.symbol_table() else { return Ok(()) };
        let broken = |reason: &str| SassError::Elf {
            part: "symbol table",
            offset: table.offset,
            file_size: cubin.size(),
            reason: reason.to_owned(),
        };
        let symbols = cubin.symbols().ok_or_else(|| broken("its entries are not whole"))?;
        let strings = match cubin.sections.get(table.link as usize) {
            _ if table.link == 0 => return Ok(()),
            Some(strings) if strings.kind == SHT_STRTAB => strings,
            _ => return Err(broken("its names are in no section of names")),
        };
        let strings = strings.checked_range(&cubin.data, || "the symbols' names".to_owned())?;
        let mut names = Names::new(&cubin.data);
        for symbol in symbols.iter().filter(|symbol| symbol.is_function) {
            let Some((section, start)) = symbol.place else { continue };
            if unnamed.binary_search(&section).is_ok() {
                let name = strings.start.saturating_add(symbol.name as usize);
                let name = names.read(name, strings.end)?.into();
                let covers = start..start.saturating_add(symbol.size);
                self.functions.push(Function { section, covers, name });
            }
        }
        self.functions.sort_by_key(|f| (f.section, f.covers.start, Reverse(f.covers.end)));
        Ok(())
    }
}

/// The registers of each section's first function, by the index of the section. Damaged entries are skipped, because
/// the code can be read without them.
fn registers(cubin: &Cubin) -> BTreeMap<usize, u8> {
    let info = cubin.section(b".nv.info").and_then(|(_, info)| cubin.range(info));
    let symbols = cubin.symbols().unwrap_or_default();
    let mut registers = BTreeMap::new();
    for (symbol, count) in register_counts(&cubin.data[info.unwrap_or_default()]) {
        let symbol = symbols.get(symbol as usize).filter(|symbol| symbol.is_function);
        if let (Some((section, 0)), Ok(count)) =
            (symbol.and_then(|symbol| symbol.place), u8::try_from(count))
        {
            registers.entry(section).or_insert(count);
        }
    }
    registers
}
