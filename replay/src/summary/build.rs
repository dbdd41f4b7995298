//! Conversion of the counts of launches to a [`Summary`].

use std::sync::Arc;

use super::part::{LineSet, ShardPart};
use super::{Digest, Hex, LaunchSummary, Summary};
use crate::code::look_up;
use crate::counters::{AccessCounts, Counter, TraceCounts};
use crate::footprint::Footprint;
use crate::launch_counts::{AccessKey, LaunchCounts};
use crate::replay::Walk;
use crate::row::{AccessKind, Row, RowCode, RowSpace, join};
use crate::worker::WorkerCounts;
use warpload_binary::names::Demangled;
use warpload_encoding::{Instruction, Sm};
use warpload_trace::binary::{Kernel, PtxLines};
use warpload_trace::{MemoryOperation, OperationKind, kernels_of_shard};

impl Walk<'_> {
    /// The summary of what was found. Of a whole trace it lists all launches, of a shard those that it touches.
    pub(crate) fn summary(&self, found: WorkerCounts) -> Summary {
        let WorkerCounts { mut launches, digest, faults, mismatches, .. } = found;
        let trace = self.trace;
        let contents = trace.contents();
        let shard = self.options.shard;
        let numbers = match shard {
            Some(shard) => kernels_of_shard(trace, shard),
            None => (0..contents.kernels.len()).collect(),
        };
        let mut demangled = Demangled::default();
        let mut whole = Footprint::default();
        let mut lines = Vec::new();
        let mut summary = Summary {
            first_mismatches: mismatches,
            first_faults: faults,
            digest: self.options.has_data().then_some(Digest(digest)),
            complete: contents.complete.then_some(true),
            notes: contents.notes.clone(),
            selected: self.options.selection.map(|selection| selection.selected.clone()),
            ..Summary::default()
        };
        for number in numbers {
            let Some(kernel) = contents.kernels.get(number) else { continue };
            let counted = launches.remove(&(number as u32)).unwrap_or_default();
            let ptx = PtxLines::new(kernel);
            let name = self.options.demangles_names.then(|| demangled.add(&kernel.name));
            let launch = LaunchSummary::new(number as u64, kernel, name.flatten());
            let operations = &contents.operations;
            let footprint = summary.push(launch, operations, counted, |pc, operation| {
                self.code(kernel, pc, operation, &ptx)
            });
            whole.lines |= &footprint.lines;
            if shard.is_some() {
                lines.push(LineSet(footprint.lines));
            }
        }
        summary.counts.footprint = Some(whole.counts());
        let Some(shard) = shard else { return summary };
        summary.shard = Some(ShardPart {
            replay: self.options.identity(trace.content_hash()),
            index: shard.index(),
            of: shard.count(),
            launches: contents.kernels.len() as u64,
            lines,
        });
        summary.seal()
    }

    /// The code of an instruction, from the trace and from the cubins.
    fn code(
        &self,
        kernel: &Kernel,
        pc: u32,
        operation: &MemoryOperation,
        lines: &PtxLines,
    ) -> RowCode {
        let source_line = kernel.source_line(pc);
        let mut code = RowCode {
            source_file: lines.file(pc).filter(|_| source_line.is_some()).cloned(),
            source_line,
            ..RowCode::default()
        };
        if let Some(line) = lines.get(pc) {
            code.ptx = Some(Arc::clone(&line.text));
            (code.ptx_line, code.ptx_column) = (Some(line.place.line), line.place.column);
            return code;
        }
        let traced = operation.word.and_then(|word| Instruction::decode(word, Sm::SPA5).load());
        code.sass = traced.map(|load| load.to_string().into());
        if let Some(functions) = self.options.functions {
            let is_load = operation.kind == OperationKind::Load;
            let found = look_up(functions, &kernel.name, pc, &operation.opcode, is_load);
            let (sass, source) = found.known();
            code.sass = code.sass.or(sass);
            if let Some(source) = source {
                code.source_file = Some(source.file.into());
                code.source_line = Some(source.line);
            }
        }
        code
    }
}

impl LaunchSummary {
    pub(crate) fn new(launch: u64, kernel: &Kernel, demangled: Option<Arc<str>>) -> Self {
        Self {
            launch,
            launches: 1,
            kernel: Arc::clone(&kernel.name),
            demangled,
            grid: kernel.grid,
            block: kernel.block,
            counts: TraceCounts::default(),
        }
    }
}

impl Summary {
    /// Adds the next launch. Returns its footprint, because the sum of all does not follow from their sizes.
    pub(crate) fn push(
        &mut self,
        mut launch: LaunchSummary,
        operations: &[MemoryOperation],
        counted: LaunchCounts,
        code: impl Fn(u32, &MemoryOperation) -> RowCode,
    ) -> Footprint {
        let LaunchCounts { mut counts, others, footprint, rows } = counted;
        // Several operations can have the same opcode, and so the same row.
        let rows = rows.into_iter().filter_map(|(key, counts)| {
            // Each operation exists, because reading a block refuses unknown ones.
            let operation = operations.get(usize::from(key.operation))?;
            let kind = AccessKind::of(operation)?;
            let space = space(kind, key, operation);
            Some(Row {
                launch: launch.launch,
                kernel: Arc::clone(&launch.kernel),
                pc: Hex(key.pc.into()),
                opcode: Arc::clone(&operation.opcode),
                kind,
                space,
                access_bytes: operation.bytes(),
                code: code(key.pc, operation),
                counts: with_memory_of(space, counts),
            })
        });
        let rows = join(rows.collect());
        rows.iter().for_each(|row| counts.count(row));
        for (number, times) in others {
            let operation = operations.get(usize::from(number));
            if let Some(name) = operation.and_then(MemoryOperation::not_replayed) {
                counts.not_replayed.entry(name.into()).or_default().add(&times);
            }
        }
        counts.footprint = Some(footprint.counts());
        self.counts.add(&counts);
        launch.counts = counts;
        self.launches.push(launch);
        self.rows.extend(rows);
        footprint
    }
}

/// The memory of an access; of a copy, that of its side.
fn space(kind: AccessKind, key: AccessKey, operation: &MemoryOperation) -> RowSpace {
    match kind {
        AccessKind::Copy if key.is_shared_side => RowSpace::Shared,
        AccessKind::Copy => RowSpace::Global,
        _ => operation.space.into(),
    }
}

/// The counts with an object for the opcode's memory, even if no lane accesses that.
fn with_memory_of(space: RowSpace, mut counts: AccessCounts) -> AccessCounts {
    match space {
        RowSpace::Shared => drop(counts.shared.get_or_insert_default()),
        RowSpace::Local => drop(counts.local.get_or_insert_default()),
        RowSpace::Constant => drop(counts.constant.get_or_insert_default()),
        RowSpace::Global | RowSpace::Generic => drop(counts.global.get_or_insert_default()),
    }
    counts
}
