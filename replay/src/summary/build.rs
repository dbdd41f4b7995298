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
        let shard = self.options.get_shard();
        let numbers = match shard {
            Some(shard) => kernels_of_shard(trace, shard),
            None => (0..contents.kernels.len()).collect(),
        };
        let mut demangled = Demangled::default();
        let mut whole = Footprint::default();
        let mut lines = Vec::new();
        let mut summary = Summary {
            shard: None,
            counts: TraceCounts::default(),
            first_mismatches: mismatches,
            first_faults: faults,
            digest: self.options.has_data().then_some(Digest(digest)),
            complete: contents.complete.then_some(true),
            notes: contents.notes.clone(),
            selected: self.options.get_selection().map(|selection| selection.selected.clone()),
            launches: Vec::new(),
            rows: Vec::new(),
        };
        for number in numbers {
            let Some(kernel) = contents.kernels.get(number) else { continue };
            let counted = launches.remove(&(number as u32)).unwrap_or_default();
            let launch = (trace.first_kernel() + number) as u64;
            let rows = join(self.rows(launch, kernel, counted.rows));
            let LaunchCounts { mut counts, others, footprint, .. } = counted;
            rows.iter().for_each(|row| counts.count(row));
            for (number, times) in others {
                let operation = contents.operations.get(usize::from(number));
                if let Some(name) = operation.and_then(MemoryOperation::not_replayed) {
                    counts.not_replayed.entry(name.into()).or_default().add(&times);
                }
            }
            counts.footprint = Some(footprint.counts());
            summary.counts.add(&counts);
            whole.lines |= &footprint.lines;
            if shard.is_some() {
                lines.push(LineSet(footprint.lines));
            }
            summary.launches.push(LaunchSummary {
                launch,
                launches: 1,
                kernel: Arc::clone(&kernel.name),
                demangled: self
                    .options
                    .demangles_names()
                    .then(|| demangled.add(&kernel.name))
                    .flatten(),
                grid: kernel.grid,
                block: kernel.block,
                counts,
            });
            summary.rows.extend(rows);
        }
        summary.counts.footprint = Some(whole.counts());
        let Some(shard) = shard else { return summary };
        summary.shard = Some(ShardPart {
            replay: self.options.identity(trace.content_hash()),
            index: shard.index(),
            of: shard.count(),
            launches: trace.kernels() as u64,
            lines,
            checksum: 0,
        });
        summary.seal()
    }

    /// The rows of a launch. Several operations can have the same opcode, and so the same row.
    fn rows(
        &self,
        launch: u64,
        kernel: &Kernel,
        counted: Vec<(AccessKey, AccessCounts)>,
    ) -> Vec<Row> {
        let lines = PtxLines::new(kernel);
        let mut rows = Vec::with_capacity(counted.len());
        for (AccessKey { pc, operation, is_shared_side }, counts) in counted {
            // Each operation exists, because reading a block refuses unknown ones.
            let contents = self.trace.contents();
            let Some(operation) = contents.operations.get(usize::from(operation)) else { continue };
            let Some(kind) = AccessKind::of(operation) else { continue };
            let space = match kind {
                AccessKind::Copy if is_shared_side => RowSpace::Shared,
                AccessKind::Copy => RowSpace::Global,
                _ => operation.space.into(),
            };
            rows.push(Row {
                launch,
                kernel: Arc::clone(&kernel.name),
                pc: Hex(pc.into()),
                opcode: Arc::clone(&operation.opcode),
                kind,
                space,
                access_bytes: operation.bytes(),
                code: self.code(kernel, pc, operation, &lines),
                counts: with_memory_of(space, counts),
            });
        }
        rows
    }

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
        if let Some(functions) = self.options.get_functions() {
            let is_load = operation.kind == OperationKind::Load;
            let (sass, source) =
                look_up(functions, &kernel.name, pc, &operation.opcode, is_load).known();
            code.sass = code.sass.or(sass);
            if let Some(source) = source {
                (code.source_file, code.source_line) =
                    (Some(source.file.into()), Some(source.line));
            }
        }
        code
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
