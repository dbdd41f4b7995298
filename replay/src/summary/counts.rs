//! From [`Replayed`] to [`Summary`].

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringTreemap;

use warpload_encoding::{Instruction, Sm};

use super::partial::{Checksum, PartialReuse, Set};
use super::{
    ConstantCounts, Digest, FootprintCounts, Hex, KernelSummary, LdgstsCounts, LoadCounts,
    LocalCounts, PartialSummary, PcSharedCounts, PcSummary, ReuseCounts, SectorSummary,
    SharedCounts, SkippedCounts, Summary, TmaCounts,
};
use crate::code::look_up;
use crate::replayed::Replayed;
use crate::statistics::{KernelCounts, OtherCounts, PcCounts, SpaceCost, SpaceSums};
use crate::traffic::Footprint;
use warpload::memory::AddressSpace;
use warpload_binary::sass::SourceLine;
use warpload_trace::binary::{BinaryTrace, TraceContents};
use warpload_trace::{MemoryOperation, OperationKind, Shard};

/// One program counter of a kernel, and what its loads, or its stores or atomics, counted.
#[derive(Clone, Debug)]
pub struct ProgramCounter<'r> {
    /// The kernel's index in [`TraceContents::kernels`]; in the whole trace,
    /// [`BinaryTrace::first_kernel`] more.
    pub kernel: usize,
    /// The program counter.
    pub pc: u32,
    /// What its instructions do.
    pub operation: &'r MemoryOperation,
    /// Its counts, as in [`Summary::per_pc`].
    pub summary: PcSummary,
}

