//! Replaying a binary trace: every load executed, counted, checked and digested, block by block
//! and in parallel.

mod heat;
mod shard;
mod statistics;
mod summary;
mod survey;
mod windows;
mod worker;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rayon::prelude::*;

pub use self::heat::{HeatMap, HeatRow};

pub use self::shard::Shard;
use self::statistics::{KEPT, KernelCounts};
pub use self::summary::{
    Counts, Fault, FaultCounts, FootprintCounts, KernelSummary, LdgstsCounts, MergeError, Mismatch,
    Partial, PcSummary, SectorSummary, SkippedCounts, SpaceCounts, Summary, UniformCounts,
};
pub use self::survey::{FaultyLoad, MAX_FAULTY_LOADS, MAX_SURVEYED_KERNELS, Survey, survey};
use self::windows::maps;
use self::worker::{FaultAt, Found, MismatchAt, Worker};
use super::binary::{BinaryTrace, RawBlock, TraceError};
use crate::memory::{ConfigError, Fill, FilledMemory, Memory, Window};

/// The width of a generic address where nothing says otherwise: that of SM 6.x and later.
pub const DEFAULT_ADDRESS_BITS: u32 = 49;

/// Where a replay's data come from.
#[derive(Debug)]
pub enum Data<'m> {
    /// An image. Its own address map holds for all kernels.
    Image(&'m Memory),
    /// A rule; every address below 2^address_bits is allocated.
    Fill(Fill),
    /// Nowhere: everything but values is computed, and every address is allocated.
    Absent,
}

/// What a replay is asked to do.
#[derive(Debug)]
pub struct ReplayOptions<'m> {
    /// Where the data come from.
    pub data: Data<'m>,
    /// The width of a generic address; without an image.
    pub address_bits: u32,
    /// Where the shared window lies, whatever the trace says; without an image.
    pub shared_window: Option<Window>,
    /// Where the local window lies, whatever the trace says; without an image.
    pub local_window: Option<Window>,
    /// Which part of the loads to replay; all of them where left out.
    pub shard: Option<Shard>,
}

impl ReplayOptions<'_> {
    /// Tells replays apart that give different results: all shards of one have the same name.
    pub(super) fn name(&self, trace: &BinaryTrace) -> String {
        let trace = format!("trace {:08x}", trace.checksum());
        let data = match self.data {
            Data::Image(memory) => return format!("{trace}, image {:08x}", checksum(memory)),
            Data::Fill(Fill::Address) => "fill address",
            Data::Fill(Fill::Zero) => "fill zero",
            Data::Absent => "no data",
        };
        let mut name = format!("{trace}, {data}, {} address bits", self.address_bits);
        for (space, window) in [("shared", self.shared_window), ("local", self.local_window)] {
            if let Some(Window { base, size }) = window {
                name += &format!(", {space} window {base:#x},{size:#x}");
            }
        }
        name
    }
}

/// A number that tells an image from others: the CRC-32 of its bytes and of what lies where.
fn checksum(memory: &Memory) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(memory.arena().bytes());
    let banks: Vec<_> = memory.constant_banks().map(|(bank, bytes)| (bank, bytes.len())).collect();
    let layout = (
        memory.map(),
        memory.allocations(),
        (memory.shared_bytes().len(), banks),
        (memory.local_low_bytes(0).len(), memory.local_high_bytes(0).len()),
    );
    crc.update(format!("{layout:?}").as_bytes());
    crc.finalize()
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
        /// What is wrong.
        source: ConfigError,
    },
}

/// What a replay found, of a whole trace or of a part.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// By kernel, in launch order.
    kernels: Vec<KernelCounts>,
    /// Nothing where there were no data.
    digest: Option<u64>,
    /// The first few, in the order of the trace.
    faults: Vec<FaultAt>,
    mismatches: Vec<MismatchAt>,
}

/// Replays a trace. The threads are those of the current rayon pool. `observe` is told how many
/// bytes of blocks were replayed.
///
/// # Errors
/// [`ReplayError`] where a block is damaged, or a kernel's windows cannot be.
pub fn replay(
    trace: &BinaryTrace,
    options: &ReplayOptions<'_>,
    observe: &(dyn Fn(u64) + Sync),
) -> Result<Replayed, ReplayError> {
    let kernels = &trace.contents().kernels;
    let maps = maps(trace, options)?;
    let shard = options.shard.unwrap_or(Shard::WHOLE);
    let of_shard = |block: &RawBlock| Some((*block, shard.of_block(block, trace.loads())?));
    let blocks: Vec<_> = trace.blocks().iter().filter_map(of_shard).collect();
    let replayed: Result<Part, TraceError> = blocks
        .par_iter()
        .map(|(raw, part)| {
            let block = trace.block(raw)?;
            let mut worker = Worker::new(&block, options);
            let map = maps[raw.kernel as usize];
            match options.data {
                Data::Image(memory) => worker.loads(part.clone(), memory)?,
                Data::Fill(fill) => worker.loads(part.clone(), &FilledMemory { map, fill })?,
                Data::Absent => {
                    worker.loads(part.clone(), &FilledMemory { map, fill: Fill::Zero })?;
                }
            }
            observe(u64::from(raw.length));
            Ok((raw.kernel, worker.found))
        })
        // Blocks are added in order within each thread's run, and runs in order: what is kept
        // in full stays sorted by record.
        .try_fold(Part::default, |mut sum, block: Result<_, TraceError>| {
            let (kernel, found) = block?;
            sum.add_block(kernel, found);
            Ok(sum)
        })
        .try_reduce(Part::default, |mut sum, other| {
            sum.add(other);
            Ok(sum)
        });
    let Part { kernels: mut found, digest, faults, mismatches } = replayed?;
    Ok(Replayed {
        kernels: (0..kernels.len() as u32)
            .map(|kernel| found.remove(&kernel).unwrap_or_default())
            .collect(),
        digest: (!matches!(options.data, Data::Absent)).then_some(digest),
        faults,
        mismatches,
    })
}

/// What some of the blocks gave. It grows with the kernels that these belong to, not with all.
#[derive(Default)]
struct Part {
    kernels: BTreeMap<u32, KernelCounts>,
    digest: u64,
    faults: Vec<FaultAt>,
    mismatches: Vec<MismatchAt>,
}

impl Part {
    fn add_block(&mut self, kernel: u32, found: Found) {
        let Found { counts, digest, faults, mismatches } = found;
        self.add(Self { kernels: BTreeMap::from([(kernel, counts)]), digest, faults, mismatches });
    }

    /// Adds a part whose blocks come after those of this one.
    fn add(&mut self, other: Self) {
        for (kernel, counts) in other.kernels {
            match self.kernels.entry(kernel) {
                Entry::Vacant(place) => drop(place.insert(counts)),
                Entry::Occupied(mut place) => place.get_mut().add(&counts),
            }
        }
        self.digest = self.digest.wrapping_add(other.digest);
        self.faults.extend(other.faults);
        self.faults.truncate(KEPT);
        self.mismatches.extend(other.mismatches);
        self.mismatches.truncate(KEPT);
    }
}

impl Replayed {
    /// The kernel's number, the program counter and the operation's number of each row of
    /// [`Summary::per_pc`](super::Summary::per_pc), in its order.
    pub fn program_counters(&self) -> impl Iterator<Item = (usize, u32, u16)> + '_ {
        self.kernels.iter().enumerate().flat_map(|(kernel, counts)| {
            counts.per_pc.keys().map(move |&(pc, operation)| (kernel, pc, operation))
        })
    }
}
