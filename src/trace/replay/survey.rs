//! [`Survey`]: a second pass over a replayed trace, for the heat maps and faulty loads that the page
//! draws. Memory use does not grow with the trace; results do not depend on the number of threads.

use std::collections::BTreeSet;
use std::ops::Range;

use roaring::RoaringTreemap;

use super::error::ReplayError;
use super::heat::HeatMap;
use super::replayed::Replayed;
use super::statistics::SECTOR;
use super::walk::{Visitor, Walk};
use super::worker::read_lanes;
use crate::lane::{LANES, LaneMask};
use crate::load::{ByFaultKind, LaneAddresses, load};
use crate::machine::Misaligned;
use crate::memory::{GenericAddress, LoadMemory};
use crate::trace::binary::{BinaryTrace, Block, RawBlock, TraceError};
use crate::trace::operation::Kind;

/// The most faulty loads that are kept.
pub const MAX_FAULTY_LOADS: usize = 48;
/// The most kernels that have heat maps.
pub const MAX_SURVEYED_KERNELS: usize = 6;

/// The most columns and rows of the heat map of the whole trace.
const WHOLE: (usize, usize) = (200, 128);
/// The most columns and rows of the heat map of a kernel.
const KERNEL: (usize, usize) = (160, 64);

/// What a second pass over a trace found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The heat map of all that was replayed.
    pub whole: HeatMap,
    /// The heat maps of the kernels that touch most sectors, in launch order, each with the kernel's
    /// number; empty if the trace has a single kernel.
    pub kernels: Vec<(usize, HeatMap)>,
    /// The replayed instructions of each kernel.
    pub records: Vec<Range<u64>>,
    /// The first load with a lane fault of each kernel, program counter and operation, in the order
    /// of the trace; at most [`MAX_FAULTY_LOADS`].
    pub faulty: Vec<FaultyLoad>,
}

/// A load with lane faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultyLoad {
    /// The instruction's index in the trace.
    pub record: u64,
    /// The kernel's number.
    pub kernel: usize,
    /// The program counter.
    pub pc: u32,
    /// The operation's number.
    pub operation: u16,
    /// The executing lanes.
    pub executing: LaneMask,
    /// The lanes with a fault of each kind.
    pub faults: ByFaultKind<LaneMask>,
    /// Each lane's address before rounding; meaningless for lanes that do not execute.
    pub addresses: [u64; LANES],
}

impl FaultyLoad {
    fn place(&self) -> (usize, u32, u16) {
        (self.kernel, self.pc, self.operation)
    }
}

impl Replayed<'_> {
    /// Goes over the replayed loads once more, for pictures. The threads are those of the current
    /// rayon pool.
    ///
    /// # Errors
    /// Returns [`ReplayError::Trace`] if a block is damaged.
    pub fn survey(&self) -> Result<Survey, ReplayError> {
        let blank = Survey::blank(self)?;
        Ok(self.walk.visit(|| blank.clone())?)
    }
}

/// Returns the instructions that belong to some loads of a block.
fn part_records(
    trace: &BinaryTrace,
    raw: &RawBlock,
    part: &Range<usize>,
) -> Result<Range<u64>, TraceError> {
    let all = raw.memory_records as usize;
    if part.start == 0 && part.end == all {
        return Ok(raw.first_record..raw.first_record + u64::from(raw.records));
    }
    let block = trace.block(raw)?;
    let record = |load: usize| Ok(raw.first_record + u64::from(block.record(load)?.index));
    let start = if part.start == 0 { raw.first_record } else { record(part.start)? };
    let end =
        if part.end == all { raw.first_record + u64::from(raw.records) } else { record(part.end)? };
    Ok(start..end)
}

