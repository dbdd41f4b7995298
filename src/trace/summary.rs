//! What a replay found, in the JSON form that the command prints, and the merging of the
//! summaries of shards into the one that a whole replay gives.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use roaring::RoaringTreemap;
use serde::{Deserialize, Serialize};

use super::format::Contents;
use super::operation::Skipped;
use super::reader::BinaryTrace;
use super::replay::{ReplayOptions, Replayed};
use super::statistics::{Footprint, KEPT, KernelCounts, LaneFaultCounts, PcCounts};
use super::worker::{FaultAt, MismatchAt};

/// The JSON object of a replay: counts of the whole trace, of each program counter and of each
/// kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The counts of the whole trace.
    #[serde(flatten)]
    pub counts: Counts,
    /// The first few values that are not the expected ones, in full.
    pub first_mismatches: Vec<Mismatch>,
    /// The first few lane faults, in full.
    pub first_faults: Vec<Fault>,
    /// The digest over all loaded values, 16 hexadecimal digits; nothing without data.
    pub digest: Option<String>,
    /// By program counter, in launch order of the kernels, then ascending.
    pub per_pc: Vec<PcSummary>,
    /// By kernel, in launch order.
    pub kernels: Vec<KernelSummary>,
    /// What merging needs; only in the summary of a shard.
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
    /// What was skipped.
    pub skipped: SkippedCounts,
    /// Executing lanes of all loads.
    pub lanes: u64,
    /// Bytes that the lanes asked for.
    pub bytes: u64,
    /// Loads by opcode.
    pub by_opcode: BTreeMap<String, u64>,
    /// Loads by the memory of their first executing lane.
    pub by_space: SpaceCounts,
    /// Distinct 32-byte sectors of global memory, load by load.
    pub sectors: u64,
    /// Distinct 128-byte lines of global memory, load by load.
    pub lines: u64,
    /// The fewest sectors that the bytes asked for fit into, load by load.
    pub ideal_sectors: u64,
    /// Lane faults.
    pub lane_faults: FaultCounts,
    /// Loads of `.U.128` form by the path they took.
    pub uniform: UniformCounts,
    /// Distinct pages and lines of global memory.
    pub footprint: FootprintCounts,
    /// Loads whose width in the source was not the opcode's.
    pub width_disagreements: u64,
    /// Loads with expected values.
    pub checked: u64,
    /// Those of them with another value.
    pub mismatches: u64,
}

/// Instructions that are no loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "named as the kinds are")]
pub struct SkippedCounts {
    pub store: u64,
    pub atomic: u64,
    pub other: u64,
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
    /// No lane executes, or the first one's address lies in no memory.
    pub unresolved: u64,
}

/// Lane faults by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "named as the faults are")]
pub struct FaultCounts {
    pub outside_window: u64,
    pub outside_allocation: u64,
    pub misaligned_address: u64,
}

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

/// A value that is not the expected one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mismatch {
    /// The instruction's index in the trace.
    pub record: u64,
    /// The kernel's name.
    pub kernel: String,
    /// The program counter.
    pub pc: String,
    /// The lane.
    pub lane: usize,
    /// The destination register, counted from Rd.
    pub register: usize,
    /// The value that the trace says.
    pub expected: String,
    /// The value that was loaded.
    pub got: String,
}

/// A lane fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The instruction's index in the trace.
    pub record: u64,
    /// The kernel's name.
    pub kernel: String,
    /// The program counter.
    pub pc: String,
    /// The lane.
    pub lane: usize,
    /// The fault's name.
    pub kind: String,
    /// The effective address.
    pub address: String,
}

/// The counts of one program counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcSummary {
    /// The kernel's name.
    pub kernel: String,
    /// The program counter.
    pub pc: String,
    /// The opcode with its modifiers.
    pub opcode: String,
    /// How often it was executed.
    pub loads: u64,
    /// Its executing lanes.
    pub lanes: u64,
    /// Distinct sectors of one execution.
    pub sectors: SectorSummary,
    /// The fewest sectors that the bytes asked for fit into, added up.
    pub ideal_sectors: u64,
    /// Its lane faults.
    pub lane_faults: FaultCounts,
}

