//! [`Summary`]: what a replay found, in the JSON form that the command prints. Its [`Hex`] and [`Digest`] are
//! numbers that are hexadecimal text in JSON.

mod check;
mod comparison;
mod counts;
mod kinds;
mod merge;
mod partial;
mod rows;
mod treemap;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use self::kinds::{add, add_by_name, add_known};
use crate::options::Selected;
use warpload_binary::sass::SourceLine;

pub use self::comparison::{ComparedRow, Comparison, percent_change};
pub use self::counts::ProgramCounter;
pub use self::kinds::{
    ConstantCounts, FaultCounts, FootprintCounts, LdgstsCounts, LocalCounts, ReuseCounts,
    SharedCounts, SkippedCounts, SpaceCounts, TmaCounts, TrafficCounts, UniformCounts,
};
pub use self::merge::MergeError;
pub use self::partial::{PartialHead, PartialSummary, other_version};

/// The JSON object of a replay: counts of the whole trace, of each program counter and of each
/// kernel.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Summary {
    /// The counts of the whole trace.
    #[serde(flatten)]
    pub counts: LoadCounts,
    /// The first ten values that differ from the expected ones.
    pub first_mismatches: Vec<ValueMismatch>,
    /// The first ten lane faults.
    pub first_faults: Vec<LoadFault>,
    /// The digest over all loaded values; `None` without data.
    pub digest: Option<Digest>,
    /// Whether the trace is known to be whole; `None` if its format cannot tell.
    #[serde(default)]
    pub complete: Option<bool>,
    /// Notes for readers of the counts.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Which loads were counted; `None` if all were.
    #[serde(default)]
    pub selected: Option<Selected>,
    /// Loads by program counter, in launch order of the kernels, then ascending.
    pub per_pc: Vec<PcSummary>,
    /// Stores and atomics, in the same form; `loads` is their number.
    #[serde(default)]
    pub per_pc_stores: Vec<PcSummary>,
    /// By kernel, in launch order.
    pub kernels: Vec<KernelSummary>,
    /// What merging needs; `None` unless the summary is of a shard, or of several.
    #[serde(default)]
    pub partial: Option<PartialSummary>,
}

/// Counts of loads, and of what they touched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadCounts {
    /// Instructions of the trace.
    pub records: u64,
    /// Load instructions with a memory operand.
    pub loads: u64,
    /// Skipped instructions.
    pub skipped: SkippedCounts,
    /// Loads whose addresses cannot be attributed to lanes: counted as loads, but not executed.
    #[serde(default)]
    pub unattributable: u64,
    /// Copies from global to shared memory (`LDGSTS`), which are among the other skipped
    /// instructions; `None` if the trace does not name them.
    pub ldgsts: Option<LdgstsCounts>,
    /// Instructions of the Tensor Memory Accelerator, which are among the other skipped instructions;
    /// `None` if the trace does not name them.
    #[serde(default)]
    pub tma: Option<TmaCounts>,
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
    /// Loads whose record in the source has values of any kind.
    #[serde(default)]
    pub valued_loads: u64,
    /// Loads with expected values.
    pub checked: u64,
    /// Those of them with a value that differs.
    pub mismatches: u64,
    /// Expected values that were compared: those of executing lanes that are not outside.
    #[serde(default)]
    pub checked_words: u64,
    /// Those of them that differ.
    #[serde(default)]
    pub mismatched_words: u64,
    /// Loads of shared memory.
    #[serde(default)]
    pub shared: SharedCounts,
    /// Loads of local memory.
    #[serde(default)]
    pub local: LocalCounts,
    /// Loads of constant memory.
    #[serde(default)]
    pub constant: ConstantCounts,
    /// Stores; `None` if the trace only counts them.
    #[serde(default)]
    pub stores: Option<TrafficCounts>,
    /// Atomics; `None` if the trace only counts them.
    #[serde(default)]
    pub atomics: Option<TrafficCounts>,
    /// How many loads lie between two touches of a line; `None` unless the replay was asked to count
    /// them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse: Option<ReuseCounts>,
}

/// The one instruction among those not replayed that has counts of its own.
const LDGSTS: &str = "LDGSTS";

