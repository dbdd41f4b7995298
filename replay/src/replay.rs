//! [`replay()`]: executes, counts, checks and digests every load of a trace, and counts every other access. Also the
//! blocks that it visits, and each kernel's windows of generic addresses.

use std::ops::Range;

use rayon::prelude::*;

use crate::launch_counts::KEPT;
use crate::options::{ReplayData, ReplayOptions};
use crate::summary::Summary;
use crate::worker::{Worker, WorkerCounts};
use warpload::memory::{
    AddressMap, AddressSpace, ConfigError, Fill, FilledMemory, LoadMemory, Window,
};
use warpload_trace::binary::{BinaryTrace, Kernel, RawBlock, TraceBlock, TraceError};
use warpload_trace::{MemoryOperation, OperationKind, Shard};

/// Replays a trace on the threads of the current rayon pool, or a shard of it.
///
/// # Errors
/// Returns [`ReplayError::Trace`] if a block is damaged, [`ReplayError::Windows`] if a kernel has invalid windows and
/// loads that need them, and [`ReplayError::Interrupted`] if the options' flag stops the replay.
pub fn replay(trace: &BinaryTrace, options: &ReplayOptions<'_>) -> Result<Summary, ReplayError> {
    let walk = Walk::new(trace, options)?;
    // A thread visits the blocks of a run in order, and runs are added in order. Collected results thus stay in trace
    // order.
    let found = walk
        .blocks
        .par_iter()
        .try_fold(WorkerCounts::new, |mut part, (raw, records)| {
            if walk.options.is_interrupted() {
                return Err(ReplayError::Interrupted);
            }
            part.visit(&walk, raw, records.clone())?;
            Ok::<_, ReplayError>(part)
        })
        .try_reduce_with(|mut part, later| {
            part.add(later);
            Ok(part)
        });
    let mut found = found.unwrap_or_else(|| Ok(WorkerCounts::new()))?;
    found.end_kernel();
    Ok(walk.summary(found))
}

impl WorkerCounts {
    /// Replays some memory instructions of a block. Blocks must come in trace order.
    fn visit(
        &mut self,
        walk: &Walk<'_>,
        raw: &RawBlock,
        records: Range<usize>,
    ) -> Result<(), TraceError> {
        let block = walk.trace.block_in(raw, std::mem::take(&mut self.buffers))?;
        let filled = |fill| FilledMemory { map: walk.map(raw.kernel), fill };
        match walk.options.data {
            ReplayData::Image(memory) => self.replay(walk, &block, records, memory),
            ReplayData::Fill(fill) => self.replay(walk, &block, records, &filled(fill)),
            // A case of its own, so that the compiler knows that all values are zero.
            ReplayData::Absent => self.replay(walk, &block, records, &filled(Fill::Zero)),
        }?;
        self.buffers = block.into_buffers();
        Ok(())
    }

    fn replay<M: LoadMemory>(
        &mut self,
        walk: &Walk<'_>,
        block: &TraceBlock<'_>,
        records: Range<usize>,
        memory: &M,
    ) -> Result<(), TraceError> {
        let name = &walk.trace.contents().kernels[block.raw().kernel as usize].name;
        self.begin_kernel(block.raw().kernel);
        let worker = Worker::new(block, name, &walk.options, self);
        let counts = worker.records(records, memory)?;
        self.launches.entry(block.raw().kernel).or_default().add(counts);
        walk.options.report_progress(u64::from(block.raw().length));
        Ok(())
    }

    /// Adds the results of later blocks.
    fn add(&mut self, mut later: Self) {
        self.end_kernel();
        later.end_kernel();
        for (kernel, counts) in later.launches {
            self.launches.entry(kernel).or_default().add(counts);
        }
        self.digest = self.digest.wrapping_add(later.digest);
        self.faults.extend(later.faults);
        self.faults.truncate(KEPT);
        self.mismatches.extend(later.mismatches);
        self.mismatches.truncate(KEPT);
    }
}

