//! Replaying a binary trace: every load executed, counted, checked and digested, block by block
//! and in parallel.
//!
//! [`replay`] returns a [`Replayed`]; from it comes the [`Summary`], which shards of a trace merge. A
//! [`ReplayObserver`] sees each access of it, and a [`LoadExecutor`] executes one load at a time. `warpload-report` shows
//! a replay as a page of HTML.

#![forbid(unsafe_code)]

mod code;
mod compare;
mod costs;
mod executor;
mod footprint;
mod observe;
mod options;
mod pattern;
mod replayed;
mod reuse;
mod statistics;
mod summary;
mod traffic;
mod worker;

pub use self::code::{CodeCheck, CodeMismatch};
pub use self::costs::{BANKS, LoadCosts, SharedRules, Wavefront, shared_wavefronts};
pub use self::executor::{ExecutedLoad, LoadExecutor};
pub use self::footprint::PAGE_BYTES;
pub use self::observe::{ObservedAccess, ReplayObserver};
pub use self::options::{ReplayData, ReplayOptions};
pub use self::pattern::{LanePattern, PatternError, PatternErrorKind};
pub use self::replayed::{Replayed, replay, replay_observed};
pub use self::summary::{
    ComparedRow, Comparison, ConstantCounts, Digest, FaultCounts, FootprintCounts, Hex,
    KernelSummary, LdgstsCounts, LoadCounts, LoadFault, LocalCounts, MergeError, PartialHead,
    PartialSummary, PcSharedCounts, PcSummary, ProgramCounter, ReuseCounts, SectorSummary,
    SharedCounts, SkippedCounts, SpaceCounts, Summary, TmaCounts, TrafficCounts, UniformCounts,
    ValueMismatch, other_version, percent_change,
};
pub use self::traffic::{LINE_BYTES, SECTOR_BYTES, Traffic};
pub use crate::costs::AccessCost;
pub use crate::options::{Selected, Selection};
pub use crate::replayed::ReplayError;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
