//! [`SassInstruction`]: what every kind of input is read into.

use std::sync::Arc;

use warpload_encoding::{Control, MachineWord, Sm};

use super::code::{CodeUnit, Placed};
use super::source_lines::SourceLine;

/// One instruction, with what its source says about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SassInstruction {
    /// The function that it belongs to, as the source writes it (mangled); for a cubin, the name
    /// after `.text.` in the name of the section.
    pub function: Option<Arc<str>>,
    /// Bytes from the start of the function's section. On SM 5.x and 6.x control words count: the
    /// first instruction of a function is at 8. Later ones are at multiples of 16.
    pub offset: Option<u64>,
    /// The instruction word; `None` in a listing without words.
    pub word: Option<MachineWord>,
    /// The text of a listing without offset, braces, slot, annotations in `(*"` and `"*)`, and
    /// semicolon; `None` for binaries, and for words that nvdisasm 12.8 lists without text beside
    /// life ranges. It can end with the scheduling that nvdisasm 12.8 appends from SM 8.6 on.
    pub text: Option<String>,
    /// How it is scheduled, from the control word, the word of 128 bits, or the notation before the
    /// text.
    pub control: Option<Control>,
    /// The line of the listing, from 1; `None` for binaries.
    pub line: Option<u64>,
    /// The column in bytes, from 1, at which the text begins in its line; `None` for binaries.
    pub column: Option<usize>,
    /// The registers per thread of the function: `sh_info` bits 31:24 of a cubin's section, or its
    /// `.nv.info` from SM 9.0 on; `SHI_REGISTERS` of nvdisasm, `RegCnt` of maxas.
    pub registers: Option<u8>,
    /// The SM version, if the source names it.
    pub sm: Option<Sm>,
    /// What its code consists of, which tells SM 5.x and 6.x from later ones even in a source that
    /// does not name the SM; `None` in a listing that shows neither.
    pub unit: Option<CodeUnit>,
    /// Whether the relocations of a cubin apply to it: its word is that before linking. The text of a
    /// listing says so itself ([`without_relocations`](super::without_relocations)).
    pub is_relocated: bool,
    /// The source line, after [`Sass::read_source_lines`](super::Sass::read_source_lines); `None` if the
    /// input has none for it.
    pub source: Option<SourceLine>,
}

impl From<Placed> for SassInstruction {
    fn from(placed: Placed) -> Self {
        Self {
            offset: Some(placed.offset),
            word: Some(placed.word),
            control: Some(placed.control),
            unit: Some(CodeUnit::with_word(placed.word)),
            ..Self::default()
        }
    }
}
