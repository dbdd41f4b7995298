//! [`SassInstruction`]: what every kind of input is read into.

use std::sync::Arc;

use warpload_encoding::Control;

#[cfg(feature = "trace")]
use super::source_lines::SourceLine;

/// The supported SM versions, ten times the major number plus the minor number. They share the
/// 32-byte bundles and the encoding of the loads.
pub const SUPPORTED_SM: [u32; 6] = [50, 52, 53, 60, 61, 62];

/// One instruction, with what its source says about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SassInstruction {
    /// The function that it belongs to, as the source writes it (mangled); for a cubin, the name
    /// after `.text.` in the name of the section.
    pub function: Option<Arc<str>>,
    /// Bytes from the start of the function's section, including control words: the first
    /// instruction of a function is at 8.
    pub offset: Option<u64>,
    /// The instruction word; `None` in a listing without words.
    pub word: Option<u64>,
    /// The text of a listing without offset, braces, slot and semicolon; `None` for binaries.
    pub text: Option<String>,
    /// How it is scheduled, from the control word or from the notation before the text.
    pub control: Option<Control>,
    /// The line of the listing, from 1; `None` for binaries.
    pub line: Option<u64>,
    /// The column in bytes, from 1, at which the text begins in its line; `None` for binaries.
    pub column: Option<usize>,
    /// The registers per thread of the function: `sh_info` bits 31:24 of a cubin's
    /// section, `SHI_REGISTERS` of nvdisasm, `RegCnt` of maxas.
    pub registers: Option<u8>,
    /// Whether the relocations of a cubin apply to it: its word is that before linking. The text of a
    /// listing says so itself ([`without_relocations`](super::without_relocations)).
    pub is_relocated: bool,
    /// The source line, after [`Sass::read_source_lines`](super::Sass::read_source_lines); `None` if the
    /// input has none for it.
    #[cfg(feature = "trace")]
    pub source: Option<SourceLine>,
    /// The SM version, ten times the major number plus the minor number; one of
    /// [`SUPPORTED_SM`].
    pub sm: Option<u32>,
}
