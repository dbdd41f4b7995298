//! x86-64 code for iced-x86 to read: this executable's own.

use iced_x86::{Decoder, DecoderOptions};
use object::{Object, ObjectSection};

/// Returns `count` instructions from the middle of this executable's code; `None` if the executable
/// is not an ELF file.
pub(crate) fn code(count: usize) -> Option<Vec<u8>> {
    let path = std::env::current_exe().expect("the executable has a path");
    let file = std::fs::read(path).expect("the executable can be read");
    let elf = object::File::parse(&*file).ok()?;
    let text = elf.section_by_name(".text")?.data().ok()?;
    // Decoded from the start, so that the part begins at an instruction.
    let starts: Vec<usize> = Decoder::new(64, text, DecoderOptions::NONE)
        .into_iter()
        .map(|instruction| instruction.ip() as usize)
        .collect();
    let first = starts.len().checked_sub(count + 1)? / 2;
    Some(text[starts[first]..starts[first + count]].to_vec())
}
