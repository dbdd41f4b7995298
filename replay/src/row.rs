//! [`Row`]: the accesses of one instruction of a launch, and what it is.

use std::ops::AddAssign;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::counters::{AccessCounts, Counter, RowForm};
use crate::summary::Hex;
use warpload::memory::AddressSpace;
use warpload_trace::binary::{PtxPlace, shown_place};
use warpload_trace::{MemoryOperation, OperationKind};

/// The accesses of one instruction of a launch. A copy from global to shared memory has a row for each side that the
/// trace has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "RowForm")]
#[non_exhaustive]
pub struct Row {
    /// The launch's number in the trace, from 0; in rows by kernel, the first launch's.
    pub launch: u64,
    /// The kernel's name, as in the trace.
    pub kernel: Arc<str>,
    /// The program counter.
    pub pc: Hex,
    /// The opcode with its modifiers.
    pub opcode: Arc<str>,
    /// What it does.
    pub kind: AccessKind,
    /// The address space of its addresses.
    pub space: RowSpace,
    /// The access size of a lane in bytes; of matrix loads, what a lane receives.
    pub access_bytes: Option<u32>,
    /// Its instruction and source line, as far as they are known.
    #[serde(flatten)]
    pub code: RowCode,
    /// Its counts.
    #[serde(flatten)]
    pub counts: AccessCounts,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessKind {
    /// Loads.
    Load,
    /// Stores.
    Store,
    /// Changes memory and returns the value before.
    Atomic,
    /// Changes memory and returns nothing: `RED`.
    Reduction,
    /// Copies from global to shared memory: `LDGSTS`.
    Copy,
}

impl AccessKind {
    /// The kinds, in the order of tables.
    pub const ALL: [Self; 5] = [Self::Load, Self::Store, Self::Atomic, Self::Reduction, Self::Copy];

    /// Returns the kind of an operation; `None` if it is not replayed.
    #[must_use]
    pub fn of(operation: &MemoryOperation) -> Option<Self> {
        match operation.kind {
            OperationKind::Load => Some(Self::Load),
            OperationKind::Store => Some(Self::Store),
            OperationKind::Atomic if operation.opcode.get(..3).is_some_and(is_red) => {
                Some(Self::Reduction)
            }
            OperationKind::Atomic => Some(Self::Atomic),
            OperationKind::Copy => Some(Self::Copy),
            _ => None,
        }
    }

    /// Returns its name: `load`, `store`, `atomic`, `reduction` or `copy`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic",
            Self::Reduction => "reduction",
            Self::Copy => "copy",
        }
    }

    /// Returns its name with the memory: `global load`.
    #[must_use]
    pub fn of_space(self, space: RowSpace) -> String {
        format!("{} {}", space.name(), self.name())
    }

    /// Returns the name of several.
    #[must_use]
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Load => "loads",
            Self::Store => "stores",
            Self::Atomic => "atomics",
            Self::Reduction => "reductions",
            Self::Copy => "copies",
        }
    }
}

/// `RED` and `REDG`, or `red` of PTX.
fn is_red(opcode: &str) -> bool {
    opcode.eq_ignore_ascii_case("red")
}

/// The address space of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "named as what they are")]
pub enum RowSpace {
    Global,
    Shared,
    Local,
    Constant,
    Generic,
}

impl RowSpace {
    /// The spaces, in the order of tables.
    pub const ALL: [Self; 5] =
        [Self::Global, Self::Shared, Self::Local, Self::Constant, Self::Generic];

    /// Returns its name: `global`, `shared`, `local`, `constant` or `generic`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Constant => "constant",
            Self::Generic => "generic",
        }
    }
}

impl From<AddressSpace> for RowSpace {
    fn from(space: AddressSpace) -> Self {
        match space {
            AddressSpace::Global => Self::Global,
            AddressSpace::Shared => Self::Shared,
            AddressSpace::Local => Self::Local,
            AddressSpace::Constant { .. } => Self::Constant,
            AddressSpace::Generic => Self::Generic,
        }
    }
}

/// The instruction of a row and its source line. JSON leaves out what is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RowCode {
    /// The instruction, from the trace's word or from a cubin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sass: Option<Arc<str>>,
    /// The file of its source line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_file: Option<Arc<str>>,
    /// The number of its line in the source, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_line: Option<u32>,
    /// The instruction in PTX, if the trace is of PTX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx: Option<Arc<str>>,
    /// Its line in the module, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx_line: Option<u32>,
    /// Its column, from 1, if other instructions begin in the same line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx_column: Option<u32>,
}