impl Survey {
    /// Returns empty heat maps with their axes.
    fn blank(replayed: &Replayed<'_>) -> Result<Self, TraceError> {
        let Walk { trace, blocks, .. } = &replayed.walk;
        let mut whole: Option<Range<u64>> = None;
        let mut records: Vec<Option<Range<u64>>> = vec![None; trace.contents().kernels.len()];
        for (raw, part) in blocks {
            let more = part_records(trace, raw, part)?;
            for range in [&mut whole, &mut records[raw.kernel as usize]] {
                let start = range.as_ref().map_or(more.start, |range| range.start);
                *range = Some(start..more.end);
            }
        }
        let records: Vec<Range<u64>> = records.into_iter().map(Option::unwrap_or_default).collect();
        let mut pages = RoaringTreemap::new();
        for kernel in &replayed.kernels {
            pages |= &kernel.footprint.pages;
        }
        let kernels = busiest(replayed).into_iter().filter_map(|kernel| {
            let pages = &replayed.kernels[kernel].footprint.pages;
            let records = records.get(kernel)?.clone();
            Some((kernel, HeatMap::new(records, pages, KERNEL.0, KERNEL.1)))
        });
        Ok(Self {
            whole: HeatMap::new(whole.unwrap_or_default(), &pages, WHOLE.0, WHOLE.1),
            kernels: kernels.collect(),
            records: records.clone(),
            faulty: Vec::new(),
        })
    }

    /// Adds the distinct sectors of one load.
    fn touch(&mut self, own: Option<usize>, record: u64, rounded: impl Iterator<Item = u64>) {
        let mut sectors = [0; LANES];
        let mut count = 0;
        for (place, address) in sectors.iter_mut().zip(rounded) {
            *place = address / SECTOR;
            count += 1;
        }
        sectors[..count].sort_unstable();
        for same in sectors[..count].chunk_by(u64::eq) {
            self.whole.touch(record, same[0] * SECTOR, 1);
            if let Some(own) = own {
                self.kernels[own].1.touch(record, same[0] * SECTOR, 1);
            }
        }
    }
}

impl Visitor for Survey {
    fn visit<M: LoadMemory>(
        &mut self,
        _: &Walk<'_>,
        block: &Block<'_>,
        loads: Range<usize>,
        memory: &M,
    ) -> Result<(), TraceError> {
        let kernel = block.raw().kernel as usize;
        let own = self.kernels.iter().position(|(of, _)| *of == kernel);
        let mut seen: BTreeSet<_> = self.faulty.iter().map(FaultyLoad::place).collect();
        let mut lanes = LaneAddresses::NONE;
        for i in loads {
            let traced = block.record(i)?;
            if traced.operation().kind != Kind::Load {
                continue;
            }
            let op = traced.operation().load_op();
            read_lanes(&traced, memory.map(), &mut lanes);
            let mut values = [[0; LANES]; 4];
            let loaded = load(op, &lanes, memory, Misaligned::Report, &mut values);
            let record = block.raw().first_record + u64::from(traced.index);
            let rounded =
                |lane: usize| GenericAddress(lanes.addresses.of(lane)).align_down(op.width).0;
            self.touch(own, record, loaded.global.lanes().map(rounded));
            if !loaded.faults.is_empty()
                && self.faulty.len() < MAX_FAULTY_LOADS
                && seen.insert((kernel, traced.pc, traced.operation))
            {
                self.faulty.push(FaultyLoad {
                    record,
                    kernel,
                    pc: traced.pc,
                    operation: traced.operation,
                    executing: lanes.executing,
                    faults: loaded.faults.by_kind(),
                    addresses: lanes.addresses.to_array(),
                });
            }
        }
        Ok(())
    }

    fn add(&mut self, later: Self) {
        self.whole.add(&later.whole);
        for ((_, to), (_, from)) in self.kernels.iter_mut().zip(&later.kernels) {
            to.add(from);
        }
        for faulty in later.faulty {
            let same = |known: &FaultyLoad| known.place() == faulty.place();
            // What is among the first few of all is among the first few of its part.
            if self.faulty.len() < MAX_FAULTY_LOADS && !self.faulty.iter().any(same) {
                self.faulty.push(faulty);
            }
        }
    }
}

/// Returns the kernels that touch most sectors, in launch order; none of a single kernel.
fn busiest(replayed: &Replayed<'_>) -> Vec<usize> {
    if replayed.kernels.len() < 2 {
        return Vec::new();
    }
    let loading = |kernel: &usize| replayed.kernels[*kernel].counts.loads > 0;
    let mut kernels: Vec<usize> = (0..replayed.kernels.len()).filter(loading).collect();
    kernels.sort_by_key(|&kernel| std::cmp::Reverse(replayed.kernels[kernel].counts.sectors));
    kernels.truncate(MAX_SURVEYED_KERNELS);
    kernels.sort_unstable();
    kernels
}
