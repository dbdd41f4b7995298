//! Conversion of kernels' counts to a [`Summary`], for replays and for merged shards.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use warpload_encoding::{Instruction, Sm};

use super::partial::PartialKernel;
use super::{Digest, KernelSummary, LoadFault, PartialSummary, Summary, ValueMismatch};
use crate::code::look_up;
use crate::counters::{
    Counter, FootprintCounts, LdgstsCounts, LoadCounts, PcCounts, PcSummary, SkippedCounts,
};
use crate::footprint::Footprint;
use crate::options::Selected;
use crate::replayed::Replayed;
use crate::statistics::KernelCounts;
use warpload::memory::AddressSpace;
use warpload_binary::names::Demangled;
use warpload_binary::sass::SourceLine;
use warpload_trace::binary::{Kernel, PtxLine, PtxLines, shown_place};
use warpload_trace::{MemoryOperation, OperationKind, kernels_of_shard};

/// The table of a summary that a row belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RowTable {
    Loads,
    Stores,
    Copies,
}

impl RowTable {
    pub(super) fn of(kind: OperationKind) -> Self {
        match kind {
            OperationKind::Load => Self::Loads,
            OperationKind::Copy => Self::Copies,
            _ => Self::Stores,
        }
    }
}

/// One program counter of a kernel, and the counts of its loads, stores, atomics or copies.
#[derive(Clone, Debug)]
pub struct ProgramCounter<'r> {
    /// The kernel's index in [`TraceContents::kernels`](warpload_trace::TraceContents::kernels).
    pub kernel: usize,
    /// The program counter.
    pub pc: u32,
    /// The operation of its instructions.
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

    /// Returns the instruction's text, of PTX or SASS; `None` if nothing has it.
    #[must_use]
    pub fn code(&self) -> Option<Cow<'_, str>> {
        let ptx = self.summary.ptx.as_deref().map(Cow::Borrowed);
        ptx.or_else(|| self.sass().map(Cow::Owned))
    }

    /// Returns the place of the instruction as it is shown: a program counter, or a line of PTX.
    #[must_use]
    pub fn place(&self) -> String {
        shown_place(self.pc, self.summary.ptx_place())
    }

    /// Returns the source line; `None` if no cubin has it.
    #[must_use]
    pub fn source(&self) -> Option<&SourceLine> {
        self.summary.source.as_ref()?.as_ref()
    }

    /// Returns the number of the source line, from the trace if no cubin has it.
    #[must_use]
    pub fn source_line(&self) -> Option<u32> {
        self.source().map(|source| source.line).or(self.summary.source_line)
    }

    /// Returns the file of the source line, from the trace if no cubin has it.
    #[must_use]
    pub fn source_file(&self) -> Option<&str> {
        let traced = || self.summary.source_file.as_deref();
        self.source().map(|source| &*source.file).or_else(traced)
    }

    /// Returns whether its loads can reach global memory. If not, their sectors are not counted, and shown as
    /// meaningless zeros.
    #[must_use]
    pub fn has_sectors(&self) -> bool {
        self.operation.reaches_global()
    }

    /// Returns the sectors of all its loads.
    #[must_use]
    pub fn sectors(&self) -> f64 {
        self.summary.sectors.mean * self.summary.loads as f64
    }

    /// Returns the sectors beyond the ideal. Negative infinity if sectors are not counted, so that such rows come last.
    #[must_use]
    pub fn waste(&self) -> f64 {
        if !self.has_sectors() {
            return f64::NEG_INFINITY;
        }
        self.sectors() - self.summary.ideal_sectors as f64
    }
}

