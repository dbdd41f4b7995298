//! [`SassError`]: damaged or unsupported cubins, raw streams and listings.

use std::io;

use warpload_encoding::{ParseError, Sm};

use super::code::CodeUnit;
use crate::file_kind::FileKind;
use crate::lines::LineError;

/// The reason why SASS could not be read, and the place. Remedies are left to the calling program, which knows its
/// options.
///
/// Offsets are bytes from the start of the input, from 0; lines and columns count from 1, columns
/// in bytes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SassError {
    /// The input could not be read.
    #[error("the input could not be read")]
    Read(#[source] io::Error),
    /// A line of a listing could not be read.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The input is empty.
    #[error("the input is empty; expected a cubin or a SASS listing")]
    Empty,
    /// A raw stream is empty.
    #[error("the input is empty; expected a bare stream of {unit}")]
    RawEmpty {
        /// The unit that the code should consist of.
        unit: CodeUnit,
    },
    /// Binary, but not ELF.
    #[error("neither an ELF file nor text; expected a cubin or a SASS listing")]
    Binary,
    /// Not ELF where a cubin is needed.
    #[error("not an ELF file; expected a cubin")]
    NotElf,
    /// A file of another kind, such as a fatbin or a compressed file.
    #[error("{0}")]
    OtherFile(FileKind),
    /// A file of a known kind instead of a raw stream.
    #[error("{}; expected a bare stream of {unit}", kind.name())]
    NotRaw {
        /// The kind of file.
        kind: FileKind,
        /// The unit that the code should consist of.
        unit: CodeUnit,
    },
    /// Text instead of a raw stream.
    #[error("text; expected a bare stream of {unit}")]
    RawText {
        /// The unit that the code should consist of.
        unit: CodeUnit,
    },
    /// An ELF file that is not a cubin.
    #[error("an ELF file of machine {machine}; expected a cubin, machine 190")]
    OtherMachine {
        /// The header's `e_machine`.
        machine: u16,
    },
    /// PTX, the virtual instruction set.
    #[error("line {line} is PTX; expected SASS (compile it with ptxas)")]
    Ptx {
        /// The line with `.version`.
        line: u64,
    },
    /// Text without a single instruction.
    #[error(
        "no SASS listing line in {lines} lines; expected a listing of cuobjdump -sass, nvdisasm \
         or maxas, or a .cuasm file"
    )]
    NoListingLine {
        /// The number of lines.
        lines: u64,
    },
    /// Code for an unknown GPU.
    #[error(
        "{}code for SM {}.{}, which is not supported; expected one of SM {}",
        line.map(|line| format!("line {line}: ")).unwrap_or_default(),
        sm / 10,
        sm % 10,
        supported()
    )]
    UnsupportedSm {
        /// Ten times the major number plus the minor number.
        sm: u32,
        /// The line of the listing that names the SM; `None` for a cubin.
        line: Option<u64>,
    },
    /// A cubin or a raw stream that is too large to read whole.
    #[error("larger than {limit} bytes; expected a cubin or a raw stream of at most that size")]
    TooLarge {
        /// The largest size in bytes.
        limit: u64,
    },
    /// The code of a raw stream would begin outside the input.
    #[error(
        "code cannot begin at byte offset {start} of {size} bytes; expected an offset below {size}"
    )]
    RawOutside {
        /// The given offset in bytes.
        start: u64,
        /// The size of the input in bytes.
        size: u64,
    },
    /// The code of a raw stream would begin within a word.
    #[error("code cannot begin at byte offset {start}; expected a multiple of 8")]
    RawMisaligned {
        /// The given offset in bytes.
        start: u64,
    },
    /// The first word of a bundle of a raw stream is not a control word.
    #[error(
        "the word {word:#018x} at byte offset {offset} is not a control word: bit 63 is set; \
         expected code of SM 5.x or 6.x that begins with a bundle"
    )]
    NoControlWord {
        /// The word's offset in the input, in bytes.
        offset: u64,
        /// The word.
        word: u64,
    },
    /// A raw stream that ends within a bundle or an instruction.
    #[error(
        "{size} bytes are not a whole number of {unit}; the last whole one ends at byte \
         offset {whole}"
    )]
    PartialRaw {
        /// The size of the stream in bytes.
        size: u64,
        /// The offset at which the last whole one ends.
        whole: u64,
        /// The unit that the code should consist of.
        unit: CodeUnit,
    },
    /// A part of the ELF file cannot be read; most often the file is truncated.
    #[error(
        "the {part} at byte offset {offset} cannot be read, the file has {file_size} bytes: \
         {reason}"
    )]
    Elf {
        /// The part of the file.
        part: &'static str,
        /// The offset of the part.
        offset: u64,
        /// The size of the file in bytes.
        file_size: u64,
        /// The reason.
        reason: String,
    },
    /// The data of a section are outside the file.
    #[error(
        "section {name} has {size} bytes at byte offset {offset}, which is outside the file of \
         {file_size} bytes"
    )]
    SectionOutsideFile {
        /// The section's name.
        name: String,
        /// The offset of its data.
        offset: u64,
        /// The size of its data in bytes.
        size: u64,
        /// The size of the file in bytes.
        file_size: u64,
    },
    /// A section ends within a bundle or an instruction.
    #[error(
        "section {name} at byte offset {offset} has {size} bytes, which is not a whole number of \
         {unit}"
    )]
    PartialSection {
        /// The section's name.
        name: String,
        /// The offset of its data.
        offset: u64,
        /// The size of its data in bytes.
        size: u64,
        /// The unit that the code should consist of.
        unit: CodeUnit,
    },
    /// The text sections together are larger than the file, so some overlap.
    #[error(
        "section {name} at byte offset {offset} overlaps another one: the text sections have more \
         than the {file_size} bytes of the file"
    )]
    SectionsOverlap {
        /// The first section beyond that size.
        name: String,
        /// The offset of its data.
        offset: u64,
        /// The size of the file in bytes.
        file_size: u64,
    },
    /// A name in the ELF file is longer than any that a compiler generates.
    #[error("the name at byte offset {offset} has no end within {limit} bytes")]
    NameTooLong {
        /// The offset of the name.
        offset: u64,
        /// The longest name in bytes.
        limit: usize,
    },
    /// The names of the functions together are larger than the file, so some overlap.
    #[error(
        "the name at byte offset {offset} overlaps another one: the names of the functions have more \
         than the {file_size} bytes of the file"
    )]
    NamesOverlap {
        /// The offset of the first name beyond that size.
        offset: u64,
        /// The size of the file in bytes.
        file_size: u64,
    },
    /// A line of a listing is malformed.
    #[error("line {line}, column {column} (byte offset {offset}): {kind}")]
    Listing {
        /// The line, from 1.
        line: u64,
        /// The column in bytes, from 1.
        column: usize,
        /// The offset in the input, in bytes.
        offset: u64,
        /// The kind of error.
        kind: ListingErrorKind,
    },
}

