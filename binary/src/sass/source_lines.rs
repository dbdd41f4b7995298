//! [`SourceLines`]: the source line of each instruction of a cubin, from its `.debug_line`.
//!
//! The line programs of a cubin have no addresses. Each sequence begins with a relocation against the symbol of its
//! function, even in executable cubins.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use gimli::{
    DebugLine, DebugLineOffset, EndianSlice, IncompleteLineProgram, LineInstruction,
    LineProgramHeader, LineRow, Reader, ReaderOffset, Relocate, RelocateReader,
};
use object::LittleEndian;
use object::elf::SHT_PROGBITS;
use object::endian::{U16, U32};
use object::pod::from_bytes;

use crate::cubin::Cubin;

/// The granularity of lines, in bytes: each instruction begins at a multiple of it.
const SLOT_BYTES: u64 = 8;
/// The longest header of a line program. gimli reads it whole into about 20 times its size, so it must be bounded. The
/// names of 50,000 files fit.
const MAX_HEADER_BYTES: u32 = 4 << 20;
/// The longest name of a file or folder.
const MAX_NAME_BYTES: usize = 4096;
/// The supported versions of DWARF. ptxas writes 2. Later ones are refused, because their headers can be much larger in
/// memory than in the file.
const VERSIONS: Range<u16> = 2..5;

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct SourceLine {
    /// The file, as its name was given to the compiler.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// Damage of the line information of a cubin. The readable part is used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DamagedLines {
    /// The byte offset in the cubin of the first part that cannot be read.
    pub offset: u64,
}

impl std::fmt::Display for DamagedLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { offset } = self;
        write!(
            f,
            "the line information at byte offset {offset} cannot be read; the source lines that it has are missing"
        )
    }
}

/// The line information of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineInformation {
    /// Whether there is line information, at least in part readable.
    pub is_present: bool,
    /// The damage, if there is any.
    pub damaged: Option<DamagedLines>,
}

/// The source line of each instruction of a cubin; empty without line information.
///
/// To give line programs addresses, the code sections are laid out one after the other in one address space. Each
/// section begins at a multiple of [`SLOT_BYTES`], after a gap of [`SLOT_BYTES`]. All sections together are hardly
/// larger than the file, so 32 bits are enough.
#[derive(Debug, Default)]
pub(super) struct SourceLines {
    files: Vec<File>,
    /// Ascending by index.
    sections: Vec<Placed>,
    /// One for each [`SLOT_BYTES`].
    marks: Vec<Mark>,
}

/// A code section and its addresses.
#[derive(Debug)]
struct Placed {
    index: usize,
    addresses: Range<u64>,
}

/// An address outside all sections.
const NOWHERE: u64 = 0;

/// A file. The folder is shared, because many files can have the same folder with a long name.
#[derive(Debug)]
struct File {
    folder: Option<Arc<str>>,
    name: Box<str>,
}

/// The line information of [`SLOT_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// No row begins here, so the line of the previous mark continues.
    Unset,
    /// A row without a usable line, or the end of a sequence.
    Nowhere,
    /// A line of a file of `SourceLines::files`.
    Line { file: u32, line: u32 },
}

impl SourceLines {
    /// The source line of the instruction at a byte offset of a section.
    pub(super) fn at(&self, section: usize, offset: u64) -> Option<SourceLine> {
        let slot = (self.addresses(section)?.start + offset) / SLOT_BYTES;
        let Mark::Line { file, line } = *self.marks.get(slot as usize)? else { return None };
        let File { folder, name } = self.files.get(file as usize)?;
        let file = match folder {
            Some(folder) => format!("{folder}/{name}"),
            None => name.to_string(),
        };
        Some(SourceLine { file, line })
    }

    fn new(cubin: &Cubin) -> Self {
        let mut lines = Self::default();
        for text in &cubin.text {
            lines.marks.push(Mark::Nowhere);
            let start = SLOT_BYTES * lines.marks.len() as u64;
            let addresses = start..start + text.code.len() as u64;
            lines.sections.push(Placed { index: text.index, addresses });
            let slots = text.code.len().div_ceil(SLOT_BYTES as usize);
            lines.marks.resize(lines.marks.len() + slots, Mark::Unset);
        }
        lines
    }

    /// The addresses of a section; `None` if it has no code.
    fn addresses(&self, section: usize) -> Option<&Range<u64>> {
        let found = self.sections.binary_search_by_key(&section, |placed| placed.index);
        self.sections.get(found.ok()?).map(|placed| &placed.addresses)
    }

