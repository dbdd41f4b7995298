//! [`Summary`]: the result of a replay, in the JSON form that the command prints. Text, CSV, pages, Arrow, Python,
//! comparisons and merges all read it. [`Hex`] and [`Digest`] are numbers that JSON has as hexadecimal text.

mod build;
mod comparison;
mod merge;
mod part;
mod treemap;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::counters::{AccessCounts, Counter, TraceCounts};
use crate::options::Selected;
use crate::row::{AccessKind, Row, join};
use warpload::text::parse_hexadecimal;

pub use self::comparison::{
    ComparedKind, ComparedRow, Comparison, DifferentSelections, percent_change,
};
pub use self::merge::MergeError;
pub use self::part::{ShardPart, SummaryError};

/// The result of a replay: counts of the whole trace and of each launch, and a row for each instruction that accesses
/// memory. Sums are kept as sums; means are derived where they are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The shard that it covers; `None` if it covers the whole trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardPart>,
    /// The counts of all launches.
    #[serde(flatten)]
    pub counts: TraceCounts,
    /// The first ten values that differ from the expected ones.
    pub first_mismatches: Vec<ValueMismatch>,
    /// The first ten lane faults.
    pub first_faults: Vec<AccessFault>,
    /// The digest over all loaded values; `None` without data.
    pub digest: Option<Digest>,
    /// Whether the trace is known to be complete; `None` if its format cannot tell.
    pub complete: Option<bool>,
    /// Notes for readers of the counts.
    pub notes: Vec<String>,
    /// The selection of counted accesses; `None` if all were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<Selected>,
    /// The launches, in order.
    pub launches: Vec<LaunchSummary>,
    /// The accesses of each instruction of each launch, by launch, program counter, kind, opcode and space.
    pub rows: Vec<Row>,
    /// Of a shard, the CRC-32 of its line of JSON without this key, so that no change goes unnoticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) checksum: Option<u32>,
}

/// A launch of a kernel, or the sum of the launches of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LaunchSummary {
    /// Its number in the trace, from 0; of several launches, the first one's.
    pub launch: u64,
    /// The number of launches, if it is a sum of several.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub launches: u64,
    /// The kernel's name, as in the trace.
    pub kernel: Arc<str>,
    /// Its demangled name, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demangled: Option<Arc<str>>,
    /// Thread blocks in x, y and z; of several launches, the first one's.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Its counts.
    #[serde(flatten)]
    pub counts: TraceCounts,
}

fn one() -> u64 {
    1
}

fn is_one(number: &u64) -> bool {
    *number == 1
}

impl LaunchSummary {
    /// Returns the kernel's demangled name if there is one, else its name.
    #[must_use]
    pub fn shown_name(&self) -> &str {
        self.demangled.as_ref().unwrap_or(&self.kernel)
    }
}

impl Summary {
    /// Returns the summary with the launches of each kernel added up, in the order of their first launches. Its
    /// footprints are unknown for kernels with several launches.
    #[must_use]
    pub fn by_kernel(&self) -> Cow<'_, Self> {
        let mut of_name: BTreeMap<&str, u64> = BTreeMap::new();
        for launch in &self.launches {
            of_name.entry(&launch.kernel).or_insert(launch.launch);
        }
        if of_name.len() == self.launches.len() {
            return Cow::Borrowed(self);
        }
        let mut launches: BTreeMap<u64, LaunchSummary> = BTreeMap::new();
        for launch in &self.launches {
            let first = of_name.get(&*launch.kernel).copied().unwrap_or(launch.launch);
            match launches.get_mut(&first) {
                None => drop(launches.insert(first, launch.clone())),
                Some(sum) => {
                    sum.launches = sum.launches.saturating_add(launch.launches);
                    sum.counts.add(&launch.counts);
                    sum.counts.footprint = None;
                }
            }
        }
        let rows = self.rows.iter().map(|row| {
            let launch = of_name.get(&*row.kernel).copied().unwrap_or(row.launch);
            Row { launch, ..row.clone() }
        });
        let (launches, rows) = (launches.into_values().collect(), join(rows.collect()));
        Cow::Owned(Self {
            shard: self.shard.clone(),
            counts: self.counts.clone(),
            first_mismatches: self.first_mismatches.clone(),
            first_faults: self.first_faults.clone(),
            digest: self.digest,
            complete: self.complete,
            notes: self.notes.clone(),
            selected: self.selected.clone(),
            launches,
            rows,
            checksum: None,
        })
    }

    /// Returns a launch by its number.
    #[must_use]
    pub fn launch(&self, number: u64) -> Option<&LaunchSummary> {
        let place = self.launches.binary_search_by_key(&number, |launch| launch.launch).ok()?;
        self.launches.get(place)
    }
}

impl TraceCounts {
    /// Returns the counts of the accesses of one kind.
    #[must_use]
    pub fn kind(&self, kind: AccessKind) -> &AccessCounts {
        match kind {
            AccessKind::Load => &self.loads,
            AccessKind::Store => &self.stores,
            AccessKind::Atomic => &self.atomics,
            AccessKind::Reduction => &self.reductions,
            AccessKind::Copy => &self.copies,
        }
    }

    pub(crate) fn kind_mut(&mut self, kind: AccessKind) -> &mut AccessCounts {
        match kind {
            AccessKind::Load => &mut self.loads,
            AccessKind::Store => &mut self.stores,
            AccessKind::Atomic => &mut self.atomics,
            AccessKind::Reduction => &mut self.reductions,
            AccessKind::Copy => &mut self.copies,
        }
    }

    /// Returns the counts of the accesses of all kinds.
    #[must_use]
    pub fn all(&self) -> AccessCounts {
        let mut all = AccessCounts::default();
        AccessKind::ALL.into_iter().for_each(|kind| all.add(self.kind(kind)));
        all
    }

    /// Counts the accesses of a row.
    pub(crate) fn count(&mut self, row: &Row) {
        self.kind_mut(row.kind).add(&row.counts);
        self.by_opcode.entry(Arc::clone(&row.opcode)).or_default().add(&row.counts.accesses);
    }
}

/// A value that differs from the expected one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ValueMismatch {
    /// The instruction's index in the trace.
    pub instruction: u64,
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

/// A fault of a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AccessFault {
    /// The instruction's index in the trace.
    pub instruction: u64,
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
/// A number in hexadecimal, with `0x` and without leading zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hex(pub u64);

/// The digest over loaded values: 16 hexadecimal digits. The digests of shards add up, wrapping around, to the digest
/// of the whole.
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
        let number = text.strip_prefix("0x").and_then(parse_hexadecimal);
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
        parse_hexadecimal(&text).map(Self).ok_or_else(|| {
            D::Error::custom(format_args!(
                "invalid digest {text:?}; expected up to 16 hexadecimal digits"
            ))
        })
    }
}
