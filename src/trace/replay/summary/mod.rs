//! [`Summary`]: what a replay found, in the JSON form that the command prints.

mod counts;
mod hex;
mod merge;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::load::ByFaultKind;

pub use counts::ProgramCounter;
pub use hex::{Digest, Hex};
pub use merge::MergeError;

/// The JSON object of a replay: counts of the whole trace, of each program counter and of each
/// kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The counts of the whole trace.
    #[serde(flatten)]
    pub counts: Counts,
    /// The first ten values that differ from the expected ones.
    pub first_mismatches: Vec<Mismatch>,
    /// The first ten lane faults.
    pub first_faults: Vec<Fault>,
    /// The digest over all loaded values; `None` without data.
    pub digest: Option<Digest>,
    /// Whether the trace is known to be whole; `None` if its format cannot tell.
    #[serde(default)]
    pub complete: Option<bool>,
    /// Notes for readers of the counts.
    #[serde(default)]
    pub notes: Vec<String>,
    /// By program counter, in launch order of the kernels, then ascending.
    pub per_pc: Vec<PcSummary>,
    /// By kernel, in launch order.
    pub kernels: Vec<KernelSummary>,
    /// What merging needs; `None` unless the summary is of a shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<Partial>,
}

/// Counts of loads, and of what they touched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Instructions of the trace.
    pub records: u64,
    /// Load instructions with a memory operand.
    pub loads: u64,
    /// Skipped instructions.
    pub skipped: SkippedCounts,
    /// Copies from global to shared memory (`LDGSTS`), which are among the other skipped
    /// instructions; `None` if the trace does not name them.
    pub ldgsts: Option<LdgstsCounts>,
    /// Executing lanes of all loads.
    pub lanes: u64,
    /// Bytes that the lanes requested.
    pub bytes: u64,
    /// Loads by opcode.
    pub by_opcode: BTreeMap<Arc<str>, u64>,
    /// Loads by the memory of their first executing lane.
    pub by_space: SpaceCounts,
    /// Distinct 32-byte sectors of global memory of each load, added up.
    pub sectors: u64,
    /// Distinct 128-byte lines of global memory of each load, added up.
    pub lines: u64,
    /// The fewest sectors that hold the requested bytes of each load, added up.
    pub ideal_sectors: u64,
    /// Lane faults.
    pub lane_faults: FaultCounts,
    /// Loads of the `.U.128` form by the path that they took.
    pub uniform: UniformCounts,
    /// Distinct pages and lines of global memory.
    pub footprint: FootprintCounts,
    /// Loads whose width in the source differed from the opcode's.
    pub width_disagreements: u64,
    /// Loads with expected values.
    pub checked: u64,
    /// Those of them with a value that differs.
    pub mismatches: u64,
}

/// The one instruction among those not replayed that has counts of its own.
const LDGSTS: &str = "LDGSTS";

impl Counts {
    /// Returns how many instructions read memory but are not replayed, by name, `LDGSTS` last; empty
    /// if the trace does not name them.
    pub fn not_replayed(&self) -> impl Iterator<Item = (&str, u64)> {
        let named = self.skipped.not_replayed.iter().flatten();
        let ldgsts = self.ldgsts.iter().map(|ldgsts| (LDGSTS, ldgsts.records));
        named
            .map(|(name, records)| (name.as_str(), *records))
            .chain(ldgsts)
            .filter(|(_, records)| *records > 0)
    }

    /// Adds the counts of another part. Footprints are left out: they may overlap.
    pub(super) fn add(&mut self, from: &Self) {
        let Self { skipped, by_space, lane_faults, uniform, .. } = self;
        for (to, from) in [
            (&mut self.records, from.records),
            (&mut self.loads, from.loads),
            (&mut skipped.store, from.skipped.store),
            (&mut skipped.atomic, from.skipped.atomic),
            (&mut skipped.other, from.skipped.other),
            (&mut self.lanes, from.lanes),
            (&mut self.bytes, from.bytes),
            (&mut by_space.global, from.by_space.global),
            (&mut by_space.local, from.by_space.local),
            (&mut by_space.shared, from.by_space.shared),
            (&mut by_space.constant, from.by_space.constant),
            (&mut by_space.unresolved, from.by_space.unresolved),
            (&mut self.sectors, from.sectors),
            (&mut self.lines, from.lines),
            (&mut self.ideal_sectors, from.ideal_sectors),
            (&mut uniform.broadcast, from.uniform.broadcast),
            (&mut uniform.divergent, from.uniform.divergent),
            (&mut self.width_disagreements, from.width_disagreements),
            (&mut self.checked, from.checked),
            (&mut self.mismatches, from.mismatches),
        ] {
            add(to, from);
        }
        lane_faults.add(&from.lane_faults);
        add_by_name(&mut self.by_opcode, &from.by_opcode);
        // Unknown of the whole if they are of a part.
        match (&mut skipped.not_replayed, &from.skipped.not_replayed) {
            (Some(to), Some(from)) => add_by_name(to, from),
            (to, _) => *to = None,
        }
        match (&mut self.ldgsts, &from.ldgsts) {
            (Some(to), Some(from)) => to.add(*from),
            (to, _) => *to = None,
        }
    }
}

