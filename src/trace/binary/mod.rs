//! The binary trace (docs/trace-format.md). [`BinaryTrace`] reads one and [`TraceWriter`] writes
//! one; the other items are its fields, for readers and writers of your own.

mod addresses;
mod block;
mod contents;
mod error;
mod format;
mod names;
mod reader;
mod writer;

pub use addresses::Addresses;
pub use block::NewLoad;
pub(in crate::trace) use block::{BlockBuilder, ClosedBlock, Segment};
pub use contents::{Contents, Kernel};
pub use error::TraceError;
pub use format::{
    ALL_FLAGS, BYTE_ORDER, FLAG_EXPECTED, FLAG_GUARD, FLAG_PLG, FLAG_WIDTH, Header, MAGIC,
    MAX_BLOCK_LOADS, MAX_BLOCK_RECORDS, OLDEST_VERSION, RawBlock, RawNotReplayed, RawRecord,
    RawSection, SectionKind, VERSION, form,
};
pub use names::{MAX_ALL_NAMES_BYTES, MAX_NAME_BYTES};
pub(in crate::trace) use names::{NameError, Names};
pub use reader::{BinaryTrace, Block, TracedLoad};
pub(in crate::trace) use writer::NO_END_MARK;
pub use writer::TraceWriter;
