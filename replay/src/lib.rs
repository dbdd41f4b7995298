//! Replays binary traces: executes every load, and counts, checks and digests it, block by block and in parallel.
//!
//! [`replay()`] returns a [`Summary`]: counts, and a [`Row`] for each instruction that accesses memory. The summaries of
//! shards [merge](Summary::merge) into the summary of the whole. An [`AccessExecutor`] executes one access at a time.
//! `warpload-report` shows a summary as text and as a page of HTML.
//!
//! Without the feature `traces`, only [`AccessCosts`] and [`LanePattern`] remain. They build for WebAssembly, because
//! they need no C library.

#![forbid(unsafe_code)]
// Replays are the only users of some costs.
#![cfg_attr(not(feature = "traces"), allow(dead_code))]

#[cfg(feature = "traces")]
mod access;
#[cfg(feature = "traces")]
mod code;
mod compare;
mod costs;
#[cfg(feature = "traces")]
mod counter;
#[cfg(feature = "traces")]
mod counters;
#[cfg(feature = "traces")]
mod executor;
#[cfg(feature = "traces")]
mod footprint;
#[cfg(feature = "traces")]
mod glob;
#[cfg(feature = "kernels")]
mod launch_counter;
#[cfg(feature = "traces")]
mod launch_counts;
#[cfg(feature = "traces")]
mod options;
mod pattern;
mod question;
#[cfg(feature = "traces")]
mod remarks;
#[cfg(feature = "traces")]
mod replay;
#[cfg(feature = "traces")]
mod request;
#[cfg(feature = "traces")]
mod row;
#[cfg(feature = "traces")]
mod selected;
#[cfg(feature = "traces")]
mod summary;
mod traffic;
#[cfg(feature = "traces")]
mod worker;

#[cfg(feature = "traces")]
pub use self::code::{CodeCheck, CodeMismatch};
pub use self::costs::{AccessCost, AccessCosts, BANKS, SharedRules, Wavefront, shared_wavefronts};
#[cfg(feature = "traces")]
pub use self::counters::{
    AccessCounts, BankWords, ConstantCounts, CounterRow, FaultCounts, FirstFault, FootprintCounts,
    GlobalCounts, LocalCounts, SharedCounts, SpaceCounts, Spread, TraceCounts, TransferCounts,
    UniformCounts, ValueCounts, access_counters, trace_counters,
};
#[cfg(feature = "traces")]
pub use self::executor::{AccessExecutor, ExecutedAccess};
#[cfg(feature = "traces")]
pub use self::footprint::PAGE_BYTES;
#[cfg(feature = "traces")]
pub use self::glob::{OpcodePattern, OpcodePatternError};
#[cfg(feature = "kernels")]
pub use self::launch_counter::LaunchCounter;
#[cfg(feature = "traces")]
pub use self::options::{ReplayData, ReplayOptions, Selected, Selection};
pub use self::pattern::{LanePattern, PatternError, PatternErrorKind, PatternRangeError};
pub use self::question::{AccessQuestion, CountedAccess, QuestionError};
#[cfg(feature = "traces")]
pub use self::remarks::ReplayRemark;
#[cfg(feature = "traces")]
pub use self::replay::{ReplayError, replay};
#[cfg(feature = "traces")]
pub use self::request::{FillWord, ImageConflict, PcRange, PcRangeError, ReplayRequest, SpaceWord};
#[cfg(feature = "traces")]
pub use self::row::{AccessKind, Row, RowCode, RowSpace};
#[cfg(feature = "traces")]
pub use self::selected::NothingSelected;
#[cfg(feature = "traces")]
pub use self::summary::{
    AccessFault, ComparedKind, ComparedRow, Comparison, DifferentSelections, Digest, Hex,
    LaunchSummary, MergeError, ShardPart, Summary, SummaryError, ValueMismatch, percent_change,
};
pub use self::traffic::{LINE_BYTES, SECTOR_BYTES, Traffic};

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
