//! Traces of executed loads: [`import`] reads text traces into the binary form, [`BinaryTrace`]
//! reads that, and [`replay`] executes its loads.

pub mod binary;

mod export;
mod import;
mod operation;
mod replay;
mod set;

pub use binary::{
    Addresses, BinaryTrace, Block, Contents, Kernel, MemoryRecord, NewRecord, Place, TraceError,
    TraceWriter,
};

pub use export::{ExportError, export_jsonl};
pub use import::{
    ImportError, ImportEvent, MAX_KERNELS, TraceList, import, import_from, is_certainly_text_trace,
};
pub use operation::{Kind, Operation};
pub use replay::{
    BankUse, CodeCheck, ComparedRow, Comparison, ConstantCounts, Cost, Counts,
    DEFAULT_ADDRESS_BITS, Data, Digest, ExecutedLoad, Fault, FaultCounts, FaultyLoad,
    FootprintCounts, HeatMap, HeatRow, Hex, KernelSummary, LdgstsCounts, LoadCosts, LoadExecutor,
    LocalCounts, MAX_BANK_USES, MAX_FAULTY_LOADS, MAX_SURVEYED_KERNELS, MergeError, Misfit,
    Mismatch, Partial, PartialHead, PcSharedCounts, PcSummary, ProgramCounter, ReplayError,
    ReplayOptions, Replayed, ReuseCounts, SectorSummary, Selected, Selection, Shard, SharedCounts,
    SkippedCounts, SpaceCounts, Summary, Survey, TmaCounts, Traffic, TrafficCounts, UniformCounts,
    kernels_of_shard, other_version, percent_change, replay,
};
pub use set::{SetBuilder, SetPart, TraceSet};
