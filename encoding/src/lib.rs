//! Bits and text of NVIDIA's load instructions: `LD` and its siblings of SM 5.0 to 12.x, in 64-bit words (Maxwell,
//! Pascal) and 128-bit words (Volta and later).
//!
//! An [`Instruction`] is a word and its form. A form is one row of one table, with its opcode, fields, text and meaning
//! for each SM. Decoder, encoder, disassembler, assembler and descriptions all read this table, so they agree. The
//! compiler checks that the fields of a form cover each bit exactly once.
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
//! - A decoded word encodes back to the same word, bit for bit. A word that NVIDIA's disassembler calls illegal is
//!   [illegal](Illegal) here, with the reason.
//! - The text matches nvdisasm and is written without allocating. [`parse_line`] reads it and a documented superset; a
//!   [`ParseError`] gives the bytes at fault, and often a [hint](ParseError::hint).
//! - [`control`] reads and writes scheduling: control words, 32-byte bundles and three textual notations.
//! - [`OpcodeFacts`] gives the kind, the memory and the bytes per lane of any memory instruction, including stores and
//!   atomics, from the text of its opcode.
//!
//! - [`Spa5Instruction`] is any instruction of SM 5.0 to 6.2, printed, refused and read as by nvdisasm.
//!
//! Of later SMs the crate decodes only loads. It executes nothing; the crate `warpload` executes loads. The crate
//! `warpload-binary` takes cubins apart, and assembles listings.
//!
//! Bits are numbered as in the hardware's documents: bit 0 is the least significant one, and `63:61` means bits 63 down
//! to 61. Instruction words are little-endian in memory.
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
mod spa5;
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
pub use spa5::{
    Spa5Field, Spa5Instruction, Spa5Line, Spa5Operand, Spa5OperandField, Spa5Text, Spa5TextError,
    Spa5TextErrorKind, Spa5Value,
};
pub use table::row::Slot;
pub use tensor::{TensorParts, TensorReduction, TensorShape, TensorType};
pub use text::{
    Addresses, Alias, Expected, Hint, LineSpan, Modifiers, ParseError, ParseErrorKind, ParsedLine,
    SchedulingText, Text, later_syntax, parse_control_prefix, parse_line, parse_line_like,
    parse_opcode,
};

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