    /// The addresses of the section around an address; empty if there is none.
    fn around(&self, address: u64) -> Range<u64> {
        let after = self.sections.partition_point(|placed| placed.addresses.start <= address);
        let last = after.checked_sub(1).and_then(|at| self.sections.get(at));
        last.map_or(0..0, |placed| placed.addresses.clone())
    }

    /// The mark at an address; `None` if that is outside the section.
    fn mark(&mut self, address: u64, section: &Range<u64>) -> Option<&mut Mark> {
        let at = address.checked_next_multiple_of(SLOT_BYTES).filter(|at| section.contains(at))?;
        self.marks.get_mut((at / SLOT_BYTES) as usize)
    }

    /// Extends each mark to the next one.
    fn extend(&mut self) {
        let mut current = Mark::Nowhere;
        for mark in &mut self.marks {
            if *mark == Mark::Unset {
                *mark = current;
            }
            current = *mark;
        }
    }

    /// Reads the line information of a cubin, up to the damage in each program.
    pub(super) fn read(cubin: &Cubin) -> (Self, LineInformation) {
        let Some((index, section)) =
            cubin.section(b".debug_line").filter(|(_, section)| section.kind == SHT_PROGBITS)
        else {
            return Default::default();
        };
        let mut lines = Self::new(cubin);
        let symbols = cubin.symbols().unwrap_or_default();
        let (relocations, is_whole) = cubin.relocations(|of| of == index);
        let targets = relocations.iter().filter_map(|one| {
            let (section, offset) = symbols.get(one.symbol?)?.place?;
            let section = lines.addresses(section)?.clone();
            Some((one.place.1, Target { section, offset, addend: one.addend }))
        });
        let mut targets = Targets(targets.collect());
        targets.0.sort_by_key(|(at, _)| *at);
        let bytes = cubin.range(section).and_then(|range| cubin.data.get(range));
        let damaged = (bytes.is_none() || !is_whole).then_some(0);
        let address_bytes = if cubin.is_32 { 4 } else { 8 };
        let programs = lines.run_all(bytes.unwrap_or_default(), &targets, address_bytes);
        let damaged = damaged.or(programs);
        let damaged = damaged.map(|at| DamagedLines { offset: section.offset + at as u64 });
        let is_present = !lines.files.is_empty();
        (lines, LineInformation { is_present, damaged })
    }

    /// Runs the line programs of a section. Returns the offset of the first damage.
    fn run_all(&mut self, section: &[u8], targets: &Targets, address_bytes: u8) -> Option<usize> {
        let reader = EndianSlice::new(section, gimli::LittleEndian);
        let programs = DebugLine::from(RelocateReader::new(reader, targets));
        let (mut damaged, mut at) = (None, 0);
        while let Some(unit) = Unit::read(section, at) {
            let program = || programs.program(DebugLineOffset(at), address_bytes, None, None).ok();
            let program = unit.is_readable().then(program).flatten();
            if program.and_then(|program| self.run(program)).is_none() {
                damaged = damaged.or(Some(at));
            }
            at = unit.end;
        }
        self.extend();
        damaged.or((at < section.len()).then_some(at))
    }

    /// Runs a line program; `None` if it is damaged.
    fn run<R: Reader<Offset = usize>>(&mut self, program: IncompleteLineProgram<R>) -> Option<()> {
        if defines_files(program.header()) {
            return None;
        }
        let mut names = Names::default();
        let mut rows = program.rows();
        // The address of the last row, while its end is unknown.
        let mut open = None;
        // The section of the current sequence: a sequence must not continue into another one.
        let mut section = 0..0;
        let is_read = loop {
            let (header, row) = match rows.next_row() {
                Ok(Some(row)) => row,
                Ok(None) => break true,
                Err(_) => break false,
            };
            let address = row.address();
            if open.is_none() {
                section = self.around(address);
            }
            let is_end = row.end_sequence();
            let line = if is_end { None } else { self.line(&mut names, header, row) };
            open = (!is_end).then_some(address);
            if let Some(mark) = self.mark(address, &section)
                // An end does not replace the first row of a sequence that begins at the same address.
                && !(is_end && *mark != Mark::Unset)
            {
                *mark = line.unwrap_or(Mark::Nowhere);
            }
        };
        if let Some(mark) = open.and_then(|last| self.mark(last, &section)) {
            *mark = Mark::Nowhere;
        }
        (is_read && open.is_none()).then_some(())
    }