impl Replayed<'_> {
    /// Returns the counts of the loads of each program counter and operation, in the order of [`Summary::per_pc`].
    pub fn program_counters(&self) -> impl Iterator<Item = ProgramCounter<'_>> {
        self.rows(RowTable::Loads)
    }

    /// Returns the counts of the stores and atomics of each program counter and operation, in the order of
    /// [`Summary::per_pc_stores`].
    pub fn stores(&self) -> impl Iterator<Item = ProgramCounter<'_>> {
        self.rows(RowTable::Stores)
    }

    /// Returns the counts of the copies from global to shared memory of each program counter and operation, in the
    /// order of [`Summary::per_pc_copies`].
    pub fn copies(&self) -> impl Iterator<Item = ProgramCounter<'_>> {
        self.rows(RowTable::Copies)
    }

    fn rows(&self, table: RowTable) -> impl Iterator<Item = ProgramCounter<'_>> {
        let contents = self.trace().contents();
        let mut lines = KnownLines::default();
        // Every operation and kernel exists, because reading a block refuses unknown ones.
        self.per_pc().filter_map(move |(kernel, pc, number, counts)| {
            let operation = contents.operations.get(usize::from(number))?;
            if RowTable::of(operation.kind) != table {
                return None;
            }
            let name = &contents.kernels.get(kernel)?.name;
            let code = self.code(kernel, pc, operation, &mut lines);
            let summary = pc_summary(name, pc, operation, counts, code);
            Some(ProgramCounter { kernel, pc, operation, summary })
        })
    }

    fn code(
        &self,
        number: usize,
        pc: u32,
        operation: &MemoryOperation,
        lines: &mut KnownLines,
    ) -> RowCode {
        let Some(kernel) = self.trace().contents().kernels.get(number) else {
            return RowCode::default();
        };
        let source_line = kernel.source_line(pc);
        let lines = lines.of(number, kernel);
        let ptx = lines.get(pc).cloned();
        let source_file = lines.file(pc).filter(|_| source_line.is_some()).cloned();
        let known = RowCode { source_line, source_file, ptx, ..RowCode::default() };
        let Some(functions) = self.options().get_functions().filter(|_| known.ptx.is_none()) else {
            return known;
        };
        let (sass, source) = look_up(functions, &kernel.name, pc, operation).known();
        RowCode { sass: Some(sass), source: Some(source), ..known }
    }

    /// Returns the number of loads that were counted.
    #[must_use]
    pub fn loads(&self) -> u64 {
        self.kernels.values().map(|kernel| kernel.counts.loads).sum()
    }

    /// The number of loads, stores, atomics and copies that were counted.
    pub(crate) fn accesses(&self) -> u64 {
        self.kernels.values().map(|kernel| kernel.counts.accesses()).sum()
    }

    /// Returns the number of loads with a value that differs from the expected one.
    #[must_use]
    pub fn mismatches(&self) -> u64 {
        self.kernels.values().map(|kernel| kernel.counts.mismatches).sum()
    }

    fn about(&self) -> About {
        let contents = self.trace().contents();
        About {
            digest: self.digest.map(Digest),
            complete: contents.complete.then_some(true),
            notes: contents.notes.clone(),
            selected: self.options().get_selection().map(|selection| selection.selected.clone()),
        }
    }

    /// The demangled form of a kernel's name, if the options ask for it and the name is mangled.
    fn demangle(&self, name: &Arc<str>, known: &mut Demangled) -> Option<Arc<str>> {
        if self.options().demangles_names() { known.add(name) } else { None }
    }

    /// Returns the summary. It lists all kernels, even if only a shard was replayed.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let contents = self.trace().contents();
        let mut sums = Sums::new(self.about());
        let none = KernelCounts::default();
        let mut demangled = Demangled::default();
        for (number, kernel) in (0..).zip(&contents.kernels) {
            let counts = self.kernels.get(&number).unwrap_or(&none);
            let operation = |number: u16| contents.operations.get(usize::from(number));
            let form = self.demangle(&kernel.name, &mut demangled);
            sums.add(Arc::clone(&kernel.name), form, counts, operation);
        }
        Summary {
            per_pc: self.program_counters().map(|row| row.summary).collect(),
            per_pc_stores: self.stores().map(|row| row.summary).collect(),
            per_pc_copies: self.copies().map(|row| row.summary).collect(),
            ..sums.finish(self.faults.clone(), self.mismatches.clone())
        }
    }

    /// Returns the partial summary of the replayed shard, to be merged with those of other shards; `None` if the
    /// options name no shard. It lists only the [kernels of the shard](kernels_of_shard), so that all partial summaries
    /// together are about as large as the whole one.
    #[must_use]
    pub fn partial(&self) -> Option<PartialSummary> {
        let shard = self.options().get_shard()?;
        let trace = self.trace();
        let contents = trace.contents();
        let (mut kernels, mut operations) = (BTreeMap::new(), BTreeMap::new());
        let mut demangled = Demangled::default();
        let mut lines = KnownLines::default();
        let mut operation = |number: u16| {
            let operation = contents.operations.get(usize::from(number))?;
            operations.entry(number).or_insert_with(|| operation.clone());
            Some(operation)
        };
        for kernel in kernels_of_shard(trace, shard) {
            let Some(traced) = contents.kernels.get(kernel) else { continue };
            let counts = self.kernels.get(&(kernel as u32)).cloned().unwrap_or_default();
            counts.others.keys().for_each(|number| _ = operation(*number));
            let code = counts.per_pc.iter().filter_map(|&((pc, number), _)| {
                let code = self.code(kernel, pc, operation(number)?, &mut lines);
                (code != RowCode::default()).then_some(((pc, number), code))
            });
            let code = code.collect();
            let name = Arc::clone(&traced.name);
            let form = self.demangle(&name, &mut demangled);
            let own = PartialKernel { name, demangled: form, counts, code };
            kernels.insert(kernel, own);
        }
        Some(PartialSummary {
            first: shard.index(),
            last: shard.index(),
            of: shard.count(),
            replay: self.options().identity(trace.content_hash()),
            of_kernels: contents.kernels.len(),
            about: self.about(),
            first_faults: self.faults.clone(),
            first_mismatches: self.mismatches.clone(),
            operations,
            kernels,
        })
    }
}

