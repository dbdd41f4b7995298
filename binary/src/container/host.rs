//! [`Host`]: the archive members and the sections that bytes of a file are in, as far as they are
//! known.

use std::ops::Range;

use object::endian::Endianness;
use object::pe::{ImageFileHeader, ImageNtHeaders32, ImageNtHeaders64};
use object::read::archive::{ArchiveFile, ArchiveKind};
use object::read::coff::CoffHeader;
use object::read::elf::{FileHeader, SectionHeader};
use object::read::pe::PeFile;
use object::{File, FileKind, Object, ObjectSection, SectionIndex};

use super::error::{ContainerError, ContainerErrorKind as Kind};

/// The structure of a file around its GPU code. Looked up with rising offsets, since the sections of
/// one object are known at a time.
#[derive(Debug)]
pub(super) struct Host<'f> {
    file: &'f [u8],
    /// Sorted; empty if the file is not an archive.
    members: Vec<Member<'f>>,
    object: Option<HostObject<'f>>,
    /// How many bytes of names may still be read: many sections can share one long name.
    names_left: usize,
    /// What is missing or contradictory in the archive.
    damaged: Option<ContainerError>,
}

#[derive(Clone, Debug)]
pub(super) struct Member<'f> {
    pub(super) range: Range<usize>,
    pub(super) name: &'f [u8],
}

/// An object, library or program: the file or a member.
#[derive(Debug)]
struct HostObject<'f> {
    range: Range<usize>,
    file: Option<File<'f>>,
    /// Where sections are in the file, sorted.
    sections: Vec<(Range<usize>, SectionIndex)>,
    /// The last one that was looked up.
    named: Option<(SectionIndex, Option<&'f [u8]>)>,
}

/// Where something is.
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

    /// Returns why GPU code may be missing: an archive is damaged, or the file ends before its sections do.
    pub(super) fn damaged(&self) -> Option<ContainerError> {
        self.damaged.clone().or_else(|| match self.members.is_empty() {
            true => cut_off(self.file),
            false => None,
        })
    }

    pub(super) fn members(&self) -> &[Member<'f>] {
        &self.members
    }

    /// Returns what an offset of the file is in.
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

    /// Returns the name of the section of an object that has an offset of the file.
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
        // Finding no end takes as long as the longest name.
        let read = name.map_or(self.names_left, <[u8]>::len);
        self.names_left = self.names_left.saturating_sub(read);
        object.named = Some((index, name));
        name
    }
}

/// How archives begin: of GNU and BSD, thin, of AIX.
const ARCHIVES: [&[u8]; 3] = [b"!<arch>\n", b"!<thin>\n", b"<bigaf>\n"];

/// The members of an archive, sorted and disjoint, so that reading all of them takes as long as reading the
/// file; and what is wrong with them.
#[derive(Default)]
struct Members<'f> {
    members: Vec<Member<'f>>,
    damaged: Option<ContainerError>,
}

impl<'f> Members<'f> {
    fn read(file: &'f [u8], archive: &ArchiveFile<'f>) -> Self {
        let mut members = Self::default();
        let size = file.len() as u64;
        // Many members can share one long name.
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

    /// Looks for members that the symbol table names and that are not there: an archive that is cut off
    /// between two members is one, but for that.
    fn check_symbols(&mut self, archive: &ArchiveFile<'_>, size: u64) {
        // Of these the names are anywhere in the table, and each is read.
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
            // It comes first.
            Err(_) if self.members.is_empty() => self.damaged(0, Kind::ArchiveHeader),
            Err(_) => {}
        }
    }
}

/// Returns what is missing of an object, library or program: the table of its sections, or one of them.
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

/// Returns where the sections of an ELF file and its tables end.
fn elf_end<Elf: FileHeader<Endian = Endianness>>(file: &[u8]) -> Option<u64> {
    let Ok(header) = Elf::parse(file) else { return Some(size_of::<Elf>() as u64) };
    let endian = header.endian().ok()?;
    let table = |start: u64, count: u64, entry: u16| match start {
        0 => 0,
        _ => start.saturating_add(count.saturating_mul(entry.into())),
    };
    // If a count is not in the header, it is in the first entry.
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

/// Returns where the sections of a COFF object end. Its symbols, which come last, are not looked at.
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

/// Returns the index of the last of sorted ranges that begins at or before an offset, if it has the
/// offset.
fn last_before<T>(
    sorted: &[T],
    offset: usize,
    range: impl Fn(&T) -> &Range<usize>,
) -> Option<usize> {
    let after = sorted.partition_point(|one| range(one).start <= offset);
    let last = after.checked_sub(1)?;
    range(&sorted[last]).contains(&offset).then_some(last)
}
