//! The binary trace (docs/trace-format.md). [`BinaryTrace`] reads one and [`TraceWriter`] writes one.
//!
//! A block's records are `BlockRecords` in memory and columns in a file. To add a column:
//! its number in `format.rs`, and a line each in `BlockEncoder` and `BlockDecoder`.

mod block;
mod column;
mod contents;
mod error;
mod file;
mod format;
mod reader;
mod record;
mod trace_block;
mod writer;

pub(crate) use self::block::BlockRecords;
pub use self::column::Compression;
pub(crate) use self::contents::NAME_OVERHEAD;
pub use self::contents::{
    ContentHash, Kernel, MAX_ALL_NAMES_BYTES, MAX_NAME_BYTES, PtxLine, PtxLines, PtxPlace,
    TraceContents, shown_place,
};
pub use self::error::{Producer, TraceError};
pub use self::file::RawBlock;
pub use self::format::{HEADER_BYTES, MAGIC, MAX_BLOCK_INSTRUCTIONS, MAX_BLOCK_RECORDS, VERSION};
pub use self::reader::BinaryTrace;
pub(crate) use self::record::BlockBuilder;
pub use self::record::{NewRecord, RecordAddresses, WarpPosition};
pub use self::trace_block::{BlockBuffers, MemoryRecord, TraceBlock, WarpPositions};
pub(crate) use self::writer::NO_END_MARK;
pub use self::writer::TraceWriter;