/// Adds numbers of a summary. A made-up one can have any number, which must not end the process.
fn add(to: &mut u64, from: u64) {
    *to = to.saturating_add(from);
}

fn add_by_name<Name: Clone + Ord>(to: &mut BTreeMap<Name, u64>, from: &BTreeMap<Name, u64>) {
    for (name, count) in from {
        add(to.entry(name.clone()).or_default(), *count);
    }
}

/// Instructions that are not loads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "named as the kinds are")]
pub struct SkippedCounts {
    pub store: u64,
    pub atomic: u64,
    pub other: u64,
    /// The others that read memory, except `LDGSTS`, by the opcode before its first dot; `None` if
    /// the trace does not name them.
    pub not_replayed: Option<BTreeMap<String, u64>>,
}

/// Copies from global to shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LdgstsCounts {
    /// Instructions of the trace. Some tracers write two for each copy.
    pub records: u64,
    /// Their active lanes.
    pub lanes: u64,
}

impl LdgstsCounts {
    pub(super) fn add(&mut self, from: Self) {
        add(&mut self.records, from.records);
        add(&mut self.lanes, from.lanes);
    }
}

/// Loads by space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "named as the spaces are")]
pub struct SpaceCounts {
    pub global: u64,
    pub local: u64,
    pub shared: u64,
    pub constant: u64,
    /// No lane executes, or the first one's address is in no memory.
    pub unresolved: u64,
}

/// Lane faults by kind.
pub type FaultCounts = ByFaultKind<u64>;

/// Loads of `.U.128` form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UniformCounts {
    /// Served by one fetch.
    pub broadcast: u64,
    /// Served lane by lane.
    pub divergent: u64,
}

/// Distinct parts of global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FootprintCounts {
    /// Of 4 KiB.
    pub pages: u64,
    /// Of 128 bytes.
    pub lines: u64,
}

/// A value that differs from the expected one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mismatch {
    /// The instruction's index in the trace.
    pub record: u64,
    /// The kernel's name.
    pub kernel: Arc<str>,
    /// The program counter.
    pub pc: Hex,
    /// The lane.
    pub lane: usize,
    /// The destination register, counted from Rd.
    pub register: usize,
    /// The value in the trace.
    pub expected: Hex,
    /// The loaded value.
    pub got: Hex,
}

/// A lane fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The instruction's index in the trace.
    pub record: u64,
    /// The kernel's name.
    pub kernel: Arc<str>,
    /// The program counter.
    pub pc: Hex,
    /// The lane.
    pub lane: usize,
    /// The fault's name.
    pub kind: String,
    /// The effective address.
    pub address: Hex,
}

/// The counts of one program counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcSummary {
    /// The kernel's name.
    pub kernel: Arc<str>,
    /// The program counter.
    pub pc: Hex,
    /// The opcode with its modifiers.
    pub opcode: Arc<str>,
    /// The number of its loads.
    pub loads: u64,
    /// Its executing lanes.
    pub lanes: u64,
    /// Distinct sectors of one load.
    pub sectors: SectorSummary,
    /// The fewest sectors that hold the requested bytes of each load, added up.
    pub ideal_sectors: u64,
    /// Its lane faults.
    pub lane_faults: FaultCounts,
}

/// Sectors of one load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "named as what they are")]
pub struct SectorSummary {
    pub min: u64,
    pub mean: f64,
    pub max: u64,
}

/// The counts of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelSummary {
    /// Its name.
    pub name: Arc<str>,
    /// Its counts.
    #[serde(flatten)]
    pub counts: Counts,
}

/// What the summary of a shard has besides the counts, so that shards merge exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partial {
    /// The shard's number, from 0.
    pub shard: u64,
    /// The number of shards.
    pub of: u64,
    /// The replay and its trace: equal for all shards of one replay.
    pub replay: String,
    /// For each row of `per_pc`, the indices of its kernel and of its operation, and the sum of its
    /// sectors.
    pub per_pc: Vec<(usize, u16, u64)>,
    /// For each kernel, the first and last page of each run of pages that it touched.
    pub pages: Vec<Vec<(u64, u64)>>,
    /// The same of lines.
    pub lines: Vec<Vec<(u64, u64)>>,
}