/// Sectors of one execution of a load.
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
    pub name: String,
    /// Its counts.
    #[serde(flatten)]
    pub counts: Counts,
}

/// What a shard's summary says beside the counts, so that shards merge exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partial {
    /// The shard's number, from 0.
    pub shard: u64,
    /// How many shards there are.
    pub of: u64,
    /// Which replay of which trace the shard is of: equal for all shards that belong together.
    pub replay: String,
    /// For each row of `per_pc`: the kernel's number, the operation's number, both from 0, and
    /// the sectors added up.
    pub per_pc: Vec<(usize, u16, u64)>,
    /// For each kernel, the pages that it touched: first and last of each run.
    pub pages: Vec<Vec<(u64, u64)>>,
    /// For each kernel, the lines.
    pub lines: Vec<Vec<(u64, u64)>>,
}

/// Why summaries cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Nothing to merge.
    #[error("no summaries")]
    Nothing,
    /// A summary that is not a shard's.
    #[error("summary {index} is not that of a shard; expected the key `partial`")]
    NotPartial {
        /// The summary's place, from 0.
        index: usize,
    },
    /// Shards that do not make a whole.
    #[error("these are shards {given:?} of {of}; expected each from 0 to {last} once")]
    Incomplete {
        /// The shards that are there.
        given: Vec<u64>,
        /// How many there should be.
        of: u64,
        /// The last one's number.
        last: u64,
    },
    /// Summaries of different traces.
    #[error(
        "summary {index} is of another trace, or of another replay of it: {given}; expected {expected}"
    )]
    OfAnotherTrace {
        /// The summary's place, from 0.
        index: usize,
        /// What it is of.
        given: String,
        /// What the first one is of.
        expected: String,
    },
    /// A summary whose parts do not agree with each other.
    #[error("summary {index} is inconsistent: {message}")]
    Inconsistent {
        /// The summary's place, from 0.
        index: usize,
        /// What is wrong.
        message: &'static str,
    },
}

impl Summary {
    /// The summary of a replay of `trace` with `options`; with what merging needs where they
    /// ask for a shard.
    pub fn new(replayed: &Replayed, trace: &BinaryTrace, options: &ReplayOptions<'_>) -> Self {
        let contents = trace.contents();
        let mut whole = KernelCounts::default();
        for kernel in &replayed.kernels {
            whole.add(kernel);
        }
        let name = |kernel: usize| contents.kernels[kernel].name.clone();
        let mut rows = Vec::new();
        for (kernel, counts) in replayed.kernels.iter().enumerate() {
            rows.extend(counts.per_pc.iter().map(move |(key, counts)| (kernel, *key, counts)));
        }
        let per_pc = rows.iter().map(|(kernel, (pc, operation), counts)| {
            let opcode = &contents.operations[usize::from(*operation)].opcode;
            pc_summary(name(*kernel), *pc, opcode, counts)
        });
        let partial = options.shard.map(|shard| Partial {
            shard: shard.index(),
            of: shard.count(),
            replay: options.name(trace),
            per_pc: rows
                .iter()
                .map(|(kernel, (_, operation), counts)| (*kernel, *operation, counts.sectors))
                .collect(),
            pages: replayed.kernels.iter().map(|k| ranges(&k.footprint.pages)).collect(),
            lines: replayed.kernels.iter().map(|k| ranges(&k.footprint.lines)).collect(),
        });
        Self {
            counts: counts(&whole, contents),
            first_mismatches: replayed.mismatches.iter().map(|m| mismatch(m, contents)).collect(),
            first_faults: replayed.faults.iter().map(|f| fault(f, contents)).collect(),
            digest: replayed.digest.map(|digest| format!("{digest:016x}")),
            per_pc: per_pc.collect(),
            kernels: (0..replayed.kernels.len())
                .map(|i| KernelSummary {
                    name: name(i),
                    counts: counts(&replayed.kernels[i], contents),
                })
                .collect(),
            partial,
        }
    }

