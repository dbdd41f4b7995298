//! What the headers of a cubin say: its SM, and where it ends.

use std::fmt;

use object::elf::{ELFCLASS32, EM_CUDA, FileHeader32, FileHeader64};
use object::endian::LittleEndian;
use object::read::elf::{FileHeader, SectionHeader};

use crate::compatibility;

/// The SM of an image. Displays as in the names of targets: `50`, `90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageSm {
    number: u32,
    suffix: Option<char>,
}

impl ImageSm {
    pub(super) fn new(number: u32, suffix: Option<char>) -> Option<Self> {
        (number > 0).then_some(Self { number, suffix })
    }

    /// Returns ten times the major number plus the minor number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Returns the letter after the number: `a` for code that only this SM executes, `f` for code of
    /// its family.
    #[must_use]
    pub const fn suffix(self) -> Option<char> {
        self.suffix
    }
}

impl fmt::Display for ImageSm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number)?;
        self.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}

/// From this version of the ABI (CUDA 12.8 for SM 10.0, CUDA 13 for all) on, the SM is in bits 15:8 of
/// the header's flags; before, it is in bits 7:0.
const ABI_VERSION_2: u8 = 8;

/// The bit of the flags for code that only this SM executes, in either version of the ABI.
const SPECIFIC: u32 = 0x800;
const SPECIFIC_2: u32 = 0x08;

/// What is read of a cubin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cubin {
    pub(super) sm: Option<ImageSm>,
    /// Where its tables end; what follows is padding.
    pub(super) end: usize,
}

/// Whether bytes begin as cubins do.
pub(super) fn is_cubin(data: &[u8]) -> bool {
    data.starts_with(b"\x7fELF") && data.get(18..20) == Some(&EM_CUDA.0.to_le_bytes())
}

impl Cubin {
    /// Reads the headers, as far as that is possible.
    pub(super) fn read(data: &[u8]) -> Option<Self> {
        if data.get(4) == Some(&ELFCLASS32.0) {
            Self::of_class::<FileHeader32<LittleEndian>>(data)
        } else {
            Self::of_class::<FileHeader64<LittleEndian>>(data)
        }
    }

    fn of_class<Elf: FileHeader<Endian = LittleEndian>>(data: &[u8]) -> Option<Self> {
        let header = Elf::parse(data).ok()?;
        let endian = header.endian().ok()?;
        let flags = header.e_flags(endian).0;
        let (number, mut is_specific) = if header.e_ident().abi_version >= ABI_VERSION_2 {
            (flags >> 8 & 0xff, flags & SPECIFIC_2 != 0)
        } else {
            (flags & 0xff, flags & SPECIFIC != 0)
        };
        let table = |offset: u64, count: u32, size: u16| match offset {
            0 => Some(0),
            _ => (u64::from(count) * u64::from(size)).checked_add(offset),
        };
        let sections = header.shnum(endian, data).ok().and_then(|count| {
            table(header.e_shoff(endian).into(), count, header.e_shentsize(endian))
        });
        let segments = header.phnum(endian, data).ok().and_then(|count| {
            table(header.e_phoff(endian).into(), count, header.e_phentsize(endian))
        });
        let end = sections.zip(segments).map(|(sections, segments)| sections.max(segments));
        let end = end.and_then(|end| usize::try_from(end).ok()).filter(|end| *end > 0);
        let end = end.map_or(data.len(), |end| end.min(data.len()));
        is_specific |= header.sections(endian, data).is_ok_and(|sections| {
            let names = header.section_strings_index(endian, data);
            let names = names.and_then(|index| sections.section(index)?.data(endian, data));
            names.is_ok_and(|names| compatibility::is_specific::<Elf>(data, &sections, names))
        });
        // Before SM 9.0 there is no such code.
        let suffix = (is_specific && number >= 90).then_some('a');
        Some(Self { sm: ImageSm::new(number, suffix), end })
    }
}
