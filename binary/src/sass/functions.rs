//! [`Functions`]: the functions of cubins by name, to look up what is at an offset.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Read;

use warpload_encoding::{MachineWord, Sm};

use super::code::CodeUnit;
use super::elf_layout::{Layout, Name};
use super::error::SassError;
use super::source_lines::{DamagedLines, SourceLine, SourceLines, read_lines};
use super::{MAX_BINARY_BYTES, read_whole};
use crate::file_kind::FileKind;

/// The functions of one or more cubins by name, with what is at each offset: the instruction, and
/// the source line if the cubin has line information (`.debug_line`, from `nvcc -lineinfo` or `-G`).
///
/// ```
/// use warpload_encoding::MachineWord;
/// use warpload_binary::sass::Functions;
///
/// let mut functions = Functions::default();
/// functions.add(std::fs::File::open("../traces/rows.sm_50.cubin")?)?;
/// let column = functions.get("_Z6columnPfPKfi").ok_or("not there")?;
/// let load = column.at(0x68).ok_or("no instruction at that offset")?;
/// assert_eq!(load.word, MachineWord::Bits64(0xeed4200000470206));
/// let source = load.source.ok_or("no line information")?;
/// assert_eq!((source.file.as_str(), source.line), ("/src/rows.cu", 10));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Functions {
    cubins: Vec<Code>,
    by_name: HashMap<Box<str>, Place>,
}

#[derive(Debug)]
struct Code {
    data: Vec<u8>,
    layout: Layout,
    lines: SourceLines,
}

/// Where a function is.
#[derive(Clone, Copy, Debug)]
struct Place {
    cubin: usize,
    /// The index in `Layout::text`.
    section: usize,
    /// Its first byte in the section, and the one after its last.
    start: u64,
    end: u64,
}

/// A function of [`Functions`].
#[derive(Clone, Copy, Debug)]
pub struct SassFunction<'f> {
    code: &'f Code,
    place: Place,
}

/// An instruction of a [`SassFunction`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Located {
    /// The instruction word.
    pub word: MachineWord,
    /// The SM that the cubin is for.
    pub sm: Sm,
    /// The source line; `None` if the cubin has none for it.
    pub source: Option<SourceLine>,
}

impl Functions {
    /// Adds the functions of a cubin, except those whose names are there already. Returns what is
    /// wrong with its line information; `None` if nothing is.
    ///
    /// # Errors
    /// Returns [`SassError`] if the input is not a cubin, is damaged, or is for an unknown GPU.
    pub fn add(&mut self, input: impl Read) -> Result<Option<DamagedLines>, SassError> {
        let data = read_whole(Vec::new(), input, MAX_BINARY_BYTES)?;
        match FileKind::detect(&data) {
            Some(FileKind::Elf) => {}
            Some(kind) => return Err(SassError::OtherFile(kind)),
            None => return Err(SassError::NotElf),
        }
        let layout = Layout::read(&data)?;
        let sections: Vec<_> =
            layout.text.iter().map(|text| (text.index, text.code.len())).collect();
        let (lines, damaged) = read_lines(&data, &sections);
        let code = Code { data, layout, lines };
        for (name, place) in code.functions(self.cubins.len())? {
            if let Entry::Vacant(entry) = self.by_name.entry(name.into_boxed_str()) {
                entry.insert(place);
            }
        }
        self.cubins.push(code);
        Ok(damaged.map(|offset| DamagedLines { offset }))
    }

    /// Returns the function of that name, as the cubin writes it (mangled); `None` if there is none.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<SassFunction<'_>> {
        let place = *self.by_name.get(name)?;
        Some(SassFunction { code: self.cubins.get(place.cubin)?, place })
    }

    /// Returns the bytes of each cubin.
    pub fn cubins(&self) -> impl Iterator<Item = &[u8]> {
        self.cubins.iter().map(|code| &*code.data)
    }
}

impl Code {
    /// Returns the names of the functions and where they are.
    fn functions(&self, cubin: usize) -> Result<Vec<(String, Place)>, SassError> {
        let Layout { text, symbols, .. } = &self.layout;
        let file_size = self.data.len();
        let mut left = file_size;
        let mut functions = Vec::new();
        let mut add = |name: Name, place| {
            let text = name.text(&self.data)?;
            // Many names can share one long string.
            left = left.checked_sub(text.len()).ok_or(SassError::NamesOverlap {
                offset: name.start as u64,
                file_size: file_size as u64,
            })?;
            functions.push((text, place));
            Ok::<_, SassError>(())
        };
        for (section, code) in text.iter().enumerate() {
            let end = code.code.len() as u64;
            if let Some(name) = code.name {
                add(name, Place { cubin, section, start: 0, end })?;
                continue;
            }
            let first = symbols.partition_point(|symbol| symbol.section < code.index);
            for symbol in symbols[first..].iter().take_while(|s| s.section == code.index) {
                let (start, end) = (symbol.covers.start, symbol.covers.end.min(end));
                add(symbol.name, Place { cubin, section, start, end })?;
            }
        }
        Ok(functions)
    }
}

impl SassFunction<'_> {
    /// Returns the instruction at a byte offset from the start of the function, which is what a
    /// program counter of a trace is; `None` if no instruction begins there.
    #[must_use]
    pub fn at(&self, offset: u64) -> Option<Located> {
        let Self { code: Code { data, layout, lines }, place } = self;
        let at = place.start.checked_add(offset).filter(|at| *at < place.end)?;
        let section = layout.text.get(place.section)?;
        let placed = CodeUnit::new(layout.sm).at(data.get(section.code.clone())?, at)?;
        let source = lines.at(section.index, at);
        Some(Located { word: placed.word, sm: layout.sm, source })
    }
}
