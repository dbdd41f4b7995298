//! Statistics of a function's code: its loads by kind, size and cache operator, and remarks on loads that deserve a
//! look.
//!
//! [`StatisticsBuilder`] takes the instructions of one function as [`InstructionFacts`], which hold the few properties
//! needed here, and [`Statistics`] is the result. [`InstructionFacts::narrow`] reads words of 64 bits,
//! [`InstructionFacts::wide`] words of 128 bits.
//!
//! # Loads that one wider load could serve
//!
//! A remark names two or four loads of 32 bits, or two of 64, with consecutive displacements, the first
//! one a multiple of 8 or 16. One load of 64 or 128 bits in place of the first of them loads the same
//! values if all of this holds:
//!
//! - They are of the same form: their words differ in the destination and the displacement only, so that
//!   guard, base, memory and modifiers are the same. Their instruction has the wider size.
//! - None is volatile or ordered (`.CV`; from SM 7.0 on also `STRONG` and `MMIO`).
//! - They are in one basic block. A block ends after a branch, call, return or exit, and before the target of a branch.
//!   The blocks of a function are unknown ([`Statistics::are_blocks_known`]) if a branch does not encode its targets,
//!   an instruction has no word, or there are gaps. Such a function gets no remarks of this kind.
//! - No instruction between them, nor one of the loads themselves except the last, can write their base,
//!   or a predicate if their guard or address depends on one.
//! - No instruction between them can write memory or order accesses: stores, atomics, barriers, fences and volatile
//!   loads. Every opcode that is not listed as harmless counts as one of these.
//!
//! Two conditions are not visible in the code: the base must be a multiple of the wider size, which the remark says,
//! and the destinations must become consecutive registers.
//!
//! ```
//! use warpload_encoding::{Instruction, Sm};
//! use warpload_binary::statistics::{InstructionFacts, StatisticsBuilder};
//!
//! let mut builder = StatisticsBuilder::default();
//! for (offset, text) in [(0x8, "LDG.E R4, [R2+0x10]"), (0x10, "LDG.E R0, [R2+0x14]")] {
//!     let word = Instruction::parse(text, Sm::SPA5)?.bits() as u64;
//!     builder.add(InstructionFacts::narrow(Some(offset), word));
//! }
//! let statistics = builder.finish();
//! assert_eq!(statistics.loads, 2);
//! assert_eq!(
//!     statistics.remarks[0].to_string(),
//!     "with 0x10: 8 consecutive bytes, which one 64-bit LDG could load if {R3, R2} is a multiple of 8"
//! );
//! # Ok::<(), warpload_encoding::ParseError>(())
//! ```

mod builder;
mod functions;
mod narrow;
mod neighbours;
mod remark;
mod step;
mod wide;

pub use self::builder::{Statistics, StatisticsBuilder};
pub use self::functions::{FunctionIdentity, FunctionStatistics, StatisticsByFunction};
pub use self::remark::{Remark, RemarkKind};
pub use self::step::{
    AccessOrder, BaseRegisters, BranchTarget, Effect, Flow, InstructionFacts, LoadFacts,
    RegisterRange,
};