    /// The summary that a replay of the whole trace gives, out of those of all its shards, in
    /// any order.
    ///
    /// # Errors
    /// [`MergeError`] where the summaries are not those of all shards of one replay.
    pub fn merge(shards: Vec<Summary>) -> Result<Summary, MergeError> {
        let mut parts = Vec::new();
        for (index, mut summary) in shards.into_iter().enumerate() {
            let partial = summary.partial.take().ok_or(MergeError::NotPartial { index })?;
            check_consistent(&summary, &partial)
                .map_err(|message| MergeError::Inconsistent { index, message })?;
            parts.push((index, summary, partial));
        }
        check_together(&parts)?;
        parts.sort_by_key(|(_, _, partial)| partial.shard);
        let mut parts = parts.into_iter();
        let Some((_, mut whole, mut partial)) = parts.next() else {
            return Err(MergeError::Nothing);
        };
        let mut per_pc = PerPc::default();
        per_pc.add(std::mem::take(&mut whole.per_pc), &partial);
        for (_, mut summary, other) in parts {
            per_pc.add(std::mem::take(&mut summary.per_pc), &other);
            add_counts(&mut whole.counts, &summary.counts);
            for (kernel, other) in whole.kernels.iter_mut().zip(&summary.kernels) {
                add_counts(&mut kernel.counts, &other.counts);
            }
            for (to, from) in [(&mut partial.pages, other.pages), (&mut partial.lines, other.lines)]
            {
                for (to, from) in to.iter_mut().zip(from) {
                    to.extend(from);
                }
            }
            whole.first_faults.extend(summary.first_faults);
            whole.first_mismatches.extend(summary.first_mismatches);
            whole.digest = add_digests(whole.digest, summary.digest);
        }
        whole.first_faults.truncate(KEPT);
        whole.first_mismatches.truncate(KEPT);
        whole.per_pc = per_pc.rows();
        set_footprints(&mut whole, &partial);
        Ok(whole)
    }
}

fn counts(kernel: &KernelCounts, contents: &Contents) -> Counts {
    let mut by_opcode = BTreeMap::new();
    for ((_, operation), pc) in &kernel.per_pc {
        let opcode = &contents.operations[usize::from(*operation)].opcode;
        *by_opcode.entry(opcode.clone()).or_default() += pc.loads;
    }
    let [global, local, shared, constant, unresolved] = kernel.by_space;
    Counts {
        records: kernel.records,
        loads: kernel.loads,
        skipped: SkippedCounts {
            store: kernel.skipped(Skipped::Store),
            atomic: kernel.skipped(Skipped::Atomic),
            other: kernel.skipped(Skipped::Other),
        },
        lanes: kernel.lanes,
        bytes: kernel.bytes,
        by_opcode,
        by_space: SpaceCounts { global, local, shared, constant, unresolved },
        sectors: kernel.traffic.sectors,
        lines: kernel.traffic.lines,
        ideal_sectors: kernel.traffic.ideal_sectors,
        lane_faults: fault_counts(&kernel.lane_faults),
        uniform: UniformCounts { broadcast: kernel.broadcast, divergent: kernel.divergent },
        footprint: footprint(&kernel.footprint),
        width_disagreements: kernel.width_disagreements,
        checked: kernel.checked,
        mismatches: kernel.mismatches,
    }
}

fn footprint(footprint: &Footprint) -> FootprintCounts {
    FootprintCounts { pages: footprint.pages.len(), lines: footprint.lines.len() }
}

fn fault_counts(faults: &LaneFaultCounts) -> FaultCounts {
    let [outside_window, outside_allocation, misaligned_address] = *faults;
    FaultCounts { outside_window, outside_allocation, misaligned_address }
}

