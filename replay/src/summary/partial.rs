//! [`PartialSummary`]: the summary of some of the shards, and its JSON. [`PartialHead`]: only the replay and the
//! shards.
//!
//! Counters are lists of numbers in the order of `counters` and `pc_counters`, without trailing zeros, and rows are
//! nested in their kernel. Leaving out the keys makes a partial summary smaller than its share of the whole summary.
//! The checksum is the CRC-32 of `partial` without spaces, so that no change goes unnoticed.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::ops::RangeInclusive;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use roaring::RoaringTreemap;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::counts::{About, RowCode};
use super::treemap::{read, write};
use super::{LoadFault, ValueMismatch};
use crate::counters::{Counter, LoadCounts, PcCounts, paths, present, put, take};
use crate::footprint::Footprint;
use crate::statistics::KernelCounts;
use warpload::memory::AddressSpace;
use warpload_binary::sass::SourceLine;
use warpload_trace::binary::{PtxLine, PtxPlace};
use warpload_trace::{MemoryOperation, OperationKind};

/// The summary of a shard, or of neighbouring shards: the counts of the kernels that they touched. The whole summary is
/// made from these. Its JSON is only for merging, and may change with any version.
#[derive(Clone, Debug, PartialEq)]
pub struct PartialSummary {
    pub(super) replay: String,
    /// The numbers of the first and the last shard, from 0.
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) of: u64,
    /// The number of kernels of the whole trace.
    pub(super) of_kernels: usize,
    pub(super) about: About,
    pub(super) first_faults: Vec<LoadFault>,
    pub(super) first_mismatches: Vec<ValueMismatch>,
    /// The operations of the kernels, by their number in the trace.
    pub(super) operations: BTreeMap<u16, MemoryOperation>,
    /// By their number in the trace.
    pub(super) kernels: BTreeMap<usize, PartialKernel>,
}

/// A kernel of a partial summary.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PartialKernel {
    pub(super) name: Arc<str>,
    pub(super) demangled: Option<Arc<str>>,
    /// Without the pages of the footprint, which follow from the lines.
    pub(super) counts: KernelCounts,
    /// The code of each row; rows without code are left out.
    pub(super) code: BTreeMap<(u32, u16), RowCode>,
}

/// Why JSON is not a partial summary.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartialError {
    /// It is not JSON, or not of this form.
    #[error("not the summary of a shard")]
    Json(#[source] serde_json::Error),
    /// It was made by another version of warpload.
    #[error(
        "made by warpload {given}{}{}; warpload {} merges only shards of its own version",
        named(", with unknown counters", unknown), named(", without counters", missing),
        env!("CARGO_PKG_VERSION")
    )]
    OtherVersion {
        /// The version that made it.
        given: String,
        /// Its counters that this version does not know.
        unknown: Vec<String>,
        /// The counters of this version that it lacks.
        missing: Vec<String>,
    },
    /// Its parts contradict each other, or the checksum.
    #[error("inconsistent: {message}")]
    Inconsistent {
        /// The contradiction.
        message: &'static str,
    },
}

fn named(what: &str, counters: &[String]) -> String {
    let names = counters.join(", ");
    if names.is_empty() { names } else { format!("{what} ({names})") }
}

impl PartialSummary {
    /// Reads the JSON of a partial summary.
    ///
    /// # Errors
    /// Returns [`PartialError`] if it is not one, is of another version, or has changed since it was written. The
    /// version is checked first, because a later form may look like damage.
    pub fn from_json(json: &[u8]) -> Result<Self, PartialError> {
        let read = serde_json::from_slice::<Sealed<KernelsRead>>(json);
        let made = match &read {
            Ok(Sealed { partial, .. }) => Some(partial.made()),
            Err(_) => serde_json::from_slice(json).ok().map(|MadeJson { partial }| partial),
        };
        if let Some(error) = made.and_then(Made::other_version) {
            return Err(error);
        }
        let Sealed { partial, checksum } = read.map_err(PartialError::Json)?;
        let inconsistent = |message| PartialError::Inconsistent { message };
        let partial = partial.read().map_err(inconsistent)?;
        if partial.checksum().ok() != Some(checksum) {
            return Err(inconsistent(
                "its checksum does not match: it has changed since it was written",
            ));
        }
        partial.check().map_err(inconsistent)?;
        Ok(partial)
    }

    /// Returns the numbers of the shards, from 0.
    #[must_use]
    pub fn shards(&self) -> RangeInclusive<u64> {
        self.first..=self.last
    }

    /// Returns the number of shards of the whole replay.
    #[must_use]
    pub fn of(&self) -> u64 {
        self.of
    }

    /// Returns the name of the replay, as
    /// [`ReplayOptions::identity`](super::super::ReplayOptions::identity) returns it.
    #[must_use]
    pub fn replay(&self) -> &str {
        &self.replay
    }

