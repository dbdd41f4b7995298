//! [`Host`]: the archive members and the sections that bytes of a file are in, as far as they are
//! known.

use std::ops::Range;

use object::read::archive::ArchiveFile;
use object::{File, Object, ObjectSection, SectionIndex};

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
pub(super) struct Place<'f> {
    pub(super) member: Option<&'f [u8]>,
    pub(super) section: Option<&'f [u8]>,
}

impl<'f> Host<'f> {
    pub(super) fn new(file: &'f [u8]) -> Self {
        let mut members = Vec::new();
        if let Ok(archive) = ArchiveFile::parse(file) {
            // What is after a damaged header has no name.
            for member in archive.members().map_while(Result::ok) {
                let (start, size) = member.file_range();
                let end = start.saturating_add(size).min(file.len() as u64);
                if !member.is_thin() && start < end {
                    let range = start as usize..end as usize;
                    members.push(Member { range, name: member.name() });
                }
            }
            members.sort_by_key(|member| member.range.start);
        }
        Self { file, members, object: None, names_left: file.len() }
    }

    pub(super) fn members(&self) -> &[Member<'f>] {
        &self.members
    }

    /// Returns what an offset of the file is in.
    pub(super) fn place(&mut self, offset: usize) -> Place<'f> {
        let member = last_before(&self.members, offset, |member| &member.range);
        let member = member.map(|at| self.members[at].clone());
        let object = member.as_ref().map_or(0..self.file.len(), |member| member.range.clone());
        // Between members there is no object.
        let section = (member.is_some() || self.members.is_empty())
            .then(|| self.section(object, offset))
            .flatten();
        Place { member: member.map(|member| member.name), section }
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
