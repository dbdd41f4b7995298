//! [`replay`]: every load of a trace executed, counted, checked and digested.

use std::collections::btree_map::Entry;
use std::ops::Range;

use super::error::ReplayError;
use super::options::ReplayOptions;
use super::statistics::{KEPT, KernelCounts, PcCounts};
use super::summary::{Fault, Mismatch};
use super::walk::{Visitor, Walk};
use super::worker::{Part, Worker};
use crate::memory::LoadMemory;
use crate::trace::binary::{BinaryTrace, Block, TraceError};

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
    pub(super) faults: Vec<Fault>,
    pub(super) mismatches: Vec<Mismatch>,
}

/// Replays a trace. The threads are those of the current rayon pool.
///
/// # Errors
/// Returns [`ReplayError::Trace`] if a block is damaged, and [`ReplayError::Windows`] if a kernel's
/// windows are invalid and it has loads that need them.
pub fn replay<'a>(
    trace: &'a BinaryTrace,
    options: &ReplayOptions<'a>,
) -> Result<Replayed<'a>, ReplayError> {
    let walk = Walk::new(trace, options)?;
    let Part { kernels: mut found, digest, faults, mismatches } = walk.visit(Part::default)?;
    let kernels = (0..trace.contents().kernels.len() as u32)
        .map(|kernel| found.remove(&kernel).unwrap_or_default())
        .collect();
    let digest = options.has_data().then_some(digest);
    Ok(Replayed { walk, kernels, digest, faults, mismatches })
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

impl Visitor for Part {
    fn visit<M: LoadMemory>(
        &mut self,
        walk: &Walk<'_>,
        block: &Block<'_>,
        records: Range<usize>,
        memory: &M,
    ) -> Result<(), TraceError> {
        let name = &walk.trace.contents().kernels[block.raw().kernel as usize].name;
        let mut worker = Worker::new(block, name, walk.options);
        worker.records(records, memory)?;
        self.add(worker.found);
        walk.options.report_progress(u64::from(block.raw().length));
        Ok(())
    }

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
    }
}
