//! Replaying a binary trace: every load executed, counted, checked and digested, block by block
//! and in parallel.
//!
//! [`replay`] returns a [`Replayed`]; from it come the [`Summary`], which shards of a trace merge,
//! and, if it is asked for, the [`Survey`] for pictures. A [`LoadExecutor`] does the same for one load
//! at a time. [`report`] shows a replay as a page of HTML.

#![forbid(unsafe_code)]

mod code;
mod compare;
mod costs;
mod counters;
mod executor;
mod heat;
mod options;
mod pattern;
mod replayed;
pub mod report;
mod reuse;
mod statistics;
mod summary;
mod survey;
mod traffic;
mod worker;

pub use self::code::{CodeCheck, CodeMismatch};
pub use self::costs::{LoadCosts, SharedRules, Wavefront, shared_wavefronts};
pub use self::counters::{
    Addition, ConstantCounts, CounterRow, FaultCounts, FootprintCounts, LdgstsCounts, LoadCounts,
    LocalCounts, PcColumn, PcSharedCounts, PcSummary, PcValue, ReuseCounts, SectorSummary,
    SharedCounts, SkippedCounts, SpaceCounts, TmaCounts, TrafficCounts, UniformCounts, counters,
    pc_counters,
};
pub use self::executor::{ExecutedLoad, LoadExecutor};
pub use self::heat::{HeatMap, HeatRow};
pub use self::options::{ReplayData, ReplayOptions};
pub use self::pattern::{LanePattern, PatternError, PatternErrorKind};
pub use self::replayed::{Replayed, replay};
pub use self::summary::{
    ComparedRow, Comparison, Digest, Hex, KernelSummary, LoadFault, MergeError, PartialError,
    PartialHead, PartialSummary, ProgramCounter, Summary, ValueMismatch, percent_change,
};
pub use self::survey::{FaultyLoad, MAX_FAULTY_LOADS, MAX_SURVEYED_KERNELS, Survey};
pub use self::traffic::Traffic;
pub use crate::costs::AccessCost;
pub use crate::options::{Selected, Selection};
pub use crate::replayed::ReplayError;
pub use crate::survey::{BankUse, MAX_BANK_USES};

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
