//! The binary trace (docs/trace-format.md). [`BinaryTrace`] reads one and [`TraceWriter`] writes
//! one; the other items are its fields, for readers and writers of your own.

mod addresses;
mod block;
mod contents;
mod error;
mod format;
pub mod hexadecimal;
mod names;
mod place;
mod reader;
mod record;
mod segment;
mod writer;

pub use addresses::RecordAddresses;
pub(crate) use block::BlockBuilder;
pub(crate) use contents::operations;
pub use contents::{Kernel, TraceContents};
pub use error::TraceError;
pub use format::{
    ALL_FLAGS, ALL_RUN, BYTE_ORDER, FLAG_GUARD, FLAG_PLG, FLAG_VALUED, FLAG_VALUES, FLAG_WIDTH,
    Header, MAGIC, MAX_BLOCK_MEMORY_RECORDS, MAX_BLOCK_RECORDS, OLDEST_VERSION, RUN_CLUSTER,
    RUN_CTA, RUN_INDEX, RUN_WARP, RawBlock, RawInput, RawRecord, RawRun, RawSection, SectionKind,
    VERSION, form,
};
pub use names::{MAX_ALL_NAMES_BYTES, MAX_NAME_BYTES};
pub(crate) use names::{NameError, Names};
pub use place::WarpPosition;
pub use reader::{BinaryTrace, MemoryRecord, TraceBlock, WarpPositions};
pub(crate) use reader::{Join, Totals};
pub(crate) use record::ClosedBlock;
pub use record::NewRecord;
pub(crate) use segment::Segment;
pub(crate) use writer::NO_END_MARK;
pub use writer::TraceWriter;
