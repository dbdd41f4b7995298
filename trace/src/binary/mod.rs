//! The binary trace (docs/trace-format.md). [`BinaryTrace`] reads one and [`TraceWriter`] writes
//! one; the other items are its fields, for readers and writers of your own.

mod contents;
mod error;
mod format;
mod reader;
mod record;
mod writer;

pub use self::contents::{Kernel, MAX_ALL_NAMES_BYTES, MAX_NAME_BYTES, TraceContents, hexadecimal};
pub(crate) use self::contents::{NameError, Names, operations};
pub use self::error::TraceError;
pub use self::format::{
    ALL_FLAGS, ALL_RUN, BYTE_ORDER, FLAG_GUARD, FLAG_PLG, FLAG_VALUED, FLAG_VALUES, FLAG_WIDTH,
    Header, MAGIC, MAX_BLOCK_MEMORY_RECORDS, MAX_BLOCK_RECORDS, OLDEST_VERSION, RUN_CLUSTER,
    RUN_CTA, RUN_INDEX, RUN_WARP, RawBlock, RawInput, RawRecord, RawRun, RawSection, SectionKind,
    VERSION, form,
};
pub use self::reader::{BinaryTrace, MemoryRecord, TraceBlock, WarpPositions};
pub(crate) use self::reader::{Join, Totals};
pub(crate) use self::record::{BlockBuilder, ClosedBlock, Segment};
pub use self::record::{NewRecord, RecordAddresses, WarpPosition};
pub(crate) use self::writer::NO_END_MARK;
pub use self::writer::TraceWriter;
