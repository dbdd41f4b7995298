//! [`Header`]: the header of an ELF file, and its [`Tables`], of either class.

use std::ops::Range;

use object::LittleEndian as LE;
use object::elf::{ELFCLASS32, ELFDATA2MSB, EM_CUDA, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader};
use warpload_encoding::Sm;

use super::Section;
use super::attributes::says_specific;
use crate::sass::SassError;

/// The `EI_OSABI` of NVIDIA's second ABI, which has the SM elsewhere in the header's flags. ptxas
/// writes it for SM 10.0 and later, and from 13.0 on for every SM.
const OS_ABI_2: u8 = 0x41;

/// The first SM with architecture-specific code. The flag is older, so it does not count below this SM.
const FIRST_SPECIFIC: u32 = 90;

/// SM, class and extent of a cubin, by its header and `.nv.compat`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// Ten times the major number plus the minor number.
    pub(crate) number: u32,
    /// Whether only this SM executes the code, by the header or by `.nv.compat`.
    pub(crate) is_specific: bool,
    pub(super) is_32: bool,
    /// The end of its tables. The rest is padding.
    #[cfg_attr(not(feature = "container"), expect(dead_code, reason = "containers have padding"))]
    pub(crate) end: usize,
}

/// The sections of an ELF file, and the range of their names.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) sections: Vec<Section>,
    pub(super) names: Range<usize>,
}

/// Refuses ELF files of other machines.
pub(super) fn check_machine(data: &[u8]) -> Result<(), SassError> {
    let machine = data.get(18..20).and_then(|bytes| bytes.first_chunk().copied());
    let big_endian = data.get(5) == Some(&ELFDATA2MSB.0);
    let from_bytes = if big_endian { u16::from_be_bytes } else { u16::from_le_bytes };
    match machine.map(from_bytes) {
        Some(machine) if machine != EM_CUDA.0 => Err(SassError::OtherMachine { machine }),
        _ => Ok(()),
    }
}

impl Header {
    /// Reads the header and the tables. Damaged tables do not hide the header, because a container needs only SM and
    /// extent.
    pub(super) fn with_tables(data: &[u8]) -> Result<(Self, Result<Tables, SassError>), SassError> {
        if data.get(4) == Some(&ELFCLASS32.0) {
            Self::of_class::<FileHeader32<LE>>(data, true)
        } else {
            Self::of_class::<FileHeader64<LE>>(data, false)
        }
    }

    fn of_class<Elf: FileHeader<Endian = LE>>(
        data: &[u8],
        is_32: bool,
    ) -> Result<(Self, Result<Tables, SassError>), SassError> {
        let file_size = data.len() as u64;
        let broken = |part, offset| {
            move |error: object::Error| {
                let reason = error.to_string();
                SassError::Elf { part, offset, file_size, reason }
            }
        };
        let header = Elf::parse(data).map_err(broken("ELF header", 0))?;
        header.endian().map_err(broken("ELF header", 0))?;
        let (segments_at, sections_at) = (header.e_phoff(LE).into(), header.e_shoff(LE).into());
        let segments = header.program_headers(LE, data);
        let end = match (segments, header.section_headers(LE, data)) {
            (Ok(segments), Ok(sections)) => {
                let after = |start: u64, size| (start as usize).saturating_add(size);
                let segments = after(segments_at, size_of_val(segments));
                segments.max(after(sections_at, size_of_val(sections)))
            }
            _ => 0,
        };
        let end = if end == 0 { data.len() } else { end.min(data.len()) };
        let read = || {
            let table =
                header.sections(LE, data).map_err(broken("section headers", sections_at))?;
            let names = header
                .section_strings_index(LE, data)
                .and_then(|index| table.section(index))
                .map_err(broken("section names", sections_at))?;
            let names = Section::new(names, 0);
            let names = names.checked_range(data, || "the section names".into())?;
            let sections = table.iter().map(|header| Section::new(header, names.start)).collect();
            Ok(Tables { sections, names })
        };
        let tables = read();
        let flags = header.e_flags(LE).0;
        let (shift, specific) =
            if header.e_ident().os_abi.0 == OS_ABI_2 { (8, 0x8) } else { (0, 0x800) };
        let number = flags >> shift & 0xff;
        let says_so = || tables.as_ref().is_ok_and(|tables| tables.say_specific(data));
        let is_specific = number >= FIRST_SPECIFIC && (flags & specific != 0 || says_so());
        // The program headers are not needed, but they are the end of the files that NVIDIA's tools write: without them
        // the file is truncated.
        let segments = segments.map_err(broken("program headers", segments_at));
        Ok((Self { number, is_specific, is_32, end }, segments.and(tables)))
    }

    /// Reads the header alone: the code may be damaged. `None` if the header is damaged too.
    #[cfg(feature = "container")]
    pub(crate) fn read(data: &[u8]) -> Option<Self> {
        Self::with_tables(data).ok().map(|(header, _)| header)
    }

    /// Fails if the instructions of the SM are unknown.
    pub(super) fn known_sm(&self) -> Result<Sm, SassError> {
        let sm = Sm::new(self.number);
        let sm = sm.map(|sm| if self.is_specific { sm.specific() } else { sm });
        sm.ok_or(SassError::UnsupportedSm { sm: self.number, line: None })
    }
}

impl Tables {
    /// Whether `.nv.compat` says that only one SM executes the code.
    fn say_specific(&self, data: &[u8]) -> bool {
        let names = &data[..self.names.end];
        let section = self.sections.iter().find(|one| one.is_named(b".nv.compat", names));
        let range = section.and_then(|section| section.range(data));
        range.is_some_and(|range| says_specific(&data[range]))
    }
}

impl Section {
    /// `names` is the file offset of the section names.
    fn new<S: SectionHeader<Endian = LE>>(header: &S, names: usize) -> Self {
        let (offset, size) = header.file_range(LE).unwrap_or_default();
        Self {
            name: names.saturating_add(header.sh_name(LE) as usize),
            kind: header.sh_type(LE),
            address: header.sh_addr(LE).into(),
            offset,
            size,
            memory_size: header.sh_size(LE).into(),
            link: header.sh_link(LE),
            info: header.sh_info(LE),
        }
    }

    /// The range of its data. Fails if that is outside the file.
    pub(super) fn checked_range(
        &self,
        data: &[u8],
        name: impl FnOnce() -> String,
    ) -> Result<Range<usize>, SassError> {
        let Self { offset, size, .. } = *self;
        let file_size = data.len() as u64;
        let outside = || SassError::SectionOutsideFile { name: name(), offset, size, file_size };
        self.range(data).ok_or_else(outside)
    }
}
