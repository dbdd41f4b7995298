//! Bits and text of NVIDIA's load instructions: `LD` and its siblings of SM 5.0 to 12.x, as words of 64 bits (Maxwell,
//! Pascal) and of 128 bits (Volta and later).
//!
//! An [`Instruction`] is a word and its form. Every form is one row of one table: opcode, fields, text and meaning, for
//! each SM that has it. Decoder, encoder, disassembler, assembler and descriptions read the same rows, and the compiler
//! checks that they cover each bit of each form once.
//!
//! ```
//! use warpload_encoding::{Decoded, Instruction, LoadSize, MemorySpace, Size, Slot, Sm, parse_line};
//!
//! // Decode.
//! let hopper: Sm = "90".parse()?;
//! let word = 0x000ea2000c1e1900_0000080402007981_u128;
//! let Decoded::Load(load) = Instruction::decode(word, hopper) else { panic!("a load") };
//! assert_eq!(load.text().as_str(), "LDG.E R0, desc[UR4][R2.64+0x8]");
//! assert_eq!(load.word(), word.into());
//!
//! // Encode: from text, or field by field.
//! let line = parse_line("LD.64 R4, [R2 + 20], P0", Sm::SPA5)?;
//! assert_eq!(line.instruction.word(), 0x80a0000001470204_u64.into());
//! let other = line.instruction.with(Slot::Base, 6).expect("below 256");
//! assert_eq!(other.text().as_str(), "LD.64 R4, [R6+0x14], P0");
//!
//! // Describe: each field, and what the load does.
//! let size = load.describe().find(|field| field.name() == "sz").expect("a size");
//! assert_eq!((size.field().to_string(), size.to_string()), ("75:73".into(), "4 bytes".into()));
//! let parts = load.parts();
//! assert_eq!((parts.space, parts.size), (MemorySpace::Global, Ok(LoadSize::Lane(Size::B32))));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! - A word that decodes survives the round trip in all of its bits. Words that NVIDIA's disassembler calls illegal are
//!   [illegal](Illegal) here, with the reason.
//! - The text is that of nvdisasm, written without allocating. [`parse_line`] reads it and a documented superset of it; a
//!   [`ParseError`] has the bytes at fault, and often a [hint](ParseError::hint).
//! - [`control`] reads and writes scheduling: control words, 32-byte bundles and three textual notations.
//! - [`OpcodeFacts`] knows the opcodes of all memory instructions, stores and atomics among them, by their text: kind,
//!   memory, bytes a lane.
//!
//! The crate decodes loads alone, no other instructions, and executes nothing: the crate `warpload` does. To disassemble
//! whole programs, use nvdisasm; to take cubins apart, the crate `warpload-binary`.
//!
//! Bits are numbered as in the hardware's documents: bit 0 is the least significant one, and `63:61` means bits 63 down to
//! 61. In memory, words of 64 and of 128 bits are little-endian.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::expect_used, clippy::panic))]

#[cfg(test)]
extern crate std;

pub mod control;
mod eight;
mod facts;
mod field;
mod hidden;
mod instruction;
mod meaning;
mod operand;
mod pieces;
mod plan;
mod reading;
mod ready;
mod sm;
mod table;
mod tensor;
mod text;

pub use control::{Bundle, Control};
pub use facts::{OpcodeFacts, OpcodeKind, OpcodeMatrices, OpcodeSpace};
pub use field::{Bits, Field};
pub use hidden::HiddenDescriptor;
pub use instruction::{Decoded, Illegal, Instruction, MachineWord};
pub use meaning::{LoadDestination, LoadParts, LoadSize, NotExecutable};
pub use operand::{
    Address, ConstantMode, Guard, InvalidPred, MemorySpace, Offset, Pred, Reg, Size, UniformBase,
    UniformReg,
};
pub use reading::FieldReading;
pub use sm::{Group, Sm, UnknownSm};
pub use table::row::Slot;
pub use tensor::{TensorParts, TensorReduction, TensorShape, TensorType};
pub use text::{
    Addresses, Alias, Expected, Hint, LineSpan, Modifiers, ParseError, ParseErrorKind, ParsedLine,
    SchedulingText, Text, later_syntax, parse_control_prefix, parse_line, parse_line_like,
    parse_opcode,
};

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
