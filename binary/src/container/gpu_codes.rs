//! [`GpuCodes`]: every image of a file, in file order, found in one pass. [`Limits`]: the most bytes that are
//! decompressed.

use memchr::memmem;
use object::elf::EM_CUDA;

use super::compression::{Compression, Payload};
use super::entry::{CONCATENATED, ContainerHeader, ELF, Entry, EntryHeader, PTX, Table};
use super::error::{ContainerError, ContainerErrorKind as Kind};
use super::gpu_code::{GpuCode, GpuCodeKind, Stored};
use super::host::{Host, HostPlace};
use super::sm::GpuSm;
use crate::cubin::Header;

/// The most images of one entry.
pub(super) const MAX_TABLE_RECORDS: u32 = 1 << 20;

/// Limits on the decompressed size of a file's images, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// One image, or several that are compressed together; 256 MiB unless set. An image of PTX also has at most 8 MiB, and
    /// 64 bytes for each of its compressed ones.
    pub image: u64,
    /// All images of a file; 4 GiB unless set. [`Self::TOTAL_RATIO`] times the size of the file is allowed in any case.
    pub total: u64,
}

impl Limits {
    /// Images may be this many times as large as the file, whatever [`Self::total`] is.
    pub const TOTAL_RATIO: u64 = 64;

    /// Sets the limit for one image.
    #[must_use]
    pub const fn image(self, image: u64) -> Self {
        Self { image, ..self }
    }

    /// Sets the limit for all images of a file.
    #[must_use]
    pub const fn total(self, total: u64) -> Self {
        Self { total, ..self }
    }

    fn total_of(self, file: usize) -> u64 {
        (file as u64).saturating_mul(Self::TOTAL_RATIO).max(self.total)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { image: 256 << 20, total: 4 << 30 }
    }
}

/// Limits on the text of a compressed PTX image: in any case, and for each of its stored bytes. A module takes several
/// times as much memory once it is read, and text of one repeated line compresses ten thousandfold; modules of compilers
/// compress about tenfold.
const ANY_PTX: u64 = 8 << 20;
const PTX_FOR_BYTE: u64 = 64;

/// 0xBA55ED50, little-endian.
const MAGIC: &[u8] = b"\x50\xed\x55\xba";
/// The magic, version 1 and the size of this header.
const SIGNATURE: &[u8] = b"\x50\xed\x55\xba\x01\0\x10\0";

/// Iterates over the images of a file in file order.
///
/// Damage in place of an image is an error item, and the images after it are still found. Damage inside an image is
/// found later, by [`GpuCode::read`].
#[derive(Debug)]
pub struct GpuCodes<'f> {
    file: &'f [u8],
    limits: Limits,
    host: Host<'f>,
    /// The offset up to which the file has been searched.
    position: usize,
    /// The next header of a container at or after `position`, if it is known.
    container_ahead: Ahead,
    /// The next bytes that look like an entry's header, after damage.
    entry_ahead: Ahead,
    container: Option<Container>,
    table: Option<OpenTable<'f>>,
    /// The next member that may be a cubin.
    member: usize,
    /// The decompressed bytes of all images so far.
    claimed: u64,
    /// Whether truncation of the file has been checked. Also set when a truncated container is reported, which avoids a
    /// second report.
    is_checked: bool,
}

/// The result of a search, kept while it stays valid. Otherwise each damaged entry would search the rest of the file
/// again, in quadratic time.
#[derive(Clone, Copy, Debug, Default)]
struct Ahead {
    from: usize,
    found: Option<usize>,
    is_known: bool,
}

impl Ahead {
    /// The first match at or after `from`. Calls `search` only if the kept result is no longer valid.
    fn at_or_after(
        &mut self,
        from: usize,
        search: impl FnOnce(usize) -> Option<usize>,
    ) -> Option<usize> {
        let still = self.from <= from && self.found.is_none_or(|found| from <= found);
        if !self.is_known || !still {
            *self = Self { from, found: search(from), is_known: true };
        }
        self.found
    }
}