impl LoadCounts {
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
            (&mut self.unattributable, from.unattributable),
            (&mut self.valued_loads, from.valued_loads),
            (&mut self.checked, from.checked),
            (&mut self.mismatches, from.mismatches),
            (&mut self.checked_words, from.checked_words),
            (&mut self.mismatched_words, from.mismatched_words),
            (&mut self.shared.loads, from.shared.loads),
            (&mut self.shared.wavefronts, from.shared.wavefronts),
            (&mut self.shared.ideal_wavefronts, from.shared.ideal_wavefronts),
            (&mut self.shared.conflicts, from.shared.conflicts),
            (&mut self.local.loads, from.local.loads),
            (&mut self.local.sectors, from.local.sectors),
            (&mut self.local.ideal_sectors, from.local.ideal_sectors),
            (&mut self.constant.loads, from.constant.loads),
            (&mut self.constant.addresses, from.constant.addresses),
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
        add_known(&mut self.ldgsts, from.ldgsts, LdgstsCounts::add);
        add_known(&mut self.tma, from.tma, TmaCounts::add);
        add_known(&mut self.stores, from.stores, TrafficCounts::add);
        add_known(&mut self.atomics, from.atomics, TrafficCounts::add);
    }
}

/// A value that differs from the expected one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueMismatch {
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
pub struct LoadFault {
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
    /// The instruction, `Some(None)` if it is unknown; `None` if the replay was given no cubins.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub sass: Option<Option<Arc<str>>>,
    /// Its line in the source, `Some(None)` if it is unknown; `None` if the replay was given no cubins.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub source: Option<Option<SourceLine>>,
    /// The number of its line in the source, if the trace has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_line: Option<u32>,
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
    /// What it costs in shared memory, if its opcode is of that memory or some of its generic addresses are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<PcSharedCounts>,
    /// What it costs in local memory, if its opcode is of that memory or some of its generic addresses are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<LocalCounts>,
    /// What it costs in constant memory, if its opcode is of that memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<ConstantCounts>,
}

/// Reads a field that is there, as `Some` even if it is null.
fn present<'de, Field, D>(deserializer: D) -> Result<Option<Field>, D::Error>
where
    Field: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Field::deserialize(deserializer).map(Some)
}

/// Loads of shared memory by one program counter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcSharedCounts {
    /// Loads with a lane that loads from it.
    pub loads: u64,
    /// Wavefronts of one load; `None` if it is an atomic with lanes that share a word, at which they take turns
    /// in a way that is not known.
    pub wavefronts: Option<SectorSummary>,
    /// The fewest wavefronts that hold the words of each load, added up.
    pub ideal_wavefronts: u64,
    /// Bank conflicts: wavefronts beyond one for each group of lanes that has one; `None` as the
    /// wavefronts are, and in what an earlier version wrote.
    #[serde(default)]
    pub conflicts: Option<u64>,
}

/// Sectors or wavefronts of one load; zeros without loads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "named as what they are")]
pub struct SectorSummary {
    pub min: u64,
    pub mean: f64,
    pub max: u64,
}

impl PcSharedCounts {
    /// Returns the wavefronts of all loads; `None` if they are not known.
    #[must_use]
    pub fn all_wavefronts(&self) -> Option<u64> {
        self.wavefronts.map(|wavefronts| wavefronts.sum(self.loads))
    }
}

impl SectorSummary {
    /// Returns the sum over that many loads, of which it has the mean.
    #[must_use]
    pub fn sum(&self, loads: u64) -> u64 {
        (self.mean * loads as f64).round() as u64
    }
}

/// The counts of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelSummary {
    /// Its name, as in the trace.
    pub name: Arc<str>,
    /// Its name as the source has it, if that is known; the command sets it for mangled names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demangled: Option<Arc<str>>,
    /// Its counts.
    #[serde(flatten)]
    pub counts: LoadCounts,
}

impl KernelSummary {
    /// Returns its demangled name if there is one, else its name.
    #[must_use]
    pub fn shown_name(&self) -> &str {
        self.demangled.as_ref().unwrap_or(&self.name)
    }
}

/// A number that is written in hexadecimal, with `0x` and without leading zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hex(pub u64);

/// The digest over loaded values: 16 hexadecimal digits. Those of shards add up, wrapping around,
/// to that of the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub u64);

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        let number = text.strip_prefix("0x").and_then(hexadecimal);
        number.map(Self).ok_or_else(|| {
            D::Error::custom(format_args!(
                "invalid number {text:?}; expected `0x` and up to 16 hexadecimal digits"
            ))
        })
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        hexadecimal(&text).map(Self).ok_or_else(|| {
            D::Error::custom(format_args!(
                "invalid digest {text:?}; expected up to 16 hexadecimal digits"
            ))
        })
    }
}

fn hexadecimal(digits: &str) -> Option<u64> {
    // `from_str_radix` alone takes a sign.
    let is_plain = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| is_plain)
}
