//! From [`Replayed`] to [`Summary`].

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringTreemap;

use warpload_encoding::Instruction;

use super::{
    Counts, Digest, FootprintCounts, Hex, KernelSummary, LdgstsCounts, Partial, PcSummary,
    SectorSummary, SkippedCounts, Summary,
};
use crate::trace::binary::{BinaryTrace, Contents};
use crate::trace::operation::{Kind, Operation};
use crate::trace::replay::replayed::Replayed;
use crate::trace::replay::shard::Shard;
use crate::trace::replay::statistics::{Footprint, KernelCounts, PcCounts};

/// One program counter of a kernel, and what its loads counted.
#[derive(Clone, Debug)]
pub struct ProgramCounter<'r> {
    /// The kernel's index in [`Contents::kernels`].
    pub kernel: usize,
    /// The program counter.
    pub pc: u32,
    /// What its loads do.
    pub operation: &'r Operation,
    /// Its counts, as in [`Summary::per_pc`].
    pub summary: PcSummary,
}

impl ProgramCounter<'_> {
    /// Returns the instruction's text; `None` if the trace does not have its word.
    #[must_use]
    pub fn sass(&self) -> Option<String> {
        Instruction::decode(self.operation.word?).map(|instruction| instruction.to_string())
    }

    /// Returns whether its loads can reach global memory. The sectors of others are not counted:
    /// their zeros mean nothing.
    #[must_use]
    pub fn has_sectors(&self) -> bool {
        self.operation.reaches_global()
    }

    /// Returns the sectors of all its loads.
    #[must_use]
    pub fn sectors(&self) -> f64 {
        self.summary.sectors.mean * self.summary.loads as f64
    }

    /// Returns its excessive sectors, those beyond the ideal; negative infinity if sectors are not
    /// counted, so that such rows come last.
    #[must_use]
    pub fn waste(&self) -> f64 {
        if !self.has_sectors() {
            return f64::NEG_INFINITY;
        }
        self.sectors() - self.summary.ideal_sectors as f64
    }
}

impl Replayed<'_> {
    /// Returns the counts of each program counter and operation: those of [`Summary::per_pc`], in
    /// its order.
    pub fn program_counters(&self) -> impl Iterator<Item = ProgramCounter<'_>> {
        let contents = self.trace().contents();
        // Blocks with operations and kernels that the trace lacks are refused when they are read.
        self.per_pc().filter_map(|(kernel, pc, operation, counts)| {
            let operation = contents.operations.get(usize::from(operation))?;
            let name = Arc::clone(&contents.kernels.get(kernel)?.name);
            let summary = pc_summary(name, pc, Arc::clone(&operation.opcode), counts);
            Some(ProgramCounter { kernel, pc, operation, summary })
        })
    }

    /// Returns the summary: the counts, with what merging needs if a shard was replayed.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let trace = self.trace();
        let contents = trace.contents();
        let mut whole = KernelCounts::default();
        for kernel in &self.kernels {
            whole.add(kernel);
        }
        let counts = |kernel: &KernelCounts| counts(kernel, trace);
        let kernels = contents.kernels.iter().zip(&self.kernels);
        Summary {
            counts: counts(&whole),
            first_mismatches: self.mismatches.clone(),
            first_faults: self.faults.clone(),
            digest: self.digest.map(Digest),
            complete: contents.complete.then_some(true),
            notes: contents.notes.clone(),
            per_pc: self.program_counters().map(|row| row.summary).collect(),
            kernels: kernels
                .map(|(kernel, found)| KernelSummary {
                    name: Arc::clone(&kernel.name),
                    counts: counts(found),
                })
                .collect(),
            partial: self.options().get_shard().map(|shard| self.partial(shard)),
        }
    }

    fn partial(&self, shard: Shard) -> Partial {
        let rows = self.per_pc();
        let footprints = || self.kernels.iter().map(|kernel| &kernel.footprint);
        Partial {
            shard: shard.index(),
            of: shard.count(),
            replay: self.options().name(self.trace()),
            per_pc: rows.map(|(kernel, _, operation, c)| (kernel, operation, c.sectors)).collect(),
            pages: footprints().map(|footprint| ranges(&footprint.pages)).collect(),
            lines: footprints().map(|footprint| ranges(&footprint.lines)).collect(),
        }
    }
}

/// Returns the instructions that are not replayed by name, and `LDGSTS` apart from them.
fn not_replayed(
    kernel: &KernelCounts,
    contents: &Contents,
) -> (BTreeMap<String, u64>, LdgstsCounts) {
    let (mut names, mut ldgsts) = (BTreeMap::new(), LdgstsCounts::default());
    for (&number, &counts) in &kernel.others {
        let Some(operation) = contents.operations.get(usize::from(number)) else { continue };
        if operation.kind == Kind::Copy {
            ldgsts.add(counts);
        } else if let Some(name) = operation.not_replayed() {
            *names.entry(name.to_owned()).or_default() += counts.records;
        }
    }
    (names, ldgsts)
}

fn counts(kernel: &KernelCounts, trace: &BinaryTrace) -> Counts {
    let contents = trace.contents();
    let (not_replayed, ldgsts) =
        (!trace.has_loads_only()).then(|| not_replayed(kernel, contents)).unzip();
    let mut by_opcode = BTreeMap::new();
    for ((_, operation), pc) in &kernel.per_pc {
        *by_opcode.entry(opcode(contents, *operation)).or_default() += pc.loads;
    }
    let Footprint { pages, lines } = &kernel.footprint;
    let counts = kernel.counts.clone();
    Counts {
        skipped: SkippedCounts { not_replayed, ..counts.skipped },
        ldgsts,
        by_opcode,
        footprint: FootprintCounts { pages: pages.len(), lines: lines.len() },
        ..counts
    }
}

/// Returns an operation's opcode; empty if there is no such operation.
fn opcode(contents: &Contents, operation: u16) -> Arc<str> {
    let operation = contents.operations.get(usize::from(operation));
    operation.map_or_else(Arc::default, |operation| Arc::clone(&operation.opcode))
}

fn pc_summary(kernel: Arc<str>, pc: u32, opcode: Arc<str>, counts: &PcCounts) -> PcSummary {
    PcSummary {
        kernel,
        pc: Hex(pc.into()),
        opcode,
        loads: counts.loads,
        lanes: counts.lanes,
        sectors: SectorSummary {
            min: counts.fewest_sectors,
            mean: mean(counts.sectors, counts.loads),
            max: counts.most_sectors,
        },
        ideal_sectors: counts.ideal_sectors,
        lane_faults: counts.lane_faults,
    }
}

pub(super) fn mean(sum: u64, loads: u64) -> f64 {
    sum as f64 / loads as f64
}

/// Returns the first and the last number of each run.
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