/// The kinds of errors in a line of a listing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListingErrorKind {
    /// `/*` without `*/`.
    #[error("unterminated comment; expected `*/`")]
    UnclosedComment,
    /// A word that does not have 16 hexadecimal digits.
    #[error("expected a word, `0x` and 16 hexadecimal digits")]
    BadWord,
    /// A comment in place of an offset that is not an offset.
    #[error("expected an offset, 4 to 16 hexadecimal digits")]
    BadOffset,
    /// An offset at which no instruction can begin.
    #[error(
        "invalid instruction offset {offset:#x}; expected {}",
        match unit {
            CodeUnit::Bundle => {
                "8, 16 or 24 bytes after the start of a 32-byte bundle, which holds the control word"
            }
            CodeUnit::Word => "a multiple of 16",
        }
    )]
    NoInstructionOffset {
        /// The offset in bytes.
        offset: u64,
        /// The unit of the code.
        unit: CodeUnit,
    },
    /// An offset or a control notation without an instruction after it.
    #[error("expected an instruction")]
    MissingInstruction,
    /// An instruction that does not end.
    #[error("expected `;` (or `}}` at the end of a dual-issued pair) after the instruction")]
    MissingEnd,
    /// An instruction without a word in a listing that has words.
    #[error("expected the word of the instruction, because earlier instructions have one")]
    MissingWord,
    /// An instruction of 16 bytes with the first half of its word alone.
    #[error("expected the second half of the word, alone in the next line")]
    MissingSecondHalf,
    /// A word alone in a line of code of 16-byte instructions, not after the first half of one.
    #[error("unexpected word; expected it after the first half of a 128-bit word")]
    UnexpectedHalf,
    /// A second word alone in a line after an instruction.
    #[error(
        "unexpected word; the instruction above already has a word, and there is no control word \
         here"
    )]
    UnexpectedWord,
    /// Other text after the end of an instruction.
    #[error("expected the word `/* 0x… */`, a comment or the end of the line")]
    TrailingText,
    /// A control notation that cannot be read.
    #[error("{0}{hint}", hint = .0.hint().map(|hint| format!("; {hint}")).unwrap_or_default())]
    Control(ParseError),
    /// A maxas block without an end.
    #[error("unterminated block <{name}>; expected </{name}>")]
    UnclosedBlock {
        /// The block's name.
        name: String,
    },
}

/// `5.0, 5.2, …`
fn supported() -> String {
    let names: Vec<_> =
        Sm::all().map(|sm| format!("{}.{}", sm.number() / 10, sm.number() % 10)).collect();
    names.join(", ")
}