impl ProgramCounter<'_> {
    /// Returns the instruction's text; `None` if neither the trace nor a cubin has its word.
    #[must_use]
    pub fn sass(&self) -> Option<String> {
        let decode = |word| Instruction::decode(word, Sm::SPA5).load();
        let traced = self.operation.word.and_then(decode);
        let in_cubin = || self.summary.sass.as_ref()?.as_deref().map(str::to_owned);
        traced.map(|instruction| instruction.to_string()).or_else(in_cubin)
    }

    /// Returns the line of the source; `None` if no cubin has it.
    #[must_use]
    pub fn source(&self) -> Option<&SourceLine> {
        self.summary.source.as_ref()?.as_ref()
    }

    /// Returns the number of the line of the source, which the trace can have if no cubin has it.
    #[must_use]
    pub fn source_line(&self) -> Option<u32> {
        self.source().map(|source| source.line).or(self.summary.source_line)
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
    /// Returns the counts of the loads of each program counter and operation: those of
    /// [`Summary::per_pc`], in its order.
    pub fn program_counters(&self) -> impl Iterator<Item = ProgramCounter<'_>> {
        self.rows(true).map(|(row, _)| row)
    }

    /// Returns the counts of the stores and atomics of each program counter and operation: those of
    /// [`Summary::per_pc_stores`], in its order.
    pub fn stores(&self) -> impl Iterator<Item = ProgramCounter<'_>> {
        self.rows(false).map(|(row, _)| row)
    }

    /// Returns the rows of loads, or those of stores and atomics, each with its operation's number and its
    /// counts.
    fn rows(
        &self,
        are_loads: bool,
    ) -> impl Iterator<Item = (ProgramCounter<'_>, (u16, &PcCounts))> {
        let contents = self.trace().contents();
        // Blocks with operations and kernels that the trace lacks are refused when they are read.
        self.per_pc().filter_map(move |(kernel, pc, number, counts)| {
            let operation = contents.operations.get(usize::from(number))?;
            if (operation.kind == OperationKind::Load) != are_loads {
                return None;
            }
            let traced = contents.kernels.get(kernel)?;
            let mut summary = pc_summary(Arc::clone(&traced.name), pc, operation, counts);
            summary.source_line = traced.source_line(pc);
            if let Some(functions) = self.options().get_functions() {
                let (sass, source) = look_up(functions, &summary.kernel, pc, operation).known();
                (summary.sass, summary.source) = (Some(sass), Some(source));
            }
            Some((ProgramCounter { kernel, pc, operation, summary }, (number, counts)))
        })
    }

    /// Returns the summary: the counts, with what merging needs if a shard was replayed.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let trace = self.trace();
        let contents = trace.contents();
        let mut whole = KernelCounts::default();
        let mut reuse = ReuseCounts::default();
        for kernel in &self.kernels {
            whole.add_unordered(kernel);
            reuse.add(&kernel.reuse.counts());
        }
        let counts_reuse = self.options().counts_reuse();
        let counts = |kernel: &KernelCounts, reuse: ReuseCounts| LoadCounts {
            reuse: counts_reuse.then_some(reuse),
            ..counts(kernel, trace)
        };
        let kernels = contents.kernels.iter().zip(&self.kernels);
        Summary {
            counts: counts(&whole, reuse),
            selected: self.options().get_selection().map(|selection| selection.selected.clone()),
            first_mismatches: self.mismatches.clone(),
            first_faults: self.faults.clone(),
            digest: self.digest.map(Digest),
            complete: contents.complete.then_some(true),
            notes: contents.notes.clone(),
            per_pc: self.program_counters().map(|row| row.summary).collect(),
            per_pc_stores: self.stores().map(|row| row.summary).collect(),
            kernels: kernels
                .map(|(kernel, found)| KernelSummary {
                    name: Arc::clone(&kernel.name),
                    demangled: None,
                    counts: counts(found, found.reuse.counts()),
                })
                .collect(),
            partial: self.options().get_shard().map(|shard| self.partial(shard)),
        }
    }

    fn partial(&self, shard: Shard) -> PartialSummary {
        let sets = |set: fn(&Footprint) -> &RoaringTreemap| {
            self.kernels.iter().map(|kernel| Set(set(&kernel.footprint).clone())).collect()
        };
        let rows = |are_loads| {
            let row = |(row, (number, counts)): (ProgramCounter<'_>, (u16, &PcCounts))| {
                (row.kernel, number, counts.sectors)
            };
            self.rows(are_loads).map(row).collect()
        };
        let both = self.rows(true).chain(self.rows(false));
        let counts_reuse = self.options().counts_reuse();
        let reuse = if counts_reuse { &self.kernels[..] } else { &[] };
        PartialSummary {
            first: shard.index(),
            last: shard.index(),
            of: shard.count(),
            replay: self.options().identity(self.trace().content_hash()),
            kernels: (self.trace().first_kernel()..).take(self.kernels.len()).collect(),
            of_kernels: self.trace().kernels(),
            per_pc: rows(true),
            per_pc_stores: rows(false),
            wavefronts: both.map(|(_, (_, counts))| counts.spaces().shared.amount).collect(),
            pages: sets(|footprint| &footprint.pages),
            lines: sets(|footprint| &footprint.lines),
            reuse: reuse.iter().map(|kernel| PartialReuse(kernel.reuse.touches())).collect(),
            checksum: Checksum::default(),
        }
    }
}

/// Returns what is known of instructions that are neither loads nor stores nor atomics: those that are
/// not replayed by name, and the rest apart from them.
fn others(
    kernel: &KernelCounts,
    contents: &TraceContents,
) -> (BTreeMap<String, u64>, LdgstsCounts, TmaCounts) {
    let (mut names, mut ldgsts) = (BTreeMap::new(), LdgstsCounts::default());
    let mut tma = TmaCounts::default();
    for (&number, &OtherCounts { records, lanes, addresses, bytes }) in &kernel.others {
        let Some(operation) = contents.operations.get(usize::from(number)) else { continue };
        match operation.kind {
            OperationKind::Copy => ldgsts.add(LdgstsCounts { records, lanes }),
            OperationKind::Transfer => tma.add(TmaCounts { records, addresses, bytes }),
            _ => {
                if let Some(name) = operation.not_replayed() {
                    *names.entry(name.to_owned()).or_default() += records;
                }
            }
        }
    }
    (names, ldgsts, tma)
}

