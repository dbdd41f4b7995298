//! [`Summary`]: the results of a replay, in the JSON form that the command prints. [`Hex`] and [`Digest`] are numbers
//! that JSON has as hexadecimal text.

mod comparison;
mod counts;
mod merge;
mod partial;
mod treemap;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::counters::{LoadCounts, PcSummary};
use crate::options::Selected;
use warpload::text::parse_hexadecimal;

pub use self::comparison::{ComparedRow, Comparison, DifferentSelections, percent_change};
pub use self::counts::ProgramCounter;
pub use self::merge::MergeError;
pub use self::partial::{PartialError, PartialHead, PartialSummary};

/// The JSON object of a replay: counts of the whole trace, of each program counter and of each
/// kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
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
    /// Whether the trace is known to be complete; `None` if its format cannot tell.
    #[serde(default)]
    pub complete: Option<bool>,
    /// Notes for readers of the counts.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The selection of counted loads; `None` if all were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<Selected>,
    /// Loads by program counter, in launch order of the kernels, then ascending.
    pub per_pc: Vec<PcSummary>,
    /// Stores and atomics, in the same form; `loads` is their number.
    #[serde(default)]
    pub per_pc_stores: Vec<PcSummary>,
    /// Copies from global to shared memory, in the same form. `loads` is the number of global-side records, `sectors`
    /// are theirs, and `shared` is about the shared side.
    #[serde(default)]
    pub per_pc_copies: Vec<PcSummary>,
    /// By kernel, in launch order.
    pub kernels: Vec<KernelSummary>,
}

/// A value that differs from the expected one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
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
#[non_exhaustive]
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

/// The counts of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KernelSummary {
    /// Its name, as in the trace.
    pub name: Arc<str>,
    /// Its demangled name, if known. The command sets it for mangled names.
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
