//! Replays binary traces: executes every load, and counts, checks and digests it, block by block and in parallel.
//!
//! [`replay`] returns a [`Replayed`]. Its [`Summary`] has the results; shards of a trace have partial ones that merge.
//! A [`ReplayObserver`] sees each access of a replay, and a [`LoadExecutor`] executes one load at a time.
//! `warpload-report` shows a replay as a page of HTML.
//! a replay as a page of HTML.

#![forbid(unsafe_code)]

mod code;
mod compare;
mod costs;
mod counters;
mod executor;
mod footprint;
mod glob;
mod observe;
mod options;
mod pattern;
mod remarks;
mod replayed;
mod request;
mod reuse;
mod selected;
mod statistics;
mod summary;
mod traffic;
mod worker;

pub use self::code::{CodeCheck, CodeMismatch};
pub use self::costs::{BANKS, LoadCosts, SharedRules, Wavefront, shared_wavefronts};
pub use self::counters::{
    Addition, ConstantCounts, CounterRow, FaultCounts, FootprintCounts, KnownSum, LdgstsCounts,
    LoadCounts, LocalCounts, PcColumn, PcSharedCounts, PcSummary, PcValue, ReuseCounts,
    SectorSummary, SharedCounts, SkippedCounts, SpaceCounts, TmaCounts, TrafficCounts,
    UniformCounts, counters, pc_counters,
};
pub use self::executor::{ExecutedLoad, LoadExecutor};
pub use self::footprint::PAGE_BYTES;
pub use self::glob::{OpcodePattern, OpcodePatternError};
pub use self::observe::{ObservedAccess, ReplayObserver};
pub use self::options::{ReplayData, ReplayOptions};
pub use self::pattern::{LanePattern, PatternError, PatternErrorKind};
pub use self::remarks::ReplayRemark;
pub use self::replayed::{Replayed, replay, replay_observed};
pub use self::request::{FillWord, ImageConflict, PcRange, PcRangeError, ReplayRequest, SpaceWord};
pub use self::selected::NothingSelected;
pub use self::summary::{
    ComparedRow, Comparison, DifferentSelections, Digest, Hex, KernelSummary, LoadFault,
    MergeError, PartialError, PartialHead, PartialSummary, ProgramCounter, Summary, ValueMismatch,
    percent_change,
};
pub use self::traffic::{LINE_BYTES, SECTOR_BYTES, Traffic};
pub use crate::costs::AccessCost;
pub use crate::options::{Selected, Selection};
pub use crate::replayed::ReplayError;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