    /// The line of a row; `None` if it has none or its file is unknown.
    fn line<R: Reader<Offset = usize>>(
        &mut self,
        names: &mut Names,
        header: &LineProgramHeader<R>,
        row: &LineRow,
    ) -> Option<Mark> {
        let line = u32::try_from(row.line()?.get()).ok()?;
        let file = match names.files.get(&row.file_index()) {
            Some(known) => (*known)?,
            None => {
                let file = names.read(header, row.file_index());
                let number = file.and_then(|file| {
                    self.files.push(file);
                    u32::try_from(self.files.len() - 1).ok()
                });
                names.files.insert(row.file_index(), number);
                number?
            }
        };
        Some(Mark::Line { file, line })
    }
}

/// Whether a program defines files after its header. Such programs are refused, because gimli keeps each definition in
/// memory, and compilers have not written them for decades.
fn defines_files<R: Reader<Offset = usize>>(header: &LineProgramHeader<R>) -> bool {
    let mut instructions = header.instructions();
    while let Ok(Some(instruction)) = instructions.next_instruction(header) {
        if let LineInstruction::DefineFile(_) = instruction {
            return true;
        }
    }
    false
}

/// The names of one line program.
#[derive(Default)]
struct Names {
    /// The index of each of its files in `SourceLines::files`; `None` for a file without a usable name.
    files: HashMap<u64, Option<u32>>,
    folders: HashMap<u64, Option<Arc<str>>>,
}

impl Names {
    fn read<R: Reader<Offset = usize>>(
        &mut self,
        header: &LineProgramHeader<R>,
        index: u64,
    ) -> Option<File> {
        let entry = header.file(index)?;
        let name = text(entry.path_name())?;
        // Folder 0 is the compiler's working directory, which line information does not name.
        let is_relative = !name.starts_with(['/', '\\']) && name.as_bytes().get(1) != Some(&b':');
        let number = entry.directory_index();
        let folder = if is_relative && number != 0 {
            let read = || entry.directory(header).and_then(text).map(Arc::from);
            self.folders.entry(number).or_insert_with(read).clone()
        } else {
            None
        };
        Some(File { folder, name: name.into_boxed_str() })
    }
}

/// `None` if the name is too long.
fn text<R: Reader<Offset = usize>>(name: gimli::AttributeValue<R>) -> Option<String> {
    let gimli::AttributeValue::String(name) = name else { return None };
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    name.to_string_lossy().ok().map(|name| name.into_owned())
}

/// The first fields of a line program.
struct Unit {
    version: u16,
    header_bytes: u32,
    /// The offset of the next program in the section.
    end: usize,
}

impl Unit {
    /// Reads the fields at byte offset `at`; `None` if the program does not fit into the section.
    fn read(section: &[u8], at: usize) -> Option<Self> {
        let (length, rest) = from_bytes::<U32<LittleEndian>>(section.get(at..)?).ok()?;
        let unit = rest.get(..usize::try_from(length.get(LittleEndian)).ok()?)?;
        let (version, rest) = from_bytes::<U16<LittleEndian>>(unit).ok()?;
        let (header_bytes, _) = from_bytes::<U32<LittleEndian>>(rest).ok()?;
        Some(Self {
            version: version.get(LittleEndian),
            header_bytes: header_bytes.get(LittleEndian),
            end: at + size_of_val(length) + unit.len(),
        })
    }

    fn is_readable(&self) -> bool {
        VERSIONS.contains(&self.version) && self.header_bytes <= MAX_HEADER_BYTES
    }
}

/// The target of an address in line information.
#[derive(Debug)]
struct Target {
    /// The addresses of the symbol's section.
    section: Range<u64>,
    /// The offset of the symbol in the section.
    offset: u64,
    /// The addend; `None` if it is in the program itself.
    addend: Option<i64>,
}

/// The relocations of `.debug_line`, by ascending offset.
#[derive(Debug)]
struct Targets(Vec<(u64, Target)>);

impl<Offset: ReaderOffset> Relocate<Offset> for &Targets {
    fn relocate_address(&self, at: Offset, value: u64) -> gimli::Result<u64> {
        let found = self.0.binary_search_by_key(&at.into_u64(), |(at, _)| *at);
        let Some((_, target)) = found.ok().and_then(|found| self.0.get(found)) else {
            return Ok(NOWHERE);
        };
        let addend = target.addend.map_or(value, |addend| addend as u64);
        let address = target.section.start.checked_add(target.offset.wrapping_add(addend));
        Ok(address.filter(|address| *address <= target.section.end).unwrap_or(NOWHERE))
    }

    fn relocate_offset(&self, _at: Offset, value: Offset) -> gimli::Result<Offset> {
        Ok(value)
    }
}