/// The container that is being read.
#[derive(Clone, Copy, Debug)]
struct Container {
    start: usize,
    /// The next entry.
    at: usize,
    end: usize,
    /// The claimed size of its entries; more than `end` allows if it is cut off.
    size: u64,
}

/// The images of an entry with several.
#[derive(Debug)]
struct OpenTable<'f> {
    place: EntryPlace<'f>,
    stored: Stored<'f>,
    table: Table<'f>,
}

/// The place of an entry, and its flags, which its images inherit.
#[derive(Clone, Copy, Debug)]
struct EntryPlace<'f> {
    container: usize,
    entry: usize,
    flags: u64,
    host: HostPlace<'f>,
}

impl<'f> GpuCodes<'f> {
    /// Searches the bytes of a whole file.
    #[must_use]
    pub fn new(file: &'f [u8]) -> Self {
        Self::with_limits(file, Limits::default())
    }

    /// Searches the bytes of a whole file, with limits on decompression.
    #[must_use]
    pub fn with_limits(file: &'f [u8], limits: Limits) -> Self {
        Self {
            file,
            limits,
            host: Host::new(file),
            position: 0,
            container_ahead: Ahead::default(),
            entry_ahead: Ahead::default(),
            container: None,
            table: None,
            member: 0,
            claimed: 0,
            is_checked: false,
        }
    }

    /// The next header of a container at or after an offset.
    fn next_container(&mut self, from: usize) -> Option<usize> {
        let file = self.file;
        self.container_ahead.at_or_after(from, |from| {
            let rest = file.get(from..)?;
            let found = memmem::find_iter(rest, SIGNATURE).map(|at| from + at);
            found.into_iter().find(|at| file.len() - at >= ContainerHeader::BYTES)
        })
    }

    /// The next bytes at or after an offset that look like the header of an entry.
    fn next_entry(&mut self, from: usize) -> Option<usize> {
        // The version, after two bytes. Matches overlap: a concatenated entry begins with 00 01 01 01, and its version
        // is the second of the two.
        const VERSION: [u8; 2] = [1, 1];
        let file = self.file;
        self.entry_ahead.at_or_after(from, |from| {
            let rest = file.get(from..)?;
            let begins = |at: &usize| rest.get(*at..).is_some_and(Entry::may_begin);
            memchr::memchr_iter(VERSION[0], rest)
                .filter(|at| rest.get(at + 1) == Some(&VERSION[1]))
                .find_map(|at| at.checked_sub(2).filter(begins))
                .map(|at| from + at)
        })
    }

