//! [`Relocated`]: which instructions of a cubin the linker changes.

use object::elf::{ELFCLASS32, FileHeader32, FileHeader64};
use object::endian::LittleEndian;
use object::read::elf::{FileHeader, Rel, Rela, SectionHeader};

/// The places that relocations apply to: the index of the section and the byte offset in it, ascending.
#[derive(Debug, Default)]
pub(super) struct Relocated(Vec<(usize, u64)>);

impl Relocated {
    /// Reads the relocations of sections of code, given by their indices in ascending order. Tables that
    /// cannot be read have none.
    pub(super) fn read(data: &[u8], code: &[usize]) -> Self {
        let places = if data.get(4) == Some(&ELFCLASS32.0) {
            places::<FileHeader32<LittleEndian>>(data, code)
        } else {
            places::<FileHeader64<LittleEndian>>(data, code)
        };
        let mut places = places.unwrap_or_default();
        places.sort_unstable();
        places.dedup();
        Self(places)
    }

    /// Returns whether a relocation applies to the instruction at a byte offset of a section.
    pub(super) fn contains(&self, section: usize, offset: u64) -> bool {
        !self.0.is_empty() && self.0.binary_search(&(section, offset)).is_ok()
    }
}

fn places<Elf>(data: &[u8], code: &[usize]) -> Option<Vec<(usize, u64)>>
where
    Elf: FileHeader<Endian = LittleEndian>,
{
    let sections = Elf::parse(data).ok()?.sections(LittleEndian, data).ok()?;
    let mut places = Vec::new();
    // Tables can overlap; together they have no more entries than fit into the file.
    let mut left = data.len() / size_of::<Elf::Rel>();
    for table in sections.iter() {
        let section = table.sh_info(LittleEndian) as usize;
        if code.binary_search(&section).is_err() {
            continue;
        }
        let implicit = table.rel(LittleEndian, data).ok().flatten().map_or(&[][..], |(all, _)| all);
        let explicit =
            table.rela(LittleEndian, data).ok().flatten().map_or(&[][..], |(all, _)| all);
        let Some(rest) = left.checked_sub(implicit.len() + explicit.len()) else { break };
        left = rest;
        let implicit = implicit.iter().map(|entry| entry.r_offset(LittleEndian).into());
        let explicit = explicit.iter().map(|entry| entry.r_offset(LittleEndian).into());
        places.extend(implicit.chain(explicit).map(|offset: u64| (section, offset)));
    }
    Some(places)
}