impl RowCode {
    /// Returns the instruction's text, of PTX or SASS; `None` if nothing has it.
    #[must_use]
    pub fn instruction(&self) -> Option<&str> {
        self.ptx.as_deref().or(self.sass.as_deref())
    }

    /// Returns its line of the source as text: `k.cu:12`, or `line 12` if the file is unknown.
    #[must_use]
    pub fn source(&self) -> Option<String> {
        let line = self.source_line?;
        Some(match &self.source_file {
            Some(file) => format!("{}:{line}", file.rsplit(['/', '\\']).next().unwrap_or(file)),
            None => format!("line {line}"),
        })
    }
}

impl Row {
    /// Returns the place of the instruction as it is shown: a program counter, or a line of PTX.
    #[must_use]
    pub fn place(&self) -> String {
        let RowCode { ptx_line, ptx_column, .. } = self.code;
        let place = ptx_line.map(|line| PtxPlace { line, column: ptx_column });
        shown_place(self.pc.0 as u32, place)
    }

    /// The order of rows, and what makes two rows of different shards the same.
    pub(crate) fn key(&self) -> RowKey<'_> {
        let Self { launch, pc, kind, ref opcode, space, access_bytes, .. } = *self;
        RowKey { launch, pc: pc.0, kind, opcode, space, access_bytes }
    }
}

/// The order of rows, and what makes two rows the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowKey<'r> {
    pub(crate) launch: u64,
    pc: u64,
    kind: AccessKind,
    opcode: &'r str,
    space: RowSpace,
    access_bytes: Option<u32>,
}

/// Adds up rows with the same key, and puts rows into their order.
pub(crate) fn join(mut rows: Vec<Row>) -> Vec<Row> {
    // Fast, because this sort merges runs that ascend already.
    rows.sort_by(|one, other| one.key().cmp(&other.key()));
    rows.dedup_by(|next, row| {
        let is_same = next.key() == row.key();
        if is_same {
            row.counts.add(&next.counts);
        }
        is_same
    });
    rows
}

impl AddAssign<&Self> for AccessCounts {
    fn add_assign(&mut self, other: &Self) {
        self.add(other);
    }
}

impl AccessCounts {
    /// Returns the sectors of global and local memory.
    #[must_use]
    pub fn sectors(&self) -> u64 {
        let global = self.global.map_or(0, |global| global.sectors.sum);
        global.saturating_add(self.local.as_ref().map_or(0, |local| local.sectors))
    }

    /// Returns the fewest sectors that would do.
    #[must_use]
    pub fn ideal_sectors(&self) -> u64 {
        let global = self.global.map_or(0, |global| global.ideal_sectors);
        global.saturating_add(self.local.as_ref().map_or(0, |local| local.ideal_sectors))
    }

    /// Returns the sectors beyond the ideal.
    #[must_use]
    pub fn excess_sectors(&self) -> u64 {
        self.sectors().saturating_sub(self.ideal_sectors())
    }

    /// Returns the wavefronts of shared memory.
    #[must_use]
    pub fn wavefronts(&self) -> u64 {
        self.shared.as_ref().map_or(0, |shared| shared.wavefronts.sum)
    }

    /// Returns the fewest wavefronts that would do.
    #[must_use]
    pub fn ideal_wavefronts(&self) -> u64 {
        self.shared.as_ref().map_or(0, |shared| shared.ideal_wavefronts)
    }

    /// Returns the bank conflicts of shared memory.
    #[must_use]
    pub fn conflicts(&self) -> u64 {
        self.shared.as_ref().map_or(0, |shared| shared.conflicts)
    }

    /// Returns the addresses of constant memory, which is served one at a time.
    #[must_use]
    pub fn addresses(&self) -> u64 {
        self.constant.as_ref().map_or(0, |constant| constant.addresses)
    }

    /// Returns the number of accesses whose cost is unknown, or not all of it: without lane addresses, or with lanes of
    /// an atomic that share a word.
    #[must_use]
    pub fn unknown(&self) -> u64 {
        let shared = self.shared.as_ref().map_or(0, |shared| shared.unknown);
        shared.saturating_add(self.unattributable)
    }

    /// Returns what the access costs beyond the ideal: sectors, wavefronts and repeated constant loads.
    #[must_use]
    pub fn excess(&self) -> u64 {
        let wavefronts = self.wavefronts().saturating_sub(self.ideal_wavefronts());
        let loads = self.constant.as_ref().map_or(0, |constant| constant.accesses);
        let repeats = self.addresses().saturating_sub(loads);
        self.excess_sectors().saturating_add(wavefronts).saturating_add(repeats)
    }
}