/// The properties of a replay that a summary has besides counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct About {
    pub(super) digest: Option<Digest>,
    pub(super) complete: Option<bool>,
    pub(super) notes: Vec<String>,
    pub(super) selected: Option<Selected>,
}

/// The instruction of a row and its source line, as in [`PcSummary`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RowCode {
    pub(super) sass: Option<Option<Arc<str>>>,
    pub(super) source: Option<Option<SourceLine>>,
    pub(super) source_line: Option<u32>,
    pub(super) source_file: Option<Arc<str>>,
    pub(super) ptx: Option<PtxLine>,
}

/// The lines of PTX of the kernel that was asked about last, because rows are in the order of their kernels.
#[derive(Default)]
struct KnownLines {
    kernel: Option<usize>,
    lines: PtxLines,
}

impl KnownLines {
    fn of(&mut self, number: usize, kernel: &Kernel) -> &PtxLines {
        if self.kernel != Some(number) {
            (self.kernel, self.lines) = (Some(number), PtxLines::new(kernel));
        }
        &self.lines
    }
}

/// The kernels of a summary, and their sums.
pub(super) struct Sums {
    about: About,
    whole: LoadCounts,
    footprint: Footprint,
    kernels: Vec<KernelSummary>,
}

impl Sums {
    pub(super) fn new(about: About) -> Self {
        let whole = load_counts(&KernelCounts::default(), |_| None);
        Self { about, whole, footprint: Footprint::default(), kernels: Vec::new() }
    }

    /// Adds the next kernel.
    pub(super) fn add<'o>(
        &mut self,
        name: Arc<str>,
        demangled: Option<Arc<str>>,
        kernel: &KernelCounts,
        operation: impl Fn(u16) -> Option<&'o MemoryOperation>,
    ) {
        let counts = load_counts(kernel, operation);
        self.whole.add(&counts);
        self.footprint.lines |= &kernel.footprint.lines;
        self.kernels.push(KernelSummary { name, demangled, counts: shown(counts) });
    }

    /// Makes the summary, still without rows.
    pub(super) fn finish(
        self,
        first_faults: Vec<LoadFault>,
        first_mismatches: Vec<ValueMismatch>,
    ) -> Summary {
        let About { digest, complete, notes, selected, .. } = self.about;
        Summary {
            counts: shown(LoadCounts { footprint: footprint(&self.footprint), ..self.whole }),
            first_mismatches,
            first_faults,
            digest,
            complete,
            notes,
            selected,
            per_pc: Vec::new(),
            per_pc_stores: Vec::new(),
            per_pc_copies: Vec::new(),
            kernels: self.kernels,
        }
    }
}