fn counts(kernel: &KernelCounts, trace: &BinaryTrace) -> LoadCounts {
    let contents = trace.contents();
    let (not_replayed, ldgsts, tma) = others(kernel, contents);
    let mut by_opcode = BTreeMap::new();
    for ((_, number), pc) in &kernel.per_pc {
        let operation = contents.operations.get(usize::from(*number));
        if let Some(operation) = operation.filter(|operation| operation.kind == OperationKind::Load)
        {
            *by_opcode.entry(Arc::clone(&operation.opcode)).or_default() += pc.loads;
        }
    }
    let Footprint { pages, lines } = &kernel.footprint;
    let counts = kernel.counts.clone();
    LoadCounts {
        skipped: SkippedCounts { not_replayed: Some(not_replayed), ..counts.skipped },
        ldgsts: Some(ldgsts),
        tma: Some(tma),
        by_opcode,
        shared: shared(&kernel.spaces.shared),
        local: local(&kernel.spaces.local),
        constant: constant(&kernel.spaces.constant),
        stores: Some(kernel.stores),
        atomics: Some(kernel.atomics),
        footprint: FootprintCounts { pages: pages.len(), lines: lines.len() },
        ..counts
    }
}

fn shared(&SpaceCost { loads, amount, ideal, conflicts, .. }: &SpaceCost) -> SharedCounts {
    SharedCounts { loads, wavefronts: amount, ideal_wavefronts: ideal, conflicts }
}

fn local(&SpaceCost { loads, amount, ideal, .. }: &SpaceCost) -> LocalCounts {
    LocalCounts { loads, sectors: amount, ideal_sectors: ideal }
}

fn constant(&SpaceCost { loads, amount, .. }: &SpaceCost) -> ConstantCounts {
    ConstantCounts { loads, addresses: amount }
}

fn pc_summary(
    kernel: Arc<str>,
    pc: u32,
    operation: &MemoryOperation,
    counts: &PcCounts,
) -> PcSummary {
    let SpaceSums { shared, local: in_local, constant: in_constant } = &counts.spaces();
    // Those of the opcode's memory also if no lane is in it; those of a generic address where there are some.
    let space = operation.space;
    let has = |is_own, sums: &SpaceCost| is_own || sums.loads > 0;
    PcSummary {
        kernel,
        pc: Hex(pc.into()),
        opcode: Arc::clone(&operation.opcode),
        sass: None,
        source: None,
        source_line: None,
        loads: counts.loads,
        lanes: counts.lanes,
        sectors: SectorSummary {
            min: counts.fewest_sectors,
            mean: mean(counts.sectors, counts.loads),
            max: counts.most_sectors,
        },
        ideal_sectors: counts.ideal_sectors,
        lane_faults: counts.lane_faults,
        shared: has(space == AddressSpace::Shared, shared).then(|| pc_shared(shared)),
        local: has(space == AddressSpace::Local, in_local).then(|| local(in_local)),
        constant: has(matches!(space, AddressSpace::Constant { .. }), in_constant)
            .then(|| constant(in_constant)),
    }
}

/// Returns the costs in shared memory of one program counter.
fn pc_shared(sums: &SpaceCost) -> PcSharedCounts {
    let SpaceCost { loads, amount, ideal, conflicts, fewest, most, is_unknown } = *sums;
    let wavefronts =
        SectorSummary { min: fewest.into(), mean: mean(amount, loads), max: most.into() };
    PcSharedCounts {
        loads,
        wavefronts: (!is_unknown).then_some(wavefronts),
        ideal_wavefronts: ideal,
        conflicts: (!is_unknown).then_some(conflicts),
    }
}

/// Returns the mean of one load; 0 without loads.
pub(super) fn mean(sum: u64, loads: u64) -> f64 {
    if loads == 0 { 0.0 } else { sum as f64 / loads as f64 }
}
