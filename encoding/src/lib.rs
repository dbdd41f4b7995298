//! Bits and text of load instructions: [`Instruction`], a word of 64 bits of SPA 5.0 (Maxwell and
//! Pascal; SM 5.x and 6.x), [`Instruction128`], one of 128 bits of SM 7.0 to 12.x, and [`Load`], either.
//!
//! | | 64 bits | 128 bits | either, by [`Sm`] |
//! |---|---|---|---|
//! | word to instruction | [`Instruction::decode`] | [`Instruction128::decode`] | [`Load::decode`] |
//! | instruction to word | [`Instruction::encode`] | [`Instruction128::encode`] | [`Load::word`] |
//! | text | [`Instruction::text`] | [`Instruction128::text`] | [`Load::text`] |
//! | text to instruction | [`parse_line`] | [`parse_line_128`] | [`Load::parse`] |
//! | fields and their meaning | [`describe`] | [`Instruction128::describe`] | |
//! | scheduling | [`control`] | [`Instruction128::control`] | |
//! | memory, address, registers | [`Instruction::parts`] | [`Instruction128::parts`] | [`LoadInstruction`] |
//!
//! - Every word that decodes survives the round trip in all of its bits.
//! - The text is that of NVIDIA's disassembler, written without allocating. Parsing reads it, and a
//!   documented superset of it.
//! - [`control`] reads and writes scheduling: control words, 32-byte bundles and three textual
//!   notations.
//!
//! The fields of each instruction are listed in one table for each family, from which decoder,
//! encoder, description and documentation are made: [`layout`] and docs/load-sm70.md.
//!
//! ```
//! use warpload_encoding::{Instruction, Load, parse_line};
//!
//! let line = parse_line("LD.32 R3, [R1 + 20], P0")?;
//! assert_eq!(line.instruction.encode(), 0x8080000001470103);
//! // The canonical text omits what is default and writes offsets in hexadecimal.
//! assert_eq!(line.instruction.text().as_str(), "LD R3, [R1+0x14], P0");
//!
//! let instruction = Instruction::decode(0x9c90000123470200).expect("opcode of LD");
//! assert_eq!(instruction.to_string(), "LD.E R0, [R2+0x1234]");
//!
//! // Of SM 7.0 and later, the word includes the scheduling.
//! let load = Load::parse("LDG.E R0, desc[UR4][R2.64+0x8] &wr=0x0", "90".parse()?)?;
//! assert_eq!(load.word(), 0x000e22000c1e1900_0000080402007981_u128.into());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Bits are numbered as in the hardware's documents: bit 0 is the least significant one, and
//! `63:61` means bits 63 down to 61. In memory, words of 64 and of 128 bits are little-endian.
//!
//! # What may grow
//! [`Instruction`], the kinds of errors and [`Notation`](control::Notation) are `#[non_exhaustive]`:
//! an instruction is handled through its methods, not its variants. The enums of fields, such as
//! [`Size`], have a value for every bit pattern and cannot grow. [`MemorySpace`] and [`Offset`] are
//! exhaustive on purpose: the compiler then points whoever executes loads at what a further
//! instruction adds.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::expect_used, clippy::panic))]

#[cfg(test)]
extern crate std;

pub mod control;
#[doc(hidden)]
pub mod eight;
mod field;
#[doc(hidden)]
pub mod impossible;
mod instruction;
pub mod layout;
mod load;
mod operand;
mod parts;
mod ready;
mod sm;
mod table;
mod text;
mod wide;

pub use control::{Bundle, Control};
pub use field::{Bits, Field, FieldOverflow, FieldValue, WordBits};
pub use instruction::{Instruction, describe};
pub use layout::*;
pub use load::{Decoded, Load, LoadInstruction, LoadText, MachineWord};
pub use operand::{
    Address, CacheOp, ConstantMode, Guard, Immediate, InvalidPred, InvalidSize, LimitedSize,
    LocalCacheOp, MemorySpace, Offset, Pred, Reg, SignedImmediate, Size, UniformBase, UniformReg,
};
pub use parts::{LoadDestination, LoadParts, LoadSize, NotExecutable};
pub use sm::{Group, Sm, UnknownSm};
pub use table::{FieldReading, LayoutRow, Word, WordLayout};
pub use text::{
    Alias, Expected, Hint, LineSpan, Modifiers, ParseError, ParseErrorKind, ParsedLine, Text,
    later_syntax, parse_control_prefix, parse_line, parse_line_like, parse_opcode,
};
pub use wide::{
    Addresses128, Annotations128, Decoded128, FieldReading128, HiddenDescriptor, Instruction128,
    Modifiers128, ParsedLine128, Refusal, TensorParts128, TensorReduction128, TensorShape128,
    TensorType128, parse_line_128, parse_line_128_like, parse_opcode_128,
};

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