fn pc_summary(kernel: String, pc: u32, opcode: &str, counts: &PcCounts) -> PcSummary {
    PcSummary {
        kernel,
        pc: format!("{pc:#x}"),
        opcode: opcode.to_owned(),
        loads: counts.loads,
        lanes: counts.lanes,
        sectors: SectorSummary {
            min: counts.fewest_sectors,
            mean: mean(counts.sectors, counts.loads),
            max: counts.most_sectors,
        },
        ideal_sectors: counts.ideal_sectors,
        lane_faults: fault_counts(&counts.lane_faults),
    }
}

fn mean(sum: u64, loads: u64) -> f64 {
    sum as f64 / loads as f64
}

fn mismatch(at: &MismatchAt, contents: &Contents) -> Mismatch {
    Mismatch {
        record: at.record,
        kernel: contents.kernels[at.kernel as usize].name.clone(),
        pc: format!("{:#x}", at.pc),
        lane: at.lane,
        register: at.register,
        expected: format!("{:#x}", at.expected),
        got: format!("{:#x}", at.got),
    }
}

fn fault(at: &FaultAt, contents: &Contents) -> Fault {
    Fault {
        record: at.record,
        kernel: contents.kernels[at.kernel as usize].name.clone(),
        pc: format!("{:#x}", at.pc),
        lane: at.fault.lane,
        kind: at.fault.kind.name().to_owned(),
        address: at.fault.address.to_string(),
    }
}

/// The runs of consecutive numbers: first and last of each.
fn ranges(set: &RoaringTreemap) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in set {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

/// How many numbers runs hold that may overlap. Sorts them.
fn distinct(ranges: &mut [(u64, u64)]) -> u64 {
    ranges.sort_unstable();
    let (mut count, mut next) = (0u64, 0);
    for &(first, last) in ranges.iter() {
        let first = first.max(next);
        if first <= last {
            count = count.saturating_add(last - first).saturating_add(1);
            next = last.saturating_add(1);
        }
    }
    count
}

fn set_footprints(whole: &mut Summary, partial: &Partial) {
    let all = |kernels: &[Vec<(u64, u64)>]| distinct(&mut kernels.concat());
    whole.counts.footprint =
        FootprintCounts { pages: all(&partial.pages), lines: all(&partial.lines) };
    let sets = partial.pages.iter().zip(&partial.lines);
    for (kernel, (pages, lines)) in whole.kernels.iter_mut().zip(sets) {
        kernel.counts.footprint = FootprintCounts {
            pages: distinct(&mut pages.clone()),
            lines: distinct(&mut lines.clone()),
        };
    }
}

/// Checks that the parts are all shards of one replay, each once.
fn check_together(parts: &[(usize, Summary, Partial)]) -> Result<(), MergeError> {
    let (_, first, partial) = parts.first().ok_or(MergeError::Nothing)?;
    for (index, summary, other) in parts {
        let is_same = other.replay == partial.replay
            && summary.kernels.len() == first.kernels.len()
            && summary.digest.is_some() == first.digest.is_some();
        if !is_same {
            return Err(MergeError::OfAnotherTrace {
                index: *index,
                given: other.replay.clone(),
                expected: partial.replay.clone(),
            });
        }
        if other.of != partial.of {
            let message = "it counts the shards differently than the first";
            return Err(MergeError::Inconsistent { index: *index, message });
        }
    }
    let of = partial.of;
    let mut given: Vec<u64> = parts.iter().map(|(_, _, partial)| partial.shard).collect();
    given.sort_unstable();
    if !given.iter().copied().eq(0..of) {
        return Err(MergeError::Incomplete { given, of, last: of.saturating_sub(1) });
    }
    Ok(())
}

fn check_consistent(summary: &Summary, partial: &Partial) -> Result<(), &'static str> {
    let kernels = summary.kernels.len();
    if partial.per_pc.len() != summary.per_pc.len() {
        return Err("`per_pc` and `partial` differ in length");
    }
    if partial.pages.len() != kernels || partial.lines.len() != kernels {
        return Err("`kernels` and `partial` differ in length");
    }
    if summary.digest.as_deref().is_some_and(|digest| hexadecimal(digest).is_none()) {
        return Err("`digest` is not hexadecimal");
    }
    if summary.per_pc.iter().any(|row| pc(row).is_none()) {
        return Err("a `pc` is not hexadecimal with `0x`");
    }
    Ok(())
}

