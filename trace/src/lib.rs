//! GPU memory traces. A [`TraceSource`] opens traces of Accel-Sim, NVBit and CUTracer, compressed or not, in one binary
//! form. A [`BinaryTrace`] decodes it block by block. [`export_jsonl`] writes memory instructions as lines of JSON.
//!
//! `warpload-replay` executes the loads.

#![forbid(unsafe_code)]

pub mod binary;
pub mod output;

mod export;
mod folder;
mod import;
mod open;
mod operation;
mod ordered;
mod overview;
mod place;
mod shard;

pub use self::binary::{
    BinaryTrace, Compression, ContentHash, Kernel, MemoryRecord, NewRecord, RecordAddresses,
    TraceBlock, TraceContents, TraceError, TraceWriter, WarpPosition,
};

pub use self::export::{DEFAULT_ADDRESS_BITS, ExportError, export_jsonl};
pub use self::import::{ImportError, ImportEvent, MAX_KERNELS, is_certainly_text_trace};
pub use self::open::{
    ImportOptions, OpenError, TraceFiles, TraceSource, import_source, usable_threads,
};
pub use self::operation::{MemoryOperation, OperationKind};
pub use self::overview::{KernelOverview, OpcodeOverview, OtherOverview, TraceOverview};
pub use self::place::place_of;
pub use self::shard::{Shard, ShardError, kernels_of_shard};

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
