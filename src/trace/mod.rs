//! Traces of executed loads: the binary form, imports into it, and replay.

mod accelsim;
mod addresses;
mod block;
mod contents;
mod error;
mod format;
mod heat;
mod import;
mod in_order;
mod kernels_list;
mod names;
mod nvbit;
mod operation;
mod reader;
mod replay;
mod shard;
mod sink;
mod source;
mod statistics;
mod summary;
mod survey;
mod windows;
mod worker;
mod writer;
mod xz;

pub use addresses::Addresses;
pub use block::NewLoad;
pub use error::{ImportError, TraceError};
pub use format::{
    ALL_FLAGS, BYTE_ORDER, Contents, FLAG_EXPECTED, FLAG_GUARD, FLAG_PLG, FLAG_WIDTH, Header,
    Kernel, MAGIC, MAX_BLOCK_LOADS, MAX_BLOCK_RECORDS, OLDEST_VERSION, RawBlock, RawNotReplayed,
    RawRecord, RawSection, SectionKind, VERSION, form,
};
pub use heat::{HeatMap, HeatRow};
pub use import::{ImportEvent, MAX_KERNELS, import, import_from};
pub use names::{MAX_ALL_NAMES_BYTES, MAX_NAME_BYTES};
pub use operation::{Class, Operation, Skipped, TraceSpace};
pub use reader::{BinaryTrace, Block, TracedLoad};
pub use replay::{DEFAULT_ADDRESS_BITS, Data, ReplayError, ReplayOptions, Replayed, replay};
pub use shard::Shard;
pub use summary::{
    Counts, Fault, FaultCounts, FootprintCounts, KernelSummary, LdgstsCounts, MergeError, Mismatch,
    Partial, PcSummary, SectorSummary, SkippedCounts, SpaceCounts, Summary, UniformCounts,
};
pub use survey::{FaultyLoad, MAX_FAULTY_LOADS, MAX_SURVEYED_KERNELS, Survey, survey};
pub use writer::TraceWriter;
