//! The summary of what a replay counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringTreemap;

use super::{
    Counts, Fault, FaultCounts, FootprintCounts, KernelSummary, LDGSTS, LdgstsCounts, Mismatch,
    Partial, PcSummary, SectorSummary, SkippedCounts, SpaceCounts, Summary, UniformCounts,
};
use crate::load::LaneFaultKind;
use crate::trace::binary::{BinaryTrace, Contents};
use crate::trace::operation::Skipped;
use crate::trace::replay::statistics::{
    Footprint, KernelCounts, LaneFaultCounts, NotReplayed, PcCounts,
};
use crate::trace::replay::worker::{FaultAt, MismatchAt};
use crate::trace::replay::{ReplayOptions, Replayed};

impl Summary {
    /// The summary of a replay of `trace` with `options`; with what merging needs if they ask for
    /// a shard. If the replay is of another trace, what this one lacks is without a name.
    pub fn new(replayed: &Replayed, trace: &BinaryTrace, options: &ReplayOptions<'_>) -> Self {
        let contents = trace.contents();
        let mut whole = KernelCounts::default();
        for kernel in &replayed.kernels {
            whole.add(kernel);
        }
        let name = |kernel: usize| kernel_name(contents, kernel);
        let mut rows = Vec::new();
        for (kernel, counts) in replayed.kernels.iter().enumerate() {
            rows.extend(counts.per_pc.iter().map(move |(key, counts)| (kernel, *key, counts)));
        }
        let per_pc = rows.iter().map(|(kernel, (pc, operation), counts)| {
            pc_summary(name(*kernel), *pc, opcode(contents, *operation), counts)
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
        let counts = |kernel: &KernelCounts| counts(kernel, trace);
        Self {
            counts: counts(&whole),
            first_mismatches: replayed.mismatches.iter().map(|m| mismatch(m, contents)).collect(),
            first_faults: replayed.faults.iter().map(|f| fault(f, contents)).collect(),
            digest: replayed.digest.map(|digest| format!("{digest:016x}")),
            complete: contents.complete.then_some(true),
            notes: contents.notes.clone(),
            per_pc: per_pc.collect(),
            kernels: (0..replayed.kernels.len())
                .map(|i| KernelSummary { name: name(i), counts: counts(&replayed.kernels[i]) })
                .collect(),
            partial,
        }
    }
}

/// The instructions that are not replayed by name, and `LDGSTS` apart from them.
fn not_replayed(
    kernel: &KernelCounts,
    contents: &Contents,
) -> (BTreeMap<String, u64>, LdgstsCounts) {
    let (mut names, mut ldgsts) = (BTreeMap::new(), LdgstsCounts::default());
    for (&number, &NotReplayed { records, lanes }) in &kernel.not_replayed {
        let name = contents.not_replayed.get(usize::from(number)).map_or("", String::as_str);
        if name == LDGSTS {
            ldgsts.records += records;
            ldgsts.lanes += lanes;
        } else {
            *names.entry(name.to_owned()).or_default() += records;
        }
    }
    (names, ldgsts)
}

fn counts(kernel: &KernelCounts, trace: &BinaryTrace) -> Counts {
    let contents = trace.contents();
    let (not_replayed, ldgsts) =
        trace.names_not_replayed().then(|| not_replayed(kernel, contents)).unzip();
    let mut by_opcode = BTreeMap::new();
    for ((_, operation), pc) in &kernel.per_pc {
        *by_opcode.entry(opcode(contents, *operation)).or_default() += pc.loads;
    }
    let [global, local, shared, constant, unresolved] = kernel.by_space;
    Counts {
        records: kernel.records,
        loads: kernel.loads,
        skipped: SkippedCounts {
            store: kernel.skipped(Skipped::Store),
            atomic: kernel.skipped(Skipped::Atomic),
            other: kernel.skipped(Skipped::Other),
            not_replayed,
        },
        ldgsts,
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
    FaultCounts {
        outside_window: faults[LaneFaultKind::OutsideWindow],
        outside_allocation: faults[LaneFaultKind::OutsideAllocation],
        misaligned_address: faults[LaneFaultKind::MisalignedAddress],
    }
}

/// A kernel's name; empty if there is no such kernel.
fn kernel_name(contents: &Contents, kernel: usize) -> Arc<str> {
    contents.kernels.get(kernel).map_or_else(Arc::default, |kernel| Arc::clone(&kernel.name))
}

/// An operation's opcode; empty if there is no such operation.
fn opcode(contents: &Contents, operation: u16) -> Arc<str> {
    let operation = contents.operations.get(usize::from(operation));
    operation.map_or_else(Arc::default, |operation| Arc::clone(&operation.opcode))
}

fn pc_summary(kernel: Arc<str>, pc: u32, opcode: Arc<str>, counts: &PcCounts) -> PcSummary {
    PcSummary {
        kernel,
        pc: format!("{pc:#x}"),
        opcode,
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

pub(super) fn mean(sum: u64, loads: u64) -> f64 {
    sum as f64 / loads as f64
}

fn mismatch(at: &MismatchAt, contents: &Contents) -> Mismatch {
    Mismatch {
        record: at.record,
        kernel: kernel_name(contents, at.kernel as usize),
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
        kernel: kernel_name(contents, at.kernel as usize),
        pc: format!("{:#x}", at.pc),
        lane: at.fault.lane,
        kind: at.fault.kind().name().to_owned(),
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