    /// Returns the numbers of the summary's kernels in the whole trace, ascending.
    pub fn kernels(&self) -> impl Iterator<Item = usize> {
        self.kernels.keys().copied()
    }

    /// Returns the number of loads with a value that differs from the expected one.
    #[must_use]
    pub fn mismatches(&self) -> u64 {
        let of_kernels = self.kernels.values().map(|kernel| kernel.counts.counts.mismatches);
        of_kernels.fold(0, u64::saturating_add)
    }
}

impl PartialSummary {
    /// Checks that the parts agree.
    fn check(&self) -> Result<(), &'static str> {
        if self.first > self.last || self.last >= self.of {
            return Err("its shard numbers are out of range");
        }
        if self.kernels.last_key_value().is_some_and(|(last, _)| *last >= self.of_kernels) {
            return Err("it has more kernels than the trace");
        }
        let pairs = SumPairs::new();
        for kernel in self.kernels.values() {
            let KernelCounts { others, per_pc, .. } = &kernel.counts;
            let numbers = others.keys().chain(per_pc.iter().map(|((_, number), _)| number));
            if !numbers.into_iter().all(|number| self.operations.contains_key(number))
                || !kernel.code.keys().all(|row| kernel.counts.row(row).is_some())
            {
                return Err("a row has an operation that is not in `operations`");
            }
            if !pairs.agree(&kernel.counts, &self.operations) {
                return Err("the counts of a kernel are not the sums of its rows");
            }
        }
        Ok(())
    }

    fn json(&self) -> PartialJson<KernelsWritten<'_>> {
        let operation = |(number, operation): (&u16, &MemoryOperation)| {
            let space = operation.space_name().to_owned();
            (*number, Arc::clone(&operation.opcode), operation.kind, space)
        };
        PartialJson {
            replay: self.replay.clone(),
            first: self.first,
            last: self.last,
            of: self.of,
            of_kernels: self.of_kernels,
            counters: paths::<LoadCounts>(),
            pc_counters: paths::<PcCounts>(),
            about: self.about.clone(),
            first_faults: self.first_faults.clone(),
            first_mismatches: self.first_mismatches.clone(),
            operations: self.operations.iter().map(operation).collect(),
            kernels: KernelsWritten(&self.kernels),
        }
    }

    fn checksum(&self) -> serde_json::Result<u32> {
        let mut to = BufWriter::with_capacity(1 << 16, Crc(crc32fast::Hasher::new()));
        serde_json::to_writer(&mut to, &self.json())?;
        let Crc(crc) =
            to.into_inner().map_err(|error| serde_json::Error::io(error.into_error()))?;
        Ok(crc.finalize())
    }
}

/// Counters that both rows and kernels have: the kind of the rows, the index in the row's list, and the index in the
/// kernel's list.
struct SumPairs(Vec<(OperationKind, usize, usize)>);

impl SumPairs {
    fn new() -> Self {
        let of_kernel = paths::<LoadCounts>();
        let mut pairs = Vec::new();
        for (row, path) in paths::<PcCounts>().iter().enumerate() {
            let path = path.strip_suffix(".sum").unwrap_or(path);
            let count = if path == "loads" { "count" } else { path };
            for (kind, path) in [
                (OperationKind::Load, path.to_owned()),
                (OperationKind::Store, format!("stores.{count}")),
                (OperationKind::Atomic, format!("atomics.{count}")),
            ] {
                let place = of_kernel.iter().position(|known| *known == path);
                pairs.extend(place.map(|place| (kind, row, place)));
            }
        }
        Self(pairs)
    }

    /// Whether the counts of a kernel are the sums of its rows' counts.
    fn agree(&self, kernel: &KernelCounts, operations: &BTreeMap<u16, MemoryOperation>) -> bool {
        const KINDS: [OperationKind; 3] =
            [OperationKind::Load, OperationKind::Store, OperationKind::Atomic];
        let mut sums: [PcCounts; 3] = Default::default();
        for ((_, number), row) in &kernel.per_pc {
            let kind = operations.get(number).map(|operation| operation.kind);
            if let Some(sum) = KINDS.iter().position(|known| Some(*known) == kind) {
                sums[sum].add(row);
            }
        }
        let counts = put(&kernel.counts);
        let at = |list: &[u64], place: usize| list.get(place).copied().unwrap_or(0);
        KINDS.into_iter().zip(&sums).all(|(kind, sum)| {
            let sums = put(sum);
            let of_kind = self.0.iter().filter(|(of, ..)| *of == kind);
            of_kind.into_iter().all(|&(_, row, place)| at(&sums, row) == at(&counts, place))
        })
    }
}