/// The part of a trace that the options select, and each kernel's windows.
#[derive(Clone, Debug)]
pub(super) struct Walk<'a> {
    pub(super) trace: &'a BinaryTrace,
    pub(super) options: ReplayOptions<'a>,
    /// By kernel.
    maps: Vec<AddressMap>,
    /// The blocks, each with the memory instructions that belong to the shard.
    pub(super) blocks: Vec<(RawBlock, Range<usize>)>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        trace: &'a BinaryTrace,
        options: &ReplayOptions<'a>,
    ) -> Result<Self, ReplayError> {
        let shard = options.shard.unwrap_or(Shard::WHOLE);
        let of_shard = |block: &RawBlock| Some((*block, shard.of_block(block, trace.records())?));
        Ok(Self {
            trace,
            options: *options,
            maps: maps(trace, options)?,
            blocks: trace.blocks().iter().filter_map(of_shard).collect(),
        })
    }

    /// The address map of a kernel, unless the data have their own.
    pub(super) fn map(&self, kernel: u32) -> AddressMap {
        self.maps[kernel as usize]
    }
}

/// Each kernel's address map.
///
/// # Errors
/// Returns [`ReplayError::Windows`] if a kernel's windows are invalid. They are allowed if they come from the trace and
/// none of the kernel's loads has generic addresses, because some tracers write a base of 0 for both. Returns
/// [`ReplayError::Trace`] if a block that has to be read to find that out is damaged.
pub(super) fn maps(
    trace: &BinaryTrace,
    options: &ReplayOptions<'_>,
) -> Result<Vec<AddressMap>, ReplayError> {
    // Found on first use: most traces never need it.
    let mut generic = None;
    let mut is_generic = |kernel: usize| {
        if generic.is_none() {
            generic = Some(find_generic(trace)?);
        }
        Ok(generic.as_ref().is_some_and(|kernels| kernels[kernel]))
    };
    let kernels = trace.contents().kernels.iter().enumerate();
    kernels.map(|(index, kernel)| map(&mut is_generic, index, kernel, options)).collect()
}

fn map(
    is_generic: &mut dyn FnMut(usize) -> Result<bool, TraceError>,
    index: usize,
    kernel: &Kernel,
    options: &ReplayOptions<'_>,
) -> Result<AddressMap, ReplayError> {
    if let ReplayData::Image(memory) = options.data {
        return Ok(*memory.map());
    }
    let window = |asked: Option<Window>, base: Option<u64>, default: Window| {
        asked.unwrap_or_else(|| base.map_or(default, |base| Window { base, ..default }))
    };
    let shared = window(options.shared_window, kernel.shared_base, Window::DEFAULT_SHARED);
    let local = window(options.local_window, kernel.local_base, Window::DEFAULT_LOCAL);
    let is_asked = options.shared_window.is_some() || options.local_window.is_some();
    let invalid = match AddressMap::new(options.address_bits, shared, local) {
        Ok(map) => return Ok(map),
        Err(invalid) => invalid,
    };
    let map = if is_asked || is_generic(index)? {
        Err(invalid)
    } else {
        AddressMap::for_offsets(options.address_bits, shared, local)
    };
    let name = kernel.name.to_string();
    map.map_err(|source| ReplayError::Windows { index, name, source })
}

/// For each kernel, whether it has loads with generic addresses, which need windows to be resolved.
fn find_generic(trace: &BinaryTrace) -> Result<Vec<bool>, TraceError> {
    let contents = trace.contents();
    let mut kernels = vec![false; contents.kernels.len()];
    let needs_windows = |operation: &MemoryOperation| {
        operation.space == AddressSpace::Generic && operation.kind == OperationKind::Load
    };
    if !contents.operations.iter().any(needs_windows) {
        return Ok(kernels);
    }
    for raw in trace.blocks() {
        let Some(known) = kernels.get_mut(raw.kernel as usize).filter(|known| !**known) else {
            continue;
        };
        let block = trace.block(raw)?;
        for i in 0..raw.records as usize {
            let operation = block.record(i)?.operation();
            if needs_windows(operation) {
                *known = true;
                break;
            }
        }
    }
    Ok(kernels)
}

/// Why a replay stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The trace is damaged or malformed.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A kernel's windows are invalid, and one of its loads has generic addresses.
    #[error("kernel {index} ({name})")]
    Windows {
        /// The kernel's number, from 0.
        index: usize,
        /// Its name.
        name: String,
        /// The error in its windows.
        source: ConfigError,
    },
    /// The requested threads cannot be started.
    #[error("{threads} threads cannot be started: {message}")]
    Threads {
        /// The number of threads.
        threads: usize,
        /// The system's message.
        message: String,
    },
    /// [`ReplayOptions::interrupt`](super::ReplayOptions::interrupt) stopped the replay.
    #[error("interrupted")]
    Interrupted,
}
