//! Replays binary traces: executes every load, and counts, checks and digests it, block by block and in parallel.
//!
//! [`replay`] returns a [`Replayed`], and its [`Summary`] holds the results. A replay of one shard gives a
//! [`PartialSummary`]; partial summaries merge into the summary of the whole. A
//! [`LoadExecutor`] executes one load at a time. `warpload-report` shows a replay as a page of HTML.
//!
//! Without the feature `traces`, only [`LoadCosts`] and [`LanePattern`] remain. They build for WebAssembly, because
//! they need no C library.

#![forbid(unsafe_code)]
// Replays are the only users of some costs.
#![cfg_attr(not(feature = "traces"), allow(dead_code))]

#[cfg(feature = "traces")]
mod code;
mod compare;
mod costs;
#[cfg(feature = "traces")]
mod counters;
#[cfg(feature = "traces")]
mod executor;
#[cfg(feature = "traces")]
mod footprint;
#[cfg(feature = "traces")]
mod glob;
#[cfg(feature = "traces")]
mod options;
mod pattern;
#[cfg(feature = "traces")]
mod remarks;
#[cfg(feature = "traces")]
mod replayed;
#[cfg(feature = "traces")]
mod request;
#[cfg(feature = "traces")]
mod selected;
#[cfg(feature = "traces")]
mod statistics;
#[cfg(feature = "traces")]
mod summary;
mod traffic;
#[cfg(feature = "traces")]
mod worker;

#[cfg(feature = "traces")]
pub use self::code::{CodeCheck, CodeMismatch};
pub use self::costs::{BANKS, LoadCosts, SharedRules, Wavefront, shared_wavefronts};
#[cfg(feature = "traces")]
pub use self::counters::{
    Addition, ConstantCounts, CounterRow, FaultCounts, FirstFault, FootprintCounts, KnownSum,
    LdgstsCounts, LoadCounts, LocalCounts, PcColumn, PcSharedCounts, PcSummary, PcValue,
    SectorSummary, SharedCounts, SkippedCounts, SpaceCounts, TmaCounts, TrafficCounts,
    UniformCounts, counters, pc_counters,
};
#[cfg(feature = "traces")]
pub use self::executor::{ExecutedLoad, LoadExecutor};
#[cfg(feature = "traces")]
pub use self::footprint::PAGE_BYTES;
#[cfg(feature = "traces")]
pub use self::glob::{OpcodePattern, OpcodePatternError};
#[cfg(feature = "traces")]
pub use self::options::{ReplayData, ReplayOptions};
pub use self::pattern::{LanePattern, PatternError, PatternErrorKind};
#[cfg(feature = "traces")]
pub use self::remarks::ReplayRemark;
#[cfg(feature = "traces")]
pub use self::replayed::{Replayed, replay};
#[cfg(feature = "traces")]
pub use self::request::{FillWord, ImageConflict, PcRange, PcRangeError, ReplayRequest, SpaceWord};
#[cfg(feature = "traces")]
pub use self::selected::NothingSelected;
#[cfg(feature = "traces")]
pub use self::summary::{
    ComparedRow, Comparison, DifferentSelections, Digest, Hex, KernelSummary, LoadFault,
    MergeError, PartialError, PartialHead, PartialSummary, ProgramCounter, Summary, ValueMismatch,
    percent_change,
};
pub use self::traffic::{LINE_BYTES, SECTOR_BYTES, Traffic};
pub use crate::costs::AccessCost;
#[cfg(feature = "traces")]
pub use crate::options::{Selected, Selection};
#[cfg(feature = "traces")]
pub use crate::replayed::ReplayError;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