    /// The next cubin that is not in a container: a member of an archive, or the whole file.
    fn bare_cubin(&mut self) -> Option<GpuCode<'f>> {
        // The machine of an ELF file is in bytes 18 and 19.
        let is_cubin = |bytes: &[u8]| {
            bytes.starts_with(b"\x7fELF") && bytes.get(18..20) == Some(&EM_CUDA.0.to_le_bytes())
        };
        let members = self.host.members();
        let (range, name) = if members.is_empty() {
            (0..self.file.len(), None)
        } else {
            while members.get(self.member).is_some_and(|member| {
                member.range.start < self.position || !is_cubin(&self.file[member.range.clone()])
            }) {
                self.member += 1;
            }
            let member = members.get(self.member)?;
            (member.range.clone(), Some(member.name))
        };
        let bytes = &self.file[range.clone()];
        if range.start < self.position || !is_cubin(bytes) {
            return None;
        }
        // A container before the cubin comes first, because images are in file order.
        if self.next_container(self.position).is_some_and(|at| at < range.start) {
            return None;
        }
        self.position = range.end;
        Some(GpuCode {
            kind: GpuCodeKind::Cubin,
            container: None,
            entry: None,
            member: name,
            section: None,
            name: None,
            options: None,
            compression: None,
            flags: 0,
            sm: Header::read(bytes).and_then(GpuSm::of_cubin),
            size: bytes.len() as u64,
            stored: Stored::Plain(bytes),
        })
    }

    /// Begins the next container. Only at the start of the file is a bad header an error: elsewhere the magic may be
    /// other data.
    fn open_container(&mut self) -> Option<Result<(), ContainerError>> {
        let is_one = self.position == 0 && self.file.starts_with(MAGIC);
        let wrong = match ContainerHeader::read(self.file).filter(|_| is_one) {
            None if is_one => Some(Kind::ContainerHeaderCutOff { size: self.file.len() as u64 }),
            Some(ContainerHeader { version, bytes: header, .. })
                if !self.file.starts_with(SIGNATURE) =>
            {
                Some(Kind::ContainerVersion { version, header })
            }
            _ => None,
        };
        if let Some(kind) = wrong {
            self.position = MAGIC.len();
            return Some(Err(ContainerError::new(0, kind)));
        }
        let start = self.next_container(self.position);
        let found = start.and_then(|at| Some((at, ContainerHeader::read(self.file.get(at..)?)?)));
        let Some((start, ContainerHeader { size, .. })) = found else {
            self.position = self.file.len();
            return None;
        };
        let at = start + ContainerHeader::BYTES;
        let end = usize::try_from(size).ok().and_then(|size| at.checked_add(size));
        let end = end.filter(|end| *end <= self.file.len()).unwrap_or(self.file.len());
        self.position = at;
        self.container = Some(Container { start, at, end, size });
        Some(Ok(()))
    }

    /// The next image of the current container, or the error in its place; `None` at its end.
    fn next_of_container(&mut self) -> Option<Result<GpuCode<'f>, ContainerError>> {
        loop {
            let container = self.container.as_mut()?;
            let Container { start, at, end, size } = *container;
            if at >= end {
                self.container = None;
                self.position = end;
                let left = (end - start - ContainerHeader::BYTES) as u64;
                // The truncation is reported here, so it need not be looked for in the host file.
                self.is_checked |= left < size;
                return (left < size).then(|| {
                    Err(ContainerError::new(start, Kind::ContainerCutOff { size, left }))
                });
            }
            match Entry::read(self.file, at, end) {
                Ok((entry, next)) => {
                    container.at = next;
                    if let Some(result) = self.entry(&entry, start) {
                        return Some(result);
                    }
                    if let Some(result) = self.next_of_table() {
                        return Some(result);
                    }
                }
                Err(error) => {
                    self.skip_damage(at, end);
                    return Some(Err(error));
                }
            }
        }
    }

    /// Skips damage in a container: continues with the next bytes that look like an entry, unless another container
    /// begins before them.
    fn skip_damage(&mut self, at: usize, end: usize) {
        let next = self.next_entry(at + 1).filter(|next| *next < end);
        let container = self.next_container(at);
        match (next, &mut self.container) {
            (Some(next), Some(current)) if container.is_none_or(|other| next < other) => {
                current.at = next;
            }
            _ => {
                self.container = None;
                self.position = at;
            }
        }
    }

    /// The image of an entry; If the entry has several, the result is `None` and [`Self::next_of_table`] returns them.
    fn entry(
        &mut self,
        entry: &Entry<'f>,
        container: usize,
    ) -> Option<Result<GpuCode<'f>, ContainerError>> {
        let Entry { offset, header, .. } = *entry;
        let host = self.host.place(container);
        let place = EntryPlace { container, entry: offset, flags: header.flags, host };
        let (compression, stored) = match entry.stored() {
            Ok((None, bytes)) => (None, Stored::Plain(bytes)),
            Ok((Some(compression), stored)) => {
                let payload = |claimed| Payload { entry: offset, compression, stored, claimed };
                let stored = self.claim(entry).map(payload).map(Stored::Compressed);
                (Some(compression), stored.unwrap_or_else(Stored::Refused))
            }
            Err(error) => (None, Stored::Refused(error)),
        };
        if header.kind == CONCATENATED {
            let table = match Table::read(entry, compression) {
                Ok(table) => table,
                Err(error) => return Some(Err(error)),
            };
            self.table = Some(OpenTable { place, stored: stored.shared(), table });
            return None;
        }
        let stored = if header.is_obfuscated() && !matches!(header.kind, ELF | PTX) {
            let size = header.claimed.max(entry.payload.len() as u64);
            Stored::Refused(ContainerError::new(offset, Kind::Obfuscated { size }))
        } else {
            stored
        };
        let size = match stored {
            Stored::Plain(bytes) => bytes.len() as u64,
            _ => header.claimed,
        };
        Some(Ok(place.image(header, compression, size, stored)))
    }

    /// The claimed size of a compressed entry, if the limits allow it.
    fn claim(&mut self, entry: &Entry<'f>) -> Result<usize, ContainerError> {
        let claimed = entry.header.claimed;
        let refuse = |kind| Err(ContainerError::new(entry.offset, kind));
        let mut image = self.limits.image;
        if entry.header.kind == PTX {
            let stored = entry.payload.len() as u64;
            image = image.min(ANY_PTX.saturating_add(stored.saturating_mul(PTX_FOR_BYTE)));
        }
        if claimed > image {
            return refuse(Kind::TooLarge { size: claimed, limit: image });
        }
        let limit = self.limits.total_of(self.file.len());
        let total = self.claimed.saturating_add(claimed);
        if total > limit {
            return refuse(Kind::TotalTooLarge { limit });
        }
        self.claimed = total;
        usize::try_from(claimed).or_else(|_| refuse(Kind::TooLarge { size: claimed, limit: image }))
    }

    /// The next image of an entry with several.
    fn next_of_table(&mut self) -> Option<Result<GpuCode<'f>, ContainerError>> {
        let open = self.table.as_mut()?;
        let Some(part) = open.table.next() else {
            self.table = None;
            return None;
        };
        let (header, range) = match part {
            Ok(part) => part,
            Err(error) => return Some(Err(error)),
        };
        let size = range.len() as u64;
        // The range is within the stream: the table has checked it.
        let stored = open.stored.part(range);
        Some(Ok(open.place.image(header, open.table.compression, size, stored)))
    }
}

