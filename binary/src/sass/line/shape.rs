//! What lines are: [`Shape`].

use warpload_encoding::{Control, Sm};

use crate::sass::error::ListingErrorKind as Kind;

/// What a line is.
#[derive(Debug, PartialEq)]
pub(in crate::sass) enum Shape<'l> {
    /// Only white space.
    Blank,
    /// Something that is not needed: comments, labels, directives, data.
    Other,
    /// A function begins, or a section that is not one.
    Function(Option<&'l str>),
    /// The registers per thread of the function.
    Registers(u8),
    /// The SM version of the code.
    Sm(NamedSm),
    /// `.headerflags`: the SM version as well, without a letter that may be in other lines.
    Flags(NamedSm),
    /// `.target`: the SM version as well, unless the directive is PTX.
    Target(NamedSm),
    /// PTX begins.
    Ptx,
    /// A block of maxas that holds no instructions begins.
    Block(&'l str),
    /// A word alone: a control word, or the word of the instruction above or a half of it.
    Word(u64),
    /// An instruction.
    Instruction(InstructionLine<'l>),
}

/// An SM version in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sass) struct NamedSm {
    /// Ten times the major number plus the minor number.
    pub(in crate::sass) number: u32,
    /// `None` if it is unknown.
    pub(in crate::sass) known: Option<Sm>,
}

/// The parts of a line with an instruction.
#[derive(Debug, PartialEq)]
pub(in crate::sass) struct InstructionLine<'l> {
    pub(in crate::sass) offset: Option<u64>,
    pub(in crate::sass) text: &'l str,
    /// Where the text begins in the line, in bytes.
    pub(in crate::sass) start: usize,
    /// The word, or the first half of it.
    pub(in crate::sass) word: Option<u64>,
    pub(in crate::sass) control: Option<Control>,
    /// A dual-issued pair ends here: the word is in a line of its own.
    pub(in crate::sass) closes_pair: bool,
    /// The byte of the line after the instruction, at which its word would be.
    pub(in crate::sass) end: usize,
}

/// What is wrong, and at which byte of the line.
#[derive(Debug, PartialEq)]
pub(in crate::sass) struct Fault {
    pub(in crate::sass) at: usize,
    pub(in crate::sass) kind: Kind,
}

pub(super) type Read<T> = Result<T, Fault>;

pub(super) fn fault<T>(at: usize, kind: Kind) -> Read<T> {
    Err(Fault { at, kind })
}
