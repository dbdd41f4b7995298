//! What the headers of a cubin say: its SM, and where it ends.

use std::fmt;

use object::elf::{ELFCLASS32, EM_CUDA, FileHeader32, FileHeader64};
use object::endian::LittleEndian;
use object::read::elf::{FileHeader, SectionHeader};

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

/// The section in which CUDA 13 says what the code is compatible with, and the attribute in it that is
/// 1 for code that only this SM executes.
const COMPATIBILITY: &[u8] = b".nv.compat";
const SPECIFIC_ATTRIBUTE: u8 = 9;

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
        is_specific |= compatibility::<Elf>(header, data).is_some_and(is_specific_record);
        // Before SM 9.0 there is no such code.
        let suffix = (is_specific && number >= 90).then_some('a');
        Some(Self { sm: ImageSm::new(number, suffix), end })
    }
}

/// Returns the bytes of the section of that purpose.
fn compatibility<'d, Elf: FileHeader<Endian = LittleEndian>>(
    header: &Elf,
    data: &'d [u8],
) -> Option<&'d [u8]> {
    let sections = header.sections(LittleEndian, data).ok()?;
    let names = header.section_strings_index(LittleEndian, data).ok()?;
    let names = sections.section(names).ok()?.data(LittleEndian, data).ok()?;
    let is_it = |section: &&Elf::SectionHeader| {
        let name = names.get(section.sh_name(LittleEndian) as usize..).unwrap_or_default();
        name.strip_prefix(COMPATIBILITY).is_some_and(|after| after.first() == Some(&0))
    };
    sections.iter().find(is_it)?.data(LittleEndian, data).ok()
}

/// Whether attributes say that only one SM executes the code. Each has its format and its number; the
/// formats are those of `.nv.info`: a value of 8 or 16 bits, or a size and that many bytes.
fn is_specific_record(mut attributes: &[u8]) -> bool {
    while let Some(([format, number, low, high], rest)) = attributes.split_first_chunk() {
        if *number == SPECIFIC_ATTRIBUTE && *format == 2 {
            return *low == 1;
        }
        let size = if *format == 4 { usize::from(u16::from_le_bytes([*low, *high])) } else { 0 };
        attributes = rest.get(size..).unwrap_or_default();
    }
    false
}
