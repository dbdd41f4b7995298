//! [`replay`]: every load of a trace executed, counted, checked and digested.

use std::collections::btree_map::Entry;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::error::ReplayError;
use super::options::{ReplayData, ReplayOptions};
use super::statistics::{KEPT, KernelCounts, PcCounts};
use super::summary::{LoadFault, ValueMismatch};
use super::survey::{Extent, Survey, Surveyed};
use super::walk::Walk;
use super::worker::{Worker, WorkerCounts};
use warpload::memory::{Fill, FilledMemory, LoadMemory};
use warpload_trace::binary::{BinaryTrace, RawBlock, TraceBlock, TraceError};

/// What a replay found, of a whole trace or of a part. [`Replayed::summary`] returns it for
/// people and programs, [`Replayed::survey`] what pictures need besides.
#[derive(Clone, Debug)]
pub struct Replayed<'a> {
    pub(super) walk: Walk<'a>,
    /// By kernel, in launch order.
    pub(super) kernels: Vec<KernelCounts>,
    /// `None` without data.
    pub(super) digest: Option<u64>,
    /// The first few, in the order of the trace.
    pub(super) faults: Vec<LoadFault>,
    pub(super) mismatches: Vec<ValueMismatch>,
    survey: Option<Survey>,
}

/// Replays a trace. The threads are those of the current rayon pool.
///
/// # Errors
/// Returns [`ReplayError::Trace`] if a block is damaged, [`ReplayError::Windows`] if a kernel's
/// windows are invalid and it has loads that need them, and [`ReplayError::Interrupted`] if the options'
/// flag stops it.
pub fn replay<'a>(
    trace: &'a BinaryTrace,
    options: &ReplayOptions<'a>,
) -> Result<Replayed<'a>, ReplayError> {
    let walk = Walk::new(trace, options)?;
    let extent = options.get_survey().then(|| Extent::new(&walk).map(Arc::new)).transpose()?;
    let blank =
        || WorkerCounts::new(extent.as_ref().map(|extent| Surveyed::new(Arc::clone(extent))));
    // Blocks are visited in order within a thread's run, and runs are added in order, so that what is
    // collected stays in the order of the trace.
    let found = walk
        .blocks
        .par_iter()
        .try_fold(blank, |mut part, (raw, records)| {
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
    let WorkerCounts { kernels: mut found, digest, faults, mismatches, surveyed, .. } =
        found.unwrap_or_else(|| Ok(blank()))?;
    let kernels: Vec<KernelCounts> = (0..trace.contents().kernels.len() as u32)
        .map(|kernel| found.remove(&kernel).unwrap_or_default())
        .collect();
    let digest = options.has_data().then_some(digest);
    let survey = surveyed.map(|surveyed| surveyed.finish(&kernels));
    Ok(Replayed { walk, kernels, digest, faults, mismatches, survey })
}

impl<'a> Replayed<'a> {
    /// Returns the trace that was replayed.
    #[must_use]
    pub fn trace(&self) -> &'a BinaryTrace {
        self.walk.trace
    }

    /// Returns the options of the replay.
    #[must_use]
    pub fn options(&self) -> &ReplayOptions<'a> {
        &self.walk.options
    }

    /// Returns what pictures need; `None` if the options do not ask for it.
    #[must_use]
    pub fn survey(&self) -> Option<&Survey> {
        self.survey.as_ref()
    }

    /// Returns the counts of loads, stores and atomics of each kernel's program counters and operations,
    /// by kernel, then ascending.
    pub(super) fn per_pc(&self) -> impl Iterator<Item = (usize, u32, u16, &PcCounts)> {
        self.kernels.iter().enumerate().flat_map(|(kernel, counts)| {
            counts
                .per_pc
                .iter()
                .map(move |(&(pc, operation), counts)| (kernel, pc, operation, counts))
        })
    }
}

impl WorkerCounts {
    /// Replays some memory instructions of a block, which comes after those visited before.
    fn visit(
        &mut self,
        walk: &Walk<'_>,
        raw: &RawBlock,
        records: Range<usize>,
    ) -> Result<(), TraceError> {
        let block = walk.trace.block(raw)?;
        let filled = |fill| FilledMemory { map: walk.map(raw.kernel), fill };
        match walk.options.get_data() {
            ReplayData::Image(memory) => self.replay(walk, &block, records, memory),
            ReplayData::Fill(fill) => self.replay(walk, &block, records, &filled(fill)),
            // Apart, so that the compiler knows that all values are zero.
            ReplayData::Absent => self.replay(walk, &block, records, &filled(Fill::Zero)),
        }
    }

    fn replay<M: LoadMemory>(
        &mut self,
        walk: &Walk<'_>,
        block: &TraceBlock<'_>,
        records: Range<usize>,
        memory: &M,
    ) -> Result<(), TraceError> {
        let name = &walk.trace.contents().kernels[block.raw().kernel as usize].name;
        let worker = Worker::new(block, name, &walk.options, self);
        let counts = worker.records(records, memory)?;
        match self.kernels.entry(block.raw().kernel) {
            Entry::Vacant(place) => drop(place.insert(counts)),
            Entry::Occupied(mut place) => place.get_mut().add(&counts),
        }
        walk.options.report_progress(u64::from(block.raw().length));
        Ok(())
    }

    /// Adds what was found in the blocks that follow those of `self`.
    fn add(&mut self, later: Self) {
        for (kernel, counts) in later.kernels {
            match self.kernels.entry(kernel) {
                Entry::Vacant(place) => drop(place.insert(counts)),
                Entry::Occupied(mut place) => place.get_mut().add(&counts),
            }
        }
        self.digest = self.digest.wrapping_add(later.digest);
        self.faults.extend(later.faults);
        self.faults.truncate(KEPT);
        self.mismatches.extend(later.mismatches);
        self.mismatches.truncate(KEPT);
        if let (Some(surveyed), Some(later)) = (&mut self.surveyed, later.surveyed) {
            surveyed.add(later);
        }
    }
}