/// A partial summary as JSON, and the checksum of its text.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "Kernels: Deserialize<'de>"))]
struct Sealed<Kernels> {
    partial: PartialJson<Kernels>,
    #[serde(with = "hexadecimal")]
    checksum: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartialJson<Kernels> {
    replay: String,
    first: u64,
    last: u64,
    of: u64,
    of_kernels: usize,
    /// The paths of a kernel's counters; `pc_counters` has a row's.
    counters: Vec<String>,
    pc_counters: Vec<String>,
    about: About,
    first_faults: Vec<LoadFault>,
    first_mismatches: Vec<ValueMismatch>,
    operations: Vec<(u16, Arc<str>, OperationKind, String)>,
    kernels: Kernels,
}

impl<Kernels> PartialJson<Kernels> {
    fn made(&self) -> Made {
        let Self { replay, counters, pc_counters, .. } = self;
        let (replay, counters) = (replay.clone(), counters.clone());
        Made { replay, counters, pc_counters: pc_counters.clone() }
    }
}

impl PartialJson<KernelsRead> {
    fn read(self) -> Result<PartialSummary, &'static str> {
        let mut operations = BTreeMap::new();
        for (number, opcode, kind, space) in self.operations {
            let operation = MemoryOperation { kind, ..MemoryOperation::of_opcode(&opcode) };
            let spaces = [
                AddressSpace::Generic,
                AddressSpace::Global,
                AddressSpace::Local,
                AddressSpace::Shared,
                AddressSpace::Constant { bank: 0 },
            ];
            let operation = spaces
                .into_iter()
                .map(|space| MemoryOperation { space, ..operation.clone() })
                .find(|operation| operation.space_name() == space)
                .ok_or("an operation has an unknown space")?;
            operations.insert(number, operation);
        }
        Ok(PartialSummary {
            replay: self.replay,
            first: self.first,
            last: self.last,
            of: self.of,
            of_kernels: self.of_kernels,
            about: self.about,
            first_faults: self.first_faults,
            first_mismatches: self.first_mismatches,
            operations,
            kernels: self.kernels.0,
        })
    }
}

/// The version and the counters of a partial summary. Readable even if another version wrote the rest in another form.
#[derive(Deserialize)]
struct Made {
    replay: String,
    #[serde(default)]
    counters: Vec<String>,
    #[serde(default)]
    pc_counters: Vec<String>,
}

#[derive(Deserialize)]
struct MadeJson {
    partial: Made,
}

impl Made {
    fn other_version(self) -> Option<PartialError> {
        const OWN: &str = env!("CARGO_PKG_VERSION");
        let given = self.replay.strip_prefix("warpload ")?.split(',').next()?.to_owned();
        let (known, known_of_pc) = (paths::<LoadCounts>(), paths::<PcCounts>());
        if given == OWN && (&self.counters, &self.pc_counters) == (&known, &known_of_pc) {
            return None;
        }
        let beyond = |of: [&[String]; 2], known: [&[String]; 2]| {
            let of_pc = of[1].iter().filter(|path| !known[1].contains(path));
            let others = of[0].iter().filter(|path| !known[0].contains(path));
            others.cloned().chain(of_pc.map(|path| format!("per_pc.{path}"))).collect()
        };
        let own = [&known[..], &known_of_pc];
        let theirs = [&self.counters[..], &self.pc_counters];
        let (unknown, missing) = (beyond(theirs, own), beyond(own, theirs));
        Some(PartialError::OtherVersion { given, unknown, missing })
    }
}

impl Serialize for PartialSummary {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let checksum = self.checksum().map_err(serde::ser::Error::custom)?;
        Sealed { partial: self.json(), checksum }.serialize(to)
    }
}

struct Crc(crc32fast::Hasher);

impl Write for Crc {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A kernel as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KernelJson {
    number: usize,
    name: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    demangled: Option<Arc<str>>,
    counts: Vec<u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    others: BTreeMap<u16, u64>,
    /// The lines that its loads touched. The pages derive from them.
    #[serde(default, skip_serializing_if = "Set::is_empty")]
    lines: Set,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rows: Vec<RowJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowJson {
    pc: u32,
    operation: u16,
    counts: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    sass: Option<Option<Arc<str>>>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    source: Option<Option<SourceLine>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_file: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ptx: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ptx_line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ptx_column: Option<u32>,
}

impl KernelJson {
    fn of(number: usize, kernel: &PartialKernel) -> Self {
        let KernelCounts { counts, others, footprint, per_pc } = &kernel.counts;
        let row = |((pc, operation), counts): &((u32, u16), PcCounts)| {
            let (pc, operation) = (*pc, *operation);
            let code = kernel.code.get(&(pc, operation)).cloned().unwrap_or_default();
            let RowCode { sass, source, source_line, source_file, ptx } = code;
            let place = ptx.as_ref().map(|line| line.place);
            let (ptx_line, ptx_column) =
                (place.map(|place| place.line), place.and_then(|place| place.column));
            let (counts, ptx) = (put(counts), ptx.map(|line| line.text));
            RowJson {
                pc,
                operation,
                counts,
                sass,
                source,
                source_line,
                source_file,
                ptx,
                ptx_line,
                ptx_column,
            }
        };
        Self {
            number,
            name: Arc::clone(&kernel.name),
            demangled: kernel.demangled.clone(),
            counts: put(counts),
            others: others.clone(),
            lines: Set(footprint.lines.clone()),
            rows: per_pc.iter().map(row).collect(),
        }
    }