/// Converts sums for display. Displayed counts do not add up any more.
fn shown(counts: LoadCounts) -> LoadCounts {
    LoadCounts { ldgsts: counts.ldgsts.map(LdgstsCounts::shown), ..counts }
}

fn footprint(footprint: &Footprint) -> FootprintCounts {
    FootprintCounts { pages: footprint.pages().len(), lines: footprint.lines.len() }
}

/// A kernel's counts, completed by counts that derive from its rows and sets.
fn load_counts<'o>(
    kernel: &KernelCounts,
    operation: impl Fn(u16) -> Option<&'o MemoryOperation>,
) -> LoadCounts {
    let mut by_opcode = BTreeMap::new();
    for ((_, number), row) in &kernel.per_pc {
        if let Some(operation) = operation(*number).filter(|one| one.kind == OperationKind::Load) {
            by_opcode.entry(Arc::clone(&operation.opcode)).or_insert(0).add(&row.loads);
        }
    }
    let mut not_replayed = BTreeMap::new();
    for (number, records) in &kernel.others {
        if let Some(name) = operation(*number).and_then(MemoryOperation::not_replayed) {
            not_replayed.entry(name.to_owned()).or_insert(0).add(records);
        }
    }
    let counts = kernel.counts.clone();
    LoadCounts {
        by_opcode,
        skipped: SkippedCounts { not_replayed: Some(not_replayed), ..counts.skipped },
        // Known to be zero if there are none.
        ldgsts: Some(counts.ldgsts.unwrap_or_default()),
        tma: Some(counts.tma.unwrap_or_default()),
        stores: Some(counts.stores.unwrap_or_default()),
        atomics: Some(counts.atomics.unwrap_or_default()),
        footprint: footprint(&kernel.footprint),
        ..counts
    }
}

/// A row for display. It has a count for its opcode's memory even if no lane accesses that.
pub(super) fn pc_summary(
    kernel: &Arc<str>,
    pc: u32,
    operation: &MemoryOperation,
    counts: &PcCounts,
    code: RowCode,
) -> PcSummary {
    let mut counts = counts.clone();
    match operation.space {
        AddressSpace::Shared => drop(counts.shared.get_or_insert_default()),
        AddressSpace::Local => drop(counts.local.get_or_insert_default()),
        AddressSpace::Constant { .. } => drop(counts.constant.get_or_insert_default()),
        AddressSpace::Global | AddressSpace::Generic => {}
    }
    let RowCode { sass, source, source_line, source_file, ptx } = code;
    let place = ptx.as_ref().map(|line| line.place);
    let shown = counts.shown(Arc::clone(kernel), pc, Arc::clone(&operation.opcode));
    PcSummary {
        sass,
        source,
        source_line,
        source_file,
        ptx: ptx.map(|line| line.text),
        ptx_line: place.map(|place| place.line),
        ptx_column: place.and_then(|place| place.column),
        ..shown
    }
}

/// The only skipped instruction with counters of its own.
const LDGSTS: &str = "LDGSTS";

impl LoadCounts {
    /// Returns the numbers of skipped instructions that read memory, by name, `LDGSTS` last; empty if the trace does
    /// not name them.
    pub fn not_replayed(&self) -> impl Iterator<Item = (&str, u64)> {
        let named = self.skipped.not_replayed.iter().flatten();
        let ldgsts = self.ldgsts.iter().map(|ldgsts| (LDGSTS, ldgsts.records));
        named
            .map(|(name, records)| (name.as_str(), *records))
            .chain(ldgsts)
            .filter(|(_, records)| *records > 0)
    }
}
