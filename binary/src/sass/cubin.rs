//! [`Cubin`]: an ELF file with the code of each function in a section of its own.

use std::sync::Arc;

use super::code::{CodeUnit, SassInstruction};
use super::elf_layout::{FunctionSymbol, Layout, Name, TextSection};
use super::error::SassError;
use super::relocation::Relocated;
use super::source_lines::{SourceLines, read_lines};

/// The instructions of a cubin, section by section in the order of its section table.
#[derive(Debug)]
pub(super) struct Cubin {
    data: Vec<u8>,
    layout: Layout,
    /// The current section, as an index into `layout.text`.
    section: usize,
    /// How many of its instructions have been returned.
    taken: usize,
    symbols: SymbolCursor,
    /// The last name that was returned.
    named: Option<(Name, Arc<str>)>,
    /// How many bytes of names may still be read: many functions can share one long name.
    names_left: usize,
    relocated: Relocated,
    lines: SourceLines,
}

impl Cubin {
    /// Reads the ELF structures and checks all that iterating relies on.
    pub(super) fn new(data: Vec<u8>) -> Result<Self, SassError> {
        let layout = Layout::read(&data)?;
        let code: Vec<usize> = layout.text.iter().map(|text| text.index).collect();
        let relocated = Relocated::read(&data, &code);
        let symbols = SymbolCursor::default();
        Ok(Self {
            names_left: data.len(),
            data,
            layout,
            section: 0,
            taken: 0,
            symbols,
            named: None,
            relocated,
            lines: SourceLines::default(),
        })
    }

    /// Reads the line information. Returns whether there is any, and the byte offset of the first part
    /// that cannot be read.
    pub(super) fn read_source_lines(&mut self) -> (bool, Option<u64>) {
        let sections: Vec<_> =
            self.layout.text.iter().map(|text| (text.index, text.code.len())).collect();
        let (lines, damaged) = read_lines(&self.data, &sections);
        self.lines = lines;
        (!self.lines.is_empty(), damaged)
    }

    pub(super) fn next(&mut self) -> Result<Option<SassInstruction>, SassError> {
        while let Some(section) = self.layout.text.get(self.section) {
            let code = self.data.get(section.code.clone());
            debug_assert!(code.is_some(), "the section was checked against the file");
            let code = code.unwrap_or_default();
            let unit = CodeUnit::new(self.layout.sm);
            let Some(placed) = unit.nth(code, self.taken) else {
                self.section += 1;
                self.taken = 0;
                continue;
            };
            let name = match section.name {
                Some(name) => Some(name),
                None => self.symbols.covering(&self.layout.symbols, section, placed.offset),
            };
            self.taken += 1;
            let is_relocated = self.relocated.contains(section.index, placed.offset);
            let source = self.lines.at(section.index, placed.offset);
            let (registers, sm) = (section.registers, Some(self.layout.sm));
            let function = name.map(|name| self.function(name)).transpose()?;
            let read = SassInstruction::from(placed);
            return Ok(Some(SassInstruction {
                function,
                registers,
                sm,
                is_relocated,
                source,
                ..read
            }));
        }
        Ok(None)
    }

    /// Returns the text of a name; reuses the last one if the name is the same.
    fn function(&mut self, name: Name) -> Result<Arc<str>, SassError> {
        if let Some((_, text)) = self.named.as_ref().filter(|(last, _)| *last == name) {
            return Ok(Arc::clone(text));
        }
        let text: Arc<str> = name.text(&self.data)?.into();
        self.names_left =
            self.names_left.checked_sub(text.len()).ok_or(SassError::NamesOverlap {
                offset: name.start as u64,
                file_size: self.data.len() as u64,
            })?;
        self.named = Some((name, Arc::clone(&text)));
        Ok(text)
    }
}

/// Walks along the functions of a section `.text` while the offset rises.
///
/// If functions are nested, the outermost one counts, as if each function had its own section.
#[derive(Debug, Default)]
struct SymbolCursor {
    section: usize,
    /// The first symbol that has not been the current one.
    next: usize,
    current: Option<usize>,
}

impl SymbolCursor {
    /// Returns the name of the function that covers `offset`, which must not decrease within a section.
    fn covering(
        &mut self,
        symbols: &[FunctionSymbol],
        section: &TextSection,
        offset: u64,
    ) -> Option<Name> {
        if self.section != section.index {
            let next = symbols.partition_point(|symbol| symbol.section < section.index);
            *self = Self { section: section.index, next, current: None };
        }
        if let Some(symbol) = self.current.and_then(|current| symbols.get(current))
            && symbol.covers.contains(&offset)
        {
            return Some(symbol.name);
        }
        self.current = None;
        while let Some(symbol) = symbols.get(self.next)
            && symbol.section == section.index
            && symbol.covers.start <= offset
        {
            self.next += 1;
            if symbol.covers.contains(&offset) {
                self.current = Some(self.next - 1);
                return Some(symbol.name);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_function_counts() {
        let symbol = |section, covers, name| FunctionSymbol { section, covers, name: at(name) };
        fn at(start: usize) -> Name {
            Name { start, table_end: 100 }
        }
        // Sorted as in the layout; the third one extends beyond the first.
        let symbols = [
            symbol(1, 0..0x60, 1),
            symbol(1, 0x18..0x30, 2),
            symbol(1, 0x40..0x80, 3),
            symbol(2, 0..0x20, 4),
        ];
        let mut cursor = SymbolCursor::default();
        for (section, offset, name) in
            [(1, 8, 1), (1, 0x18, 1), (1, 0x58, 1), (1, 0x68, 3), (1, 0x88, 0), (2, 8, 4)]
        {
            let section = TextSection { index: section, name: None, code: 0..0, registers: None };
            let found = cursor.covering(&symbols, &section, offset);
            assert_eq!(found, (name != 0).then(|| at(name)), "{offset:#x}");
        }
    }
}