impl<'f> EntryPlace<'f> {
    /// `header` is the header of the entry, or of an image in its table.
    fn image(
        self,
        header: EntryHeader<'f>,
        compression: Option<Compression>,
        size: u64,
        stored: Stored<'f>,
    ) -> GpuCode<'f> {
        let Self { container, entry, flags, host: HostPlace { member, section } } = self;
        let kind = match header.kind {
            ELF => GpuCodeKind::Cubin,
            PTX => GpuCodeKind::Ptx,
            other => GpuCodeKind::Other(other),
        };
        GpuCode {
            kind,
            container: Some(container as u64),
            entry: Some(entry as u64),
            member,
            section,
            name: header.name(),
            options: header.options(),
            compression,
            flags,
            sm: header.sm_of(kind == GpuCodeKind::Ptx),
            size,
            stored,
        }
    }
}

impl<'f> Iterator for GpuCodes<'f> {
    type Item = Result<GpuCode<'f>, ContainerError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.next_of_table() {
                return Some(item);
            }
            if let Some(item) = self.next_of_container() {
                return Some(item);
            }
            if let Some(cubin) = self.bare_cubin() {
                return Some(Ok(cubin));
            }
            match self.open_container() {
                Some(Ok(())) => {}
                Some(Err(error)) => return Some(Err(error)),
                None if self.is_checked => return None,
                None => {
                    self.is_checked = true;
                    return self.host.damaged().map(Err);
                }
            }
        }
    }
}