fn hexadecimal(digits: &str) -> Option<u64> {
    u64::from_str_radix(digits, 16).ok()
}

fn pc(row: &PcSummary) -> Option<u64> {
    hexadecimal(row.pc.strip_prefix("0x")?)
}

fn add_digests(one: Option<String>, other: Option<String>) -> Option<String> {
    let sum = hexadecimal(&one?)?.wrapping_add(hexadecimal(&other?)?);
    Some(format!("{sum:016x}"))
}

/// Adds what a summary says. One that was made up can say anything; it must not end the process.
fn add(to: &mut u64, from: u64) {
    *to = to.saturating_add(from);
}

fn add_counts(to: &mut Counts, from: &Counts) {
    let Counts { skipped, by_space, lane_faults, uniform, .. } = to;
    for (to, from) in [
        (&mut to.records, from.records),
        (&mut to.loads, from.loads),
        (&mut skipped.store, from.skipped.store),
        (&mut skipped.atomic, from.skipped.atomic),
        (&mut skipped.other, from.skipped.other),
        (&mut to.lanes, from.lanes),
        (&mut to.bytes, from.bytes),
        (&mut by_space.global, from.by_space.global),
        (&mut by_space.local, from.by_space.local),
        (&mut by_space.shared, from.by_space.shared),
        (&mut by_space.constant, from.by_space.constant),
        (&mut by_space.unresolved, from.by_space.unresolved),
        (&mut to.sectors, from.sectors),
        (&mut to.lines, from.lines),
        (&mut to.ideal_sectors, from.ideal_sectors),
        (&mut uniform.broadcast, from.uniform.broadcast),
        (&mut uniform.divergent, from.uniform.divergent),
        (&mut to.width_disagreements, from.width_disagreements),
        (&mut to.checked, from.checked),
        (&mut to.mismatches, from.mismatches),
    ] {
        add(to, from);
    }
    add_fault_counts(lane_faults, &from.lane_faults);
    for (opcode, loads) in &from.by_opcode {
        add(to.by_opcode.entry(opcode.clone()).or_default(), *loads);
    }
}

fn add_fault_counts(to: &mut FaultCounts, from: &FaultCounts) {
    add(&mut to.outside_window, from.outside_window);
    add(&mut to.outside_allocation, from.outside_allocation);
    add(&mut to.misaligned_address, from.misaligned_address);
}

/// The rows of program counters by kernel, program counter and operation, each with its sectors
/// added up.
#[derive(Default)]
struct PerPc(BTreeMap<(usize, u64, u16), (PcSummary, u64)>);

impl PerPc {
    fn add(&mut self, rows: Vec<PcSummary>, partial: &Partial) {
        for (row, &(kernel, operation, sectors)) in rows.into_iter().zip(&partial.per_pc) {
            match self.0.entry((kernel, pc(&row).unwrap_or(u64::MAX), operation)) {
                Entry::Vacant(place) => {
                    place.insert((row, sectors));
                }
                Entry::Occupied(mut place) => {
                    let (to, sum) = place.get_mut();
                    add(sum, sectors);
                    add(&mut to.loads, row.loads);
                    add(&mut to.lanes, row.lanes);
                    add(&mut to.ideal_sectors, row.ideal_sectors);
                    add_fault_counts(&mut to.lane_faults, &row.lane_faults);
                    to.sectors.min = to.sectors.min.min(row.sectors.min);
                    to.sectors.max = to.sectors.max.max(row.sectors.max);
                }
            }
        }
    }

    /// The rows, each with its mean anew: one that was read from JSON can differ in its last bit.
    fn rows(self) -> Vec<PcSummary> {
        let with_mean = |(mut row, sum): (PcSummary, u64)| {
            row.sectors.mean = mean(sum, row.loads);
            row
        };
        self.0.into_values().map(with_mean).collect()
    }
}
