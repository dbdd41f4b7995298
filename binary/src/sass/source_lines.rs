//! [`SourceLines`]: which source line each instruction of a cubin comes from, by its `.debug_line`.
//!
//! The line programs of a cubin name no addresses: each sequence begins at a relocation with the
//! symbol of its function, in executable cubins too.
//!
//! [`Addresses32`]: reading line programs whose addresses have 32 bits.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use gimli::{
    DebugLine, DebugLineOffset, EndianSlice, LineInstruction, LineProgramHeader, LineRow, Reader,
    ReaderOffset, ReaderOffsetId, Relocate, RelocateReader, Result,
};
use object::LittleEndian;
use object::elf::SHT_PROGBITS;
use object::endian::{U16, U32};
use object::pod::from_bytes;

use crate::cubin::Cubin;

/// The granularity of lines: each instruction is at a multiple of it.
const SLOT_BYTES: u64 = 8;
/// The longest header of a line program, which gimli reads whole into about 20 times its size. The
/// names of 50,000 files fit.
const MAX_HEADER_BYTES: u32 = 4 << 20;
/// The longest name of a file or folder.
const MAX_NAME_BYTES: usize = 4096;
/// The versions of DWARF that are read. ptxas writes 2; the headers of later ones can be much larger
/// in memory than in the file.
const VERSIONS: Range<u16> = 2..5;
/// Bits of an address below the index of its section.
const OFFSET_BITS: u32 = 40;

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct SourceLine {
    /// The file as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// What is wrong with the line information of a cubin. What could be read of it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DamagedLines {
    /// The byte offset in the cubin of the first part that cannot be read.
    pub offset: u64,
}

/// The line information of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineInformation {
    /// Whether any of it could be read.
    pub is_present: bool,
    /// What is wrong with it; `None` if nothing is.
    pub damaged: Option<DamagedLines>,
}

/// The source line of each instruction of a cubin; empty without line information.
#[derive(Debug, Default)]
pub(super) struct SourceLines {
    files: Vec<File>,
    /// By index of the section, for each 8 bytes of it.
    sections: HashMap<usize, Vec<Mark>>,
}

/// A file. Many share a folder, which can have a long name.
#[derive(Debug)]
struct File {
    folder: Option<Arc<str>>,
    name: Box<str>,
}

/// What line information says of 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// Nothing: they belong to what is before them.
    Unset,
    /// They have no line.
    Nowhere,
    /// A line of `SourceLines::files`.
    Line { file: u32, line: u32 },
}

impl SourceLines {
    /// Returns the source line of the instruction at a byte offset of a section.
    pub(super) fn at(&self, section: usize, offset: u64) -> Option<SourceLine> {
        let slot = usize::try_from(offset / SLOT_BYTES).ok()?;
        let Mark::Line { file, line } = *self.sections.get(&section)?.get(slot)? else {
            return None;
        };
        let File { folder, name } = self.files.get(file as usize)?;
        let file = match folder {
            Some(folder) => format!("{folder}/{name}"),
            None => name.to_string(),
        };
        Some(SourceLine { file, line })
    }

    /// Returns the mark of the bytes at an address of a line program; `None` if they are not code.
    fn slot(&mut self, address: u64, code: &HashMap<usize, usize>) -> Option<&mut Mark> {
        let section = (address >> OFFSET_BITS) as usize;
        let offset = address & ((1 << OFFSET_BITS) - 1);
        let bytes = code.get(&section)?;
        let blank = || vec![Mark::Unset; bytes.div_ceil(SLOT_BYTES as usize)];
        let marks = self.sections.entry(section).or_insert_with(blank);
        marks.get_mut(offset.div_ceil(SLOT_BYTES) as usize)
    }

    /// Extends each mark to the next one.
    fn extend(&mut self) {
        for marks in self.sections.values_mut() {
            let mut current = Mark::Nowhere;
            for mark in marks {
                if *mark == Mark::Unset {
                    *mark = current;
                }
                current = *mark;
            }
        }
    }
}

