//! Bits and text of the SPA 5.0 (Maxwell, SM 5.x and 6.x) load instructions.
//!
//! - [`Instruction::decode`] and [`Instruction::encode`] turn a 64-bit word into an
//!   instruction and back; every word of a known opcode survives the round trip.
//! - [`Instruction::text`] writes the text of NVIDIA's disassembler without allocating; [`parse_line`] reads that text and a documented superset of it.
//! - [`describe`] names the bit ranges of a word and what their values mean.
//! - [`control`] reads and writes the scheduling information beside the instructions: control
//!   words, 32-byte bundles and three textual notations.
//!
//! The fields of each instruction are listed in one table, [`layout`], from which the struct, the
//! decoder, the encoder, the description and the documentation are generated.
//!
//! ```
//! use warpload_encoding::{Instruction, parse_line};
//!
//! let line = parse_line("LD.32 R3, [R1 + 20], P0")?;
//! assert_eq!(line.instruction.encode(), 0x8080000001470103);
//! // The canonical text omits what is default and writes offsets in hexadecimal.
//! assert_eq!(line.instruction.text().as_str(), "LD R3, [R1+0x14], P0");
//!
//! let instruction = Instruction::decode(0x9c90000123470200).expect("opcode of LD");
//! assert_eq!(instruction.to_string(), "LD.E R0, [R2+0x1234]");
//! # Ok::<(), warpload_encoding::ParseError>(())
//! ```
//!
//! Bits are numbered as in the hardware's documents: bit 0 is the least significant one, and
//! `63:61` means bits 63 down to 61.
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
mod machine_word;
mod operand;
mod ready;
mod sm;
mod table;
mod text;
mod wide;
mod word_bits;

pub use control::{Bundle, Control};
pub use field::{Bits, Field, FieldOverflow, FieldValue};
pub use instruction::{Instruction, describe};
pub use layout::*;
pub use load::{
    Decoded, Load, LoadDestination, LoadInstruction, LoadParts, LoadSize, LoadText, NotExecutable,
};
pub use machine_word::MachineWord;
pub use operand::{
    Address, CacheOp, ConstantMode, Guard, Immediate, InvalidPred, InvalidSize, LimitedSize,
    LocalCacheOp, MemorySpace, Offset, Pred, Reg, SignedImmediate, Size, UniformBase, UniformReg,
};
pub use sm::{Group, Sm, UnknownSm};
pub use table::{FieldReading, Layout, Row, Word};
pub use text::{
    Alias, Expected, Hint, Modifiers, ParseError, ParseErrorKind, ParsedLine, Span, Text,
    later_syntax, parse_control_prefix, parse_line, parse_opcode,
};
pub use wide::{
    Annotations128, Decoded128, FieldReading128, Instruction128, Modifiers128, Refusal,
    TensorParts128, TensorReduction128, TensorShape128, TensorType128, parse_line_128,
    parse_opcode_128,
};
pub use word_bits::WordBits;

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
