//! [`Host`]: finds the archive member and the section around an offset of a file.

use std::ops::Range;

use object::endian::Endianness;
use object::pe::{ImageFileHeader, ImageNtHeaders32, ImageNtHeaders64};
use object::read::archive::{ArchiveFile, ArchiveKind};
use object::read::coff::CoffHeader;
use object::read::elf::{FileHeader, SectionHeader};
use object::read::pe::PeFile;
use object::{File, FileKind, Object, ObjectSection, SectionIndex};

use super::error::{ContainerError, ContainerErrorKind as Kind};

/// The structure of a file around its GPU code. Look up ascending offsets: only the sections of the last object are
/// kept.
#[derive(Debug)]
pub(super) struct Host<'f> {
    file: &'f [u8],
    /// Sorted; empty if the file is not an archive.
    members: Vec<Member<'f>>,
    object: Option<HostObject<'f>>,
    /// The bytes of names that may still be read. Limited, because many sections of a crafted file can share one long
    /// name.
    names_left: usize,
    /// The first damage of the archive.
    damaged: Option<ContainerError>,
}

#[derive(Clone, Debug)]
pub(super) struct Member<'f> {
    pub(super) range: Range<usize>,
    pub(super) name: &'f [u8],
}

/// An object, library or program: the whole file or a member.
#[derive(Debug)]
struct HostObject<'f> {
    range: Range<usize>,
    file: Option<File<'f>>,
    /// The ranges of its sections in the file, sorted.
    sections: Vec<(Range<usize>, SectionIndex)>,
    /// The last section that was looked up.
    named: Option<(SectionIndex, Option<&'f [u8]>)>,
}

/// The surroundings of an offset.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostPlace<'f> {
    pub(super) member: Option<&'f [u8]>,
    pub(super) section: Option<&'f [u8]>,
}

impl<'f> Host<'f> {
    pub(super) fn new(file: &'f [u8]) -> Self {
        let Members { members, damaged } = match ArchiveFile::parse(file) {
            Ok(archive) => Members::read(file, &archive),
            Err(_) if ARCHIVES.iter().any(|magic| file.starts_with(magic)) => {
                let damaged = ContainerError::new(0, Kind::ArchiveHeader);
                Members { members: Vec::new(), damaged: Some(damaged) }
            }
            Err(_) => Members::default(),
        };
        Self { file, members, object: None, names_left: file.len(), damaged }
    }

    /// The reason why GPU code may be missing: a damaged archive, or a file that ends before its sections do.
    pub(super) fn damaged(&self) -> Option<ContainerError> {
        self.damaged.clone().or_else(|| match self.members.is_empty() {
            true => cut_off(self.file),
            false => None,
        })
    }

    pub(super) fn members(&self) -> &[Member<'f>] {
        &self.members
    }

    pub(super) fn place(&mut self, offset: usize) -> HostPlace<'f> {
        let member = last_before(&self.members, offset, |member| &member.range);
        let member = member.map(|at| self.members[at].clone());
        let object = member.as_ref().map_or(0..self.file.len(), |member| member.range.clone());
        // Between members there is no object.
        let section = (member.is_some() || self.members.is_empty())
            .then(|| self.section(object, offset))
            .flatten();
        HostPlace { member: member.map(|member| member.name), section }
    }

    /// The name of the section around an offset of the file, in the object at `range`.
    fn section(&mut self, range: Range<usize>, offset: usize) -> Option<&'f [u8]> {
        if self.object.as_ref().is_none_or(|object| object.range != range) {
            self.object = Some(HostObject::new(self.file, range));
        }
        let object = self.object.as_mut()?;
        let at = last_before(&object.sections, offset, |(range, _)| range)?;
        let (_, index) = object.sections[at];
        if let Some((_, name)) = object.named.filter(|(named, _)| *named == index) {
            return name;
        }
        let name = if self.names_left == 0 { None } else { object.name(index) };
        // A name without an end uses up the limit, because searching for the end takes as long as reading the longest
        // name.
        let read = name.map_or(self.names_left, <[u8]>::len);
        self.names_left = self.names_left.saturating_sub(read);
        object.named = Some((index, name));
        name
    }
}

/// The magics of archives: of GNU and BSD, thin, of AIX.
const ARCHIVES: [&[u8]; 3] = [b"!<arch>\n", b"!<thin>\n", b"<bigaf>\n"];

/// The members of an archive, sorted and disjoint, so that reading all of them takes no longer than reading the file;
/// and the first damage.
#[derive(Default)]
struct Members<'f> {
    members: Vec<Member<'f>>,
    damaged: Option<ContainerError>,
}

impl<'f> Members<'f> {
    fn read(file: &'f [u8], archive: &ArchiveFile<'f>) -> Self {
        let mut members = Self::default();
        let size = file.len() as u64;
        // Limited, because many members of a crafted archive can share one long name.
        let mut names_left = file.len();
        let mut next = 0;
        for member in archive.members() {
            let Ok(member) = member else {
                members.damaged(next, Kind::ArchiveMember);
                break;
            };
            let Some(left) = names_left.checked_sub(member.name().len()) else {
                members.damaged(next, Kind::ArchiveNames);
                break;
            };
            names_left = left;
            if member.is_thin() {
                continue;
            }
            let (start, length) = member.file_range();
            let end = start.saturating_add(length);
            if end > size {
                let left = size.saturating_sub(start);
                members.damaged(start, Kind::MemberCutOff { size: length, left });
            }
            next = end.saturating_add(end % 2);
            if start < end.min(size) {
                let range = start as usize..end.min(size) as usize;
                members.members.push(Member { range, name: member.name() });
            }
        }
        members.separate();
        members.check_symbols(archive, size);
        members
    }

