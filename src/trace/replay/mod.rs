//! Replaying a binary trace: every load executed, counted, checked and digested, block by block
//! and in parallel.
//!
//! [`replay`] returns a [`Replayed`]; from it come the [`Summary`], which shards of a trace merge,
//! and, if it is asked for, the [`Survey`] for pictures.

mod cells;
mod error;
mod heat;
mod options;
mod replayed;
mod shard;
mod statistics;
mod summary;
mod survey;
mod walk;
mod windows;
mod worker;

pub use self::error::ReplayError;
pub use self::heat::{HeatMap, HeatRow};
pub use self::options::{DEFAULT_ADDRESS_BITS, Data, ReplayOptions};
pub use self::replayed::{Replayed, replay};
pub use self::shard::Shard;
pub use self::summary::{
    Counts, Digest, Fault, FaultCounts, FootprintCounts, Hex, KernelSummary, LdgstsCounts,
    MergeError, Mismatch, Partial, PcSummary, ProgramCounter, SectorSummary, SkippedCounts,
    SpaceCounts, Summary, UniformCounts,
};
pub use self::survey::{FaultyLoad, MAX_FAULTY_LOADS, MAX_SURVEYED_KERNELS, Survey};