impl SourceLines {
    /// Reads the line information of a cubin, as far as that is possible.
    pub(super) fn read(cubin: &Cubin<'_>) -> (Self, LineInformation) {
        let mut lines = Self::default();
        let mut information = LineInformation::default();
        if let Some(section) = LineSection::find(cubin) {
            let code = cubin.text.iter().map(|text| (text.index, text.code.len())).collect();
            let bytes = EndianSlice::new(section.bytes, gimli::LittleEndian);
            let damaged = if cubin.is_32 {
                lines.run_all(&section, &code, Addresses32(bytes))
            } else {
                lines.run_all(&section, &code, bytes)
            };
            information.is_present = !lines.files.is_empty();
            information.damaged =
                damaged.map(|at| DamagedLines { offset: (section.start + at) as u64 });
        }
        (lines, information)
    }

    /// Runs the line programs of a section. Returns the offset of the first part of it that cannot be
    /// read, if there is one.
    fn run_all<R: Reader<Offset = usize>>(
        &mut self,
        section: &LineSection<'_>,
        code: &HashMap<usize, usize>,
        reader: R,
    ) -> Option<usize> {
        let programs = DebugLine::from(RelocateReader::new(reader, &section.relocations));
        let mut damaged = section.is_damaged.then_some(0);
        let mut at = 0;
        while let Some(unit) = Unit::read(section.bytes, at) {
            if !unit.is_readable() || self.run(&programs, at, code).is_none() {
                damaged = damaged.or(Some(at));
            }
            at = unit.end;
        }
        if at < section.bytes.len() {
            damaged = damaged.or(Some(at));
        }
        self.extend();
        damaged
    }
}

impl SourceLines {
    /// Runs the line program at byte offset `at` of the section; `None` if it is damaged.
    fn run<R: Reader<Offset = usize>>(
        &mut self,
        programs: &DebugLine<R>,
        at: usize,
        code: &HashMap<usize, usize>,
    ) -> Option<()> {
        let program = programs.program(DebugLineOffset(at), 8, None, None).ok()?;
        if defines_files(program.header()) {
            return None;
        }
        let mut names = Names::default();
        let mut rows = program.rows();
        // Where the last row begins, until the end of its sequence says where it ends.
        let mut open = None;
        let is_read = loop {
            let (header, row) = match rows.next_row() {
                Ok(Some(row)) => row,
                Ok(None) => break true,
                Err(_) => break false,
            };
            let address = row.address();
            let is_end = row.end_sequence();
            let line = if is_end { None } else { self.line(&mut names, header, row) };
            open = (!is_end).then_some(address);
            if let Some(mark) = self.slot(address, code)
                // Where a sequence ends, another one may have begun.
                && !(is_end && *mark != Mark::Unset)
            {
                *mark = line.unwrap_or(Mark::Nowhere);
            }
        };
        if let Some(mark) = open.and_then(|last| self.slot(last, code)) {
            *mark = Mark::Nowhere;
        }
        (is_read && open.is_none()).then_some(())
    }

    /// Returns the line of a row; `None` if it has none or its file is unknown.
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

/// Returns whether a program defines files after its header: compilers have not for decades, and gimli
/// keeps each definition.
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
    /// The index in `SourceLines::files` of each of its files; `None` of one without a usable name.
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
        // Folder 0 is where the compiler ran, which line information does not say.
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

/// Returns the text of a name; `None` if it is too long.
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
    /// The byte offset in the section after the program.
    end: usize,
}

impl Unit {
    /// Returns the fields at byte offset `at`; `None` if the program does not fit into the section.
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

/// The section `.debug_line` of a cubin.
struct LineSection<'d> {
    bytes: &'d [u8],
    /// Where they begin in the file.
    start: usize,
    relocations: Relocations,
    /// Whether they, or the relocations, are not all there.
    is_damaged: bool,
}