    fn read(self) -> Result<PartialKernel, &'static str> {
        let mut per_pc = Vec::with_capacity(self.rows.len());
        let mut code = BTreeMap::new();
        for row in self.rows {
            let RowJson { pc, operation, counts, sass, source, source_line, source_file, .. } = row;
            let ptx = row.ptx.zip(row.ptx_line).map(|(text, line)| PtxLine {
                place: PtxPlace { line, column: row.ptx_column },
                text,
            });
            let key = (pc, operation);
            if per_pc.last().is_some_and(|(last, _)| *last >= key) {
                return Err("the rows of a kernel do not ascend");
            }
            per_pc.push((key, take(&counts).ok_or("a row has other counters")?));
            let known = RowCode { sass, source, source_line, source_file, ptx };
            if known != RowCode::default() {
                code.insert(key, known);
            }
        }
        let counts = KernelCounts {
            counts: take(&self.counts).ok_or("a kernel has other counters")?,
            others: self.others,
            per_pc,
            footprint: Footprint { lines: self.lines.0 },
        };
        Ok(PartialKernel { name: self.name, demangled: self.demangled, counts, code })
    }
}

struct KernelsWritten<'k>(&'k BTreeMap<usize, PartialKernel>);

impl Serialize for KernelsWritten<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|(number, kernel)| KernelJson::of(*number, kernel)))
    }
}

/// Kernels, converted one by one while reading, because their lists of numbers take more memory than their counters.
struct KernelsRead(BTreeMap<usize, PartialKernel>);

impl<'de> Deserialize<'de> for KernelsRead {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Kernels;

        impl<'de> Visitor<'de> for Kernels {
            type Value = KernelsRead;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("kernels, by ascending numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<KernelsRead, A::Error> {
                let mut kernels = BTreeMap::new();
                while let Some(kernel) = list.next_element::<KernelJson>()? {
                    let number = kernel.number;
                    if kernels.last_key_value().is_some_and(|(last, _)| *last >= number) {
                        return Err(A::Error::custom("the kernels do not ascend"));
                    }
                    kernels.insert(number, kernel.read().map_err(A::Error::custom)?);
                }
                Ok(KernelsRead(kernels))
            }
        }

        from.deserialize_seq(Kernels)
    }
}

/// Distinct numbers. As text, the base64 of Roaring's portable form
/// (<https://github.com/RoaringBitmap/RoaringFormatSpec>, its extension to 64 bits). Equal sets have equal texts,
/// regardless of how they were made, and reading accepts no other text.
#[derive(Default)]
struct Set(RoaringTreemap);

impl Set {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Set {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_base64(&write(&self.0), serializer)
    }
}

impl<'de> Deserialize<'de> for Set {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = read_base64(deserializer)?;
        read(&bytes).map(Self).ok_or_else(|| D::Error::custom("invalid set of numbers"))
    }
}

/// Reads bytes from canonical base64.
fn read_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    BASE64.decode(text).map_err(|error| D::Error::custom(format!("invalid base64: {error}")))
}

/// Writes bytes in base64.
fn write_base64<S: Serializer>(bytes: &impl AsRef<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64.encode(bytes))
}

/// The replay and the shards of a partial summary. Reading it from JSON is faster than reading the summary, because it
/// skips the kernels.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PartialHead {
    partial: HeadJson,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct HeadJson {
    replay: String,
    first: u64,
    last: u64,
    of: u64,
}

impl PartialHead {
    /// Returns the numbers of the shards, from 0, and the number of all shards.
    #[must_use]
    pub fn shards(&self) -> (RangeInclusive<u64>, u64) {
        (self.partial.first..=self.partial.last, self.partial.of)
    }
}

/// A checksum in JSON: eight hexadecimal digits.
mod hexadecimal {
    use std::borrow::Cow;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;
    use warpload::text::parse_hexadecimal;

    pub(super) fn serialize<S: Serializer>(checksum: &u32, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{checksum:08x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        let checksum = parse_hexadecimal(&text).filter(|_| text.len() == 8);
        checksum.and_then(|checksum| u32::try_from(checksum).ok()).ok_or_else(|| {
            D::Error::custom(format_args!("{text:?} as checksum; expected 8 hexadecimal digits"))
        })
    }
}
