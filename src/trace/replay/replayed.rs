//! [`replay`]: every load of a trace executed, counted, checked and digested.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use super::error::ReplayError;
use super::options::ReplayOptions;
use super::statistics::{KEPT, KernelCounts, PcCounts};
use super::walk::{Visitor, Walk};
use super::worker::{FaultAt, Found, MismatchAt, Worker};
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
    pub(super) faults: Vec<FaultAt>,
    pub(super) mismatches: Vec<MismatchAt>,
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
    let Replayer { part, .. } = walk.visit(|| Replayer { options, part: Part::default() })?;
    let Part { kernels: mut found, digest, faults, mismatches } = part;
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

    /// Returns the counts of each kernel's program counters and operations, by kernel, then
    /// ascending.
    pub(super) fn per_pc(&self) -> impl Iterator<Item = (usize, u32, u16, &PcCounts)> {
        self.kernels.iter().enumerate().flat_map(|(kernel, counts)| {
            counts
                .per_pc
                .iter()
                .map(move |(&(pc, operation), counts)| (kernel, pc, operation, counts))
        })
    }
}

/// What was found in some of the blocks. It grows with the kernels that these belong to, not with
/// all.
#[derive(Default)]
struct Part {
    kernels: BTreeMap<u32, KernelCounts>,
    digest: u64,
    faults: Vec<FaultAt>,
    mismatches: Vec<MismatchAt>,
}

impl Part {
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

/// Replays the blocks that it visits.
struct Replayer<'o, 'a> {
    options: &'o ReplayOptions<'a>,
    part: Part,
}

impl Visitor for Replayer<'_, '_> {
    fn visit<M: LoadMemory>(
        &mut self,
        block: &Block<'_>,
        loads: Range<usize>,
        memory: &M,
    ) -> Result<(), TraceError> {
        let mut worker = Worker::new(block, self.options.has_data());
        worker.loads(loads, memory)?;
        let Found { counts, digest, faults, mismatches } = worker.found;
        let kernels = BTreeMap::from([(block.raw().kernel, counts)]);
        self.part.add(Part { kernels, digest, faults, mismatches });
        self.options.report_progress(u64::from(block.raw().length));
        Ok(())
    }

    fn add(&mut self, later: Self) {
        self.part.add(later.part);
    }
}