impl<'d> LineSection<'d> {
    /// Returns the section and its relocations; `None` if there is no such section.
    fn find(cubin: &'d Cubin<'_>) -> Option<Self> {
        let (index, section) = cubin.section(b".debug_line")?;
        if section.kind != SHT_PROGBITS {
            return None;
        }
        let range = cubin.range(section);
        let bytes = range.and_then(|range| cubin.data.get(range));
        let symbols = cubin.symbols().unwrap_or_default();
        let (relocations, is_whole) = cubin.relocations(|of| of == index);
        let places = relocations.iter().filter_map(|one| {
            let (section, offset) = symbols.get(one.symbol?)?.place?;
            Some((one.place.1, Relocated { section, offset, addend: one.addend }))
        });
        let mut places: Vec<_> = places.collect();
        places.sort_by_key(|(at, _)| *at);
        Some(Self {
            bytes: bytes.unwrap_or_default(),
            start: usize::try_from(section.offset).ok()?,
            relocations: Relocations(places),
            is_damaged: bytes.is_none() || !is_whole,
        })
    }
}

/// Where an address in line information points.
#[derive(Debug)]
struct Relocated {
    section: usize,
    /// The offset of the symbol in the section.
    offset: u64,
    /// What is added, if not the address that is there.
    addend: Option<i64>,
}

/// The relocations of `.debug_line`, by ascending offset. Addresses become those of all sections with
/// code: the index of the section, and the offset in it below [`OFFSET_BITS`].
#[derive(Debug)]
struct Relocations(Vec<(u64, Relocated)>);

impl<Offset: ReaderOffset> Relocate<Offset> for &Relocations {
    fn relocate_address(&self, at: Offset, value: u64) -> gimli::Result<u64> {
        let Ok(found) = self.0.binary_search_by_key(&at.into_u64(), |(at, _)| *at) else {
            return Ok(value);
        };
        let Relocated { section, offset, addend } = self.0[found].1;
        let addend = addend.map_or(value, |addend| addend as u64);
        let offset = offset.wrapping_add(addend) & ((1 << OFFSET_BITS) - 1);
        Ok((section as u64) << OFFSET_BITS | offset)
    }

    fn relocate_offset(&self, _at: Offset, value: Offset) -> gimli::Result<Offset> {
        Ok(value)
    }
}

type Slice<'d> = EndianSlice<'d, gimli::LittleEndian>;

/// A reader whose addresses have 4 bytes in the section. gimli is told 8 all the same: relocated addresses
/// have the index of a section above the offset in it, which 32 bits do not hold.
#[derive(Clone, Copy, Debug)]
struct Addresses32<'d>(pub(super) Slice<'d>);

impl<'d> Reader for Addresses32<'d> {
    type Endian = gimli::LittleEndian;
    type Offset = usize;

    fn read_address(&mut self, _size: u8) -> Result<u64> {
        self.0.read_u32().map(u64::from)
    }

    fn endian(&self) -> gimli::LittleEndian {
        self.0.endian()
    }

    fn len(&self) -> usize {
        Reader::len(&self.0)
    }

    fn empty(&mut self) {
        self.0.empty();
    }

    fn truncate(&mut self, length: usize) -> Result<()> {
        self.0.truncate(length)
    }

    fn offset_from(&self, base: &Self) -> usize {
        Reader::offset_from(&self.0, &base.0)
    }

    fn offset_id(&self) -> ReaderOffsetId {
        self.0.offset_id()
    }

    fn lookup_offset_id(&self, id: ReaderOffsetId) -> Option<usize> {
        self.0.lookup_offset_id(id)
    }

    fn find(&self, byte: u8) -> Result<usize> {
        Reader::find(&self.0, byte)
    }

    fn skip(&mut self, length: usize) -> Result<()> {
        self.0.skip(length)
    }

    fn split(&mut self, length: usize) -> Result<Self> {
        self.0.split(length).map(Self)
    }

    fn to_slice(&self) -> Result<Cow<'_, [u8]>> {
        self.0.to_slice()
    }

    fn to_string(&self) -> Result<Cow<'_, str>> {
        Reader::to_string(&self.0)
    }

    fn to_string_lossy(&self) -> Result<Cow<'_, str>> {
        Reader::to_string_lossy(&self.0)
    }

    fn read_slice(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.0.read_slice(bytes)
    }
}