    fn damaged(&mut self, offset: u64, kind: Kind) {
        self.damaged.get_or_insert(ContainerError { offset, kind });
    }

    /// Ends each member where the next one begins.
    fn separate(&mut self) {
        self.members.sort_by_key(|member| member.range.start);
        for i in 1..self.members.len() {
            let start = self.members[i].range.start;
            let end = &mut self.members[i - 1].range.end;
            if *end > start {
                *end = start;
                self.damaged(start as u64, Kind::MembersOverlap);
            }
        }
        self.members.retain(|member| !member.range.is_empty());
    }

    /// Looks for members that the symbol table names and the file lacks. Without this check, an archive that is cut off
    /// between two members would look complete.
    fn check_symbols(&mut self, archive: &ArchiveFile<'_>, size: u64) {
        // Skipped: reading a BSD table reads each name too, and names that share one long string would take quadratic
        // time.
        if matches!(archive.kind(), ArchiveKind::Bsd | ArchiveKind::Bsd64) {
            return;
        }
        match archive.symbols() {
            Ok(symbols) => {
                let named = symbols.into_iter().flatten().map_while(Result::ok);
                let last = named.map(|symbol| symbol.offset().0).max().unwrap_or(0);
                if last >= size {
                    self.damaged(last, Kind::MemberMissing { size });
                }
            }
            // The symbol table is the first member.
            Err(_) if self.members.is_empty() => self.damaged(0, Kind::ArchiveHeader),
            Err(_) => {}
        }
    }
}

/// An error if an object, library or program ends before its sections or their table do.
fn cut_off(file: &[u8]) -> Option<ContainerError> {
    let end = match FileKind::parse(file).ok()? {
        FileKind::Elf32 => elf_end::<object::elf::FileHeader32<Endianness>>(file),
        FileKind::Elf64 => elf_end::<object::elf::FileHeader64<Endianness>>(file),
        FileKind::Pe32 => sections_end(&PeFile::<ImageNtHeaders32>::parse(file).ok()?),
        FileKind::Pe64 => sections_end(&PeFile::<ImageNtHeaders64>::parse(file).ok()?),
        FileKind::Coff => coff_end(file),
        _ => None,
    }?;
    let size = file.len() as u64;
    (end > size).then_some(ContainerError { offset: size, kind: Kind::FileCutOff { size, end } })
}

/// The end of the sections and tables of an ELF file.
fn elf_end<Elf: FileHeader<Endian = Endianness>>(file: &[u8]) -> Option<u64> {
    let Ok(header) = Elf::parse(file) else { return Some(size_of::<Elf>() as u64) };
    let endian = header.endian().ok()?;
    let table = |start: u64, count: u64, entry: u16| match start {
        0 => 0,
        _ => start.saturating_add(count.saturating_mul(entry.into())),
    };
    // A count that does not fit into the header is in the first entry.
    let count = header.shnum(endian, file).map_or(1, u64::from);
    let sections_end = table(header.e_shoff(endian).into(), count, header.e_shentsize(endian));
    let count = header.phnum(endian, file).map_or(0, u64::from);
    let segments_end = table(header.e_phoff(endian).into(), count, header.e_phentsize(endian));
    let sections = header.section_headers(endian, file).unwrap_or_default();
    let ranges = sections.iter().filter_map(|section| section.file_range(endian));
    ranges
        .map(|(offset, size)| offset.saturating_add(size))
        .chain([sections_end, segments_end])
        .max()
}

fn sections_end<'f>(file: &impl Object<'f>) -> Option<u64> {
    let ranges = file.sections().filter_map(|section| section.file_range());
    ranges.map(|(offset, size)| offset.saturating_add(size)).max()
}

/// The end of the sections of a COFF object. The symbols after them do not count, because they hold no code.
fn coff_end(file: &[u8]) -> Option<u64> {
    let mut offset = 0;
    let header = ImageFileHeader::parse(file, &mut offset).ok()?;
    let sections = header.sections(file, offset).ok()?;
    let ranges = sections.iter().filter_map(|section| section.coff_file_range());
    ranges.map(|(offset, size)| u64::from(offset) + u64::from(size)).max()
}

impl<'f> HostObject<'f> {
    fn new(file: &'f [u8], range: Range<usize>) -> Self {
        let start = range.start;
        let object = File::parse(file.get(range.clone()).unwrap_or_default()).ok();
        let mut sections = Vec::new();
        for section in object.iter().flat_map(|object| object.sections()) {
            if let Some((offset, size)) = section.file_range() {
                let place = |offset: u64| start.saturating_add(offset as usize);
                let range = place(offset)..place(offset.saturating_add(size)).min(range.end);
                sections.push((range, section.index()));
            }
        }
        sections.sort_by_key(|(range, _)| range.start);
        Self { range, file: object, sections, named: None }
    }

    fn name(&self, index: SectionIndex) -> Option<&'f [u8]> {
        self.file.as_ref()?.section_by_index(index).ok()?.name_bytes().ok()
    }
}

/// The index of the range that contains an offset, among sorted ranges: the last one that begins at or before it.
fn last_before<T>(
    sorted: &[T],
    offset: usize,
    range: impl Fn(&T) -> &Range<usize>,
) -> Option<usize> {
    let after = sorted.partition_point(|one| range(one).start <= offset);
    let last = after.checked_sub(1)?;
    range(&sorted[last]).contains(&offset).then_some(last)
}
